"""A target's own changes, as a predictor: a threshold drops changes and refuses drafts, and touches no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.correctors import verified_by, windows_of
from support.tiny_t5 import pairs, trained_target

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.provenance import VerifiedProjection
from edit_gec.speculative.verifier import Verifier

SENTENCES = [source for source, _ in pairs(20, seed=8)]


@pytest.fixture(scope="module")
def corrector(model_folder: Path, tokens: Tokens) -> Corrector:
    return verified_by(Corrector.load(model_folder, threads=1), Verifier(trained_target(tokens)))


def test_changes_below_the_threshold_are_not_made(corrector: Corrector) -> None:
    windows = windows_of(corrector, *SENTENCES)
    everything = corrector.predictor.predict(windows)
    confidences = sorted(change.confidence for found in everything for change in found.changes)
    threshold = confidences[len(confidences) // 2]
    strict = corrector.with_thresholds(min_confidence=threshold)
    for less, more in zip(strict.predictor.predict(windows), everything, strict=True):
        kept = [change[:3] for change in more.changes if change.confidence >= threshold]
        assert [change[:3] for change in less.changes] == kept and less.drafted == more.drafted
    assert strict.min_confidence == threshold and strict.edit5.threshold == corrector.edit5.threshold
    never = corrector.with_thresholds(min_confidence=1.0).correct_batch(SENTENCES, lines=True)
    assert not any(correction.edits for correction in never) and any(correction.refused for correction in never)
    for wrong in ({"min_confidence": -1.0}, {"zeal": 1.0}):
        with pytest.raises(InputError):
            corrector.predictor.with_thresholds(**wrong)


def test_it_is_exact_and_counts_what_it_did(corrector: Corrector) -> None:
    assert corrector.predictor.is_exact and isinstance(corrector.projection, VerifiedProjection)
    assert corrector.suggester() is None
    alone = corrector.with_predictor(corrector.edit5)
    assert not isinstance(alone.projection, VerifiedProjection) and alone.suggester() is not None
    corrector.predictor.take_counts()
    corrector.predictor.predict(windows_of(corrector, *SENTENCES[:3]))
    assert [corrector.predictor.take_counts()["verified"] for _ in range(2)] == [3, 0]
    assert replace(corrector, workers=2).predictor.summary() == corrector.predictor.summary()
