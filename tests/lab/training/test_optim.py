"""The optimizer: Muon as torch has it, one shape at a time, in the precision that the processor computes in."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_gec.lab.training import optim
from edit_gec.lab.training.optim import ITERATIONS, Muon, orthogonal

SHAPES = [(16, 48), (48, 16), (16, 16), (16, 48), (32, 64)]


def matrices(seed: int = 0) -> list[torch.nn.Parameter]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]


def step(optimizer: Any, parameters: list[torch.nn.Parameter], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for p in parameters:
        p.grad = torch.randn(p.shape, generator=generator)
    optimizer.step()


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="torch has no Muon before 2.9")
@pytest.mark.parametrize("precise", [True, False])
def test_steps_are_those_of_torch(precise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optim, "has_native_dtype", lambda *_: not precise)
    ours, theirs = matrices(), matrices()
    one = Muon([{"params": ours, "lr": 0.02}], weight_decay=0.5)
    other = torch.optim.Muon(
        theirs, lr=0.02, weight_decay=0.5, ns_steps=ITERATIONS, adjust_lr_fn="match_rms_adamw"
    )  # fmt: skip
    for n in range(4):
        before = [p.detach().clone() for p in ours]
        step(one, ours, n)
        step(other, theirs, n)
        for p, q, old in zip(ours, theirs, before, strict=True):
            torch.testing.assert_close(p, q, atol=2e-3, rtol=0)
            assert torch.cosine_similarity((p - old).flatten(), (q - old).flatten(), 0) > 0.999
            assert float((p.detach() - old).abs().max()) > 0.01


@given(st.integers(1, 5), st.integers(1, 24), st.integers(0, 40), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_updates_are_nearly_orthogonal(count: int, rows: int, more: int, seed: int) -> None:
    given_ = torch.randn(count, rows, rows + more, generator=torch.Generator().manual_seed(seed))
    values = torch.linalg.svdvals(orthogonal(given_))
    large = torch.linalg.svdvals(given_) > 0.1 * given_.norm(dim=(1, 2))[:, None]
    assert float(values.max()) < 1.4 and float(values[large].min()) > 0.5


def test_a_matrix_without_a_gradient_stays() -> None:
    parameters = matrices()
    optimizer = Muon([{"params": parameters, "lr": 0.1}], weight_decay=0.1)
    before = parameters[0].detach().clone()
    step(optimizer, parameters[1:], 1)
    assert torch.equal(parameters[0], before)


def test_a_restored_state_makes_the_same_next_step() -> None:
    ours, others = matrices(), matrices()
    first, second = (Muon([{"params": p, "lr": 0.02}], weight_decay=0.1) for p in (ours, others))
    step(first, ours, 1)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for p, q in zip(ours, others, strict=True):
        q.data = p.detach().clone()
    step(first, ours, 2)
    step(second, others, 2)
    assert all(torch.equal(p, q) for p, q in zip(ours, others, strict=True))
