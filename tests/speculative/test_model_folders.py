"""Model folders that are broken: one ModelError of one line, whatever file is at fault, and nothing of torch's."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.tiny_t5 import random_target

from edit_gec.corrector import Corrector
from edit_gec.editing.lexicon import FILE as WORDS
from edit_gec.errors import ModelError
from edit_gec.modeling.checkpoint import WEIGHTS
from edit_gec.modeling.shared_encoder import encoder_folder
from edit_gec.modeling.tokenizer import FILE as VOCABULARY
from edit_gec.modeling.tokenizer import Tokens

CONFIG = "config.json"
Damage = Callable[[Path], object]


def without(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def with_content(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(content)


def cut(name: str, share: float) -> Damage:
    def truncate(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(share * len(content))])

    return truncate


def with_entries(**entries: Any) -> Damage:
    def rewrite(folder: Path) -> None:
        config = json.loads((folder / CONFIG).read_text())
        (folder / CONFIG).write_text(json.dumps({**config, **entries}))

    return rewrite


def with_tensor(name: str, reshape: Callable[[torch.Tensor], torch.Tensor]) -> Damage:
    def rewrite(folder: Path) -> None:
        tensors = load_file(folder / WEIGHTS)
        tensors[name] = reshape(tensors[name]).clone()
        save_file(tensors, folder / WEIGHTS)

    return rewrite


BOTH: list[tuple[Damage, str]] = [
    (cut(CONFIG, 0.5), "config.json: not readable as JSON"),
    (with_content(CONFIG, b"[]"), "config.json: not a JSON object"),
    (with_entries(model_type="bert"), "model_type 'bert'; expected"),
    (with_entries(d_model=16), "expected"),
    (with_entries(num_heads="four"), "num_heads is 'four'; expected an integer"),
    (with_entries(thresholds={"keep_bias": "much"}), "expected numbers for"),
    (with_entries(thresholds={"min_confidence": float("nan")}), "expected numbers for"),
    (without(WEIGHTS), f"{WEIGHTS} is missing"),
    (cut(WEIGHTS, 0.0), "broken weights"),
    (cut(WEIGHTS, 0.5), "broken weights"),
    (without(VOCABULARY), f"no {VOCABULARY} here"),
    (cut(VOCABULARY, 0.0), "the file is empty"),
    (cut(VOCABULARY, 0.5), VOCABULARY),
]
OF_EDIT5: list[tuple[Damage, str]] = [
    (with_tensor("tag_head.weight", lambda t: t[:, 1:]), r"tag_head.weight has shape \[4, 31\]; expected \[4, 32\]"),
    (with_tensor("tag_head.weight", lambda t: t * torch.inf), "tag_head.weight holds values that are no numbers"),
    (with_tensor("tag_norm.weight", lambda t: t.sum()), r"tag_norm.weight has shape \[\]; expected"),
    (with_entries(slots=41), r"rank_embedding.weight has shape \[40, 32\]; expected \[41, 32\]"),
    (with_entries(thresholds={"slope": -1.0}), "expected the first two above 0"),
    (with_content(WORDS, b""), "the file is empty; expected a word in each line"),
    (with_content(WORDS, b"house\n\nhice\n"), "a wrong and a right form"),
    (with_content(WORDS, b"caf\xe9\n"), "in UTF-8"),
]
QUERY = "encoder.block.0.layer.0.SelfAttention.q.weight"
OF_T5: list[tuple[Damage, str]] = [
    (with_tensor(QUERY, lambda t: t[:, 1:]), rf"expected matrices of one width, not {QUERY} \[32, 31\]"),
    (with_tensor(QUERY, lambda t: t.sum()), rf"expected matrices of one width, not {QUERY} \[\]"),
    (with_tensor(QUERY, lambda t: t[1:]), r"qkv.weight has shape \[95, 32\]; expected"),
    (with_tensor(QUERY, lambda t: t * torch.nan), "qkv.weight holds values that are no numbers"),
    (with_entries(n_positions=10**9), "expected a whole number from 1 to"),
    (with_entries(n_positions="many"), "n_positions 'many'"),
    (with_entries(model_type="t5-shared-encoder", encoder="../gone"), "which is neither at"),
    (with_entries(model_type="t5-shared-encoder", encoder=".."), "which is neither at"),
]


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "edit5"))


@pytest.fixture
def t5_folder(tokens: Tokens, tmp_path: Path) -> Path:
    random_target(tokens).export(tmp_path / "t5")
    return tmp_path / "t5"


def check(load: Callable[[], object], folder: Path, message: str) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        load()
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)


@pytest.mark.parametrize(("damage", "message"), BOTH + OF_EDIT5)
def test_a_broken_model(folder: Path, damage: Damage, message: str) -> None:
    damage(folder)
    check(lambda: Corrector.load(folder, threads=1), folder, message)


@pytest.mark.parametrize(("damage", "message"), BOTH + OF_T5)
def test_a_broken_target(folder: Path, t5_folder: Path, damage: Damage, message: str) -> None:
    damage(t5_folder)
    check(lambda: Corrector.load(folder, threads=1, target=t5_folder).correct("She go home."), t5_folder, message)


def test_whole_folders_load(folder: Path, t5_folder: Path) -> None:
    (folder / WORDS).write_text("house\n\nhice house\n", encoding="utf-8")
    loaded = Corrector.load(folder, threads=1, target=t5_folder)
    loaded.correct("She go home.")
    assert loaded.edit5.spelling is not None and loaded.edit5.spelling.knows("house") and loaded.predictor.is_exact


def test_the_folder_of_an_encoder(tmp_path: Path) -> None:
    """A config names a folder beside its own; of a path to elsewhere only the last name counts."""
    target, elsewhere = tmp_path / "models" / "t5", tmp_path / "private"
    for folder in (target, elsewhere, tmp_path / "models" / "edit5", tmp_path / "models" / "private" / "deep"):
        folder.mkdir(parents=True)
        (folder / CONFIG).write_text("{}")
    for named in (str(elsewhere), "../../private", "../../../" + str(elsewhere)[1:], "x/../../../private"):
        with pytest.raises(ModelError, match="shares the encoder of private, which is neither at"):
            encoder_folder(target, {"encoder": named})
    for named in ("../edit5", "/elsewhere/edit5", "../../other/edit5"):
        assert encoder_folder(target, {"encoder": named}).resolve() == tmp_path / "models" / "edit5"


ENTRIES = [None, True, -1, 0, 1.5, 10**6, 2**70, 1e308, float("nan"), "x", "../../..", [], {}, [[1]], {"a": 1}]


def test_any_entry(folder: Path) -> None:
    """Whatever stands in config.json: a model that corrects, or one ModelError."""
    config = json.loads((folder / CONFIG).read_text())
    config["thresholds"] = {"keep_bias": 0.5, "min_confidence": 0.2}
    loaded = refused = 0
    for name in config:
        for value in ENTRIES:
            (folder / CONFIG).write_text(json.dumps({**config, name: value}))
            try:
                assert Corrector.load(folder, threads=1).correct("She go home 🏠 it's.").text
                loaded += 1
            except ModelError as error:
                refused += 1
                assert "\n" not in str(error) and str(folder) in str(error)
    assert loaded > 20 and refused > 100, (loaded, refused)


def test_any_damage_to_the_weights(folder: Path) -> None:
    """Whatever byte of the file's head is changed: a model that corrects, or one ModelError."""
    whole = (folder / WEIGHTS).read_bytes()
    head = 8 + int.from_bytes(whole[:8], "little")
    refused = 0
    for seed in range(120):
        chance, data = random.Random(seed), bytearray(whole)
        for _ in range(chance.choice([1, 3])):
            data[chance.randrange(head)] = chance.randrange(256)
        (folder / WEIGHTS).write_bytes(data[: chance.choice([len(data), len(data), chance.randrange(len(data))])])
        try:
            Corrector.load(folder, threads=1).correct("She go home.")
        except ModelError as error:
            refused += 1
            assert "\n" not in str(error) and str(folder) in str(error)
    assert refused > 60


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, VOCABULARY, WORDS])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_what_is_no_file(folder: Path, name: str) -> None:
    """A pipe is not waited for, a device not read to its end; a folder is none, either."""
    for kind in ("pipe", "device", "folder", "loop"):
        path = folder / name
        path.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero" if kind == "device" else path)
        check(
            lambda: Corrector.load(folder, threads=1),
            folder,
            "has no config|is missing|no spiece|not a regular file|neither a",
        )
        path.rmdir() if kind == "folder" else path.unlink()
