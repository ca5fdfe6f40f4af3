"""The models and their decisions, from pieces to changes: the stage `predict` of corrector.py.

windows of one batch -> plans (3) -> changes (4) -> a second pass over what changed (5)
                                                    -> a target's second opinion (6)
                                                 -> or exact verification by a target (6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from edit_gec.editing.batching import plan_batches
from edit_gec.errors import InputError
from edit_gec.speculative.loading import LoadSettings, check_confidence
from edit_gec.text.edits import Change
from edit_gec.text.sentences import Sentence
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.backends.network import Network
    from edit_gec.editing.decode import Prediction
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import Thresholds
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Pieces, Tokens
    from edit_gec.speculative.second_opinion import SecondOpinion
    from edit_gec.speculative.verifier import Verifier

C = TypeVar("C", bound="WindowCorrector")


class SentenceChanges(NamedTuple):
    """The changes of a window: those that EdiT5 drafts, and those of a target if there is one."""

    drafted: tuple[Change, ...]
    verified: tuple[Change, ...] | None = None


def join_changes(windows: Sequence[SentenceChanges]) -> SentenceChanges:
    """The changes of a sentence, from those of its windows, of which there is at least one."""
    drafted = tuple(change for window in windows for change in window.drafted)
    if windows[0].verified is None:
        return SentenceChanges(drafted)
    return SentenceChanges(drafted, tuple(change for window in windows for change in window.verified or ()))


@dataclass(frozen=True)
class ModelWindow:
    """A stretch of pieces that the model reads at once: a sentence, or a part of an overlong one."""

    text: int  # which of the texts
    sentence: Sentence
    pieces: Pieces


@dataclass(frozen=True, eq=False, repr=False)
class WindowCorrector:
    """An EdiT5 with its thresholds, alone or with a target. Immutable and thread-safe.

    verifier: a target whose own text is wanted. second_opinion: a target that judges the edits of the EdiT5.
    verified_confidence: the lowest probability of an edit of the verifier's target. settings: the arguments of `load`.
    batch_size: windows that are read together. workers: batches that are read at the same time.
    """

    network: Network
    tokens: Tokens
    thresholds: Thresholds
    _: KW_ONLY
    spelling: WordList | None = None
    verifier: Verifier | None = None
    second_opinion: SecondOpinion | None = None
    verified_confidence: float = 0.0
    settings: LoadSettings | None = None
    batch_size: int = 32
    workers: int = 1

    @property
    def model(self) -> EdiT5:
        """The torch module of the network. Raises InputError if the backend is not torch."""
        from edit_gec.backends.torch_network import TorchNetwork

        if not isinstance(self.network, TorchNetwork):
            raise InputError(f"backend {self.network.backend}: this needs the model itself; load it with backend torch")
        return self.network.model

    def verified_by(self: C, verifier: Verifier) -> C:
        """A copy whose edits are those of a target, with the EdiT5 and the thresholds that draft best for it."""
        from edit_gec.backends.torch_network import TorchNetwork

        thresholds = replace(self.thresholds, **verifier.drafting_thresholds())
        drafter = TorchNetwork(verifier.drafting_model(self.model))
        return replace(self, network=drafter, thresholds=thresholds, verifier=verifier, settings=None)

    def with_thresholds(self: C, **given: float) -> C:
        """A copy with other thresholds. With a verifier, `min_confidence` applies to its target's edits.

        Raises InputError for an unknown threshold, or a `min_confidence` that is not a probability.
        """
        check_confidence(given.get("min_confidence"))
        if unknown := sorted(set(given) - set(asdict(self.thresholds))):
            raise InputError(f"threshold {unknown[0]}: expected one of {', '.join(asdict(self.thresholds))}")
        lowest = self.verified_confidence
        if self.verifier is not None:
            lowest = given.pop("min_confidence", lowest)
        return replace(self, thresholds=self.thresholds.replaced(given), verified_confidence=lowest)

    def summarize_target(self) -> dict[str, Any] | None:
        """What the target did so far, for JSON; None without a target."""
        if self.verifier is not None:
            return self.verifier.summary()
        return None if self.second_opinion is None else self.second_opinion.summary()

    def encode(self, sentence: str) -> list[Pieces]:
        """The pieces of a sentence, in windows that the model can read, and the verifier's target if there is one."""
        from edit_gec.editing.windows import fitting_windows, readable_windows

        windows = readable_windows(self.tokens.encode(sentence), self.tokens, self.network.config.max_pieces)
        if self.verifier is None:
            return windows
        return [part for window in windows for part in fitting_windows(window, self.verifier.target.fits)]

    def encode_windows(self, sentences: Iterable[tuple[int, Sentence]]) -> list[ModelWindow]:
        """The sentences, each with the number of its text, in windows that the model can read."""
        with span(Stage.TOKENIZE):
            return [
                ModelWindow(number, sentence, pieces)
                for number, sentence in sentences
                for pieces in self.encode(sentence.text)
            ]

    def group_by_length(self, windows: Sequence[Pieces], max_size: int) -> list[list[int]]:
        """Which windows make a batch: their places, at most `max_size` in a batch, the longest windows first."""
        return plan_batches([len(pieces) for pieces in windows], max_size, self.network.batch_overhead)

    def correct_all(
        self, windows: Sequence[Pieces], progress: Callable[[int, int], None] | None = None
    ) -> list[SentenceChanges]:
        """The changes of each window. Windows of similar length make a batch; the longest are read first.

        `progress` is called with (windows done, windows in all) after each batch.
        """
        from edit_gec.editing.workers import map_batches

        size = min(self.batch_size, -(-len(windows) // self.workers) or 1)  # something for every worker
        batches = self.group_by_length(windows, size)
        read = [[windows[n] for n in batch] for batch in batches]
        results = map_batches(self.correct_windows, read, self.workers, self.network)
        found: dict[int, SentenceChanges] = {}
        for batch, changes in zip(batches, results, strict=True):
            found.update(zip(batch, changes, strict=True))
            if progress:
                progress(len(found), len(windows))
        return [found[n] for n in range(len(windows))]

    def correct_windows(self, windows: Sequence[Pieces]) -> list[SentenceChanges]:
        """The changes of each window of one batch."""
        if self.verifier is not None:
            return self._verify(windows, self.verifier)
        if self.second_opinion is None:
            found = self.propose(windows, self.thresholds)
        else:
            least = self.second_opinion.scale.lowest_first(self.thresholds.threshold)
            proposed = self.propose(windows, replace(self.thresholds, min_confidence=least))
            found = self.second_opinion.judge(windows, proposed, self.thresholds.threshold)  # 6
        return [SentenceChanges(tuple(changes)) for changes in found]

    def propose(self, windows: Sequence[Pieces], thresholds: Thresholds) -> list[list[Change]]:
        """The changes of the EdiT5 alone in each window of one batch, with its own confidence."""
        from edit_gec.editing.second_pass import SecondPass

        plans = self._predict_with(windows, thresholds)  # 3
        second = SecondPass(self._predict_with, self.tokens, thresholds, self.network.config.max_pieces)
        return second.apply(windows, plans)  # 4, 5

    def predict_plans(self, windows: Sequence[Pieces], network: Network | None = None) -> list[Prediction]:
        """Plans for one batch; `network` replaces the corrector's own, for instance with one that has encoded it."""
        from edit_gec.editing.decode import predict

        return predict(network or self.network, self.tokens, windows, self.thresholds, lexicon=self.spelling)

    def _predict_with(self, windows: Sequence[Pieces], thresholds: Thresholds) -> list[Prediction]:
        return replace(self, thresholds=thresholds).predict_plans(windows)

    def _verify(self, windows: Sequence[Pieces], verifier: Verifier) -> list[SentenceChanges]:
        from edit_gec.backends.torch_network import TorchNetwork
        from edit_gec.editing.respelling import Respelt, respell
        from edit_gec.editing.second_pass import changes_of, judge, merge_passes
        from edit_gec.editing.windows import leave_cuts

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
        whole = [leave_cuts(*each) for each in zip(verified, windows, strict=True)]
        return [SentenceChanges(tuple(a), tuple(b)) for a, b in zip(drafted, whole, strict=True)]
