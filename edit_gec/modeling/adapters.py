"""Low-rank adapters of a decoder-only model (LoRA; Hu et al. 2021), as `peft` writes them, without torch.

    FOLDER/adapter_config.json  adapter_model.safetensors

A matrix W becomes W + s B A, where s is alpha / r, or alpha / sqrt(r) with use_rslora. Adapters are merged at load.
They may have a byte for each weight (quantization.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from math import gcd
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from edit_gec.errors import ModelError
from edit_gec.modeling.causal_config import CausalConfig
from edit_gec.modeling.config import read_config
from edit_gec.modeling.weights import SCALES, read_weights

CONFIG = "adapter_config.json"
FILE = "adapter_model.safetensors"
MOST_RANK = 4096
# What changes more than W + s B A, and the value at which it does not.
PLAIN: dict[str, Any] = {
    "peft_type": "LORA", "bias": "none", "use_dora": False, "fan_in_fan_out": False, "modules_to_save": None,
    "alpha_pattern": None, "layer_replication": None,
}  # fmt: skip
_NAME = re.compile(r"base_model\.model\.model\.layers\.(\d+)\.(\w+\.\w+)\.lora_([AB])\.weight")


class Adapter(NamedTuple):
    """What is added to some rows of one of our matrices: s B A, of low rank r."""

    name: str
    start: int
    b: np.ndarray  # [N, r], with s
    a: np.ndarray  # [r, K]

    def add_to(self, matrix: np.ndarray) -> None:
        """Add it to the whole matrix [.., K] in float32."""
        few = gcd(len(self.b), 16)  # rows of a product so small that BLAS wakes no other thread for it
        product = (self.b.reshape(-1, few, self.b.shape[1]) @ self.a).reshape(len(self.b), -1)
        matrix[self.start : self.start + len(self.b)] += product


def read_adapters(folder: Path, config: CausalConfig) -> Iterator[Adapter]:
    """The adapters of a model folder, if it has any.

    Raises ModelError where they are broken, of another kind, or of a model of another shape.
    """
    if not (folder / CONFIG).is_file():
        return
    given = read_config(folder, CONFIG)
    scale = _scale(given, folder / CONFIG)
    pairs: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    weights = read_weights(folder, FILE)
    for name in (each for each in weights.tensors if not each.endswith(SCALES)):
        parts = _NAME.fullmatch(name)
        if parts is None:
            raise ModelError(f"{folder / FILE}: {name}; expected lora_A and lora_B of matrices of the layers")
        pairs.setdefault((parts[1], parts[2]), {})[parts[3]] = weights.dense(name)
    places = _places(config)
    for (layer, module), pair in sorted(pairs.items()):
        source = f"{folder / FILE}: layers.{layer}.{module}"
        if module not in places or int(layer) >= config.num_hidden_layers:
            known = f"{', '.join(places)} of {config.num_hidden_layers} layers"
            raise ModelError(f"{source} is not in the model; expected {known}")
        ours, start, shape = places[module]
        a, b = (pair.get(which, np.zeros((0, 0), np.float32)) for which in "AB")
        rank = len(a)
        if (a.shape, b.shape) != ((rank, shape[1]), (shape[0], rank)) or not 0 < rank <= MOST_RANK:
            expected = f"[r, {shape[1]}] and [{shape[0]}, r]"
            raise ModelError(f"{source}: lora_A and lora_B of {list(a.shape)} and {list(b.shape)}; expected {expected}")
        yield Adapter(f"layers.{int(layer)}.{ours}.weight", start, np.float32(scale(rank)) * b, a)


def _scale(given: Mapping[str, Any], source: Path) -> Any:
    """rank -> s. Raises ModelError for adapters that are more than LoRA."""
    for name, plain in PLAIN.items():
        if (given.get(name, plain) or None) != (plain or None):
            raise ModelError(f"{source}: {name} is {given[name]!r}; expected {plain!r}")
    alpha = given.get("lora_alpha")
    if not isinstance(alpha, int | float) or not math.isfinite(alpha):
        raise ModelError(f"{source}: lora_alpha is {alpha!r}; expected a number")
    return lambda rank: alpha / (math.sqrt(rank) if given.get("use_rslora") else rank)


def _places(c: CausalConfig) -> dict[str, tuple[str, int, tuple[int, int]]]:
    """A matrix of Hugging Face's layer -> our matrix, the first of its rows there, and its shape."""
    q, kv = c.num_attention_heads * c.head_dim, c.num_key_value_heads * c.head_dim
    d, ff = c.hidden_size, c.intermediate_size
    return {
        "self_attn.q_proj": ("attention.qkv", 0, (q, d)),
        "self_attn.k_proj": ("attention.qkv", q, (kv, d)),
        "self_attn.v_proj": ("attention.qkv", q + kv, (kv, d)),
        "self_attn.o_proj": ("attention.o", 0, (d, q)),
        "mlp.gate_proj": ("wi", 0, (ff, d)),
        "mlp.up_proj": ("wi", ff, (ff, d)),
        "mlp.down_proj": ("wo", 0, (d, ff)),
    }
