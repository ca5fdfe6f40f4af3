"""GGUF files: what they say about a model, and its tensors. Imports no torch.

A file has a header, named values, descriptions of tensors, and their data (little-endian):

    GGUF version n_tensors n_values | name kind value ... | name shape kind offset ... | padding, data

The reader of the package `gguf` makes arrays of each of the 98,000 strings of a vocabulary: 1.6 s and 159 MB for
SmolLM2, where this one takes 0.05 s. That package dequantises the rarer kinds.
"""

from __future__ import annotations

import mmap
import struct
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from edit_gec.errors import MissingExtraError, ModelError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_DIMENSIONS = 4
# Kinds of numbers: struct's letter by the number that names the kind in the file; text and lists have numbers, too.
_NUMBERS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
# Kinds of tensors that can be dequantised: the number that names the kind -> its name, weights and bytes of a block.
KINDS = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 30: ("BF16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
}  # fmt: skip


class Stored(NamedTuple):
    """A tensor as GGUF stores it: numbers, or rows of quantised blocks in bytes."""

    data: np.ndarray
    kind: str  # a name of KINDS

    def dense(self) -> np.ndarray:
        """The values, in float32. Raises MissingExtraError for rarer kinds without the package `gguf`."""
        if self.kind in ("F32", "F16"):
            return self.data.astype(np.float32)
        shape = (*self.data.shape[:-1], -1)
        if self.kind == "Q8_0":
            blocks = self.data.reshape(-1, 34)
            values: np.ndarray = blocks[:, 2:].view(np.int8) * _halves(blocks[:, :2])
            return values.reshape(shape)
        if self.kind in ("Q4_0", "Q4_1"):
            return _dequantise_nibbles(self.data, has_shifts=self.kind == "Q4_1").reshape(shape)
        try:
            from gguf import GGMLQuantizationType
            from gguf.quants import dequantize
        except ModuleNotFoundError:
            raise MissingExtraError(
                f"tensors in {self.kind} need gguf: pip install '.[lm]' in edit-gec's folder"
            ) from None
        values = dequantize(self.data, GGMLQuantizationType[self.kind]).astype(np.float32, copy=True)
        return values


class GgufFile(NamedTuple):
    """Named values, and tensors by name."""

    values: dict[str, Any]
    tensors: dict[str, Stored]


def read_gguf_file(path: Path) -> GgufFile:
    """The contents of a GGUF file; the data of its tensors are read when they are used.

    Raises ModelError for a file that is none, is cut off, or has tensors of unknown kinds.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such file; expected a GGUF file")
    try:
        with open(path, "rb") as file:
            reader = _Reader(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return reader.read()
    except (OSError, ValueError, OverflowError, struct.error) as error:
        raise ModelError(f"{path}: not a whole GGUF file ({error}); copy or download it again") from None
    except KeyError as error:
        known = ", ".join(sorted(name for name, _, _ in KINDS.values()))
        raise ModelError(f"{path}: stored in an unknown kind, number {error}; expected one of {known}") from None


class _Reader:
    """A place in a file that moves on."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 0

    def read(self) -> GgufFile:
        """All of it. Raises ValueError, OverflowError, struct.error or KeyError where it is wrong."""
        if (magic := self.data[:4]) != MAGIC:
            raise ValueError(f"it begins with {magic!r}")
        self.at = len(MAGIC)
        if (version := self.number("I")) not in VERSIONS:
            raise ValueError(f"version {version}, little-endian; expected 2 or 3")
        tensors, values = self.number("Q"), self.number("Q")
        found = {self.text(): self.value(self.number("I")) for _ in range(values)}
        described = [self.describe() for _ in range(tensors)]
        alignment = found.get("general.alignment", 32)
        if type(alignment) is not int or alignment < 1:
            raise ValueError(f"general.alignment is {alignment!r}")
        begin = -(-self.at // alignment) * alignment
        return GgufFile(found, {name: self.tensor(begin + at, shape, kind) for name, shape, kind, at in described})

    def number(self, letter: str) -> Any:
        """A number of one of struct's kinds."""
        (value,) = struct.unpack_from(f"<{letter}", self.data, self.at)
        self.at += struct.calcsize(f"<{letter}")
        return value

    def text(self) -> str:
        """A text, which comes after its length in bytes."""
        (size,) = struct.unpack_from("<Q", self.data, self.at)
        begin = self.at + 8
        self.at = begin + size
        if self.at > len(self.data):
            raise ValueError("it is cut off")
        return self.data[begin : self.at].decode()

    def value(self, kind: int) -> Any:
        """A value of a kind; a list holds numbers or texts."""
        if kind == _TEXT:
            return self.text()
        if kind != _LIST:
            return self.number(_NUMBERS[kind])
        kind, count = self.number("I"), self.number("Q")
        if kind == _TEXT:
            return [self.text() for _ in range(count)]
        numbers = np.frombuffer(self.data, np.dtype(_NUMBERS[kind]).newbyteorder("<"), count, self.at)
        self.at += numbers.nbytes
        return numbers.tolist()

    def describe(self) -> tuple[str, tuple[int, ...], int, int]:
        """Name, shape (rows first), kind and offset of a tensor."""
        name, dimensions = self.text(), self.number("I")
        if not 0 < dimensions <= MOST_DIMENSIONS:
            raise ValueError(f"{name} has {dimensions} dimensions")
        shape = tuple(self.number("Q") for _ in range(dimensions))
        return name, shape[::-1], self.number("I"), self.number("Q")

    def tensor(self, begin: int, shape: tuple[int, ...], kind: int) -> Stored:
        """A tensor whose data begin there."""
        name, weights, size = KINDS[kind]
        if shape[-1] % weights:
            raise ValueError(f"rows of {shape[-1]} weights in blocks of {weights}")
        stored = (*shape[:-1], shape[-1] // weights * size)
        if begin + prod(stored) > len(self.data):
            raise ValueError("it is cut off")
        data = np.frombuffer(self.data, np.uint8, prod(stored), begin).reshape(stored)
        plain = {"F32": np.float32, "F16": np.float16}.get(name)
        return Stored(data if plain is None else data.view(plain), name)


def _dequantise_nibbles(data: np.ndarray, *, has_shifts: bool) -> np.ndarray:
    """Blocks of 32 weights: a step, a shift unless that is -8 steps, and weights 0 to 15 in lower halves of bytes."""
    head = 4 if has_shifts else 2
    blocks = data.reshape(-1, head + 16)
    steps = _halves(blocks[:, :2])
    values = np.empty((len(blocks), 32), np.float32)
    values[:, :16] = blocks[:, head:] & 15
    values[:, 16:] = blocks[:, head:] >> 4
    values *= steps
    values += _halves(blocks[:, 2:4]) if has_shifts else -8 * steps
    return values


def _halves(raw: np.ndarray) -> np.ndarray:
    """Pairs of bytes [..., 2] as float16 -> float32 [..., 1]."""
    return np.ascontiguousarray(raw).view(np.float16).astype(np.float32)
