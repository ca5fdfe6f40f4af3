"""Model folders from strangers: no code in them runs, no memory is taken for what is not there."""

from __future__ import annotations

import json
import os
import pickle
import random
import resource
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from edit_gec.corrector import Corrector
from edit_gec.errors import ModelError
from edit_gec.modeling.checkpoint import INDEX, PICKLED, WEIGHTS, load_t5, read_tensors
from edit_gec.modeling.config import read_config
from edit_gec.modeling.tokenizer import FILE, Tokens
from edit_gec.modeling.weights import read_weights

GIGABYTE = 2**30


class Exploit:
    """Unpickled, it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (self.path, "w"))


def test_the_exploit_works(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Exploit(tmp_path / "harm"))).close()
    assert (tmp_path / "harm").exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", WEIGHTS, FILE])
@pytest.mark.parametrize("zipped", [False, True])
def test_pickles_run_no_code(model_folder: Path, tmp_path: Path, name: str, zipped: bool) -> None:
    folder, harm = tmp_path / "model", tmp_path / "harm"
    shutil.copytree(model_folder, folder)
    if zipped:
        torch.save(Exploit(harm), folder / name)
    else:
        (folder / name).write_bytes(pickle.dumps(Exploit(harm)))
    if name in (WEIGHTS, FILE):
        with pytest.raises(ModelError, match=r"broken weights|not a SentencePiece model"):
            Corrector.load(folder, threads=1)
    else:
        Corrector.load(folder, threads=1)
        (folder / WEIGHTS).unlink()
        with pytest.raises(ModelError, match=r"is missing|not plain weights of torch .*convert it"):
            Corrector.load(folder, threads=1)
    assert not harm.exists()


def test_pickled_weights_hold_only_tensors(tmp_path: Path) -> None:
    """Nothing beside tensors; nothing that grows when it is unpacked; whole files only."""
    path = tmp_path / PICKLED
    torch.save({"a": torch.ones(4)}, path)
    assert read_tensors(tmp_path)["a"].tolist() == [1.0] * 4
    whole = path.read_bytes()
    torch.save({"a": torch.ones(4), "epoch": 3}, tmp_path / "other")
    torch.save([torch.ones(4)], tmp_path / "list")
    torch.save({"a": torch.ones(4)}, tmp_path / "old", _use_new_zipfile_serialization=False)
    with zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as bomb, zipfile.ZipFile(path) as plain:
        for name in plain.namelist():
            bomb.writestr(name, plain.read(name))
    for content in (*((tmp_path / name).read_bytes() for name in ("other", "list", "old", "bomb")), whole[:-30], b""):
        path.write_bytes(content)
        with pytest.raises(ModelError, match="convert it") as raised:
            read_tensors(tmp_path)
        assert "\n" not in str(raised.value) and str(path) in str(raised.value)


def header(content: bytes, length: int | None = None, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(content) if length is None else length) + content + data


def tensor(shape: list[int], offsets: list[int], dtype: str = "F32") -> bytes:
    return json.dumps({"shared.weight": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}).encode()


@pytest.mark.parametrize(
    "content",
    [
        header(b"{}", length=2**62),
        header(b"{}", length=2**30),
        header(b"[" * 50_000),
        header(tensor([10**12], [0, 4 * 10**12])),
        header(tensor([10**6, 10**6], [0, 16]), data=bytes(16)),
        header(tensor([2**32, 2**32], [0, 0])),
        header(tensor([-4], [0, 16]), data=bytes(16)),
        header(tensor([4], [16, 0]), data=bytes(16)),
        header(tensor([4], [0, 16], dtype="PICKLE"), data=bytes(16)),
    ],
)
def test_weights_that_lie_about_their_size(content: bytes, tmp_path: Path) -> None:
    (tmp_path / WEIGHTS).write_bytes(content)
    with pytest.raises(ModelError, match="broken weights"):
        read_tensors(tmp_path)


@pytest.mark.parametrize("head", [b"", header(b"{}"), header(tensor([2**28], [0, 2**30]))])
def test_sparse_files_cost_nothing(head: bytes, tmp_path: Path) -> None:
    """Two gigabytes that are not on the disk are refused by their size, or by the header that they begin with."""
    for name in (WEIGHTS, "config.json", FILE):
        (tmp_path / name).write_bytes(head)
        os.truncate(tmp_path / name, 2 * GIGABYTE)
    before = resource.getrusage(resource.RUSAGE_SELF)
    for read in (read_weights, read_tensors, read_config, lambda folder: Tokens.load(folder, 40)):
        with pytest.raises(ModelError):
            read(tmp_path)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1
    assert after.ru_maxrss - before.ru_maxrss < 2**18  # kilobytes


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, '{"d_model": ' + "9" * 5000 + "}"])
def test_json_without_end(content: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ModelError, match="not readable as JSON"):
        read_config(tmp_path)
    (tmp_path / INDEX).write_text(content)
    with pytest.raises(ModelError, match="not a weight index"):
        read_tensors(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_sizes_are_checked_before_memory_is_taken(model_folder: Path, tmp_path: Path) -> None:
    """config.json asks for terabytes; the process may have four gigabytes of addresses."""
    shutil.copytree(model_folder, tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(
        json.dumps({**config, "d_model": 10**6, "d_ff": 10**6, "vocab_size": 10**6, "num_layers": 900})
    )
    done = subprocess.run(
        [sys.executable, "-m", "edit_gec", "correct", "--model", str(tmp_path / "model")],
        input="She go.", capture_output=True, text=True, timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * GIGABYTE, 4 * GIGABYTE)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected" in done.stderr and done.stderr.count("\n") == 1


def test_a_damaged_vocabulary(model_folder: Path, tmp_path: Path) -> None:
    """Whatever byte is changed: a ModelError, or a vocabulary that reads and writes."""
    whole = (model_folder / FILE).read_bytes()
    refused = 0
    for seed in range(60):
        chance, data = random.Random(seed), bytearray(whole)
        for _ in range(chance.choice([1, 4])):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = bytes(chance.randrange(256) for _ in range(chance.randrange(3)))
        (tmp_path / FILE).write_bytes(data)
        try:
            tokens = Tokens.load(tmp_path, 40)
        except ModelError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            tokens.decode(tokens.encode("She go home 🏠 it's.").ids)
    assert 10 < refused < 60


def test_a_folder_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is missing"):
        load_t5(tmp_path)
