"""The shortlist finds what the whole output layer finds, and knows when it cannot know."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from edit_gec import shortlist
from edit_gec.edit5 import EdiT5

END = 1
PIECES = 8192  # enough for the copy to be used


@pytest.fixture(params=["wide", "alike"])
def layer(request: pytest.FixtureRequest) -> nn.Embedding:
    """An output layer; in the second one rows differ by less than bfloat16 can tell."""
    torch.manual_seed(0)
    layer = nn.Embedding(PIECES, 128)
    if request.param == "alike":
        with torch.no_grad():
            layer.weight.copy_(torch.randn(128) + 1e-3 * layer.weight)
    return layer


@torch.inference_mode()
@pytest.mark.parametrize("rows", [1, 3, 9])
def test_same_pieces_as_all_logits(layer: nn.Embedding, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = 0.3 * torch.randn(rows, 128, generator=torch.Generator().manual_seed(rows))
    logits = hidden @ layer.weight.T
    banned = torch.cat([torch.tensor([0, 2]), logits.argmax(-1)])  # what would win is not allowed
    opening = torch.arange(rows) % 2 == 0
    found = {}
    for native in (True, False):
        monkeypatch.setattr(shortlist, "usable", lambda _, native=native: native)
        found[native] = shortlist.likeliest(layer, hidden, banned, opening, END)
    assert torch.equal(found[True][1], found[False][1])
    assert (found[True][0] - found[False][0]).abs().max() < 0.01
    assert not set(found[True][1].tolist()) & set(banned.tolist())


@torch.inference_mode()
def test_a_doubt_is_seen() -> None:
    """Of pieces that differ by less than the rounding, any could be the likeliest: no answer. Of others: the answer."""
    torch.manual_seed(0)
    hidden, nothing = torch.randn(2, 128), torch.tensor([], dtype=torch.long)
    for spread, sure in ((1e-4, False), (1.0, True)):
        layer = nn.Embedding(PIECES, 128)
        layer.weight.copy_(spread * layer.weight)
        layer.weight[7] += spread * 3 * hidden[0]
        layer.weight[9] += spread * 3 * hidden[1]
        layer.weight += torch.randn(128) * (0 if sure else 1)
        copy = shortlist._copy(layer, layer.weight)
        found = shortlist._estimated(layer.weight, copy, hidden, nothing, torch.tensor([True, False]), END)
        assert (found is not None) == sure
    assert found is not None and found[1].tolist() == [7, 9]


@torch.inference_mode()
def test_what_the_estimate_can_be_wrong_by() -> None:
    """The bound holds for every piece, also where all rounding errors point the same way."""
    torch.manual_seed(1)
    for scale in (0.01, 1.0, 30.0):
        weight = scale * torch.randn(2000, 64)
        hidden = torch.randn(20, 64)
        weight[0], hidden[0] = 1 + 2.0**-8.01, 1 + 2.0**-8.01  # just short of the next bfloat16
        exact = hidden.double() @ weight.double().T
        rough = (hidden.bfloat16() @ weight.bfloat16().T).double()
        bound = shortlist.ROUNDING * (weight.norm(dim=1).max() * hidden.norm(dim=-1)[:, None] + rough.abs())
        assert ((exact - rough).abs() <= 1.05 * bound).all()


def test_the_copy_follows_the_layer(layer: nn.Embedding) -> None:
    first = shortlist._copy(layer, layer.weight)
    assert shortlist._copy(layer, layer.weight) is first and first.weight.dtype == torch.bfloat16
    with torch.no_grad():
        layer.weight.mul_(2)  # as an optimizer does
    second = shortlist._copy(layer, layer.weight)
    assert second is not first and second.norm == pytest.approx(2 * first.norm)


def test_small_or_narrow_layers_need_none(make_model: Callable[..., EdiT5]) -> None:
    assert not shortlist.usable(make_model().embedding.weight)
    assert not shortlist.usable(torch.zeros(PIECES, 128, dtype=torch.bfloat16))
