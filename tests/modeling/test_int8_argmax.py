"""The shortlist finds what the whole output layer finds, and knows when it cannot know."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from edit_gec.modeling import int8_argmax
from edit_gec.modeling.edit5 import EdiT5

PIECES = 8192  # enough for the copy to be used
needs_vnni = pytest.mark.skipif(not int8_argmax.can_estimate(torch.zeros(PIECES, 128)), reason="a CPU without VNNI")


@pytest.fixture(params=["wide", "alike"])
def layer(request: pytest.FixtureRequest) -> nn.Embedding:
    """An output layer; in the second one rows differ by less than a byte can tell."""
    torch.manual_seed(0)
    layer = nn.Embedding(PIECES, 128)
    if request.param == "alike":
        with torch.no_grad():
            layer.weight.copy_(torch.randn(128) + 1e-3 * layer.weight)
    return layer


@needs_vnni
@torch.inference_mode()
@pytest.mark.parametrize("rows", [1, 3, 9])
def test_same_pieces_as_all_logits(layer: nn.Embedding, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = 0.3 * torch.randn(rows, 128, generator=torch.Generator().manual_seed(rows))
    logits = hidden @ layer.weight.T
    banned = torch.zeros(PIECES, dtype=torch.bool)
    banned[torch.cat([torch.tensor([0, 2]), logits.argmax(-1)])] = True  # what would win is not allowed
    found = {}
    for native in (True, False):
        monkeypatch.setattr(int8_argmax, "can_estimate", lambda _, native=native: native)
        found[native] = int8_argmax.most_likely(layer, hidden, banned)
    assert torch.equal(found[True][1], found[False][1])
    assert (found[True][0] - found[False][0]).abs().max() < 0.01
    assert not banned[found[True][1]].any()


@needs_vnni
@torch.inference_mode()
def test_a_doubt_is_seen() -> None:
    """Of pieces that differ by less than the rounding any could be most likely: no answer. Of others: the answer."""
    torch.manual_seed(0)
    hidden, nothing = torch.randn(2, 128), torch.zeros(PIECES, dtype=torch.bool)
    for spread, sure in ((1e-4, False), (1.0, True)):
        layer = nn.Embedding(PIECES, 128)
        layer.weight.copy_(spread * layer.weight)
        layer.weight[7] += spread * 3 * hidden[0]
        layer.weight[9] += spread * 3 * hidden[1]
        layer.weight += torch.randn(128) * (0 if sure else 1)
        copy = int8_argmax._int8_layer(layer, layer.weight)
        _, found, is_sure = int8_argmax._most_likely_by_estimate(layer.weight, copy, hidden, nothing)
        assert is_sure.tolist() == [sure, sure]
    assert found.tolist() == [7, 9]


@needs_vnni
@torch.inference_mode()
def test_what_the_estimate_can_be_wrong_by() -> None:
    """The bound holds for every piece and is not much too wide, also where all rounding errors point the same way."""
    torch.manual_seed(1)
    for scale in (0.01, 1.0, 30.0):
        layer = nn.Embedding(2000, 64)
        layer.weight.copy_(scale * torch.randn(2000, 64))
        hidden = torch.randn(20, 64)
        layer.weight[0, 1:] = 0.4999 / 127 * layer.weight[0, 0].abs()  # all but the first one become 0
        hidden[0], hidden[1] = layer.weight[0] / scale, 0
        rough, error = int8_argmax._estimate_logits(int8_argmax._int8_layer(layer, layer.weight), hidden)
        wrong = (rough - hidden.double() @ layer.weight.double().T).abs().amax(-1)
        assert (wrong <= error).all()
        assert wrong[2:].max() > error[2:].min() / 20 and wrong[1] == 0


@needs_vnni
@torch.inference_mode()
def test_rows_do_not_depend_on_each_other(layer: nn.Embedding) -> None:
    hidden = torch.randn(5, 128) * torch.tensor([[1e-6], [1.0], [1e6], [1.0], [0.0]])
    copy = int8_argmax._int8_layer(layer, layer.weight)
    together, _ = int8_argmax._estimate_logits(copy, hidden)
    alone = torch.cat([int8_argmax._estimate_logits(copy, row[None])[0] for row in hidden])
    assert torch.equal(together, alone)


@needs_vnni
@torch.inference_mode()
def test_a_doubtful_row_changes_no_other() -> None:
    """One row has no sure answer by the estimate; the others get the same as without it, to the last bits."""
    torch.manual_seed(0)
    layer = nn.Embedding(PIECES, 128)
    with torch.no_grad():
        layer.weight[:4000] = layer.weight[0] + 1e-4 * torch.randn(4000, 128)
    hidden = torch.cat([layer.weight[:1], 2 * layer.weight[[5000, 6000, 7000]]])
    nothing = torch.zeros(PIECES, dtype=torch.bool)
    copy = int8_argmax._int8_layer(layer, layer.weight)
    sure = int8_argmax._most_likely_by_estimate(layer.weight, copy, hidden, nothing)[2]
    assert sure.tolist() == [False, True, True, True]
    together = int8_argmax.most_likely(layer, hidden, nothing)
    for row in range(4):
        one = slice(row, row + 1)
        alone = int8_argmax.most_likely(layer, hidden[one], nothing)
        assert torch.equal(alone[1], together[1][one])
        assert row == 0 or torch.allclose(alone[0], together[0][one], rtol=0, atol=1e-7)  # MKL sums by the batch


@needs_vnni
def test_the_copy_follows_the_layer(layer: nn.Embedding) -> None:
    first = int8_argmax._int8_layer(layer, layer.weight)
    assert int8_argmax._int8_layer(layer, layer.weight) is first and first.weight.dtype == torch.int8
    with torch.no_grad():
        layer.weight.mul_(2)  # as an optimizer does
    second = int8_argmax._int8_layer(layer, layer.weight)
    assert second is not first and second.norm == pytest.approx(2 * first.norm)


def test_small_or_narrow_layers_need_none(make_model: Callable[..., EdiT5]) -> None:
    assert not int8_argmax.can_estimate(make_model().embedding.weight)
    assert not int8_argmax.can_estimate(torch.zeros(PIECES, 128, dtype=torch.bfloat16))
