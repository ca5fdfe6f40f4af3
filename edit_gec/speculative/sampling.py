"""Logits -> tokens: greedy, or drawn from a random stream.

The random numbers are keyed by (seed, sentence, position), so a token depends neither on the batch nor on how many
tokens one pass computes. The verifier (decode.py) draws the same numbers at the same places as plain decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor

from edit_gec.errors import InputError, ModelError

NOT_FINITE = "T5: logits that are not finite; the weights are broken, or the dtype is too narrow (use float32)"
TIE = 1e-3  # a difference of two logits that is small enough for rounding in float32 to turn it round
_BITS = (1 << 64) - 1


class Purpose(IntEnum):
    """What a random number decides."""

    TARGET = 0  # a token of the target
    DRAFT = 1  # a token of a drafter that samples
    ACCEPT = 2  # whether a sampled draft is accepted
    RESIDUAL = 3  # the token in place of a rejected one


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn: temperature first, then the top_k most likely (0: all), then the top_p nucleus."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise InputError(f"temperature {self.temperature}: expected above 0; leave sampling out to decode greedily")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"top_k {self.top_k}, top_p {self.top_p}: top_k from 0 and top_p in (0, 1] expected")


def choose_tokens(logits: Tensor, sampling: Sampling | None, places: Sequence[tuple[int, int]]) -> list[int]:
    """The token at each place (sentence, position), from logits [N, V]. Raises ModelError for NaN."""
    if sampling is None:
        values, ids = logits.max(-1)
        if not torch.isfinite(values).all():
            raise ModelError(NOT_FINITE)
        chosen: list[int] = ids.tolist()
        return chosen
    uniforms = [uniform(sampling.seed, *place, Purpose.TARGET) for place in places]
    return draw_tokens(token_probabilities(logits, sampling), uniforms)


def find_ties(logits: Tensor) -> list[int]:
    """The rows of logits [N, V] whose two largest differ by less than TIE."""
    largest, ids = logits.max(-1, keepdim=True)
    others = logits.scatter(1, ids, -torch.inf).amax(-1, keepdim=True)  # a third of the time that topk takes
    rows: list[int] = (others > largest - TIE)[:, 0].nonzero()[:, 0].tolist()
    return rows


def token_probabilities(logits: Tensor, sampling: Sampling) -> Tensor:
    """Probabilities [N, V] in float64 after temperature, top_k and top_p, in this order as in `transformers`.

    Raises ModelError for NaN.
    """
    if not torch.isfinite(logits.max(-1).values).all():
        raise ModelError(NOT_FINITE)
    scaled = logits.double() / sampling.temperature
    if 0 < sampling.top_k < scaled.shape[-1]:
        least = scaled.topk(sampling.top_k, dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < least, -torch.inf)
    if sampling.top_p < 1:
        ordered, index = scaled.softmax(-1).sort(dim=-1, descending=True, stable=True)
        outside = ordered.cumsum(-1) - ordered >= sampling.top_p  # likelier tokens fill the nucleus already
        scaled = scaled.masked_fill(torch.zeros_like(outside).scatter(1, index, outside), -torch.inf)
    return scaled.softmax(-1)


def draw_tokens(weights: Tensor, uniforms: Sequence[float]) -> list[int]:
    """Inverse transform sampling from weights [N, V]: the first token whose cumulated weight exceeds u of the total."""
    cumulated = weights.cumsum(-1)
    shares = torch.tensor(uniforms, dtype=weights.dtype, device=weights.device)[:, None] * cumulated[:, -1:]
    chosen: list[int] = torch.searchsorted(cumulated, shares, right=True)[:, 0].tolist()
    return chosen


def uniform(seed: int, sentence: int, position: int, purpose: int) -> float:
    """A random number in [0, 1) that depends only on these four numbers (chained splitmix64)."""
    state = 0
    for number in (seed, sentence, position, purpose):
        state = (state + number + 0x9E3779B97F4A7C15) & _BITS
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _BITS
        state ^= state >> 31
    return (state >> 12) / (1 << 52)  # 52 bits: u times the total stays below the total
