"""An EdiT5 run by ONNX Runtime, behind the protocol of network.py: on a CPU, without torch.

Every sentence is encoded alone. Batches would be no faster, would have to be padded, and with products in int8 a
sentence's result would depend on the others: activations are quantised by the largest of them. The decoder computes in
float32 and writes into all slots of a batch at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from edit_gec.backends.network import Ids, ScoringRequest, is_small, never_written
from edit_gec.backends.relative_bias import RelativeBias
from edit_gec.backends.sessions import REMEDY, Sessions, first_line, open_sessions
from edit_gec.errors import ModelError
from edit_gec.modeling.config import NEGATIVE, POINT_DISTANCE, EdiT5Config, edit5_config, read_config
from edit_gec.modeling.tagset import INSERT, KEEP, Tag
from edit_gec.modeling.tokenizer import EOS
from edit_gec.modeling.weights import Weights, read_weights


class EncodedSentence(NamedTuple):
    """One encoded sentence."""

    encoded: np.ndarray  # [1, S, d]
    tag_logits: np.ndarray  # [1, S, 4]
    bias: np.ndarray  # [1, H, S, S]


@dataclass(frozen=True, eq=False)
class OnnxNetwork:
    """A network (network.py) of ONNX Runtime's sessions, and of the tables that are looked up outside of them."""

    config: EdiT5Config
    sessions: Sessions
    relative: RelativeBias  # of the encoder
    decoder_relative: RelativeBias
    anchor_distance: RelativeBias
    point_distance: np.ndarray  # [2 * POINT_DISTANCE + 1]
    precision: str = "float32"
    backend: ClassVar[str] = "onnx"
    device: ClassVar[str] = "cpu"
    batch_overhead: ClassVar[float] = 1e6  # nothing is padded: fewest batches
    gains_from_batches: ClassVar[bool] = False

    @classmethod
    def load(cls, folder: Path, *, int8: bool = False, threads: int = 1, profiles: Path | None = None) -> OnnxNetwork:
        """The network of a model folder with exported graphs; a large one computes on `threads` threads.

        `profiles` is where ONNX Runtime's profiler writes what it measures (sessions.py); None leaves it off.

        Raises ModelError where a graph or the weights are missing, broken, or of another model.
        """
        config = edit5_config(read_config(folder), str(folder / "config.json"))
        weights = read_weights(folder)
        threads = 1 if is_small(config) else threads
        sessions = open_sessions(folder, weights, int8=int8, threads=threads, profiles=profiles)
        network = cls(
            config,
            sessions,
            _relative(config, weights, "encoder.relative", bidirectional=True),
            _relative(config, weights, "decoder.relative", bidirectional=False),
            _relative(config, weights, "anchor_distance", bidirectional=True),
            weights.table("point_distance", 2 * POINT_DISTANCE + 1),
            "int8" if int8 else "float32",
        )
        network.try_out(folder)
        return network

    def try_out(self, folder: Path) -> None:
        """Correct one piece with every graph. Raises ModelError where a graph or a weight is of another shape."""
        ids = [[self.config.vocab_size - 1, EOS + 1, EOS]]
        kept = [[KEEP] * 3]
        try:
            source = self.encode(ids)
            (tags,) = self.tag(source)
            (points,) = self.point(source, kept)
            writing = self.remember(source, [0], kept, [[0, 1, 2]]).attach([0], [0])
            writing.begin([0])
            (score,), (piece,) = writing.step([0], [self.config.vocab_size - 1])
        except Exception as error:  # ONNX Runtime's own errors share no public class
            raise ModelError(f"{folder}: graphs and weights do not fit each other ({first_line(error)})") from None
        if tags.shape != (3, len(Tag)) or points.shape != (3, 3) or piece >= self.config.vocab_size:
            raise ModelError(f"{folder}: the graphs are of another model; {REMEDY}")
        if not (np.isfinite(tags).all() and np.isfinite(points).all() and np.isfinite(score)):
            raise ModelError(f"{folder}: the graphs compute values that are no numbers; {REMEDY}")

    @cached_property
    def banned(self) -> np.ndarray:
        """`never_written` [V]."""
        return never_written(self.config)

    def get_threads(self) -> int:
        """On how many threads a product is computed."""
        return 1

    def set_threads(self, count: int) -> None:
        """Does nothing: the number is fixed when the sessions are opened."""

    def encode(self, ids: Ids) -> list[EncodedSentence]:
        """Read B sentences."""
        sentences = []
        for each in ids:
            bias = self.relative.square(len(each))
            encoded, tag_logits = self.sessions.encode.run(None, {"ids": np.array([each]), "bias": bias})
            sentences.append(EncodedSentence(encoded, tag_logits, bias))
        return sentences

    def tag(self, source: Sequence[EncodedSentence]) -> list[np.ndarray]:
        """Tag logits of each sentence."""
        return [sentence.tag_logits[0] for sentence in source]

    def point(self, source: Sequence[EncodedSentence], tags: Ids) -> list[np.ndarray]:
        """Scores of the next kept piece, for each sentence."""
        return [self._point(*each) for each in zip(source, map(np.array, tags), strict=True)]

    def _point(self, sentence: EncodedSentence, tags: np.ndarray) -> np.ndarray:
        """Scores [S, S], as EdiT5.point computes them."""
        (scores,) = self.sessions.point.run(None, {"encoded": sentence.encoded, "tags": tags[None]})
        kept = (tags == KEEP) | (tags == INSERT)
        order = kept.cumsum()
        distance = (order[None, :] - order[:, None]).clip(-POINT_DISTANCE, POINT_DISTANCE)
        scores = scores[0] + self.point_distance[distance + POINT_DISTANCE]
        scores[~kept] = scores[:, ~kept] = NEGATIVE
        return scores  # type: ignore[no-any-return]

    def remember(self, source: Sequence[EncodedSentence], rows: Sequence[int], tags: Ids, ranks: Ids) -> OnnxMemory:
        """Some sentences, as the decoder attends to them."""
        found = []
        for row, of_tags, of_ranks in zip(rows, tags, ranks, strict=True):
            encoded, _, bias = source[row]
            inputs = {"encoded": encoded, "tags": np.array([of_tags]), "ranks": np.array([of_ranks]), "bias": bias}
            found.append(self.sessions.encode_plan.run(None, inputs))
        lengths = np.array([len(each) for each in tags])
        anchors, keys, values = (_stack([one[n][0] for one in found], axis) for n, axis in ((0, 0), (1, 1), (2, 1)))
        return OnnxMemory(self, lengths, anchors, keys, values)


@dataclass(frozen=True, eq=False)
class OnnxMemory:
    """M sentences as the decoder attends to them, padded to the longest."""

    network: OnnxNetwork
    lengths: np.ndarray  # [M]
    anchors: np.ndarray  # [M, S, d] what a slot that is anchored there adds to the decoder's input
    cross_keys: np.ndarray  # [M, H, S, k]
    cross_values: np.ndarray  # [M, H, S, k]

    def attach(self, sentences: Sequence[int], anchors: Sequence[int]) -> OnnxWriting:
        """N slots in these sentences, at these positions."""
        return OnnxWriting(self, np.array(sentences), np.array(anchors))


class OnnxWriting:
    """The rows of the decoder, and the keys and values of what they have read."""

    def __init__(self, memory: OnnxMemory, sentence: np.ndarray, anchor: np.ndarray) -> None:
        self.network = memory.network
        self.sentence = sentence  # [N]
        self.anchored = memory.anchors[sentence, anchor]  # [N, d]
        positions = np.arange(memory.anchors.shape[1])
        padding = np.where(positions < memory.lengths[sentence, None], np.float32(0), np.float32(NEGATIVE))  # [N, S]
        distance = self.network.anchor_distance(positions - anchor[:, None, None])  # [N, H, 1, S]
        self.cross_bias = distance + padding[:, None, None, :]
        self.source = {"cross_keys": memory.cross_keys, "cross_values": memory.cross_values}
        self.past = self._nothing(0)

    def score(self, request: ScoringRequest) -> np.ndarray:
        """Log-probability [K] of the pieces that are requested."""
        stream = _stack([np.array(row) for row in request.stream], 0)  # [N, T], filled up with PAD
        log_probabilities, *_ = self._decode(
            stream, np.arange(len(stream)), np.array(request.places), self._nothing(len(stream))
        )
        place, piece = np.array(request.pieces).T
        found: np.ndarray = log_probabilities[place, piece]
        return found

    def begin(self, slots: Sequence[int]) -> None:
        """Open a row for each of these slots."""
        self.past = self._nothing(len(slots))

    def step(self, slots: Sequence[int], pieces: Sequence[int]) -> tuple[list[float], list[int]]:
        """Read a piece in each row; what comes next."""
        numbers = np.arange(len(slots))
        at = np.stack([numbers, np.zeros_like(numbers)], 1)
        log_probabilities, *self.past = self._decode(np.array(pieces)[:, None], np.array(slots), at, self.past)
        log_probabilities[:, self.network.banned] = NEGATIVE
        chosen = log_probabilities.argmax(-1)
        return log_probabilities[numbers, chosen].tolist(), chosen.tolist()

    def keep(self, rows: Sequence[int]) -> None:
        """Close all rows but these."""
        self.past = [each[list(rows)] for each in self.past]

    def _decode(
        self, stream: np.ndarray, slots: np.ndarray, at: np.ndarray, past: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Log-probabilities [C, V] at the places `at` [C, 2], and all keys and values, of the stream [R, T]."""
        inputs = {
            "stream": stream,
            "anchored": self.anchored[slots],
            "sentence": self.sentence[slots],
            "at": at,
            "cross_bias": self.cross_bias[slots],
            "self_bias": self.network.decoder_relative.causal(stream.shape[1], past[0].shape[2]),
            "past_keys": past[0],
            "past_values": past[1],
        }
        found: list[np.ndarray] = self.network.sessions.decode.run(None, {**inputs, **self.source})
        return found

    def _nothing(self, rows: int) -> list[np.ndarray]:
        """Keys and values of no position."""
        config = self.network.config
        return [np.zeros((rows, config.num_heads, 0, config.d_kv), np.float32)] * 2


def _relative(config: EdiT5Config, weights: Weights, name: str, *, bidirectional: bool) -> RelativeBias:
    table = weights.table(f"{name}.weight", config.relative_attention_num_buckets, config.num_heads)
    return RelativeBias(table, config.relative_attention_max_distance, bidirectional=bidirectional)


def _stack(arrays: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """Arrays that differ in the length of one axis, filled up with 0 and stacked."""
    shape = list(arrays[0].shape)
    shape[axis] = max(each.shape[axis] for each in arrays)
    stacked = np.zeros((len(arrays), *shape), arrays[0].dtype)
    for row, each in zip(stacked, arrays, strict=True):
        row[(*[slice(None)] * axis, slice(each.shape[axis]))] = each
    return stacked
