"""Shards: the same tensors in files that are small enough."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.modeling.checkpoint import read_tensors
from edit_gec.training.shards import HEADER, size, split, write_shards


@given(st.lists(st.integers(1, 300)), st.integers(1000, 3000))
def test_all_tensors_in_their_order(lengths: list[int], largest: int) -> None:
    tensors = {f"layer.{n}": torch.zeros(length).half() for n, length in enumerate(lengths)}
    shards = split(tensors, largest)
    assert [name for shard in shards for name in shard] == list(tensors)
    assert all(sum(map(size, shard.values())) <= largest - HEADER for shard in shards)


def test_a_tensor_that_fits_nowhere() -> None:
    with pytest.raises(InputError, match="embedding: 2,000 bytes, more than the 1,500 of a file"):
        split({"embedding": torch.zeros(1000).half()}, 1500)


def test_a_folder_in_shards(model_folder: Path, tmp_path: Path) -> None:
    largest = 60_000
    shards = write_shards(model_folder, tmp_path / "out", largest=largest)
    assert len(shards) > 1 and all(path.stat().st_size <= largest for path in shards)
    whole, parts = read_tensors(model_folder), read_tensors(tmp_path / "out")
    assert whole.keys() == parts.keys()
    for name, tensor in whole.items():
        torch.testing.assert_close(parts[name].float(), tensor.float(), atol=1e-3, rtol=1e-3)
    Corrector.load(tmp_path / "out").correct("Hi there.")  # it loads and runs
    again = write_shards(tmp_path / "out", tmp_path / "again", largest=largest)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in shards], "written twice, the same"
    assert not list(tmp_path.glob("*.partial"))
