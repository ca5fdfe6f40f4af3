"""Teaching a language model to correct: rows of pairs, a training that learns, ends, resumes, and leaves adapters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from support.language_gains import Comparison, find_gains
from support.tiny_causal import save_folder

from edit_gec.errors import EditGecError
from edit_gec.lab.training import causal
from edit_gec.lab.training.causal import IGNORE, collate, main, make_row
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.speculative.language_model import LanguageModel

WRONG, RIGHT = "She go to school every day.", "She goes to school every day."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    save_folder(folder)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Real edits only: no prose is needed."""
    (tmp_path / "edits").mkdir()
    (tmp_path / "edits" / "mine.tsv").write_text(f"x\t{WRONG}\t{RIGHT}\n" * 20, encoding="utf-8")
    return tmp_path


def test_only_the_target_is_learnt(base: Path) -> None:
    tokens = BytePairs.load(base)
    ids, start = make_row(WRONG, RIGHT, tokens)
    assert ids[0] == 0 and ids[-1] == 0
    assert tokens.decode(ids[1:start]) == WRONG + "\n" and tokens.decode(ids[start:-1]) == RIGHT
    shorter, place = make_row("a", "b", tokens)
    batch = collate([(ids, start), (shorter, place)])
    asked = batch["wanted"] != IGNORE
    assert asked.sum(1).tolist() == [len(ids) - start, len(shorter) - place]
    for row, given in enumerate((ids, shorter)):
        places = asked[row].nonzero()[:, 0]
        assert batch["wanted"][row, places].tolist() == [given[n + 1] for n in places.tolist()]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of peft and transformers about each other
def test_a_training_learns_resumes_and_leaves_adapters(
    base: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The correction becomes likelier; a longer run goes on from the checkpoint; the base stays as it is."""
    pytest.importorskip("peft")
    monkeypatch.setattr(causal, "SAVE_STEPS", 10)
    run = data / "run"
    words = ["--base", str(base), "--data", str(data), "--output", str(run), "--real", "1", "--lr", "0.01"]
    assert main([*words, "--steps", "10", "--batch-tokens", "128"]) == 0
    assert main([*words, "--steps", "30", "--batch-tokens", "128"]) == 0
    said = capfd.readouterr().err
    assert "step 10 of 10" in said and "step 20 of 30" in said and "step 10 of 30" not in said
    (run / "config.json").write_text((base / "config.json").read_text())
    (run / "model.safetensors").write_bytes((base / "model.safetensors").read_bytes())
    (run / "tokenizer.json").write_bytes((base / "tokenizer.json").read_bytes())
    assert json.loads((run / "adapter_config.json").read_text())["r"] == causal.RANK
    question = Comparison(f"{WRONG}\n", WRONG, (RIGHT,))
    before, after = (find_gains(LanguageModel.load(folder), [question])[0][0] for folder in (base, run))
    assert after > before + 1
    taught, untaught = load_causal(run), load_causal(base)
    taught_layer: Any = taught.layers[0]
    untaught_layer: Any = untaught.layers[0]
    assert torch.equal(taught.embedding.weight, untaught.embedding.weight)
    assert not torch.equal(taught_layer.wi.weight, untaught_layer.wi.weight)


def test_data_without_edits_is_named(base: Path, tmp_path: Path) -> None:
    with pytest.raises(EditGecError, match="edits"):
        main(["--base", str(base), "--data", str(tmp_path), "--output", str(tmp_path / "run"), "--steps", "1"])
