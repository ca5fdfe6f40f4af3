"""Rows of a decoder-only model that join, leave and roll back, each at its own length (as ragged_cache.py for a T5).

    decoder = CausalDecoder(model)
    decoder.add_sources(Prompts([[5, 6, 7], [5, 8]]))       two prompts, of which nothing is read yet
    hidden = decoder.forward([[7, 9], [8]])                 their last tokens and a drafted one: hidden [3, d]

The first pass reads the rest of a prompt together with what is drafted after it, so a source costs no pass of its own.
What all prompts begin with is read once and for all (`SharedKeys`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from edit_gec.modeling.causal_lm import CausalLayer, CausalLM
from edit_gec.modeling.config import NEGATIVE
from edit_gec.modeling.onednn import round_up
from edit_gec.speculative.ragged_cache import PackedRows, RaggedCache


@dataclass(frozen=True)
class Prompts:
    """The prompts of B sentences, as ids. The last token of each is what its row starts with."""

    ids: Sequence[Sequence[int]]
    edit5_states: None = None  # EdiT5 reads its own

    @property
    def starts(self) -> list[int]:
        """The last token of each prompt."""
        return [ids[-1] for ids in self.ids]

    def rows(self, numbers: Sequence[int]) -> Prompts:
        """Those of some of the sentences."""
        return Prompts([self.ids[n] for n in numbers])


@dataclass(frozen=True)
class SharedKeys:
    """Ids with which prompts begin, and their keys and values in each layer: two of [1, G, S, k]."""

    ids: Sequence[int]
    layers: Sequence[tuple[Tensor, Tensor]]

    @classmethod
    @torch.inference_mode()
    def read(cls, model: CausalLM, ids: Sequence[int]) -> SharedKeys:
        """Read these ids once."""
        if not ids:
            return cls((), ())
        decoder = CausalDecoder(model)
        decoder.add_sources(Prompts([[*ids, 0]]))
        decoder.read_pending()
        return cls(tuple(ids), [cache.first(len(ids)) for cache in decoder.caches])

    def count(self, prompt: Sequence[int]) -> int:
        """How many tokens of a prompt these are; its last one is never among them."""
        pairs = zip(self.ids, prompt[:-1], strict=False)
        return next((n for n, (ours, given) in enumerate(pairs) if ours != given), min(len(self.ids), len(prompt) - 1))


NOTHING = SharedKeys((), ())


class CausalDecoder:
    """Unfinished rows of one model. `lengths` are positions in the caches, `bases` those of the prompts before their
    last token, `pending` what of them is not read yet."""

    def __init__(self, model: CausalLM, shared: SharedKeys = NOTHING) -> None:
        self.model = model
        self.shared = shared
        self.caches = [RaggedCache() for _ in model.layers]
        self.lengths: list[int] = []
        self.bases: list[int] = []
        self.pending: list[Sequence[int]] = []

    def add_sources(self, sources: Prompts) -> None:
        """Add a row for each prompt."""
        known = [self.shared.count(prompt) for prompt in sources.ids]
        self.pending += [prompt[n:-1] for n, prompt in zip(known, sources.ids, strict=True)]
        self.bases += [len(prompt) - 1 for prompt in sources.ids]
        self._set_lengths([*self.lengths, *known])
        for cache, (keys, values) in zip(self.caches, self.shared.layers, strict=False):  # none where nothing is shared
            cache.fill(len(known), keys, values)

    def keep(self, rows: Sequence[int]) -> None:
        """Keep these rows, in this order; a row may be kept several times."""
        if list(rows) == list(range(len(self.lengths))):
            return
        if len(set(rows)) < len(rows):
            self.read_pending()  # once, not in each copy
        index = torch.tensor(rows, dtype=torch.long, device=self.model.device)
        for cache in self.caches:
            cache.select(index)
        self.pending = [self.pending[row] for row in rows]
        self.bases = [self.bases[row] for row in rows]
        self._set_lengths([self.lengths[row] for row in rows])

    def roll_back(self, lengths: Sequence[int]) -> None:
        """Rows hold this many tokens after their prompts, its last token included, from now on."""
        self._set_lengths([base + length for base, length in zip(self.bases, lengths, strict=True)])

    def read_pending(self) -> None:
        """Read what is left of the prompts."""
        if any(self.pending):
            self._read(self.pending)
            self.pending = [() for _ in self.pending]

    def forward(self, inputs: Sequence[Sequence[int]]) -> Tensor:
        """Read `inputs`, one or more tokens of each row -> hidden [N, d], row after row."""
        read = [[*before, *row] for before, row in zip(self.pending, inputs, strict=True)]
        hidden = self._read(read)
        if any(self.pending):
            ends = accumulate(map(len, read))
            places = [at for end, row in zip(ends, inputs, strict=True) for at in range(end - len(row), end)]
            hidden = hidden[torch.tensor(places, device=hidden.device)]
            self.pending = [() for _ in self.pending]
        normed: Tensor = self.model.norm(hidden)
        return normed

    def _read(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Read tokens of each row -> what the last layer says of them [N, d]."""
        count = sum(map(len, rows))  # N
        lengths = [length + len(row) for length, row in zip(self.lengths, rows, strict=True)]
        if len(rows) == 1:  # zeros after the end, which no token before them attends to
            rows = [[*rows[0], *[0] * (round_up(count) - count)]]
        device = self.model.device
        packed = PackedRows(rows, device)
        x = self.model.embedding(torch.tensor([token for row in rows for token in row], device=device))  # [N, d]
        positions = self.caches[0].lengths.to(device)[:, None] + torch.arange(packed.width, device=device)  # [B, T]
        slots = torch.arange(self.caches[0].length + packed.width, device=device)  # [L]
        mask = torch.where(slots <= positions[..., None], 0.0, NEGATIVE)[:, None].to(x.dtype)  # [B, 1, T, L]
        turn = self.model.turn(positions)
        layers: list[CausalLayer] = list(self.model.layers)  # type: ignore[arg-type]
        for layer, cache in zip(layers, self.caches, strict=True):
            attention = layer.attention
            qkv = packed.spread(attention.qkv(layer.attention_norm(x)))  # [B, T, (H + 2 G) k]
            x = x + attention.o(packed.pack(attention.mix(qkv, turn, mask, cache)))
            x = layer.feed_forward(x)
        self._set_lengths(lengths)
        read: Tensor = x[:count]
        return read

    def _set_lengths(self, lengths: Sequence[int]) -> None:
        self.lengths = list(lengths)
        tensor = torch.tensor(self.lengths, dtype=torch.long, device=self.model.device)
        for cache in self.caches:
            cache.roll_back(tensor, max(lengths, default=0), even=len(set(lengths)) < 2)
