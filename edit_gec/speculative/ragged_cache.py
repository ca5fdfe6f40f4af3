"""A batch of decoder rows that come, go and roll back, each at its own length.

    decoding = Decoding(model)
    decoding.admit(encoded, mask)                   # two sentences
    hidden = decoding.forward([[0, 7, 9], [0, 7]])  # their first 3 and 2 tokens: hidden [5, d]
    decoding.roll_back([2, 2])                      # the first row forgets its last token
    decoding.keep([1])                              # the first row is finished

Verification accepts more tokens in one row than in the next. T5 knows relative positions only, so a row may stand
anywhere: here every row starts at slot 0 of the cache, new keys are written behind its own length, and what other rows
have beyond that is masked. A roll-back is a smaller length.

Rows read different numbers of tokens in one pass. All products are of the tokens that there are, packed [N, d]; only
attention sees rows padded to one width [B, T].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.modeling.t5 import NEGATIVE, T5, relative_positions


class RaggedCache:
    """Keys and values of one layer, row b filled up to lengths[b]; `length` is the longest row's.

    `append` writes behind the rows and returns everything; `roll_back` says afterwards how much of it stays.
    """

    def __init__(self) -> None:
        self.lengths, self.length, self.even = torch.zeros(0, dtype=torch.long), 0, True
        self._kv: Tensor | None = None  # [2, B, H, capacity, k]

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write new positions [B, H, T, k] behind each row; returns all keys and values, the longest row's and T."""
        end = self.length + k.shape[2]
        if self._kv is None or end > self._kv.shape[3]:
            # zeros: a masked slot has weight 0, and 0 times whatever memory held before may be NaN
            grown = k.new_zeros((2, *k.shape[:2], max(16, 2 * end), k.shape[3]))
            if self._kv is not None:
                grown[:, :, :, : self._kv.shape[3]] = self._kv
            self._kv = grown
        if self.even:
            self._kv[0, :, :, self.length : end] = k
            self._kv[1, :, :, self.length : end] = v
        else:
            at = self.lengths[:, None] + torch.arange(k.shape[2], device=k.device)  # [B, T]
            rows = torch.arange(k.shape[0], device=k.device)[:, None]
            self._kv[0].transpose(1, 2)[rows, at] = k.transpose(1, 2)
            self._kv[1].transpose(1, 2)[rows, at] = v.transpose(1, 2)
        return self._kv[0, :, :, :end], self._kv[1, :, :, :end]

    def roll_back(self, lengths: Tensor, longest: int, *, even: bool) -> None:
        """Rows hold this many positions [B] from now on; rows beyond those there were are new and empty. `even`: all
        hold the same number."""
        self.lengths, self.length, self.even = lengths, longest, even
        if self._kv is not None and len(lengths) > self._kv.shape[1]:
            new = self._kv.new_zeros((2, len(lengths) - self._kv.shape[1], *self._kv.shape[2:]))
            self._kv = torch.cat([self._kv, new], dim=1)

    def select(self, rows: Tensor) -> None:
        """Keep these rows only."""
        if self._kv is not None:
            self._kv = self._kv[:, rows]


class Places:
    """Where the new tokens of each row stand: packed one after the other [N, ...], and spread over rows [B, T, ...]."""

    def __init__(self, inputs: Sequence[Sequence[int]], device: torch.device) -> None:
        self.rows, self.width = len(inputs), max(map(len, inputs))
        self.full = all(len(row) == self.width for row in inputs)
        if not self.full:
            places = [(n, t) for n, row in enumerate(inputs) for t in range(len(row))]
            self.row, self.column = torch.tensor(places, device=device).unbind(-1)

    def spread(self, packed: Tensor) -> Tensor:
        """[N, ...] -> [B, T, ...], zeros where a row has no more tokens."""
        if self.full:
            return packed.view(self.rows, self.width, *packed.shape[1:])
        wide = packed.new_zeros((self.rows, self.width, *packed.shape[1:]))
        wide[self.row, self.column] = packed
        return wide

    def pack(self, wide: Tensor) -> Tensor:
        """[B, T, ...] -> [N, ...]."""
        return wide.flatten(0, 1) if self.full else wide[self.row, self.column]


class Decoding:
    """Rows of one T5 in the middle of decoding: their sources, their caches, their lengths in decoder positions."""

    def __init__(self, model: T5) -> None:
        self.model = model
        self.caches = [RaggedCache() for _ in model.decoder.layers]
        self.lengths: list[int] = []
        self.memory: list[tuple[Tensor, Tensor]] = []
        self.cross_bias = torch.zeros(0, 1, 1, 0)  # [B, 1, 1, S]
        self.by_distance = torch.zeros(0, 0)  # [1 + distance, H]: position bias, NEGATIVE first

    def admit(self, encoded: Tensor, mask: Tensor) -> None:
        """Add rows: encoded [N, S, d], mask [N, S] true where there is a source piece."""
        memory = self.model.decoder.cross_keys(encoded)
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
        places = Places(inputs, device)
        x = self.model.embedding(torch.tensor([token for row in inputs for token in row], device=device))  # [N, d]
        bias, cross_bias = self.bias(places.width).to(x.dtype), self.cross_bias.to(x.dtype)
        for layer, memory, cache in zip(self.model.decoder.layers, self.memory, self.caches, strict=True):
            x = step(layer, x, places, bias, memory, cross_bias, cache)
        self.roll_back([length + len(row) for length, row in zip(self.lengths, inputs, strict=True)])
        hidden: Tensor = self.model.decoder.norm(x)
        return hidden

    def bias(self, width: int) -> Tensor:
        """Position bias of `width` new tokens in each row [B, H, T, L]; NEGATIVE for what comes later."""
        lengths, length = self.caches[0].lengths, self.caches[0].length
        if length + width >= len(self.by_distance):
            distances = torch.arange(-1, 2 * (length + width), device=lengths.device)
            table = self.model.decoder.relative(-distances[:, None, None])[:, :, 0, 0]  # [D, H]
            self.by_distance = table.index_fill(0, torch.zeros_like(distances[:1]), NEGATIVE)
        relative = relative_positions(width, length + width, lengths.device, lengths)  # [B, T, L]
        return F.embedding((1 - relative).clamp(min=0), self.by_distance).movedim(-1, 1)

    def roll_back(self, lengths: Sequence[int]) -> None:
        """Rows hold this many positions from now on."""
        self.lengths = list(lengths)
        tensor = torch.tensor(self.lengths, dtype=torch.long, device=self.cross_bias.device)
        for cache in self.caches:
            cache.roll_back(tensor, max(lengths, default=0), even=len(set(lengths)) < 2)


def step(
    layer: Any,  # DecoderLayer
    x: Tensor,
    places: Places,
    bias: Tensor,
    memory: tuple[Tensor, Tensor],
    cross_bias: Tensor,
    cache: RaggedCache,
) -> Tensor:
    """One decoder layer over packed tokens x [N, d] -> [N, d], as DecoderLayer.forward over padded ones."""
    a, c = layer.attention, layer.cross
    q, k, v = a.split(places.spread(a.qkv(a.norm(x))), 3)
    x = x + a.o(places.pack(a.mix(q, *cache.append(k, v), bias)))
    (q,) = c.split(places.spread(c.q(c.norm(x))), 1)
    x = x + c.o(places.pack(c.mix(q, *memory, cross_bias)))
    return layer.feed_forward(x)  # type: ignore[no-any-return]


def _join(old: Tensor, new: Tensor, width: int) -> Tensor:
    """Rows [B, H, S, k] and more rows, padded to the same width."""
    return torch.cat([F.pad(t, (0, 0, 0, width - t.shape[2])) for t in (old, new)])
