"""T5's biases by relative position, looked up in numpy (as modeling/t5.py does in torch)."""

from __future__ import annotations

import math

import numpy as np

from edit_gec.modeling.config import NEGATIVE


def relative_buckets(count: int, longest: int, *, bidirectional: bool) -> np.ndarray:
    """The buckets of the relative positions -longest to longest (key - query), `count` in all."""
    relative = np.arange(-longest, longest + 1)
    half = count // 2 if bidirectional else count
    distance = np.abs(relative) if bidirectional else np.maximum(-relative, 0)
    exact = half // 2
    scaled = np.log(np.maximum(distance, 1).astype(np.float32) / np.float32(exact)) / np.float32(
        math.log(longest / exact)
    )
    far = np.minimum(exact + (scaled * np.float32(half - exact)).astype(int), half - 1)
    buckets: np.ndarray = np.where(distance < exact, distance, far)
    return buckets + half * (relative > 0) if bidirectional else buckets


class RelativeBias:
    """The biases of H heads; weight [buckets, H]. Beyond `longest` they stay the same."""

    def __init__(self, weight: np.ndarray, longest: int, *, bidirectional: bool) -> None:
        self.longest = longest
        self.table = weight[relative_buckets(len(weight), longest, bidirectional=bidirectional)]  # [D, H]
        self._square = np.empty((1, weight.shape[1], 0, 0), np.float32)

    def __call__(self, relative: np.ndarray) -> np.ndarray:
        """Relative positions [..., T, S] -> bias [..., H, T, S]."""
        found = self.table[relative.clip(-self.longest, self.longest) + self.longest]
        return np.ascontiguousarray(np.moveaxis(found, -1, -3))

    def square(self, length: int) -> np.ndarray:
        """Bias [1, H, length, length] of a sequence that attends to itself; cut from the largest so far."""
        square = self._square
        if length > square.shape[-1]:
            positions = np.arange(length)
            self._square = square = self(positions[None, None, :] - positions[None, :, None])
        return np.ascontiguousarray(square[:, :, :length, :length])

    def causal(self, steps: int, past: int) -> np.ndarray:
        """Bias [1, H, steps, past + steps] of new positions that attend to past ones and themselves."""
        relative = np.arange(past + steps)[None, :] - np.arange(past, past + steps)[:, None]
        bias: np.ndarray = self(relative[None]) + np.where(relative > 0, np.float32(NEGATIVE), np.float32(0))
        return bias
