"""An EdiT5 whose changes a second model judges: the confidence of each is that of both together.

EdiT5 proposes what can still pass        She go to school.     go -> goes 0.31    school -> schools 0.04
the judge reads it in its sentence                              go -> goes 0.62
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from edit_gec.editing.predictor import EdiT5Predictor, Window, WindowChanges

if TYPE_CHECKING:
    from typing_extensions import Self

    from edit_gec.modeling.tokenizer import Pieces
    from edit_gec.text.edits import Change


class Judge(Protocol):
    """A model that judges what an EdiT5 proposes. Several threads may use one."""

    def lowest_proposed(self, threshold: float) -> float:
        """The confidence of EdiT5 below which no change can reach this threshold."""

    def judge(
        self, windows: Sequence[Window], proposed: Sequence[Sequence[Change]], threshold: float
    ) -> list[list[Change]]:
        """The changes of each window that reach the threshold, with the confidence of both models."""

    def summary(self) -> dict[str, Any]:
        """What it did so far, for JSON."""


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """An EdiT5 with the threshold of its user, and the judge of what it proposes."""

    edit5: EdiT5Predictor
    judge: Judge

    is_exact = False
    settles = False

    @property
    def threshold(self) -> float:
        """The lowest confidence of a change, that of both models."""
        return self.edit5.threshold

    def with_thresholds(self, **given: float) -> Self:
        """A copy with other thresholds; raises as `Predictor` says."""
        return replace(self, edit5=self.edit5.with_thresholds(**given))

    def encode(self, sentence: str) -> list[Pieces]:
        """The pieces of a sentence, in windows that the EdiT5 can read."""
        return self.edit5.encode(sentence)

    def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
        """What changes in each window of one batch."""
        threshold = self.edit5.thresholds.threshold
        proposing = self.edit5.with_thresholds(min_confidence=self.judge.lowest_proposed(threshold))
        proposed = [each.changes for each in proposing.predict(windows)]
        return [WindowChanges(tuple(changes)) for changes in self.judge.judge(windows, proposed, threshold)]

    def summary(self) -> dict[str, Any]:
        """What the judge did so far, for JSON."""
        return self.judge.summary()

    def take_counts(self) -> Counter[str]:
        """Nothing is summed."""
        return Counter()
