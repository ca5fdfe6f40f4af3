"""An EdiT5 whose changes a second model judges: the confidence of each is that of both together.

EdiT5 proposes what can still pass        She go to school.     go -> goes 0.31    school -> schools 0.04
the judge reads it in its sentence                              go -> goes 0.62
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from edit_gec.editing.predictor import EdiT5Predictor, Window, WindowChanges

if TYPE_CHECKING:
    from typing_extensions import Self

    from edit_gec.modeling.tokenizer import Pieces
    from edit_gec.speculative.judge import LanguageJudge


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """An EdiT5 with the threshold of its user, and the judge of what it proposes."""

    edit5: EdiT5Predictor
    judge: LanguageJudge

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
        judged = self.judge.judge(windows, proposing.predict(windows), threshold)
        return [WindowChanges(tuple(changes)) for changes in judged]

    def summary(self) -> dict[str, Any]:
        """What the judge did so far, for JSON."""
        return self.judge.summary()

    def take_counts(self) -> Counter[str]:
        """Nothing is summed."""
        return Counter()
