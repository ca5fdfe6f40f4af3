"""T5: an encoder, and a decoder with a key/value cache. checkpoint.py reads and writes its folders.

It covers v1.0 (ReLU, tied output layer) and v1.1 and Flan (gated GELU, untied). Queries, keys and values share one
matrix, and so do gate and value of the feed-forward network: fewer and larger products. Tests hold the logits to those
of `transformers` within 1e-4.

Shapes: B batch, S source positions, T target positions, L cached positions, H heads, k head width, d model width,
V vocabulary. Masks are additive floats, broadcast over heads. T5 does not scale attention scores. Its relative-position
biases belong to the stack, not to the layers (Raffel et al. 2020, section 2.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.errors import InputError
from edit_gec.modeling.config import NEGATIVE, T5Config
from edit_gec.modeling.onednn import Linear, WeightVersion, linear, weight_version

# For T5s that are trained here: Muon needs scaled attention, and a small model cannot afford its own output layer.
OURS: dict[str, Any] = {"attention_scale": 0.125, "tie_word_embeddings": True, "scale_decoder_outputs": True}
SLOTS = 192  # entries after the vocabulary, as edit5-mini has them: the T5s can share its embedding

PRESETS: dict[str, T5Config] = {
    "t5-base": T5Config(),
    # edit5-mini's vocabulary and width; its twelve encoder layers and one more, which a decoder can learn to copy from
    "t5-mini": T5Config(
        vocab_size=8192, d_model=256, d_ff=704, num_heads=4, num_layers=13, num_decoder_layers=12, **OURS,
    ),
    "t5-tiny": T5Config(
        vocab_size=8192, d_model=128, d_ff=352, num_heads=2, num_layers=3, num_decoder_layers=1, **OURS,
    ),
}  # fmt: skip


class RMSNorm(nn.Module):
    """Scale by the root mean square, in fp32 as T5 does; no mean, no bias."""

    def __init__(self, d: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """x [..., d] -> [..., d]."""
        scaled = F.rms_norm(x.float(), x.shape[-1:], eps=self.epsilon)
        return scaled.to(self.weight.dtype) * self.weight


class FeedForward(nn.Module):
    """The feed-forward network of a layer, with its norm and residual connection.

    In float16 its output layer stays in float32, as in `transformers`, and with it the residual: T5 v1.0 and Flan
    write numbers of 1e5 here, where float16 ends.
    """

    def __init__(self, c: T5Config) -> None:
        super().__init__()
        self.norm = RMSNorm(c.d_model, c.layer_norm_epsilon)
        self.wi = Linear(c.d_model, c.d_ff * (2 if c.gated else 1), bias=False)
        self.wo = Linear(c.d_ff, c.d_model, bias=False)
        self.gated = c.gated

    def forward(self, x: Tensor) -> Tensor:
        """x [B, T, d] -> [B, T, d]."""
        hidden = self.wi(self.norm(x))
        if self.gated:
            hidden = gated(*hidden.chunk(2, dim=-1))
        else:
            hidden = F.relu(hidden)
        return x + self.wo(hidden.to(self.wo.weight.dtype))  # type: ignore[no-any-return]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> FeedForward:
        """What `to` and `half` do to the module."""
        wide = self.wo.weight.detach()
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if self.wo.weight.dtype == torch.float16:
            self.wo.weight = nn.Parameter(wide.to(self.wo.weight.device, torch.float32), self.wo.weight.requires_grad)
        return self


def gated(gate: Tensor, value: Tensor) -> Tensor:
    """gelu(gate) * value, with the tanh approximation of gelu as T5 v1.1 has it.

    On a CPU it is computed as gate * sigmoid(2z), where z is the argument of tanh. torch vectorises the exponential but
    not tanh, so this takes half the time. The two differ by rounding (1e-5).
    """
    if torch.is_grad_enabled() or gate.device.type != "cpu" or gate.dtype != torch.float32:
        return F.gelu(gate, approximate="tanh") * value
    twice = (gate * gate).mul_(0.044715).add_(1.0).mul_(gate).mul_(2 * math.sqrt(2 / math.pi))
    return twice.sigmoid_().mul_(gate).mul_(value)


class Attention(nn.Module):
    """Attention over the input itself (`fused`) or over the encoded source."""

    def __init__(self, c: T5Config, *, fused: bool) -> None:
        super().__init__()
        inner = c.num_heads * c.d_kv
        self.norm = RMSNorm(c.d_model, c.layer_norm_epsilon)
        if fused:
            self.qkv = Linear(c.d_model, 3 * inner, bias=False)
        else:
            self.q = Linear(c.d_model, inner, bias=False)
            self.kv = Linear(c.d_model, 2 * inner, bias=False)
        self.o = Linear(inner, c.d_model, bias=False)
        self.heads = c.num_heads
        self.d_kv = c.d_kv
        self.scale = c.attention_scale

    def split(self, x: Tensor, parts: int) -> tuple[Tensor, ...]:
        """[B, T, parts * H * k] -> parts times [B, H, T, k]."""
        return x.view(*x.shape[:-1], parts, self.heads, self.d_kv).permute(2, 0, 3, 1, 4).unbind(0)

    def attend(self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        """Residual input x [B, T, d]; q [B, H, T, k]; k, v [B, H, S, k]; bias broadcast to [B, H, T, S]."""
        return x + self.o(self.mix(q, k, v, bias))  # type: ignore[no-any-return]

    def mix(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        """What the queries attend to [B, T, H * k], before the output layer."""
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=self.scale)  # [B, H, T, k]
        return mixed.transpose(1, 2).flatten(2)


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward network."""

    def __init__(self, c: T5Config) -> None:
        super().__init__()
        self.attention = Attention(c, fused=True)
        self.feed_forward = FeedForward(c)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [B, S, d], bias broadcast to [B, H, S, S] -> [B, S, d]."""
        a = self.attention
        q, k, v = a.split(a.qkv(a.norm(x)), 3)
        return self.feed_forward(a.attend(x, q, k, v, bias.to(q.dtype)))  # type: ignore[no-any-return]


class Cache:
    """Keys and values of one decoder layer's past [B, H, L, k]; grows by doubling."""

    def __init__(self) -> None:
        self.length = 0
        self._kv: Tensor | None = None  # [2, B, H, capacity, k]

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions; returns all keys and values so far."""
        end = self.length + k.shape[2]
        if self._kv is None or end > self._kv.shape[3]:
            capacity = max(16, 2 * end)
            grown = k.new_empty((2, *k.shape[:2], capacity, k.shape[3]))
            if self._kv is not None:
                grown[:, :, :, : self.length] = self._kv[:, :, :, : self.length]
            self._kv = grown
        self._kv[0, :, :, self.length : end] = k
        self._kv[1, :, :, self.length : end] = v
        self.length = end
        return self._kv[0, :, :, :end], self._kv[1, :, :, :end]

    def select(self, rows: Tensor) -> None:
        """Keep these batch rows only (finished ones are dropped)."""
        if self._kv is not None:
            self._kv = self._kv[:, rows]


class DecoderLayer(nn.Module):
    """Self-attention, attention to the source, feed-forward network."""

    def __init__(self, c: T5Config) -> None:
        super().__init__()
        self.attention = Attention(c, fused=True)
        self.cross = Attention(c, fused=False)
        self.feed_forward = FeedForward(c)

    def cross_keys(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-attention keys and values of the source, computed once per sentence: two of [B, H, S, k]."""
        k, v = self.cross.split(self.cross.kv(encoded), 2)
        return k, v

    def forward(
        self, x: Tensor, bias: Tensor, cross_keys: tuple[Tensor, Tensor], cross_bias: Tensor, cache: Cache | None
    ) -> Tensor:
        """x [B, T, d] -> [B, T, d].

        bias is broadcast to [B, H, T, L + T], cross_bias to [B, H, T, S]. cross_keys are those of `cross_keys`. `cache`
        holds the L positions before x, and gets those of x.
        """
        a, c = self.attention, self.cross
        q, k, v = a.split(a.qkv(a.norm(x)), 3)
        if cache is not None:
            k, v = cache.append(k, v)
        x = a.attend(x, q, k, v, bias.to(q.dtype))
        (q,) = c.split(c.q(c.norm(x)), 1)
        return self.feed_forward(c.attend(x, q, *cross_keys, cross_bias.to(q.dtype)))  # type: ignore[no-any-return]


class RelativeBias(nn.Module):
    """Bias per head and bucket of relative position (key - query): T5's log-spaced buckets."""

    def __init__(self, c: T5Config, *, bidirectional: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(c.relative_attention_num_buckets, c.num_heads))
        self.max_distance = c.relative_attention_max_distance
        self.bidirectional = bidirectional
        self._kept: tuple[WeightVersion, Tensor] | None = None

    def buckets(self, relative: Tensor) -> Tensor:
        """Bucket of each relative position, same shape."""
        count = self.weight.shape[0]
        offset = torch.zeros_like(relative)
        if self.bidirectional:
            count //= 2
            offset = (relative > 0).long() * count
            distance = relative.abs()
        else:
            distance = (-relative).clamp(min=0)
        exact = count // 2
        scaled = torch.log(distance.clamp(min=1).float() / exact) / math.log(self.max_distance / exact)
        far = (exact + (scaled * (count - exact)).long()).clamp(max=count - 1)
        return offset + torch.where(distance < exact, distance, far)

    def table(self) -> Tensor:
        """Biases [D, H] of the relative positions from -max_distance to max_distance. Farther positions share the last.

        Cached until the weights change, except where a gradient is needed.
        """
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            return self._table()
        now = weight_version(self.weight)
        if self._kept is None or self._kept[0] != now:
            self._kept = now, self._table()
        return self._kept[1]

    def _table(self) -> Tensor:
        distances = torch.arange(-self.max_distance, self.max_distance + 1, device=self.weight.device)
        return F.embedding(self.buckets(distances), self.weight)

    def forward(self, relative: Tensor) -> Tensor:
        """relative [..., T, S] -> bias [..., H, T, S]."""
        known = relative.clamp(-self.max_distance, self.max_distance) + self.max_distance
        return F.embedding(known, self.table()).movedim(-1, -3)


def relative_positions(queries: int, keys: int, device: torch.device, past: int | Tensor = 0) -> Tensor:
    """key - query position [1 or B, queries, keys]; query n stands at position past + n, past a number or [B]."""
    at = torch.arange(queries, device=device) + (past[:, None] if isinstance(past, Tensor) else past)
    return torch.arange(keys, device=device) - at.reshape(-1, queries, 1)


class Encoder(nn.Module):
    """The encoder layers, their shared position bias, and the final norm."""

    def __init__(self, c: T5Config) -> None:
        super().__init__()
        self.relative = RelativeBias(c, bidirectional=True)
        self.layers = nn.ModuleList(EncoderLayer(c) for _ in range(c.num_layers))
        self.norm = RMSNorm(c.d_model, c.layer_norm_epsilon)

    def bias(self, mask: Tensor) -> Tensor:
        """Position bias plus padding mask [B, H, S, S]; mask [B, S] is true where there is a piece."""
        padding = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]  # [B, 1, 1, S]
        length = mask.shape[1]
        bias: Tensor = self.relative(relative_positions(length, length, mask.device)) + padding
        return bias

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """Embedded pieces [B, S, d] -> encoded [B, S, d]."""
        for layer in self.layers:
            x = layer(x, bias)
        return self.norm(x)  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """The decoder layers, their shared position bias, and the final norm."""

    def __init__(self, c: T5Config) -> None:
        super().__init__()
        self.relative = RelativeBias(c, bidirectional=False)
        self.layers = nn.ModuleList(DecoderLayer(c) for _ in range(c.num_decoder_layers))
        self.norm = RMSNorm(c.d_model, c.layer_norm_epsilon)

    def cross_keys(self, encoded: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Cross-attention keys and values of every layer, from encoded [B, S, d]."""
        return [layer.cross_keys(encoded) for layer in self.layers]  # type: ignore[operator]

    def new_caches(self) -> list[Cache]:
        """Empty caches, one per layer."""
        return [Cache() for _ in self.layers]

    def forward(
        self,
        x: Tensor,
        cross_keys: list[tuple[Tensor, Tensor]],
        cross_bias: Tensor,
        caches: list[Cache] | None = None,
        blocked: Tensor | None = None,
    ) -> Tensor:
        """Embedded targets x [B, T, d] after what the caches hold -> hidden [B, T, d].

        cross_bias broadcasts to [B, H, T, S]; blocked [B, T, L + T] is true for earlier positions that a target
        position may not attend to.
        """
        steps = x.shape[1]
        keys = caches[0].length + steps if caches else steps
        relative = relative_positions(steps, keys, x.device, caches[0].length if caches else 0)  # [1, T, L + T]
        bias = self.relative(relative) + torch.where(relative > 0, NEGATIVE, 0.0)[:, None]  # [1, H, T, L + T]
        if blocked is not None:
            bias = bias + torch.where(blocked, NEGATIVE, 0.0)[:, None]
        for n, layer in enumerate(self.layers):
            x = layer(x, bias, cross_keys[n], cross_bias, caches[n] if caches else None)
        return self.norm(x)  # type: ignore[no-any-return]


class T5(nn.Module):
    """Encoder-decoder: `encode`, then `decode` step by step or all at once."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.output = None if config.tie_word_embeddings else Linear(config.d_model, config.vocab_size, bias=False)
        initialise(self, config)

    def encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask [B, S] -> [B, S, d]."""
        return self.encoder(self.embedding(ids), self.encoder.bias(mask))  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Decoder output [..., d] -> [..., V]."""
        if self.config.scale_decoder_outputs:
            hidden = hidden * self.config.d_model**-0.5
        return linear(hidden, self.embedding if self.output is None else self.output)

    def forward(self, ids: Tensor, mask: Tensor, target: Tensor) -> Tensor:
        """Teacher-forced logits [B, T, V] for decoder inputs target [B, T] (starting with <pad>)."""
        padding = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]
        cross_keys = self.decoder.cross_keys(self.encode(ids, mask))
        return self.logits(self.decoder(self.embedding(target), cross_keys, padding))


def initialise(model: nn.Module, c: T5Config) -> None:
    """T5's initialisation. Queries start small, because attention scores are not scaled."""
    inner = c.num_heads * c.d_kv
    deviations = {"q": (c.d_model * c.d_kv) ** -0.5 / c.attention_scale, "o": inner**-0.5, "wo": c.d_ff**-0.5}
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight)
        elif isinstance(module, RelativeBias):
            nn.init.normal_(module.weight, std=c.d_model**-0.5)
        elif isinstance(module, nn.Linear):
            leaf = name.rpartition(".")[2]
            nn.init.normal_(module.weight, std=deviations.get(leaf, c.d_model**-0.5))
            if leaf == "qkv":
                nn.init.normal_(module.weight[:inner], std=deviations["q"])


def deepen(model: T5, layers: int) -> T5:
    """The same T5 with a decoder of `layers` layers: copies of its stack, one above the other."""
    deeper = T5(replace(model.config, num_decoder_layers=layers))
    deeper.load_state_dict(stacked(model.state_dict(), "decoder", model.config.num_decoder_layers, layers))
    return deeper


def stacked(state: dict[str, Tensor], stack: str, old: int, new: int) -> dict[str, Tensor]:
    """The weights with `new` instead of `old` layers in the "encoder" or "decoder": copies of the stack.

    Raises InputError when `new` is not a multiple of `old`.
    """
    if new % old:
        raise InputError(f"{new} {stack} layers; expected a multiple of the {old} that there are")
    start = f"{stack}.layers."
    deeper = {name: value for name, value in state.items() if not name.startswith(start)}
    for name in state.keys() - deeper.keys():
        n, rest = name.removeprefix(start).split(".", 1)
        deeper |= {f"{start}{layer}.{rest}": state[name] for layer in range(int(n), new, old)}
    return deeper
