"""A batch of decoder rows that come, go and roll back, each at its own length.

    decoding = Decoding(model)
    decoding.admit(encoded, mask)                   # two sentences
    hidden = decoding.forward([[0, 7, 9], [0, 7]])  # their first 3 and 2 tokens: hidden [5, d]
    decoding.roll_back([2, 2])                      # the first row forgets its last token
    decoding.keep([1])                              # the first row is finished

Verification accepts more tokens in one row than in the next. T5 knows relative positions only, so a row may stand
anywhere: here every row starts at slot 0 of the cache, new keys are written behind its own length, and what other rows
have beyond that is masked. A roll-back is a smaller length.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.t5 import NEGATIVE, T5, Cache
from edit_gec.tokens import PAD


class RaggedCache(Cache):
    """Keys and values of one layer, row b filled up to lengths[b]; `length` is the longest row's.

    `append` writes behind the rows and returns everything; `roll_back` says afterwards how much of it stays.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lengths = torch.zeros(0, dtype=torch.long)

    @property
    def past(self) -> Tensor:
        return self.lengths

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        end = self.length + k.shape[2]
        if self._kv is None or end > self._kv.shape[3]:
            # zeros: a masked slot has weight 0, and 0 times whatever memory held before may be NaN
            grown = k.new_zeros((2, *k.shape[:2], max(16, 2 * end), k.shape[3]))
            if self._kv is not None:
                grown[:, :, :, : self._kv.shape[3]] = self._kv
            self._kv = grown
        at = self.lengths[:, None] + torch.arange(k.shape[2], device=k.device)  # [B, T]
        rows = torch.arange(k.shape[0], device=k.device)[:, None]
        self._kv[0].transpose(1, 2)[rows, at] = k.transpose(1, 2)
        self._kv[1].transpose(1, 2)[rows, at] = v.transpose(1, 2)
        return self._kv[0, :, :, :end], self._kv[1, :, :, :end]

    def roll_back(self, lengths: Tensor, longest: int) -> None:
        """Rows hold this many positions [B] from now on; rows beyond those there were are new and empty."""
        self.lengths, self.length = lengths, longest
        if self._kv is not None and len(lengths) > self._kv.shape[1]:
            new = self._kv.new_zeros((2, len(lengths) - self._kv.shape[1], *self._kv.shape[2:]))
            self._kv = torch.cat([self._kv, new], dim=1)

    def truncate(self, length: int) -> None:
        self.roll_back(self.lengths.clamp(max=length), min(self.length, length))


class Decoding:
    """Rows of one T5 in the middle of decoding: their sources, their caches, their lengths in decoder positions."""

    def __init__(self, model: T5) -> None:
        self.model = model
        self.caches = [RaggedCache() for _ in model.decoder.layers]
        self.lengths: list[int] = []
        self.memory: list[tuple[Tensor, Tensor]] = []
        self.cross_bias = torch.zeros(0, 1, 1, 0)  # [B, 1, 1, S]

    def admit(self, encoded: Tensor, mask: Tensor) -> None:
        """Add rows: encoded [N, S, d], mask [N, S] true where there is a source piece."""
        memory = self.model.decoder.memory(encoded)
        bias = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]
        if self.lengths:
            width = max(bias.shape[-1], self.cross_bias.shape[-1])
            memory = [
                (_join(k, new_k, width), _join(v, new_v, width))
                for (k, v), (new_k, new_v) in zip(self.memory, memory, strict=True)
            ]
            old, new = (F.pad(b, (0, width - b.shape[-1]), value=NEGATIVE) for b in (self.cross_bias, bias))
            bias = torch.cat([old, new])
        self.memory, self.cross_bias = memory, bias
        self.roll_back([*self.lengths, *[0] * len(mask)])

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all rows but these."""
        if list(rows) == list(range(len(self.lengths))):
            return
        index = torch.tensor(rows, dtype=torch.long, device=self.cross_bias.device)
        self.memory = [(k[index], v[index]) for k, v in self.memory]
        self.cross_bias = self.cross_bias[index]
        for cache in self.caches:
            cache.select(index)
        self.roll_back([self.lengths[row] for row in rows])

    def forward(self, inputs: Sequence[Sequence[int]]) -> Tensor:
        """Read `inputs`, one or more tokens for each row -> hidden [N, d], all rows' positions one after the other."""
        device = self.cross_bias.device
        width = max(map(len, inputs))
        ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in inputs], device=device)  # [B, T]
        hidden: Tensor = self.model.decoder(self.model.embedding(ids), self.memory, self.cross_bias, list(self.caches))
        self.roll_back([length + len(row) for length, row in zip(self.lengths, inputs, strict=True)])
        if all(len(row) == width for row in inputs):
            return hidden.flatten(0, 1)
        places = [n * width + t for n, row in enumerate(inputs) for t in range(len(row))]
        return hidden.flatten(0, 1)[torch.tensor(places, device=device)]

    def roll_back(self, lengths: Sequence[int]) -> None:
        """Rows hold this many positions from now on."""
        self.lengths = list(lengths)
        tensor = torch.tensor(self.lengths, dtype=torch.long, device=self.cross_bias.device)
        for cache in self.caches:
            cache.roll_back(tensor, max(lengths, default=0))


def _join(old: Tensor, new: Tensor, width: int) -> Tensor:
    """Rows [B, H, S, k] and more rows, padded to the same width."""
    return torch.cat([F.pad(t, (0, 0, 0, width - t.shape[2])) for t in (old, new)])
