"""An EdiT5 that drafts for a target: the target's own changes count, found in a fraction of its time.

windows -> plans of the EdiT5 -> drafts -> what the target writes (verifier.py) -> its changes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from edit_gec.backends.torch_network import TorchNetwork
from edit_gec.config.load_settings import check_confidence
from edit_gec.editing.predictor import EdiT5Predictor, Window, WindowChanges
from edit_gec.editing.respelling import Respelt, respell
from edit_gec.editing.second_pass import changes_of, judge, merge_passes
from edit_gec.editing.windows import fitting_windows, leave_cuts

if TYPE_CHECKING:
    from typing_extensions import Self

    from edit_gec.modeling.tokenizer import Pieces
    from edit_gec.speculative.verifier import Verifier


@dataclass(frozen=True, eq=False, repr=False)
class Verified:
    """A verifier, and the EdiT5 with the thresholds that draft for it.

    threshold: the lowest probability of a change of the target.
    """

    edit5: EdiT5Predictor
    verifier: Verifier
    threshold: float = 0.0

    is_exact = True
    settles = False

    @classmethod
    def drafted_by(cls, edit5: EdiT5Predictor, verifier: Verifier) -> Verified:
        """A verifier and this EdiT5, with the heads and the thresholds that draft best for the verifier's target.

        Raises InputError if the EdiT5 is not run by torch.
        """
        drafter = TorchNetwork(verifier.drafting_model(edit5.model))
        thresholds = replace(edit5.thresholds, **verifier.profile.thresholds)
        return cls(replace(edit5, network=drafter, thresholds=thresholds), verifier)

    def with_thresholds(self, **given: float) -> Self:
        """A copy with other thresholds; `min_confidence` is for the target's changes. Raises as `Predictor` says."""
        threshold = given.pop("min_confidence", self.threshold)
        check_confidence(threshold)
        return replace(self, edit5=self.edit5.with_thresholds(**given), threshold=threshold)

    def encode(self, sentence: str) -> list[Pieces]:
        """The pieces of a sentence, in windows that the EdiT5 and the target can read."""
        windows = self.edit5.encode(sentence)
        return [part for window in windows for part in fitting_windows(window, self.verifier.target.fits)]

    def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
        """What the target changes in each window of one batch, and what was drafted."""
        pieces = [window.pieces for window in windows]
        edit5, verifier = self.edit5, self.verifier
        begun = perf_counter()
        encoded = verifier.encode(edit5.model, pieces)
        network = TorchNetwork(edit5.model, encoded.edit5 if encoded else None)
        plans = replace(edit5, network=network).predict_plans(pieces)
        verifier.count_draft(perf_counter() - begun)
        found = changes_of(pieces, plans, edit5.tokens)
        drafted = [judge(*each, edit5.thresholds) for each in zip(found, plans, strict=True)]
        drafts = verifier.draft(pieces, plans, edit5.tokens)
        read = respell(pieces, plans, edit5.tokens) if verifier.profile.respelt else Respelt([*pieces], {})
        encoded = verifier.renew(encoded, edit5.model, read.windows, list(read.changes))
        verified = verifier.verify(read.windows, drafts, encoded)
        for n, changes in read.changes.items():
            verified[n] = merge_passes(pieces[n], changes, verified[n])
        whole = [leave_cuts(*each) for each in zip(verified, pieces, strict=True)]
        sure = [tuple(change for change in each if change.confidence >= self.threshold) for each in whole]
        return [WindowChanges(own, tuple(draft)) for own, draft in zip(sure, drafted, strict=True)]

    def summary(self) -> dict[str, Any]:
        """What verification did so far, for JSON."""
        return self.verifier.summary()

    def take_counts(self) -> Counter[str]:
        """What verification did since the last call; taken, because its statistics grow with a corpus."""
        statistics, too_long = self.verifier.take_statistics()
        return Counter({**statistics.sums(), "verified too long": too_long})
