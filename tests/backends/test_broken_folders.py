"""Folders with graphs that are broken: one ModelError of one line, whatever tensor or byte is at fault."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
from safetensors.numpy import load_file, save_file

from edit_gec.corrector import Corrector
from edit_gec.errors import ModelError
from edit_gec.modeling.edit5 import EdiT5

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from edit_gec.backends.export import export
from edit_gec.backends.onnx_network import OnnxNetwork
from edit_gec.backends.sessions import FOLDER, INDEX
from edit_gec.modeling.weights import FILE

SHIPPED = Path(__file__).parents[2] / "models" / "edit5-mini"
Reshape = Callable[[np.ndarray], np.ndarray]
RESHAPES: dict[str, Reshape] = {
    "shorter": lambda tensor: tensor[1:],
    "longer": lambda tensor: np.concatenate([tensor, tensor[:1]]),
    "narrower": lambda tensor: tensor[..., 1:],
    "deeper": lambda tensor: tensor[None],
    "empty": lambda tensor: tensor[:0],
    "one number": lambda tensor: tensor.sum(),
    "not a number": lambda tensor: tensor * np.float32("nan"),
    "infinite": lambda tensor: np.where(np.arange(tensor.size).reshape(tensor.shape) == 0, np.float32("inf"), tensor),
}


@pytest.fixture
def folder(make_model: Callable[..., EdiT5], tmp_path: Path) -> Path:
    make_model(num_layers=1).save(tmp_path)
    export(tmp_path)
    return tmp_path


def is_refused(folder: Path, *, int8: bool = False) -> bool:
    """Whether loading ends in one line that names the folder; every other error is raised."""
    try:
        OnnxNetwork.load(folder, int8=int8)
    except ModelError as error:
        assert "\n" not in str(error) and str(folder) in str(error)
        return True
    return False


@pytest.mark.parametrize("kind", RESHAPES)
def test_any_tensor_of_another_shape_or_without_numbers(folder: Path, kind: str) -> None:
    whole = load_file(folder / FILE)
    assert len(whole) > 20
    for name, tensor in whole.items():
        save_file({**whole, name: np.array(RESHAPES[kind](tensor), tensor.dtype, order="C")}, folder / FILE)
        assert is_refused(folder), name


@pytest.mark.parametrize("int8", [False, True])
def test_scales_of_packed_weights_that_are_no_numbers(tmp_path: Path, int8: bool) -> None:
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "model"))
    tensors = safetensors.torch.load_file(folder / FILE)  # numpy has no bfloat16
    name = next(name for name in tensors if name.endswith(".scales"))
    tensors[name] *= float("nan")
    safetensors.torch.save_file(tensors, folder / FILE)
    with pytest.raises(ModelError, match=rf"{name} holds values that are no numbers"):
        OnnxNetwork.load(folder, int8=int8)
    with pytest.raises(ModelError, match=r"holds values that are no numbers"):
        Corrector.load(folder, threads=1)


def test_any_byte_of_the_weights_head(folder: Path) -> None:
    """Whatever byte is changed and wherever the file is cut: a network, or one line."""
    whole = (folder / FILE).read_bytes()
    head = 8 + int.from_bytes(whole[:8], "little")
    refused = 0
    for seed in range(150):
        chance, data = random.Random(seed), bytearray(whole)
        for _ in range(chance.choice([0, 1, 3])):
            data[chance.randrange(head)] = chance.randrange(256)
        (folder / FILE).write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
        refused += is_refused(folder)
    assert refused > 100


def test_any_byte_of_the_graphs(folder: Path) -> None:
    refused = 0
    for path in sorted((folder / FOLDER).iterdir()):
        whole = path.read_bytes()
        for seed in range(20):
            chance, data = random.Random(seed), bytearray(whole)
            data[chance.randrange(len(data))] = chance.randrange(256)
            path.write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
            refused += is_refused(folder)
        path.write_bytes(whole)
    assert refused > 30


@pytest.mark.parametrize("name", [FILE, f"{FOLDER}/{INDEX}"])
def test_json_without_end(folder: Path, name: str) -> None:
    opened = b"[" * 100_000
    (folder / name).write_bytes(len(opened).to_bytes(8, "little") + opened if name == FILE else opened)
    assert is_refused(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
@pytest.mark.parametrize("name", [FILE, f"{FOLDER}/{INDEX}", f"{FOLDER}/encode.onnx"])
def test_what_is_no_file(folder: Path, name: str) -> None:
    """A pipe is not waited for, a device not read to its end."""
    path = folder / name
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path)):
        path.unlink()
        make(path)
        assert is_refused(folder)
        if path.is_dir():
            path.rmdir()
            path.touch()


def test_graphs_of_another_model(folder: Path, make_model: Callable[..., EdiT5]) -> None:
    make_model(num_layers=1, num_heads=2).save(folder)
    assert is_refused(folder)
    export(folder)
    assert not is_refused(folder)
