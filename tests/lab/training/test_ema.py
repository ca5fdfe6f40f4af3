"""The running average of the weights: what it holds, that the model is left alone, and that it can go on."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from edit_gec.errors import InputError
from edit_gec.lab.training.ema import Average


def test_the_average_follows_the_weights(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    average = Average(model, 0.9)
    expected = model.weight.detach().clone()
    for step in range(1, 200):
        with torch.no_grad():
            model.weight.add_(1.0)
        average.update(step)
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * model.weight.detach()
    now = model.weight.detach().clone()
    with average.in_place():
        torch.testing.assert_close(model.weight.detach(), expected)
    assert torch.equal(model.weight.detach(), now)

    average.save(tmp_path / "average")
    other = Average(model, 0.9)
    other.load(tmp_path / "average")
    with other.in_place():
        torch.testing.assert_close(model.weight.detach(), expected)
    with pytest.raises(InputError, match="not the average of this model"):
        Average(nn.Linear(4, 2), 0.9).load(tmp_path / "average")
