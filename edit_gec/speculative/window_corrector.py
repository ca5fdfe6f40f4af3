"""The models and their decisions, from pieces to changes: what stands between prepare and finish in corrector.py.

windows of one batch -> plans (3) -> changes (4) -> a second pass over what changed (5)
                                                 -> or verification by a target (6)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from edit_gec.editing.batching import plan_batches
from edit_gec.errors import InputError
from edit_gec.speculative.loading import LoadSettings, check_confidence
from edit_gec.text.edits import Change
from edit_gec.text.sentences import Sentence

if TYPE_CHECKING:
    from edit_gec.backends.network import Network
    from edit_gec.editing.decode import Prediction
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import Thresholds
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Pieces, Tokens
    from edit_gec.speculative.verifier import Verifier

C = TypeVar("C", bound="WindowCorrector")


class SentenceChanges(NamedTuple):
    """What changes in a window: what EdiT5 drafts, and what a target makes of it, where there is one."""

    drafted: tuple[Change, ...]
    verified: tuple[Change, ...] | None = None


@dataclass(frozen=True)
class ModelWindow:
    """A stretch of pieces that the model reads at once: a sentence, or a part of an overlong one."""

    text: int  # which of the texts
    sentence: Sentence
    pieces: Pieces


@dataclass(frozen=True, eq=False, repr=False)
class WindowCorrector:
    """An EdiT5 with its thresholds, alone or with a target that verifies. It never changes; several threads may use it.

    verified_confidence: the least probability of a target's edit. settings: those that it was loaded with.
    """

    network: Network
    tokens: Tokens
    thresholds: Thresholds
    _: KW_ONLY
    spelling: WordList | None = None
    verifier: Verifier | None = None
    verified_confidence: float = 0.0
    settings: LoadSettings | None = None

    @property
    def model(self) -> EdiT5:
        """The torch module of the network. Raises InputError where torch does not run it."""
        from edit_gec.backends.torch_network import TorchNetwork

        if not isinstance(self.network, TorchNetwork):
            raise InputError(f"backend {self.network.backend}: this needs the model itself; load it with backend torch")
        return self.network.model

    def verified_by(self: C, verifier: Verifier) -> C:
        """The same with a target that has the last word, and with the EdiT5 and thresholds that draft best for it."""
        from edit_gec.backends.torch_network import TorchNetwork

        thresholds = replace(self.thresholds, **verifier.drafting_thresholds())
        drafter = TorchNetwork(verifier.drafting_model(self.model))
        return replace(self, network=drafter, thresholds=thresholds, verifier=verifier, settings=None)

    def with_thresholds(self: C, **given: float) -> C:
        """The same with other thresholds; `min_confidence` is that of a target's edits where a target verifies.

        Raises InputError for a threshold that is unknown, or a `min_confidence` that is no probability.
        """
        check_confidence(given.get("min_confidence"))
        if unknown := sorted(set(given) - set(asdict(self.thresholds))):
            raise InputError(f"threshold {unknown[0]}: expected one of {', '.join(asdict(self.thresholds))}")
        least = self.verified_confidence
        if self.verifier is not None:
            least = given.pop("min_confidence", least)
        return replace(self, thresholds=self.thresholds.replaced(given), verified_confidence=least)

    def encode(self, sentence: str) -> list[Pieces]:
        """The pieces of a sentence, in windows that the model can read."""
        from edit_gec.editing.windows import readable_windows

        return readable_windows(self.tokens.encode(sentence), self.tokens, self.network.config.max_pieces)

    def group_by_length(self, sentences: Sequence[Pieces], most: int) -> list[list[int]]:
        """Which sentences make a batch: the places of each batch's, `most` at most, the longest first."""
        return plan_batches([len(pieces) for pieces in sentences], most, self.network.batch_overhead)

    def correct_windows(self, windows: Sequence[Pieces]) -> list[SentenceChanges]:
        """What changes in each window of one batch."""
        from edit_gec.editing.second_pass import SecondPass

        if self.verifier is not None:
            return self._verify(windows, self.verifier)
        plans = self.predict_plans(windows)  # 3
        second = SecondPass(self._predict_with, self.tokens, self.thresholds, self.network.config.max_pieces)
        return [SentenceChanges(tuple(changes)) for changes in second.apply(windows, plans)]  # 4, 5

    def predict_plans(self, windows: Sequence[Pieces], network: Network | None = None) -> list[Prediction]:
        """Plans for one batch; `network` stands in for this corrector's own where it knows more about the batch."""
        from edit_gec.editing.decode import predict

        return predict(network or self.network, self.tokens, windows, self.thresholds, lexicon=self.spelling)

    def _predict_with(self, windows: Sequence[Pieces], thresholds: Thresholds) -> list[Prediction]:
        return replace(self, thresholds=thresholds).predict_plans(windows)

    def _verify(self, windows: Sequence[Pieces], verifier: Verifier) -> list[SentenceChanges]:
        from edit_gec.backends.torch_network import TorchNetwork
        from edit_gec.editing.respelling import Respelt, respell
        from edit_gec.editing.second_pass import changes_of, judge, merge_passes

        begun = perf_counter()
        encoded = verifier.encode(self.model, windows)
        predictions = self.predict_plans(windows, TorchNetwork(self.model, encoded.edit5 if encoded else None))  # 3
        verifier.count_draft(perf_counter() - begun)
        found = changes_of(windows, predictions, self.tokens)  # 4
        drafted = [judge(*each, self.thresholds) for each in zip(found, predictions, strict=True)]
        drafts = verifier.draft(windows, predictions, self.tokens)
        read = respell(windows, predictions, self.tokens) if verifier.profile.respelt else Respelt([*windows], {})
        encoded = verifier.renew(encoded, self.model, read.windows, list(read.changes))
        verified = verifier.verify(read.windows, drafts, encoded)  # 6
        for n, changes in read.changes.items():
            verified[n] = merge_passes(windows[n], changes, verified[n])
        return [SentenceChanges(tuple(a), tuple(b)) for a, b in zip(drafted, verified, strict=True)]
