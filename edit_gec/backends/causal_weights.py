"""The weights of a decoder-only model as its graphs want them (causal_graphs.py), without torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from edit_gec.backends.causal_graphs import BLOCK
from edit_gec.backends.sessions import DIGITS, SCALES
from edit_gec.errors import ModelError
from edit_gec.modeling.adapters import Update, read_adapters
from edit_gec.modeling.bases import find_base
from edit_gec.modeling.causal_config import CausalConfig
from edit_gec.modeling.causal_files import Stored, causal_config, hugging_face_names, read_gguf
from edit_gec.modeling.config import read_config
from edit_gec.modeling.weights import read_weights

EMBEDDING = "embedding.weight"
OUTPUT = "output.weight"
NIBBLES, BYTES, STEPS, SHIFTS = ".nibbles", ".bytes", ".steps", ".shifts"


@dataclass(frozen=True, eq=False)
class CausalWeights:
    """Tensors by our names: the parts that are stacked to make each, and what adapters add."""

    source: str
    config: CausalConfig
    parts: dict[str, list[Stored]]
    updates: list[Update] = field(default_factory=list)
    _last: dict[str, tuple[np.ndarray, ...]] = field(default_factory=dict)

    def dense(self, name: str) -> np.ndarray:
        """A tensor in float32, adapters merged. Raises ModelError where it is missing or holds no numbers."""
        whole = np.concatenate([part.dense() for part in self._find(name)])
        for update in self.updates:
            if update.name == name:
                whole[update.start : update.start + len(update.rows)] += update.rows
        if not np.isfinite(whole).all():
            raise ModelError(f"{self.source}: {name} holds values that are no numbers; copy or download it again")
        return whole

    def take(self, name: str) -> np.ndarray:
        """A weight of a graph, by its name there."""
        stem, _, kind = name.rpartition(".")
        if f".{kind}" in (NIBBLES, STEPS, SHIFTS) and stem not in (EMBEDDING, OUTPUT):
            blocks = self._once(f"{stem}{NIBBLES}", lambda: self._blocks(stem))
            return np.ascontiguousarray(blocks[(NIBBLES, STEPS, SHIFTS).index(f".{kind}")])
        if f".{kind}" in (BYTES, STEPS):
            digits, steps = self.blocks_of_bytes(stem)
            return steps if f".{kind}" == STEPS else (digits.view(np.uint8) ^ 128)
        if f".{kind}" in (DIGITS, SCALES):
            digits, scales = self._once(f"{stem}{DIGITS}", lambda: quantise_rows(self.dense(stem)))
            return scales if f".{kind}" == SCALES else np.ascontiguousarray(digits.T)
        whole = self.dense(name)
        return np.ascontiguousarray(whole.T) if whole.ndim == 2 and name not in (EMBEDDING, OUTPUT) else whole

    def _once(self, key: str, make: Callable[[], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        """What `make` makes; its parts are asked for one after the other, so only the last is kept."""
        if key not in self._last:
            self._last.clear()
            self._last[key] = make()
        return self._last[key]

    def is_in_blocks(self) -> bool:
        """Whether all matrices of the layers are stored in blocks of four bits, as int4 wants them."""
        layers = [parts for name, parts in self.parts.items() if name.startswith("layers.") and parts[0].data.ndim == 2]
        return not self.updates and all(part.kind in ("Q4_0", "Q4_1") for parts in layers for part in parts)

    def _blocks(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Nibbles [N, K / 32, 16], steps [N, K / 32] and shifts [K / 32, N] of a matrix: as GGUF stores them."""
        found = [_read_blocks(part) for part in self._find(name)]
        nibbles, steps, shifts = (np.concatenate(each) for each in zip(*found, strict=True))
        return nibbles, steps, shifts.T

    def blocks_of_bytes(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Digits [N, K / 32, 32] in int8 and steps [N, K / 32] of a matrix, as GGUF stores them or rounded to that."""
        (part,) = self._find(name)
        if part.kind == "Q8_0":
            blocks = part.data.reshape(len(part.data), -1, BLOCK + 2)
            return np.ascontiguousarray(blocks[..., 2:]).view(np.int8), _halves(blocks[..., :2])
        whole = self.dense(name)
        digits, steps = quantise_rows(whole.reshape(-1, BLOCK))
        return digits.reshape(len(whole), -1, BLOCK), steps.reshape(len(whole), -1)

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
    return CausalWeights(str(base), config, parts, list(read_adapters(path, config)))


def quantise_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[N, K] in float32 -> int8 [N, K] and a scale for each row [N]."""
    scales = np.abs(rows).max(-1) / np.float32(127)
    digits = np.rint(rows / np.where(scales == 0, 1, scales)[:, None]).astype(np.int8)
    return digits, scales


def _read_blocks(part: Stored) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nibbles in the order of ONNX Runtime, steps and shifts [N, K / 32] of rows in Q4_0 or Q4_1.

    GGUF has weights 0 to 15 of a block in the lower halves of its bytes and 16 to 31 in the upper ones; ONNX Runtime
    has two neighbours in a byte.
    """
    shifted = part.kind == "Q4_1"
    head = 4 if shifted else 2
    blocks = part.data.reshape(len(part.data), -1, head + BLOCK // 2)
    digits = blocks[..., head:]
    lower, upper = digits & 15, digits >> 4
    order = np.concatenate([lower, upper], -1)
    steps = _halves(blocks[..., :2])
    shifts = _halves(blocks[..., 2:4]) + 8 * steps if shifted else np.zeros_like(steps)
    return order[..., ::2] | order[..., 1::2] << 4, steps, shifts


def _halves(raw: np.ndarray) -> np.ndarray:
    """Pairs of bytes [..., 2] as float16 -> float32 [...]."""
    return np.ascontiguousarray(raw).view(np.float16)[..., 0].astype(np.float32)
