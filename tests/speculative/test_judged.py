"""An EdiT5 and a judge: the judge sees all that can pass, whole windows, and what it says counts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.correctors import corrector_of, windows_of

from edit_gec.corrector import Corrector
from edit_gec.editing.predictor import Window, WindowChanges
from edit_gec.speculative.judge import LanguageJudge
from edit_gec.speculative.judged import Judged
from edit_gec.text.edits import Change

TEXTS = ["She go to school every days.", "I recieved it becuase she ask me.", "We was at home yesterday."]


class Doubter(LanguageJudge):
    """Halves every confidence."""

    def __init__(self) -> None:
        self.seen: list[tuple[Window, WindowChanges]] = []

    def lowest_proposed(self, threshold: float) -> float:
        return threshold / 4  # lower than needed: the judge decides, not this

    def judge(self, windows: Sequence[Window], drafts: Sequence[WindowChanges], threshold: float) -> list[list[Change]]:
        self.seen += zip(windows, drafts, strict=True)
        halved = [[change._replace(confidence=change.confidence / 2) for change in each.changes] for each in drafts]
        return [[change for change in each if change.confidence >= threshold] for each in halved]

    def summary(self) -> dict[str, int]:
        return {"windows": len(self.seen)}


@pytest.fixture(scope="module")
def shipped() -> Corrector:
    return Corrector.load(threads=1)


@pytest.mark.parametrize("threshold", [0.1, 0.2, 0.4])
def test_a_judge_decides_about_all_that_can_pass(shipped: Corrector, threshold: float) -> None:
    judge = Doubter()
    judged = Judged(shipped.edit5, judge).with_thresholds(min_confidence=threshold)
    windows = windows_of(shipped, *TEXTS)
    found = judged.predict(windows)
    assert [window for window, _ in judge.seen] == windows
    proposed = shipped.edit5.with_thresholds(min_confidence=threshold / 4).predict(windows)
    assert [each.changes for each in proposed] == [draft.changes for _, draft in judge.seen]
    for made, of_edit5 in zip(found, proposed, strict=True):
        sure = [change for change in of_edit5.changes if change.confidence / 2 >= threshold]
        assert made.changes == tuple(change._replace(confidence=change.confidence / 2) for change in sure)
        assert made.drafted == ()
    assert any(made.changes for made in found) and judged.threshold == threshold
    assert judged.summary() == {"windows": len(TEXTS)} and not judged.take_counts()


def test_a_corrector_with_a_judge_is_a_corrector(shipped: Corrector) -> None:
    """It has thresholds, alternatives and hints like any other."""
    corrector = corrector_of(Judged(shipped.edit5, Doubter())).with_settings(0.2, "en-GB")
    assert corrector.min_confidence == corrector.projection.min_confidence == 0.2
    edits = corrector.correct(TEXTS[1]).edits
    assert edits and all(0.2 <= edit.confidence <= 0.5 for edit in edits)
    assert corrector.suggester() is not None
