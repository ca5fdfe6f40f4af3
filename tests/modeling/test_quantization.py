"""Weights in a byte each: what they lose, what they take, and what is no such file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from edit_gec.errors import ModelError
from edit_gec.modeling.checkpoint import WEIGHTS, read_tensors
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.quantization import MIN_WEIGHTS, pack, round_rows, unpack
from edit_gec.modeling.weights import LARGEST, SCALES


@given(st.integers(1, 40), st.integers(1, 40), st.floats(1e-30, 1e30), st.integers(0, 2**31))
def test_no_weight_is_wrong_by_more_than_half_a_step(rows: int, width: int, size: float, seed: int) -> None:
    weight = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed)) * size
    digits, scales = round_rows(weight)
    assert digits.shape == weight.shape and scales.shape == (rows,)
    assert torch.equal(digits, digits.round()) and (digits.abs().amax(1) <= LARGEST).all()
    error = (digits * scales[:, None] - weight).abs()
    assert (error <= 0.5001 * scales[:, None]).all()


def test_a_row_of_zeros_stays_one() -> None:
    weight = torch.randn(64, 64)
    weight[3] = 0
    assert torch.equal(unpack(pack({"w": weight}), "here")["w"][3], torch.zeros(64))


@pytest.mark.parametrize("shape", [(MIN_WEIGHTS // 64, 64), (MIN_WEIGHTS // 64 - 1, 64), (MIN_WEIGHTS,), (4, 32, 32)])
def test_only_large_matrices_are_packed(shape: tuple[int, ...]) -> None:
    tensor = torch.randn(shape)
    small = pack({"w": tensor})
    matrix = len(shape) == 2 and tensor.numel() >= MIN_WEIGHTS
    assert small["w"].dtype == (torch.int8 if matrix else torch.bfloat16)
    assert set(small) == ({"w", "w" + SCALES} if matrix else {"w"})
    back = unpack(small, "here")
    assert set(back) == {"w"}
    torch.testing.assert_close(back["w"].float(), tensor, atol=0.02, rtol=0.01)


def test_packing_again_changes_nothing() -> None:
    """A model that is saved, loaded and saved is the same: nothing is lost twice."""
    once = unpack(pack({"w": torch.randn(100, 64)}), "here")
    twice = unpack(pack(once), "here")
    torch.testing.assert_close(twice, once, atol=0, rtol=1e-6)


def test_a_small_folder_is_a_quarter_of_the_other(make_model: Callable[..., EdiT5], tmp_path: Path) -> None:
    model = make_model(1)
    model.save(tmp_path / "whole")
    model.save(tmp_path / "small", small=True)
    large = sum(p.numel() for p in model.state_dict().values() if p.ndim == 2 and p.numel() >= MIN_WEIGHTS)
    rest = sum(p.numel() for p in model.state_dict().values()) - large
    size = (tmp_path / "small" / WEIGHTS).stat().st_size
    scales = sum(t.numel() for name, t in load_file(tmp_path / "small" / WEIGHTS).items() if name.endswith(SCALES))
    assert 0 < size - (large + 2 * rest + 4 * scales) < 20_000, "what is left is the header"
    again = EdiT5.load(tmp_path / "small")
    for name, p in EdiT5.load(tmp_path / "whole").state_dict().items():
        difference = (again.state_dict()[name] - p).norm()
        assert difference <= 0.01 * p.norm() + 1e-6, name
        assert again.state_dict()[name].dtype == torch.float32


@pytest.mark.parametrize("scales", [None, torch.ones(63), torch.ones(64, 1)])
def test_bytes_without_their_scales(scales: torch.Tensor | None, tmp_path: Path) -> None:
    tensors = {"w": torch.zeros(64, 64, dtype=torch.int8), **({} if scales is None else {"w" + SCALES: scales})}
    save_file(tensors, tmp_path / WEIGHTS)
    with pytest.raises(ModelError, match=r"w is in int8; expected a scale for each row in w\.scales"):
        read_tensors(tmp_path)
