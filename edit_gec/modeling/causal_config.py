"""Shape of a decoder-only model. Imports no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edit_gec.errors import InputError

LARGEST = {
    **dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size", "max_position_embeddings"), 10**7),
    **dict.fromkeys(("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim"), 1000),
}


@dataclass(frozen=True)
class Rotary:
    """Rotary positions (Su et al. 2021), and how a model stretches them to longer texts.

    kind: "default", "linear" (all frequencies by 1 / factor) or "llama3" (low ones only, with a transition between
    low_freq_factor and high_freq_factor periods in the original context; Llama 3.1, section 3.2).
    """

    theta: float = 10000.0
    kind: str = "default"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: int = 8192

    def frequencies(self, width: int) -> np.ndarray:
        """Radians a position, one for each pair of dimensions [width / 2]."""
        frequencies = self.theta ** -(np.arange(0, width, 2, dtype=np.float32) / width)
        if self.kind == "linear":
            return frequencies / self.factor
        if self.kind == "llama3":
            periods = self.original_max_position_embeddings * frequencies / (2 * math.pi)  # in the original context
            share = (periods - self.low_freq_factor) / (self.high_freq_factor - self.low_freq_factor)
            share = share.clip(0, 1)
            return share * frequencies + (1 - share) * frequencies / self.factor
        return frequencies


@dataclass(frozen=True)
class CausalConfig:
    """Shape of a decoder-only model; names as in Hugging Face's config.json."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int = 2048
    rms_norm_eps: float = 1e-6
    rotary: Rotary = field(default_factory=Rotary)
    tie_word_embeddings: bool = True
    qkv_bias: bool = False
    output_bias: bool = False  # of attention
    mlp_bias: bool = False

    def __post_init__(self) -> None:
        for name, most in LARGEST.items():
            value = getattr(self, name)
            if type(value) is not int or not 0 < value <= most:  # True is an int
                raise InputError(f"{name} is {value!r}; expected an integer from 1 to {most}")
        if self.num_attention_heads % self.num_key_value_heads or self.head_dim % 2:
            given = f"{self.num_attention_heads} heads, {self.num_key_value_heads} key/value heads of {self.head_dim}"
            raise InputError(f"{given}; expected groups of one size, and an even width")
        if not 0 < self.rms_norm_eps <= 1:
            raise InputError(f"rms_norm_eps is {self.rms_norm_eps!r}; expected a number above 0 and up to 1.0")
