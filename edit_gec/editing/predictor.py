"""What corrects windows: `EdiT5Predictor`, and the protocol of all that can stand in its place.

    windows = [Window(0, sentence, pieces), ...]        sentences that the model reads at once, or parts of them
    predictor.predict(windows)  ->  [WindowChanges(changes), ...]

    EdiT5Predictor      pieces -> plans: tags, order, insertions (decode.py) -> changes -> second pass (second_pass.py)
    Judged, Verified    an EdiT5Predictor whose changes a second model judges, or verifies (speculative/)

`Corrector` holds one predictor, chosen once, when it is loaded. Everything here is immutable and thread-safe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from edit_gec.config.load_settings import check_confidence
from edit_gec.editing.batching import plan_batches
from edit_gec.errors import InputError
from edit_gec.text.edits import Change
from edit_gec.text.sentences import Sentence

if TYPE_CHECKING:
    from typing_extensions import Self

    from edit_gec.backends.network import Network
    from edit_gec.editing.decode import Prediction
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import Thresholds
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Pieces, Tokens


@dataclass(frozen=True)
class Window:
    """A stretch of pieces that the model reads at once: a sentence, or a part of an overlong one."""

    text: int  # which of the texts
    sentence: Sentence
    pieces: Pieces


class WindowChanges(NamedTuple):
    """What is changed in a window, and what an EdiT5 had drafted where a target's own changes count.

    is_read: what the changes make of the window was read, and nothing in it changes. doubt: the largest probability
    that a piece does not simply stay, 1 where no EdiT5 said it.
    """

    changes: tuple[Change, ...]
    drafted: tuple[Change, ...] = ()
    is_read: bool = False
    doubt: float = 1.0


def join_changes(windows: Sequence[WindowChanges]) -> WindowChanges:
    """The changes of a sentence, from those of its windows."""
    changes = tuple(change for window in windows for change in window.changes)
    drafted = tuple(change for window in windows for change in window.drafted)
    return WindowChanges(changes, drafted, len(windows) == 1 and windows[0].is_read)


class Predictor(Protocol):
    """Windows -> changes."""

    @property
    def edit5(self) -> EdiT5Predictor:
        """The EdiT5 that proposes; its network says which windows are read together."""

    @property
    def threshold(self) -> float:
        """The lowest confidence of a change, as users set it."""

    @property
    def is_exact(self) -> bool:
        """The changes are a target's own text; nothing is added to it, neither alternatives nor hints."""

    @property
    def settles(self) -> bool:
        """What it changes is read until nothing changes (settling.py)."""

    def encode(self, sentence: str) -> list[Pieces]:
        """The pieces of a sentence, in windows that can be read at once."""

    def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
        """What changes in each window of one batch. It depends on no other window."""

    def with_thresholds(self, **given: float) -> Self:
        """A copy with other thresholds (thresholds.py); `min_confidence` is that of `threshold`.

        Raises InputError for an unknown threshold, or a `min_confidence` that is not a probability.
        """

    def summary(self) -> dict[str, Any] | None:
        """What a second model did so far, for JSON; None without one."""

    def take_counts(self) -> Counter[str]:
        """Sums of what a second model did since the last call, which can be added over machines and runs."""


@dataclass(frozen=True, eq=False, repr=False)
class EdiT5Predictor:
    """An EdiT5 with its thresholds and its list of words."""

    network: Network
    tokens: Tokens
    thresholds: Thresholds
    spelling: WordList | None = None

    is_exact = False

    @property
    def edit5(self) -> EdiT5Predictor:
        """Itself."""
        return self

    @property
    def threshold(self) -> float:
        """The lowest confidence of a change."""
        return self.thresholds.min_confidence

    @property
    def settles(self) -> bool:
        """Whether changed sentences are read again."""
        return self.thresholds.reads_twice

    @property
    def model(self) -> EdiT5:
        """The torch module of the network. Raises InputError if the backend is not torch."""
        from edit_gec.backends.torch_network import TorchNetwork

        if not isinstance(self.network, TorchNetwork):
            raise InputError(f"backend {self.network.backend}: this needs the model itself; load it with backend torch")
        return self.network.model

    def with_thresholds(self, **given: float) -> Self:
        """A copy with other thresholds, below those of its user, too; raises as `Predictor` says."""
        check_confidence(given.get("min_confidence"))
        own = asdict(self.thresholds)
        if unknown := sorted(set(given) - set(own)):
            raise InputError(f"threshold {unknown[0]}: expected one of {', '.join(own)}")
        return replace(self, thresholds=replace(self.thresholds, **{**own, **given}))

    def encode(self, sentence: str) -> list[Pieces]:
        """The pieces of a sentence, in windows that the model can read."""
        from edit_gec.editing.windows import readable_windows

        return readable_windows(self.tokens.encode(sentence), self.tokens, self.network.config.max_pieces)

    def group_by_length(self, windows: Sequence[Pieces], max_size: int) -> list[list[int]]:
        """Which windows make a batch: their places, at most `max_size` in a batch, the longest windows first."""
        return plan_batches([len(pieces) for pieces in windows], max_size, self.network.batch_overhead)

    def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
        """What changes in each window of one batch."""
        from edit_gec.editing.second_pass import SecondPass

        pieces = [window.pieces for window in windows]
        plans = self.predict_plans(pieces)
        second = SecondPass(self.predict_plans, self.tokens, self.thresholds, self.network.config.max_pieces)
        found = zip(plans, second.apply(pieces, plans), strict=True)
        return [WindowChanges(changes, is_read=is_read, doubt=plan.doubt) for plan, (changes, is_read) in found]

    def predict_plans(self, windows: Sequence[Pieces], thresholds: Thresholds | None = None) -> list[Prediction]:
        """The plans of one batch, by these thresholds or else by its own."""
        from edit_gec.editing.decode import predict

        return predict(self.network, self.tokens, windows, thresholds or self.thresholds, lexicon=self.spelling)

    def summary(self) -> None:
        """Nothing: there is no second model."""

    def take_counts(self) -> Counter[str]:
        """Nothing: there is no second model."""
        return Counter()
