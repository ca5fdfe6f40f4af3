"""Distillation: pairs of sources and the target's own greedy outputs, and what learns from them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.correctors import verified_by
from support.tiny_t5 import pairs, trained_target

from edit_gec.corrector import Corrector
from edit_gec.lab.training.distillation import distil, write_pairs
from edit_gec.lab.training.edit_pairs import RealEdits
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.verifier import Verifier

SOURCES = [source for source, _ in pairs(10, seed=3)]


@pytest.fixture
def corrector(model: EdiT5, model_folder: Path, tokens: Tokens) -> Corrector:
    return verified_by(Corrector.load(model_folder), Verifier(trained_target(tokens)))


def test_pairs_are_the_targets_own(corrector: Corrector, tokens: Tokens, tmp_path: Path) -> None:
    target = trained_target(tokens)
    expected = [target.text(output) for output in target.generate(SOURCES)]
    kept = list(distil(corrector, iter(["a\tb", "", *SOURCES]), 100))
    assert kept == list(zip(SOURCES, expected, strict=True)), "no tab, nothing empty"
    assert list(distil(corrector, iter(SOURCES), 4)) == kept[:4]
    said: list[int] = []
    assert write_pairs(iter(kept), tmp_path / "greedy" / "some.tsv", "toy", said.append) == len(kept) and not said
    rows = [line.split("\t") for line in (tmp_path / "greedy" / "some.tsv").read_text(encoding="utf-8").splitlines()]
    assert [(row[-2], row[-1]) for row in rows] == kept
    drawn = {RealEdits(tmp_path / "greedy").draw(random.Random(n)) for n in range(100)}
    assert drawn <= set(kept) and len(drawn) > 5, "as a stage of a recipe reads them"


def test_without_a_target_they_are_edit5s_own(model_folder: Path) -> None:
    corrector = Corrector.load(model_folder, min_confidence=0.0)
    expected = [corrector.correct(source, lines=True, markup=False).corrected for source in SOURCES]
    assert list(distil(corrector, iter(["a\tb", *SOURCES]), 100)) == list(zip(SOURCES, expected, strict=True))


def test_a_target_that_reads_respelt_words() -> None:
    corrector = Corrector.load(target="t5-mini", verify="exact", precision="float32")
    sources = ["I recieved it becuase she ask .", "We stayed at home."]
    found = dict(distil(corrector, iter(sources), 2))
    assert found == {source: corrector.correct(source, lines=True, markup=False).corrected for source in sources}
    assert "received it because" in found[sources[0]]
