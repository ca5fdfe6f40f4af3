"""A model folder in small pieces: float16 weights in files of bounded size, for places that take no large ones.

    write_shards(Path("models/.runs/edit5-mini-4/gpu"), Path("out/gpu"))
    out/gpu:  config.json  model-00001-of-00002.safetensors  ...  model.safetensors.index.json  spiece.model

The layout is Hugging Face's; checkpoint.read_tensors reads it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from torch import Tensor

from edit_gec.errors import InputError
from edit_gec.lab.training.preparation import copy_vocabulary
from edit_gec.modeling.checkpoint import INDEX, read_tensors
from edit_gec.modeling.config import read_config

LARGEST = 15 * 2**20  # bytes of a file
HEADER = 160  # bytes at most that a file spends on the shape and the place of a tensor, next to its name


def write_shards(model: Path, output: Path, *, largest: int = LARGEST) -> list[Path]:
    """Write a model folder as float16 shards of at most `largest` bytes each; returns the shards.

    Raises InputError where a single tensor is larger.
    """
    from safetensors.torch import save_file

    partial = output.with_name(output.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    shards = split({name: tensor.half().contiguous() for name, tensor in read_tensors(model).items()}, largest)
    names = [f"model-{n:05}-of-{len(shards):05}.safetensors" for n in range(1, len(shards) + 1)]
    for name, shard in zip(names, shards, strict=True):
        save_file(shard, partial / name, metadata={"format": "pt"})
    places = {tensor: name for name, shard in zip(names, shards, strict=True) for tensor in shard}
    index = {"metadata": {"total_size": sum(map(size, (t for s in shards for t in s.values())))}, "weight_map": places}
    (partial / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
    (partial / "config.json").write_text(json.dumps(read_config(model), indent=2) + "\n", encoding="utf-8")
    copy_vocabulary(model, partial)
    shutil.rmtree(output, ignore_errors=True)
    partial.rename(output)
    return [output / name for name in names]


def split(tensors: dict[str, Tensor], largest: int) -> list[dict[str, Tensor]]:
    """Tensors in their order, as few groups as that allows, none with more bytes than `largest`, headers included.

    Raises InputError where a single tensor is larger.
    """
    shards: list[dict[str, Tensor]] = [{}]
    filled = 0
    for name, tensor in tensors.items():
        needed = size(tensor) + len(name) + HEADER
        if needed + HEADER > largest:
            raise InputError(f"{name}: {size(tensor):,} bytes, more than the {largest:,} of a file")
        if filled + needed + HEADER > largest:
            shards.append({})
            filled = 0
        shards[-1][name] = tensor
        filled += needed
    return shards


def size(tensor: Tensor) -> int:
    """Bytes of a tensor."""
    return tensor.numel() * tensor.element_size()
