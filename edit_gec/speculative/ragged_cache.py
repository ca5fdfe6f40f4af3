"""A batch of decoder rows that join, leave and roll back, each at its own length.

    decoder = RaggedDecoder(model)
    decoder.add_sources(encoded)                   # two sentences
    hidden = decoder.forward([[0, 7, 9], [0, 7]])  # their first 3 and 2 tokens: hidden [5, d]
    decoder.roll_back([2, 2])                      # the first row forgets its last token
    decoder.keep([1])                              # the first row is finished

Verification accepts more tokens in one row than in the next. T5 knows only relative positions, so rows need no common
end: every row starts at slot 0 of the cache, new keys are written after its own length, and slots beyond the length
are masked. A roll-back is a smaller length.

Rows read different numbers of tokens in one pass. Matrix products take the real tokens, packed [N, d]. Only attention
takes rows padded to one width [B, T].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.modeling.config import NEGATIVE
from edit_gec.modeling.onednn import round_up
from edit_gec.modeling.t5 import T5, Attention, relative_positions
from edit_gec.modeling.tokenizer import PAD


class RaggedCache:
    """Keys and values of one layer. Row b is filled up to lengths[b]; `length` is the longest of these.

    `append` writes after the rows and returns everything. `roll_back` then sets how much of it stays.
    """

    def __init__(self) -> None:
        self.lengths = torch.zeros(0, dtype=torch.long)  # [B]
        self.length = 0
        self.even = True  # all rows have the same length
        self._kv: Tensor | None = None  # [2, B, H, capacity, k]

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write new positions [B, H, T, k] after each row; returns all keys and values [B, H, length + T, k]."""
        end = self.length + k.shape[2]
        kv = self._reserve(k, end)
        if self.even:
            kv[0, :, :, self.length : end] = k
            kv[1, :, :, self.length : end] = v
        else:
            at = self.lengths[:, None] + torch.arange(k.shape[2], device=k.device)  # [B, T]
            rows = torch.arange(k.shape[0], device=k.device)[:, None]
            kv[0].transpose(1, 2)[rows, at] = k.transpose(1, 2)
            kv[1].transpose(1, 2)[rows, at] = v.transpose(1, 2)
        return kv[0, :, :, :end], kv[1, :, :, :end]

    def fill(self, rows: int, k: Tensor, v: Tensor) -> None:
        """The last `rows` rows begin with these keys and values [1, H, T, k], as far as they are long."""
        kv = self._reserve(k, k.shape[2])
        kv[0, -rows:, :, : k.shape[2]] = k
        kv[1, -rows:, :, : k.shape[2]] = v

    def first(self, length: int) -> tuple[Tensor, Tensor]:
        """Keys and values of the first positions [B, H, length, k]."""
        assert self._kv is not None, "nothing was read"
        return self._kv[0, :, :, :length].clone(), self._kv[1, :, :, :length].clone()

    def _reserve(self, like: Tensor, end: int) -> Tensor:
        """The keys and values, with room for `end` positions of heads as `like` [B, H, T, k] has them."""
        if self._kv is None or end > self._kv.shape[3]:
            # zeros: a masked slot has weight 0, and 0 times uninitialised memory may be NaN
            grown = like.new_zeros((2, len(self.lengths), like.shape[1], max(16, 2 * end), like.shape[3]))
            if self._kv is not None:
                grown[:, :, :, : self._kv.shape[3]] = self._kv
            self._kv = grown
        return self._kv

    def roll_back(self, lengths: Tensor, longest: int, *, even: bool) -> None:
        """Rows hold `lengths` [B] positions from now on, `longest` at most; `even`: all the same number.

        Rows beyond the present ones are new and empty.
        """
        self.lengths = lengths
        self.length = longest
        self.even = even
        if self._kv is not None and len(lengths) > self._kv.shape[1]:
            new = self._kv.new_zeros((2, len(lengths) - self._kv.shape[1], *self._kv.shape[2:]))
            self._kv = torch.cat([self._kv, new], dim=1)

    def select(self, rows: Tensor) -> None:
        """Keep these rows only."""
        if self._kv is not None:
            self._kv = self._kv[:, rows]


class PackedRows:
    """New tokens of several rows in two layouts: packed one after the other [N, ...], spread over rows [B, T, ...]."""

    def __init__(self, inputs: Sequence[Sequence[int]], device: torch.device) -> None:
        self.rows = len(inputs)
        self.width = max(map(len, inputs))
        self.full = all(len(row) == self.width for row in inputs)
        if not self.full:
            places = [(n, t) for n, row in enumerate(inputs) for t in range(len(row))]
            self.row, self.column = torch.tensor(places, device=device).unbind(-1)

    def spread(self, packed: Tensor) -> Tensor:
        """[N, ...] -> [B, T, ...], with zeros after the end of a row."""
        if self.full:
            return packed.view(self.rows, self.width, *packed.shape[1:])
        wide = packed.new_zeros((self.rows, self.width, *packed.shape[1:]))
        wide[self.row, self.column] = packed
        return wide

    def pack(self, wide: Tensor) -> Tensor:
        """[B, T, ...] -> [N, ...]."""
        return wide.flatten(0, 1) if self.full else wide[self.row, self.column]


class RaggedDecoder:
    """Unfinished rows of one T5 decoder: their sources, caches and lengths in decoder positions."""

    def __init__(self, model: T5) -> None:
        self.model = model
        self.caches = [RaggedCache() for _ in model.decoder.layers]
        self.lengths: list[int] = []
        self.sources: list[tuple[Tensor, Tensor]] = []  # [B, H, S, k] cross-attention keys and values of each layer
        self.cross_bias = torch.zeros(0, 1, 1, 0)  # [B, 1, 1, S]
        self.by_distance = torch.zeros(0, 0)  # [1 + distance, H] position bias in float32, NEGATIVE first

    def read_pending(self) -> None:
        """Nothing: sources are encoded before they are added."""

    def add_sources(self, encoded: Any) -> None:
        """Add a row for each source (target.Encoded)."""
        sources = self.model.decoder.cross_keys(encoded.states)
        bias = torch.where(encoded.mask, 0.0, NEGATIVE)[:, None, None, :]
        if self.lengths:
            width = max(bias.shape[-1], self.cross_bias.shape[-1])
            sources = [
                (_join(k, new_k, width), _join(v, new_v, width))
                for (k, v), (new_k, new_v) in zip(self.sources, sources, strict=True)
            ]
            bias = torch.cat([F.pad(b, (0, width - b.shape[-1]), value=NEGATIVE) for b in (self.cross_bias, bias)])
        self.sources = sources
        self.cross_bias = bias
        self.roll_back([*self.lengths, *[0] * len(encoded.mask)])

    def keep(self, rows: Sequence[int]) -> None:
        """Keep these rows, in this order; a row may be kept several times."""
        if list(rows) == list(range(len(self.lengths))):
            return
        index = torch.tensor(rows, dtype=torch.long, device=self.cross_bias.device)
        self.sources = [(k[index], v[index]) for k, v in self.sources]
        self.cross_bias = self.cross_bias[index]
        for cache in self.caches:
            cache.select(index)
        self.roll_back([self.lengths[row] for row in rows])

    def forward(self, inputs: Sequence[Sequence[int]]) -> Tensor:
        """Read `inputs`, one or more tokens of each row -> hidden [N, d], row after row."""
        device = self.cross_bias.device
        count = sum(map(len, inputs))  # N
        read = inputs
        if len(inputs) == 1:  # <pad> after the end, which no token before it attends to
            read = [[*inputs[0], *[PAD] * (round_up(count) - count)]]
        packed = PackedRows(read, device)
        x = self.model.embedding(torch.tensor([token for row in read for token in row], device=device))  # [N, d]
        bias = self.position_bias(packed.width).to(x.dtype)  # [B, H, T, L]
        cross_bias = self.cross_bias.to(x.dtype)
        layers: list[Any] = list(self.model.decoder.layers)
        for layer, source, cache in zip(layers, self.sources, self.caches, strict=True):
            x = attend_to_text(layer.attention, x, packed, bias, cache)
            x = attend_to_source(layer.cross, x, packed, cross_bias, source)
            x = layer.feed_forward(x)
        self.roll_back([length + len(row) for length, row in zip(self.lengths, inputs, strict=True)])
        hidden: Tensor = self.model.decoder.norm(x[:count])
        return hidden

    def position_bias(self, width: int) -> Tensor:
        """Position bias [B, H, T, L] of T = `width` new tokens in each row; NEGATIVE for later positions."""
        lengths = self.caches[0].lengths
        length = self.caches[0].length
        if length + width >= len(self.by_distance):
            distances = torch.arange(-1, 2 * (length + width), device=lengths.device)
            table = self.model.decoder.relative(-distances[:, None, None])[:, :, 0, 0].float()  # [D, H]
            self.by_distance = table.index_fill(0, torch.zeros_like(distances[:1]), NEGATIVE)
        relative = relative_positions(width, length + width, lengths.device, lengths)  # [B, T, L]
        return F.embedding((1 - relative).clamp(min=0), self.by_distance).movedim(-1, 1)

    def roll_back(self, lengths: Sequence[int]) -> None:
        """Rows hold this many positions from now on."""
        self.lengths = list(lengths)
        tensor = torch.tensor(self.lengths, dtype=torch.long, device=self.cross_bias.device)
        for cache in self.caches:
            cache.roll_back(tensor, max(lengths, default=0), even=len(set(lengths)) < 2)


def attend_to_text(attention: Attention, x: Tensor, packed: PackedRows, bias: Tensor, cache: RaggedCache) -> Tensor:
    """Self-attention of a decoder layer over packed tokens x [N, d] -> [N, d], residual added."""
    q, k, v = attention.split(packed.spread(attention.qkv(attention.norm(x))), 3)  # [B, H, T, k] each
    keys, values = cache.append(k, v)
    return x + attention.o(packed.pack(attention.mix(q, keys, values, bias)))  # type: ignore[no-any-return]


def attend_to_source(
    attention: Attention, x: Tensor, packed: PackedRows, bias: Tensor, source: tuple[Tensor, Tensor]
) -> Tensor:
    """Cross-attention of a decoder layer over packed tokens x [N, d] -> [N, d], residual added."""
    (q,) = attention.split(packed.spread(attention.q(attention.norm(x))), 1)  # [B, H, T, k]
    return x + attention.o(packed.pack(attention.mix(q, *source, bias)))  # type: ignore[no-any-return]


def _join(old: Tensor, new: Tensor, width: int) -> Tensor:
    """Rows [B, H, S, k] and more rows, padded to the same width."""
    return torch.cat([F.pad(t, (0, 0, 0, width - t.shape[2])) for t in (old, new)])
