"""A decoder-only language model of Llama's shape: Llama, SmolLM2, Mistral, Qwen2. causal_checkpoint.py reads its files.

RMSNorm, rotary positions, grouped-query attention, SwiGLU (Touvron et al. 2023, section 2; Ainslie et al. 2023 for the
groups). Tests hold the logits to those of `transformers` within 1e-4.

Shapes: B rows, T positions, L positions that a row may attend to, H heads, G key/value heads, k head width, d model
width, V vocabulary. `visible` [B, T, L] is true where a position may attend to another, so that a row can hold one text
or several that share their beginning (speculative/judge.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.modeling.causal_config import CausalConfig
from edit_gec.modeling.config import NEGATIVE
from edit_gec.modeling.onednn import Linear, linear
from edit_gec.modeling.t5 import RMSNorm


class GrowingCache(Protocol):
    """Keys and values of one layer's past (t5.Cache; speculative/ragged_cache.RaggedCache)."""

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions [B, G, T, k]; returns all keys and values so far."""


class CausalAttention(nn.Module):
    """Grouped-query attention with rotary positions; queries, keys and values share one matrix."""

    def __init__(self, c: CausalConfig) -> None:
        super().__init__()
        self.heads, self.groups, self.width = c.num_attention_heads, c.num_key_value_heads, c.head_dim
        self.qkv = Linear(c.hidden_size, (self.heads + 2 * self.groups) * self.width, bias=c.qkv_bias)
        self.o = Linear(self.heads * self.width, c.hidden_size, bias=c.output_bias)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor, cache: GrowingCache | None) -> Tensor:
        """x [B, T, d]; turn: cosines and sines [B, 1, T, k]; mask [B, 1, T, L] is added to scores -> [B, T, d]."""
        return self.o(self.mix(self.qkv(x), turn, mask, cache))  # type: ignore[no-any-return]

    def mix(self, qkv: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor, cache: GrowingCache | None) -> Tensor:
        """What each position takes from those that it sees: qkv [B, T, (H + 2 G) k] -> [B, T, H k]."""
        mixed = qkv.view(*qkv.shape[:2], -1, self.width).transpose(1, 2)  # [B, H + 2 G, T, k]
        turned, v = rotate(mixed[:, : -self.groups], *turn), mixed[:, -self.groups :]
        q, k = turned[:, : self.heads], turned[:, self.heads :]
        if cache is not None:
            k, v = cache.append(k, v)
        shared = self.heads // self.groups  # queries that share a key: more positions of one head, so no key is copied
        q = q.reshape(len(q), self.groups, -1, self.width)  # [B, G, H / G * T, k]
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.repeat(1, 1, shared, 1))
        return attended.view(len(q), self.heads, -1, self.width).transpose(1, 2).flatten(2)


class CausalLayer(nn.Module):
    """Attention and a gated feed-forward network, each with its norm and residual connection."""

    def __init__(self, c: CausalConfig) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.attention = CausalAttention(c)
        self.feed_forward_norm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.wi = Linear(c.hidden_size, 2 * c.intermediate_size, bias=c.mlp_bias)  # gate, value
        self.wo = Linear(c.intermediate_size, c.hidden_size, bias=c.mlp_bias)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor, cache: GrowingCache | None) -> Tensor:
        """x [B, T, d] -> [B, T, d]; arguments as for CausalAttention."""
        return self.feed_forward(x + self.attention(self.attention_norm(x), turn, mask, cache))

    def feed_forward(self, x: Tensor) -> Tensor:
        """x [..., d] -> [..., d], residual added."""
        gate, value = self.wi(self.feed_forward_norm(x)).chunk(2, dim=-1)
        return x + self.wo(F.silu(gate) * value)  # type: ignore[no-any-return]


class CausalLM(nn.Module):
    """The language model: token ids -> hidden states -> logits of the next token."""

    def __init__(self, config: CausalConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(CausalLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        tied = config.tie_word_embeddings
        self.output = None if tied else Linear(config.hidden_size, config.vocab_size, bias=False)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.embedding.weight.device

    def forward(
        self, ids: Tensor, positions: Tensor, visible: Tensor, caches: Sequence[GrowingCache] | None = None
    ) -> Tensor:
        """ids, positions [B, T], visible [B, T, L], where L counts what the caches hold, too -> hidden [B, T, d]."""
        x = self.embedding(ids)
        turn = self.turn(positions)
        mask = torch.where(visible, 0.0, NEGATIVE)[:, None].to(x.dtype)  # [B, 1, T, L]
        for n, layer in enumerate(self.layers):
            x = layer(x, turn, mask, caches[n] if caches else None)
        return self.norm(x)  # type: ignore[no-any-return]

    def turn(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines [B, 1, T, k / 2] by which queries and keys at these positions [B, T] turn."""
        frequencies = torch.from_numpy(self.config.rotary.frequencies(self.config.head_dim))
        angles = positions[..., None].float() * frequencies.to(positions.device)  # [B, T, k / 2]
        dtype = self.embedding.weight.dtype
        return angles.cos()[:, None].to(dtype), angles.sin()[:, None].to(dtype)

    def logits(self, hidden: Tensor) -> Tensor:
        """hidden [..., d] -> [..., V]."""
        return linear(hidden, self.embedding if self.output is None else self.output)


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn each pair (dimension n, dimension n + k / 2) of x [B, H, T, k] by its angle [B, 1, T, k / 2]."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosines - second * sines, second * cosines + first * sines), dim=-1)


def causal_visibility(lengths: Sequence[int], device: torch.device | str = "cpu") -> Tensor:
    """visible [B, T, T] of rows that hold one text each, padded on the right to the longest."""
    most = max(lengths, default=0)
    places = torch.arange(most, device=device)
    lower = places[None, :] <= places[:, None]  # [T, T]
    real = places[None] < torch.tensor(list(lengths), device=device)[:, None]  # [B, T]
    return lower[None] & (real[:, None] | (places[None, None] == places[None, :, None]))  # padding sees itself
