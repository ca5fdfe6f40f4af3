"""The weights of a decoder-only model as its graphs want them (causal_graphs.py), without torch.

    FOLDER/smoothing.safetensors      layers.N.attention_norm.weight [d], layers.N.feed_forward_norm.weight [d] in int8

A few dimensions of what goes into a matrix are far larger than the others, and one scale has to round them all. So the
norm divides each dimension by a power of two, and the matrix behind it multiplies by it: exactly the same product, of
numbers that are alike (SmoothQuant; Xiao et al. 2023). The file holds the exponents, which
profiles/training/smoothing.py finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from edit_gec.backends.sessions import DIGITS, REMEDY, SMOOTHED
from edit_gec.errors import ModelError
from edit_gec.modeling.adapters import Adapter, read_adapters
from edit_gec.modeling.bases import find_base
from edit_gec.modeling.causal_config import CausalConfig
from edit_gec.modeling.causal_files import causal_config, hugging_face_names, read_gguf
from edit_gec.modeling.config import read_config
from edit_gec.modeling.gguf_files import Stored
from edit_gec.modeling.weights import SCALES, read_weights

EMBEDDING = "embedding.weight"
OUTPUT = "output.weight"
SMOOTHING = "smoothing.safetensors"
SMOOTHED_BY = {"attention.qkv": "attention_norm", "wi": "feed_forward_norm"}  # the matrix behind each norm of a layer
_ROWS = 256  # that are rounded at once: some 0.6 MB, which stay in the cache

Rows = Callable[[np.ndarray], np.ndarray]  # ids [...] -> rows of a table [..., d] in float32


@dataclass(frozen=True, eq=False)
class CausalWeights:
    """Tensors by our names: the parts that are stacked to make each, what adapters add, and exponents of norms."""

    source: str
    config: CausalConfig
    parts: dict[str, list[Stored]]
    adapters: list[Adapter] = field(default_factory=list)
    exponents: dict[str, np.ndarray] = field(default_factory=dict)
    _last: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def dense(self, name: str) -> np.ndarray:
        """A tensor in float32, adapters merged, smoothed if its name says so.

        Raises ModelError where it is missing or holds no numbers.
        """
        if name.endswith(SMOOTHED):
            return self._smoothed(name.removesuffix(SMOOTHED))
        parts = [part.dense() for part in self._find(name)]
        whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
        for adapter in self.adapters:
            if adapter.name == name:
                adapter.add_to(whole)
        if not np.isfinite(whole).all():
            raise ModelError(f"{self.source}: {name} holds values that are no numbers; copy or download it again")
        return whole

    def take(self, name: str) -> np.ndarray:
        """A weight of a graph, by its name there."""
        stem, _, kind = name.rpartition(".")
        if f".{kind}" in (DIGITS, SCALES):
            if stem not in self._last:  # both are asked for one after the other, so only the last is kept
                self._last.clear()
                self._last[stem] = quantise_rows(self.dense(stem))
            digits, scales = self._last[stem]
            return scales if f".{kind}" == SCALES else np.ascontiguousarray(digits.T)
        whole = self.dense(name)
        return np.ascontiguousarray(whole.T) if whole.ndim == 2 and name not in (EMBEDDING, OUTPUT) else whole

    def _smoothed(self, name: str) -> np.ndarray:
        """The weight of a norm divided by its powers of two, or the matrix behind it whose columns are multiplied."""
        layer, _, module = name.removesuffix(".weight").partition(".")[2].partition(".")
        is_matrix = module in SMOOTHED_BY
        norm = f"layers.{layer}.{SMOOTHED_BY[module]}.weight" if is_matrix else name
        whole = self.dense(name)
        found = self.exponents.get(norm)
        if found is None or found.shape != whole.shape[-1:]:
            raise ModelError(f"{self.source}: {SMOOTHING} does not fit these graphs; {REMEDY}")
        whole *= np.exp2(found.astype(np.float32) * (1 if is_matrix else -1))
        return whole

    def table(self, name: str) -> Rows:
        """What gives rows of a table, which stays as it is stored."""
        (part,) = self._find(name)
        data = np.array(part.data)
        return lambda ids: Stored(data[ids], part.kind).dense()

    def _find(self, name: str) -> list[Stored]:
        try:
            return self.parts[name]
        except KeyError:
            raise ModelError(f"{self.source}: no tensor {name}; is this another model?") from None


def read_causal_weights(path: Path) -> CausalWeights:
    """The weights of a folder of ours, a Hugging Face folder or a GGUF file; nothing is dequantised yet.

    Raises as load_causal does.
    """
    base = find_base(path)
    if base.suffix == ".gguf":
        config, parts = read_gguf(base)
    else:
        tensors = read_weights(base).tensors
        config = causal_config(read_config(base), tied="lm_head.weight" not in tensors, source=str(base))
        parts = {
            ours: [Stored(tensors[name].astype(np.float32, copy=False), "F32") for name in theirs]
            for ours, theirs in hugging_face_names(config).items()
            if all(name in tensors for name in theirs)
        }
    exponents = read_weights(path, SMOOTHING).tensors if (path / SMOOTHING).is_file() else {}
    return CausalWeights(str(base), config, parts, list(read_adapters(path, config)), exponents)


def quantise_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[N, K] in float32 -> int8 [N, K] and a scale for each row [N]. The rows are lost."""
    digits = np.empty(rows.shape, np.int8)
    scales = np.empty(len(rows), np.float32)
    for n in range(0, len(rows), _ROWS):
        some = rows[n : n + _ROWS]
        scales[n : n + _ROWS] = np.maximum(some.max(-1), -some.min(-1)) / np.float32(127)
        steps = scales[n : n + _ROWS, None]
        some /= np.where(steps == 0, 1, steps)
        digits[n : n + _ROWS] = np.rint(some, out=some)
    return digits, scales
