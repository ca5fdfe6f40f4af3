"""Decoder-only models in ONNX Runtime: the gains that torch gives, without torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from support.language_gains import Comparison, find_gains
from support.tiny_causal import make_oracle, save_folder, save_package, write_base

from edit_gec.backends.causal_graphs import LIKELIEST
from edit_gec.backends.torch_language_network import TorchLanguageNetwork
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.adapters import CONFIG, FILE
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.speculative.language_model import LanguageModel, LanguageNetwork

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from edit_gec.backends.export import export
from edit_gec.backends.onnx_language_network import OnnxLanguageNetwork
from edit_gec.backends.sessions import FOLDER, INDEX

SHAPE: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "biases": ("llama", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    "one head each": ("llama", {"num_key_value_heads": 4}),
    "qwen2": ("qwen2", {"tie_word_embeddings": True}),
}
SOURCE = "She go to school every day, because she likes it there."
VARIANTS = (SOURCE.replace("go", "goes"), SOURCE.replace("because ", ""), SOURCE, "They were late.")
QUESTIONS = [Comparison("", SOURCE, VARIANTS), Comparison("It's 1984. ", "They was late", ("They were late",))]


def gains(model: LanguageModel) -> list[float]:
    return [gain for found in find_gains(model, QUESTIONS) for gain in found]


def run(folder: Path, **options: Any) -> list[float]:
    return gains(LanguageModel(OnnxLanguageNetwork.load(folder, **options), BytePairs.load(folder)))


def run_torch(folder: Path) -> list[float]:
    return gains(LanguageModel(TorchLanguageNetwork(load_causal(folder)), BytePairs.load(folder)))


@pytest.fixture
def make_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """A folder with graphs that names a GGUF file of an installed package."""

    def make(quantisation: str, embedding: str) -> Path:
        oracle = make_oracle(**SHAPE, tie_word_embeddings=True)
        file = save_package(tmp_path / "packages", oracle, quantisation, embedding)
        monkeypatch.syspath_prepend(str(tmp_path / "packages"))
        write_base(tmp_path / "model", file)
        export(tmp_path / "model")
        return tmp_path / "model"

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_gains_are_those_of_torch(tmp_path: Path, kind: str) -> None:
    name, shape = KINDS[kind]
    save_folder(tmp_path, name, **{**SHAPE, **shape})
    export(tmp_path)
    wanted = run_torch(tmp_path)
    assert run(tmp_path, precision="float32") == pytest.approx(wanted, abs=1e-3)
    assert np.abs(np.subtract(run(tmp_path, precision="int8"), wanted)).max() < 0.05 * np.abs(wanted).max()


@pytest.mark.parametrize("quantisation", ["Q4_0", "Q4_1"])
def test_quantised_files_are_read_as_torch_reads_them(make_base: Callable[[str, str], Path], quantisation: str) -> None:
    folder = make_base(quantisation, "Q8_0")
    assert run(folder, precision="float32") == pytest.approx(run_torch(folder), abs=1e-3)


def test_a_question_has_its_gains_whatever_it_is_asked_with(make_base: Callable[[str, str], Path]) -> None:
    folder = make_base("Q4_1", "Q8_0")
    tokens = BytePairs.load(folder)
    for precision in ("float32", "int8"):
        model = LanguageModel(OnnxLanguageNetwork.load(folder, precision=precision), tokens)
        alone = [find_gains(model, [question])[0] for question in QUESTIONS]
        assert [gain for found in alone for gain in found] == pytest.approx(gains(model), abs=2e-2)


def test_adapters_are_merged(make_base: Callable[[str, str], Path]) -> None:
    folder = make_base("Q4_1", "Q8_0")
    before = run(folder, precision="float32")
    stem = "base_model.model.model.layers.1.self_attn.v_proj"
    torch.manual_seed(1)
    save_file({f"{stem}.lora_A.weight": torch.randn(2, 64), f"{stem}.lora_B.weight": torch.randn(32, 2)}, folder / FILE)
    (folder / CONFIG).write_text(json.dumps({"peft_type": "LORA", "lora_alpha": 4}))
    wanted = run_torch(folder)
    assert wanted != pytest.approx(before, abs=0.01)
    assert run(folder, precision="float32") == pytest.approx(wanted, abs=1e-3)


def test_what_does_not_fit_is_one_line(tmp_path: Path) -> None:
    save_folder(tmp_path, **SHAPE)
    with pytest.raises(ModelError, match="has no graphs; make it with edit-gec export"):
        run(tmp_path)
    export(tmp_path)
    with pytest.raises(InputError, match="precision int4: expected one of float32, int8"):
        run(tmp_path, precision="int4")
    save_folder(tmp_path, **{**SHAPE, "num_hidden_layers": 1})
    with pytest.raises(ModelError, match=r"no tensor layers\.1\."):
        run(tmp_path, precision="float32")
    save_folder(tmp_path, **{**SHAPE, "intermediate_size": 128})
    with pytest.raises(ModelError) as caught:
        run(tmp_path, precision="float32")
    assert "\n" not in str(caught.value)


def test_torch_is_not_imported(make_base: Callable[[str, str], Path]) -> None:
    folder = make_base("Q4_1", "Q8_0")
    code = f"""
import sys
from pathlib import Path
sys.modules["torch"] = sys.modules["gguf"] = None
sys.path.append({str(folder.parent / "packages")!r})
from edit_gec.speculative.language_model import LanguageModel, Question
model = LanguageModel.load({str(folder)!r}, precision="int8")
(reading,) = model.read([Question("", "She go")])
print(model.compare(reading, [["She goes"]]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[[")


def test_the_likeliest_tokens_are_those_of_torch(tmp_path: Path) -> None:
    save_folder(tmp_path, **SHAPE)
    export(tmp_path)
    network, torch_network = OnnxLanguageNetwork.load(tmp_path, precision="float32"), load_causal(tmp_path)
    networks: list[LanguageNetwork] = [network, TorchLanguageNetwork(torch_network)]
    ids, tokens = np.array([[0, 5, 9, 30], [0, 7, 8, 200]]), np.arange(4)
    text = (ids, np.arange(4)[None].repeat(2, 0), np.tri(4, dtype=bool)[None].repeat(2, 0))
    states = [each.read(*text)[0].reshape(8, -1)[::2] for each in networks]
    ours, wanted = (each.likeliest(hidden, tokens) for each, hidden in zip(networks, states, strict=True))
    assert (ours[1] == wanted[1]).all() and ours[1].shape == (4, LIKELIEST)
    for mine, theirs in zip(ours, wanted, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-3)
    assert ours[0] == pytest.approx(network.log_probabilities(states[0], tokens), abs=1e-5)


def test_what_follows_a_past_is_read_as_with_it(tmp_path: Path) -> None:
    """In parts of any length, from rows in any order."""
    save_folder(tmp_path, **SHAPE)
    export(tmp_path)
    ids = np.array([[0, 5, 9, 30, 4], [0, 7, 8, 200, 6]])
    places, seen = np.arange(5)[None].repeat(2, 0), np.tri(5, dtype=bool)[None].repeat(2, 0)
    for network in (
        OnnxLanguageNetwork.load(tmp_path, precision="float32"),
        TorchLanguageNetwork(load_causal(tmp_path)),
    ):
        whole, _ = network.read(ids, places, seen)
        for cut in range(1, 5):
            first, past = network.read(ids[:, :cut], places[:, :cut], seen[:, :cut, :cut])
            rows = [1, 0, 1]
            rest, read = network.read(
                ids[rows, cut:], places[:1, cut:].repeat(3, 0), seen[[0] * 3, cut:], past[:, rows]
            )
            assert read.shape[1:3] == (3, 5 - cut)
            assert first == pytest.approx(whole[:, :cut], abs=1e-4) and rest == pytest.approx(
                whole[rows, cut:], abs=1e-4
            )


@pytest.mark.base
def test_the_shipped_graphs_are_what_export_writes(smollm2: Path, tmp_path: Path) -> None:
    for name in ("config.json", "smoothing.safetensors"):
        shutil.copy(smollm2 / name, tmp_path)
    for path in [*export(tmp_path), tmp_path / FOLDER / INDEX]:
        assert path.read_bytes() == (smollm2 / FOLDER / path.name).read_bytes(), "export the model again"


@pytest.mark.base
def test_smollm2_prefers_what_is_right(smollm2: Path, tmp_path: Path) -> None:
    """Without its adapters, as a plain language model."""
    plain = tmp_path / "plain"
    shutil.copytree(smollm2, plain, ignore=shutil.ignore_patterns("adapter_*"))
    question = Comparison(
        "", "She go to school every day.", ("She goes to school every day.", "She going to school every day.")
    )
    network = OnnxLanguageNetwork.load(plain, precision="int8")
    ((right, wrong),) = find_gains(LanguageModel(network, BytePairs.load(plain)), [question])
    assert 8 < right < 9.5 and wrong < right - 3
