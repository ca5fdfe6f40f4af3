"""What runs an EdiT5: the protocol that decisions (editing/) are written against, numpy in and numpy out.

    source = network.encode(ids)                         B sentences
    network.tag(source), network.point(source, tags)     what the tags and the order are chosen by
    memory = network.remember(source, rows, tags, ranks) what the insertion decoder attends to
    writing = memory.attach(sentences, anchors)          N slots
    writing.score(...)                                   given texts, in one pass
    writing.begin(...); writing.step(...)                greedily, piece by piece

`source`, `memory` and `writing` belong to the network that made them. Two implementations: torch_network.py (CPU, GPU,
reduced precision, drafting for a target) and onnx_network.py (CPU, without torch).

B sentences of S positions each (sentinel, pieces, </s>), M sentences that the decoder reads, N slots, R rows of the
decoder, T its length, C places whose output is requested, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from edit_gec.modeling.config import EdiT5Config
from edit_gec.modeling.tokenizer import PAD, UNK

Ids = Sequence[Sequence[int]]  # numbers of several sentences, each of its own length
SMALL = 1 << 20  # weights of a layer up to which a batch is not worth a second thread (edit5-mini: 180k)


class ScoringRequest(NamedTuple):
    """Texts whose probability is requested: decoder inputs [N][T], the places [C] (row, position) after which something
    stands, and which piece [K] stands after which of these places (place, piece)."""

    stream: Ids
    places: Sequence[tuple[int, int]]
    pieces: Sequence[tuple[int, int]]


class Writing(Protocol):
    """N slots, and the rows of the decoder that write into them."""

    def score(self, request: ScoringRequest) -> np.ndarray:
        """Log-probability [K] of the pieces that are requested; row n of the stream belongs to slot n."""

    def begin(self, slots: Sequence[int]) -> None:
        """Open a row for each of these slots."""

    def step(self, slots: Sequence[int], pieces: Sequence[int]) -> tuple[list[float], list[int]]:
        """Read a piece in each row [R], which writes into these slots; log-probability and id of the most likely next.

        Pieces that are never written do not count.
        """

    def keep(self, rows: Sequence[int]) -> None:
        """Close all rows but these."""


class Memory(Protocol):
    """M sentences as the insertion decoder attends to them."""

    def attach(self, sentences: Sequence[int], anchors: Sequence[int]) -> Writing:
        """N slots: in which of the sentences each is, and at which position."""


class Network(Protocol):
    """An EdiT5 that is loaded. Several threads may use it."""

    @property
    def backend(self) -> str:
        """What runs it: "torch" or "onnx"."""

    @property
    def device(self) -> str:
        """Where: "cpu", "cuda:0", ..."""

    @property
    def precision(self) -> str:
        """Of its products: "float32", "int8", "bfloat16", ..."""

    @property
    def batch_overhead(self) -> float:
        """Fixed cost of a batch, in pieces (editing/batching.py)."""

    @property
    def gains_from_batches(self) -> bool:
        """Whether a sentence is worth waiting for others (runtime/dynamic_batching.py)."""

    @property
    def config(self) -> EdiT5Config:
        """Its shape."""

    def encode(self, ids: Ids) -> Any:
        """Read B sentences: sentinel, pieces, </s>."""

    def tag(self, source: Any) -> Sequence[np.ndarray]:
        """Tag logits of each sentence, [S, 4] or with more rows."""

    def point(self, source: Any, tags: Ids) -> Sequence[np.ndarray]:
        """Scores of each sentence, [S, S] or more: which kept piece comes next; `tags` are those of all positions."""

    def remember(self, source: Any, rows: Sequence[int], tags: Ids, ranks: Ids) -> Memory:
        """Some of the sentences with their tags and ranks: the position in the output order, -1 for deleted pieces."""

    def get_threads(self) -> int:
        """On how many threads a product is computed here."""

    def set_threads(self, count: int) -> None:
        """Compute on so many from now on in this thread, where the network can choose."""


def is_small(config: EdiT5Config) -> bool:
    """Whether the layers are so small that each batch belongs on one core."""
    return config.d_model * config.d_ff < SMALL


def never_written(config: EdiT5Config) -> np.ndarray:
    """Pieces [V] that no slot gets: padding, what is unknown, and the names of slots."""
    banned = np.zeros(config.vocab_size, bool)
    banned[[PAD, UNK]] = True
    banned[config.vocab_size - config.slots :] = True
    return banned
