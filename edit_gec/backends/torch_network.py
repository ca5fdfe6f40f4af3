"""An EdiT5 run by torch, behind the protocol of network.py: on a CPU or a GPU, in float32 or less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from edit_gec.backends.network import Ids, ScoringRequest, never_written
from edit_gec.modeling.config import EdiT5Config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.onednn import padded_length
from edit_gec.modeling.padding import pad
from edit_gec.modeling.t5 import Cache
from edit_gec.modeling.tagset import KEEP
from edit_gec.modeling.tokenizer import PAD

CPU_BATCH_OVERHEAD = (
    64  # of a batch, in pieces: on one core edit5-mini takes 7 ms for any batch, and 0.13 ms for each piece
)
GPU_BATCH_OVERHEAD = 1e6  # on a GPU a batch takes equally long whatever is in it: fewest batches first


class EncodedBatch(NamedTuple):
    """B encoded sentences."""

    mask: Tensor  # [B, S] true where there is a piece
    encoded: Tensor  # [B, S, d]
    bias: Tensor  # [B, H, S, S] attention bias of the later layers


@dataclass(frozen=True, eq=False)
class TorchNetwork:
    """A network (network.py) around a torch module.

    `encoded` [B, S, d]: what a target's encoder, which is the module's own, has already made of the only batch that
    this network reads.
    """

    model: EdiT5
    encoded: Tensor | None = None
    backend: ClassVar[str] = "torch"
    gains_from_batches: ClassVar[bool] = True

    @property
    def config(self) -> EdiT5Config:
        """Its shape."""
        return self.model.config

    @property
    def device(self) -> str:
        """Where it computes."""
        return str(self.model.embedding.weight.device)

    @property
    def precision(self) -> str:
        """The type of its weights."""
        return str(self.model.embedding.weight.dtype).removeprefix("torch.")

    @property
    def batch_overhead(self) -> float:
        """Fixed cost of a batch, in pieces."""
        return CPU_BATCH_OVERHEAD if self.model.embedding.weight.device.type == "cpu" else GPU_BATCH_OVERHEAD

    @cached_property
    def banned(self) -> Tensor:
        """`never_written` [V]."""
        return self.tensor(never_written(self.config))

    def get_threads(self) -> int:
        """On how many threads a product is computed."""
        return torch.get_num_threads()

    def set_threads(self, count: int) -> None:
        """Set that number for this thread."""
        torch.set_num_threads(count)

    def tensor(self, values: Sequence[object] | np.ndarray | Tensor) -> Tensor:
        """Numbers on the device of the module."""
        return torch.as_tensor(values, device=self.model.embedding.weight.device)

    @torch.inference_mode()
    def encode(self, ids: Ids) -> EncodedBatch:
        """Read B sentences."""
        lengths = self.tensor([len(each) for each in ids])
        width = padded_length(ids) if self.encoded is None else self.encoded.shape[1]
        mask = torch.arange(width, device=lengths.device)[None, :] < lengths[:, None]  # [B, S]
        if self.encoded is not None:
            return EncodedBatch(mask, self.encoded, self.model.encoder.bias(mask))
        return EncodedBatch(mask, *self.model.encode(self.tensor(pad(ids, PAD, width)), mask))

    @torch.inference_mode()
    def tag(self, source: EncodedBatch) -> list[np.ndarray]:
        """Tag logits of each sentence."""
        return list(to_numpy(self.model.tag(source.encoded, source.bias)))

    @torch.inference_mode()
    def point(self, source: EncodedBatch, tags: Ids) -> list[np.ndarray]:
        """Scores of the next kept piece, for each sentence."""
        padded = self.tensor(pad(tags, KEEP, source.mask.shape[1]))  # [B, S]
        return list(to_numpy(self.model.point(source.encoded, padded, source.mask)))

    @torch.inference_mode()
    def remember(self, source: EncodedBatch, rows: Sequence[int], tags: Ids, ranks: Ids) -> TorchMemory:
        """Some sentences, as the decoder attends to them."""
        chosen = self.tensor(rows)
        length = source.mask.shape[1]
        mask, encoded, bias = (each[chosen] for each in source)
        padded = self.tensor(pad(tags, KEEP, length)), self.tensor(pad(ranks, -1, length))  # [M, S]
        return TorchMemory(self, self.model.encode_plan(encoded, bias, *padded), mask)


class TorchMemory:
    """states [M, S, d] are what the decoder attends to (EdiT5.encode_plan), mask [M, S] is true where a piece is."""

    def __init__(self, network: TorchNetwork, states: Tensor, mask: Tensor) -> None:
        self.network = network
        self.states = states
        self.mask = mask
        self.cross_keys: list[tuple[Tensor, Tensor]] = network.model.decoder.cross_keys(states)

    @torch.inference_mode()
    def attach(self, sentences: Sequence[int], anchors: Sequence[int]) -> TorchWriting:
        """N slots in these sentences, at these positions."""
        return TorchWriting(self, sentences, anchors)


class TorchWriting:
    """The rows of the decoder, with their caches."""

    def __init__(self, memory: TorchMemory, sentences: Sequence[int], anchors: Sequence[int]) -> None:
        self.network = memory.network
        self.memory = memory
        self.model = memory.network.model
        self.sentence = self.network.tensor(sentences)  # [N]
        at = self.network.tensor(anchors)  # [N]
        self.embedding = self.model.anchor(memory.states[self.sentence, at])  # [N, d], as in EdiT5.embed_slots
        self.cross_bias = self.model.cross_bias(at[:, None], memory.mask[self.sentence])  # [N, H, 1, S]
        self.cross_keys: list[tuple[Tensor, Tensor]] = []  # of the rows
        self.caches: list[Cache] = []

    @torch.inference_mode()
    def score(self, request: ScoringRequest) -> np.ndarray:
        """Log-probability [K] of the pieces that are requested."""
        stream = self.network.tensor(pad(request.stream, PAD))  # [N, T]
        embedded = self.model.embedding(stream) + self.embedding[:, None]  # [N, T, d]
        hidden = self.model.decoder(embedded, self._cross_keys_of(self.sentence), self.cross_bias)
        row, at = self.network.tensor(request.places).unbind(-1)  # [C]
        log_probabilities = self.model.output(hidden[row, at]).float().log_softmax(-1)  # [C, V]
        place, piece = self.network.tensor(request.pieces).unbind(-1)  # [K]
        return to_numpy(log_probabilities[place, piece])

    @torch.inference_mode()
    def begin(self, slots: Sequence[int]) -> None:
        """Open a row for each of these slots."""
        self.cross_keys = self._cross_keys_of(self.sentence[self.network.tensor(slots)])
        self.caches = self.model.decoder.new_caches()

    @torch.inference_mode()
    def step(self, slots: Sequence[int], pieces: Sequence[int]) -> tuple[list[float], list[int]]:
        """Read a piece in each row; what comes next."""
        numbers, stream = self.network.tensor([slots, pieces]).unbind()  # one copy; [R] each
        embedded = self.model.embedding(stream[:, None]) + self.embedding[numbers, None]  # [R, 1, d]
        hidden = self.model.decoder(embedded, self.cross_keys, self.cross_bias[numbers], self.caches)
        values, ids = self.model.most_likely(hidden[:, 0], self.network.banned)
        chances, numbered = torch.stack([values.double(), ids.double()]).tolist()  # one copy, and one wait, for both
        return chances, list(map(int, numbered))

    @torch.inference_mode()
    def keep(self, rows: Sequence[int]) -> None:
        """Close all rows but these."""
        left = torch.tensor(rows, dtype=torch.long, device=self.sentence.device)
        self.cross_keys = [(keys[left], values[left]) for keys, values in self.cross_keys]
        for cache in self.caches:
            cache.select(left)

    def _cross_keys_of(self, sentence: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Cross-attention keys and values of every layer for R rows, each of the sentence [R]."""
        return [(keys[sentence], values[sentence]) for keys, values in self.memory.cross_keys]


def to_numpy(tensor: Tensor) -> np.ndarray:
    """A tensor in float32, on the CPU; shares its memory where it can."""
    numbers: np.ndarray = tensor.float().cpu().numpy()
    return numbers
