"""The weights of a model folder as numpy arrays, without torch.

A safetensors file is a length, a JSON header and bytes; matrices in int8 carry a scale for each row (quantization.py).
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from edit_gec.errors import ModelError

FILE = "model.safetensors"
LARGEST = 127  # of a weight in int8
SCALES = ".scales"  # after the name of a matrix in int8: the name of its scales
MOST_HEADER = 10**7  # bytes; a longer header belongs to no model of ours
TYPES: dict[str, np.dtype[Any]] = {
    "I8": np.dtype(np.int8),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "BF16": np.dtype("<u2"),  # the upper half of a float32
}


@dataclass(frozen=True)
class Weights:
    """Tensors by name, as they lie in the file."""

    tensors: dict[str, np.ndarray]
    source: str

    def dense(self, name: str) -> np.ndarray:
        """A tensor in float32. Raises ModelError when it is missing."""
        tensor = self._find(name)
        if tensor.dtype == np.int8:
            dense: np.ndarray = tensor.astype(np.float32) * self.scales(name)[:, None]
            return dense
        return tensor.astype(np.float32, copy=False)

    def table(self, name: str, *shape: int) -> np.ndarray:
        """A tensor in float32 of this shape. Raises ModelError when it is missing or has another."""
        tensor = self.dense(name)
        if tensor.shape != shape:
            raise ModelError(f"{self.source}: {name} has shape {list(tensor.shape)}; expected {list(shape)}")
        return tensor

    def is_packed(self, name: str) -> bool:
        """Whether a tensor is a matrix in int8."""
        return self._find(name).dtype == np.int8

    def digits(self, name: str) -> np.ndarray:
        """A matrix [N, K] in int8: as it is packed, or rounded where it was too small to be packed."""
        matrix = self._find(name)
        if matrix.dtype == np.int8:
            return matrix
        dense, scales = self.dense(name), self.scales(name)
        rounded: np.ndarray = np.rint(dense / scales[:, None]).astype(np.int8)
        return rounded

    def scales(self, name: str) -> np.ndarray:
        """The scales [N] of the rows of a matrix [N, K] in int8. Raises ModelError when they do not fit."""
        matrix = self._find(name)
        if matrix.dtype != np.int8:
            largest = np.abs(self.dense(name)).max(axis=1, initial=0)
            own: np.ndarray = np.maximum(largest, np.finfo(np.float32).tiny) / np.float32(LARGEST)
            return own
        scales = self._find(name + SCALES)
        if matrix.ndim != 2 or scales.shape != matrix.shape[:1]:
            raise ModelError(f"{self.source}: {name} is in int8; expected a scale for each row in {name + SCALES}")
        return scales.astype(np.float32, copy=False)

    def _find(self, name: str) -> np.ndarray:
        try:
            return self.tensors[name]
        except KeyError:
            raise ModelError(f"{self.source}: no tensor {name}; is this an EdiT5 folder?") from None


def read_weights(folder: Path, file: str = FILE) -> Weights:
    """All tensors of a file in a folder.

    Raises ModelError for a file that is missing, truncated or no safetensors file, and for values that are no numbers.
    """
    path = folder / file
    if not path.is_file():  # a pipe would be waited for
        raise ModelError(f"{folder}: {file} is missing")
    try:
        with open(path, "rb") as stream:
            tensors = _read_tensors(stream, os.fstat(stream.fileno()).st_size)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelError(f"{path}: not a safetensors file, or a truncated one ({error})") from None
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise ModelError(f"{path}: {name} holds values that are no numbers; copy or download the model again")
    return Weights(tensors, str(path))


def _read_tensors(stream: IO[bytes], size: int) -> dict[str, np.ndarray]:
    """The tensors of a file of so many bytes, which is read once its header fits it: they are all that follows."""
    length = int.from_bytes(stream.read(8), "little")
    if not 0 < length <= min(MOST_HEADER, size - 8):
        raise ValueError(f"a header of {length} bytes")
    header = json.loads(stream.read(length))
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    claimed = sum(math.prod(entry["shape"]) * TYPES[entry["dtype"]].itemsize for entry in entries.values())
    if claimed != size - 8 - length:
        raise ValueError(f"{size - 8 - length} bytes for tensors of {claimed}")
    body = memoryview(stream.read())
    return {name: _tensor(entry, body) for name, entry in entries.items()}


def _tensor(entry: dict[str, Any], body: memoryview) -> np.ndarray:
    """One tensor of a header's entry. Raises ValueError or KeyError when the entry does not fit the file."""
    kind = TYPES[entry["dtype"]]
    shape = tuple(entry["shape"])
    begin, end = entry["data_offsets"]
    if not 0 <= begin <= end <= len(body) or end - begin != math.prod(shape) * kind.itemsize:
        raise ValueError(f"bytes {begin} to {end} of {len(body)} for the shape {list(shape)}")
    numbers = np.frombuffer(body[begin:end], kind).reshape(shape)
    if entry["dtype"] == "BF16":
        return (numbers.astype(np.uint32) << 16).view(np.float32)
    return numbers
