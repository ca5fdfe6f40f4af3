"""The seam between texts and models: a predictor may be replaced by any other, and lower thresholds propose more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.correctors import windows_of

from edit_gec.corrector import Corrector
from edit_gec.editing.predictor import EdiT5Predictor, Window, WindowChanges, join_changes
from edit_gec.errors import InputError
from edit_gec.text.edits import Change

CHANGES = st.lists(st.builds(Change, st.integers(0, 9), st.integers(9, 20), st.text(max_size=3), st.floats(0, 1)))


@pytest.fixture(scope="module")
def shipped() -> Corrector:
    return Corrector.load(threads=1)


@dataclass(frozen=True, eq=False, repr=False)
class Echo(EdiT5Predictor):
    """Writes each sentence in front of itself."""

    def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
        return [WindowChanges((Change(0, 0, f"<{window.sentence.text}> ", 0.9),)) for window in windows]


@given(st.lists(st.tuples(CHANGES, CHANGES), min_size=1, max_size=4))
def test_the_changes_of_a_sentence_are_those_of_its_windows(windows: list[tuple[list[Change], list[Change]]]) -> None:
    joined = join_changes([WindowChanges(tuple(own), tuple(drafted)) for own, drafted in windows])
    assert Counter(joined.changes) == Counter(change for own, _ in windows for change in own)
    assert Counter(joined.drafted) == Counter(change for _, drafted in windows for change in drafted)


def test_below_its_threshold_it_proposes_more(shipped: Corrector) -> None:
    texts = [
        "She go to school every days.",
        "We was at home in yesterday.",
        "He explain me about the problem yesterday.",
    ]
    windows = windows_of(shipped, *texts)
    strict, bold = (shipped.edit5.with_thresholds(min_confidence=least) for least in (0.88, 0.0))
    sure, all_of_it = ([found.changes for found in each.predict(windows)] for each in (strict, bold))
    assert sum(map(len, all_of_it)) > sum(map(len, sure)) > 0
    assert all(change.confidence >= strict.threshold for changes in sure for change in changes)
    assert any(change.confidence < strict.threshold for changes in all_of_it for change in changes)
    for wrong in ({"zeal": 1.0}, {"min_confidence": 2.0}):
        with pytest.raises(InputError):
            shipped.edit5.with_thresholds(**wrong)


def test_any_predictor_can_stand_in(model_folder: Path) -> None:
    corrector = Corrector.load(model_folder, threads=1)
    other: Any = Echo(**vars(corrector.edit5))
    copy = corrector.with_predictor(other)
    assert "<It rain.> It rain." in copy.correct("We was. It rain.", format="text").corrected
    assert copy.edit5 is other and corrector.edit5 is not other
