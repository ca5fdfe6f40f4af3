"""What verification asks of a target: T5s (target.py) and decoder-only models (causal_target.py) answer alike.

A target reads sources (`encode_shared`) and adds them as rows to a decoder (`new_decoder`). A row begins with its
start token. Each pass then reads some tokens of each row, and `choose` says what the target writes after each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.precision import exact_products
from edit_gec.modeling.tokenizer import Vocabulary
from edit_gec.speculative.sampling import Sampling, choose_tokens, find_ties
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from typing_extensions import Self

S = TypeVar("S", bound="Sources")
MAX_LENGTH = 256  # tokens of one output, its end included
GROWTH = 2
ROOM = 16  # no correction has more than GROWTH * source + ROOM tokens; a longer output repeats itself


class Context(NamedTuple):
    """What a target reads before it chooses a token."""

    sentence: str
    written: Sequence[int]  # the tokens so far, without the start token


class Sources(Protocol):
    """The sources of B sentences, as the target reads them."""

    @property
    def starts(self) -> Sequence[int]:
        """The token that each row reads before it writes its first one."""

    @property
    def edit5_states(self) -> Sequence[Tensor] | None:
        """[S, d] of each sentence for the heads of an EdiT5 on the same encoder."""

    def rows(self: S, numbers: Sequence[int]) -> S:
        """Those of some of the sentences."""


class RowDecoder(Protocol):
    """Unfinished rows, each at its own length. Lengths count the start token and what was read after it."""

    def add_sources(self, sources: Any) -> None:
        """Add a row for each source."""

    def read_pending(self) -> None:
        """Read what is not read yet of the sources; the first `forward` does so by itself."""

    def keep(self, rows: Sequence[int]) -> None:
        """Keep these rows, in this order; a row may be kept several times."""

    def forward(self, inputs: Sequence[Sequence[int]]) -> Tensor:
        """Read one or more tokens of each row -> hidden [N, d], row after row."""

    def roll_back(self, lengths: Sequence[int]) -> None:
        """Rows hold this many tokens from now on."""


class AnyTarget(ABC):
    """A model that writes corrections token by token."""

    model: Any  # its network
    tokens: Vocabulary
    max_length: int  # tokens of an output
    ends: frozenset[int]  # tokens that end an output
    pass_cost: float  # of a pass on a CPU beside its tokens, in tokens
    edit5: EdiT5 | None = None  # the one whose encoder it shares

    @property
    def entries(self) -> int:
        """Rows of its output layer: the tokens that it may write."""
        return int(self.model.config.vocab_size)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        device: torch.device = self.model.embedding.weight.device
        return device

    def shares(self, edit5: EdiT5) -> bool:
        """Whether the encoder of this EdiT5 is its own."""
        return self.edit5 is not None and self.edit5.encoder is edit5.encoder

    def drafted_by(self, edit5: EdiT5 | None) -> Self:
        """The same target, which encodes for another EdiT5 on its encoder (shared_encoder.read_with), or for none."""
        return self

    @abstractmethod
    def fits(self, sentence: str) -> bool:
        """Whether it can read a sentence of this length."""

    def limit(self, sentence: str) -> int:
        """Most tokens of this sentence's output, its end included.

        A small model that repeats itself without end is cut off here, in `generate` and in verification alike.
        """
        return output_limit(len(self.tokens.ids(sentence)), self.max_length)

    @abstractmethod
    def encode_shared(self, sentences: Sequence[str]) -> Any:
        """Sources of these sentences. Raises InputError for one that does not fit."""

    @abstractmethod
    def new_decoder(self) -> RowDecoder:
        """A decoder without rows."""

    def logits(self, hidden: Tensor) -> Tensor:
        """hidden [N, d] -> [N, V]."""
        logits: Tensor = self.model.logits(hidden)
        return logits

    @abstractmethod
    def next_logits(self, sentence: str, written: Sequence[int]) -> Tensor:
        """Logits [V] of the token that follows what is written, from one pass over this sentence alone."""

    def choose(
        self,
        logits: Tensor,
        sampling: Sampling | None,
        places: Sequence[tuple[int, int]],
        context: Callable[[int], Context],
        drafted: Sequence[int | None] = (),
    ) -> list[int]:
        """The token at each place (sentence, position), from logits [N, V]; `context` says what stands before a place.

        `drafted` are the tokens that stand at these places in drafts, None after the last of each draft. Where one is
        not chosen, the places behind it decide nothing and are left.

        Rounding depends on what is read together. So in float32, where two tokens are almost equally likely, the
        sentence is read once more by itself: then plain decoding and verification choose the same token.

        Raises ModelError for NaN.
        """
        tokens = choose_tokens(logits, sampling, places)
        if sampling is None and logits.dtype == torch.float32:
            ties = set(find_ties(logits))
            decides = True
            for n in range(len(tokens) if ties else 0):
                if decides and n in ties:
                    tokens[n] = int(self.next_logits(*context(n)).argmax())
                draft = drafted[n] if drafted else None
                decides = draft is None or (decides and draft == tokens[n])
        return tokens

    @torch.inference_mode()
    @exact_products()
    def generate(
        self, sentences: Sequence[str], sampling: Sampling | None = None, *, batch_size: int = 32
    ) -> list[list[int]]:
        """Output tokens of each sentence, the end included unless `limit` cut it off. Greedy without `sampling`.

        One pass for each token: the plain reference. Raises InputError for an overlong sentence, and ModelError for a
        model whose logits are not finite.
        """
        outputs: list[list[int]] = [[] for _ in sentences]
        for first in range(0, len(sentences), batch_size):
            rows = list(range(first, min(first + batch_size, len(sentences))))
            sources = self.encode_shared([sentences[row] for row in rows])
            limits = {row: self.limit(sentences[row]) for row in rows}
            decoder = self.new_decoder()
            with span(Stage.DECODER_SETUP):
                decoder.add_sources(sources)
            last = list(sources.starts)

            def context(n: int) -> Context:
                return Context(sentences[rows[n]], outputs[rows[n]])  # noqa: B023

            while rows:
                with span(Stage.DECODER_STEP):
                    logits = self.logits(decoder.forward([[token] for token in last]))  # [B, V]
                    last = self.choose(logits, sampling, [(row, len(outputs[row])) for row in rows], context)
                for row, token in zip(rows, last, strict=True):
                    outputs[row].append(token)
                is_over = [last[n] in self.ends or len(outputs[row]) >= limits[row] for n, row in enumerate(rows)]
                going = [n for n, over in enumerate(is_over) if not over]
                decoder.keep(going)
                rows, last = [rows[n] for n in going], [last[n] for n in going]
        return outputs

    @abstractmethod
    def text(self, ids: Sequence[int]) -> str:
        """Text of an output."""


def output_limit(pieces: int, max_length: int = MAX_LENGTH) -> int:
    """Most tokens of the output for a source of so many pieces, prefix and end not counted."""
    return min(max_length, GROWTH * pieces + ROOM)
