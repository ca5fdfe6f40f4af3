"""The shipped model, whatever runs it: a sentence is corrected alone as it is in a batch."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from edit_gec.corrector import Corrector

ATTACK = runpy.run_path(str(Path(__file__).parents[1] / "attack" / "batches.py"))
WORDS = ATTACK["PROSE"].read_text(encoding="utf-8").split()


@pytest.mark.parametrize(("backend", "precision"), [("torch", "float32"), ("onnx", "float32"), ("onnx", "int8")])
def test_a_sentence_has_the_same_edits_in_any_batch(backend: str, precision: str) -> None:
    """Odd and ordinary texts, with every edit that the model can think of; the script tries more of them."""
    corrector = ATTACK["make_eager"](Corrector.load(backend=backend, precision=precision, threads=1))
    batches = [ATTACK["compare"](corrector, seed, WORDS) for seed in range(4)]
    assert sum(batch.edits for batch in batches) >= 50
    assert sum(batch.differing for batch in batches) == 0
    assert max(batch.largest for batch in batches) <= 3e-6
