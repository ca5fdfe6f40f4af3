"""The most likely piece of an output layer, exactly, for a fraction of its time.

A step of the insertion decoder mostly reads the output layer: 98 of 134 MB at base size. Where the processor multiplies
bytes (VNNI), all logits are first estimated with a copy of the layer in int8, a quarter of the bytes; the best few are
then computed again in full precision. The error of the estimate is bounded (rounding of both factors), so it is known
when no other piece can be more likely. If one could, all logits of that row are computed in full; other rows of the
batch are not affected.

The probability of the piece is approximate: its logit is exact, the sum over all pieces is that of the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from edit_gec.modeling.onednn import WeightVersion, linear, onednn_is_faster, weight_version
from edit_gec.modeling.quantization import round_rows
from edit_gec.modeling.weights import LARGEST

SHORTLIST = 16  # pieces that are computed again
MIN_WEIGHTS = 1 << 20  # weights from which on the copy pays
ZERO_BYTE = 128  # the unsigned byte that stands for 0
SUMMATION = 2.0**-20  # of float32 sums, relative to the norms of what is multiplied


@dataclass
class _Int8Layer:
    """An output layer in int8, with one scale for each row, and the version of its weight."""

    version: WeightVersion
    weight: Tensor  # in oneDNN's order
    scales: Tensor  # [V]
    zeros: Tensor  # [V]; which byte means 0
    norm: float  # largest of the rows
    lost: float  # largest norm of what rounding took from a row


_int8_layers: WeakKeyDictionary[nn.Module, _Int8Layer] = WeakKeyDictionary()


def most_likely(module: nn.Module, hidden: Tensor, banned: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability [R] and id [R] of each row's most likely piece, from hidden [R, d] and module.weight [V, d].

    Pieces that are `banned` [V] do not count.
    """
    weight = module.weight
    assert isinstance(weight, Tensor)
    if not can_estimate(weight):
        return _most_likely_in_full(module, hidden, banned)
    values, ids, is_sure = _most_likely_by_estimate(weight, _int8_layer(module, weight), hidden, banned)
    for row in (~is_sure).nonzero()[:, 0].tolist():
        one = slice(row, row + 1)
        values[one], ids[one] = _most_likely_in_full(module, hidden[one], banned)
    return values, ids


def _most_likely_in_full(module: nn.Module, hidden: Tensor, banned: Tensor) -> tuple[Tensor, Tensor]:
    """As `most_likely`, from all logits."""
    log_probabilities = linear(hidden, module).float().log_softmax(-1)  # [R, V]
    log_probabilities.masked_fill_(banned, -1e9)
    values, ids = log_probabilities.max(-1)
    return values, ids


def can_estimate(weight: Tensor) -> bool:
    """Whether an estimate in int8 is much faster than the product itself."""
    vnni = getattr(torch.cpu, "_is_vnni_supported", bool)
    there = weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() >= MIN_WEIGHTS
    return there and vnni() and onednn_is_faster() and hasattr(torch.ops.onednn, "qlinear_pointwise")


def _int8_layer(module: nn.Module, weight: Tensor) -> _Int8Layer:
    """The copy of the layer; made again when the layer has changed."""
    version = weight_version(weight)
    found = _int8_layers.get(module)
    if found is None or found.version != version:
        found = _quantize(weight.detach(), version)
        _int8_layers[module] = found
    return found


def _quantize(weight: Tensor, version: WeightVersion) -> _Int8Layer:
    norm = torch.linalg.vector_norm(weight, dim=1)
    digits, scales = round_rows(weight)
    packed = torch.ops.onednn.qlinear_prepack(digits.to(torch.int8), None)
    lost = torch.linalg.vector_norm(weight - digits.mul_(scales[:, None]), dim=1)
    zeros = torch.zeros(len(weight), dtype=torch.long)
    return _Int8Layer(version, packed, scales, zeros, float((norm + lost).max()), float(lost.max()))


def _most_likely_by_estimate(
    weight: Tensor, copy: _Int8Layer, hidden: Tensor, banned: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """As `most_likely`, and for each row [R] whether the estimate can decide."""
    rough, error = _estimate_logits(copy, hidden)
    listed, ids = rough.topk(SHORTLIST, dim=-1)  # [R, K]
    total = listed[:, :1] - rough.log_softmax(-1).gather(1, ids[:, :1])  # [R, 1]
    exact = (weight[ids] @ hidden[:, :, None])[..., 0]
    allowed = exact.masked_fill(banned[ids], -torch.inf)
    best = allowed.amax(-1)
    is_sure = best >= listed[:, -1] + 1.05 * error
    share = (exact - total).exp() - (listed - total).exp()  # what the estimate missed of them
    log_probability = best - total[:, 0] - share.sum(-1).log1p()
    return log_probability, ids.gather(1, allowed.argmax(-1, keepdim=True))[:, 0], is_sure


def _estimate_logits(copy: _Int8Layer, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Approximate logits [R, V] and a bound of their error [R].

    Each row of `hidden` is written with two bytes a number, coarse and fine, in a scale of its own: no row depends on
    the others, and almost all of the error is that of the weights. The operations are chosen so that few of them run
    on several threads, which would take longer.
    """
    coarse = hidden.abs().amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny) / LARGEST  # [R, 1]
    high = _round_to_bytes(hidden / coarse)
    rest = hidden - (high.float() - ZERO_BYTE) * coarse
    fine = coarse / (2 * LARGEST)
    low = _round_to_bytes(rest / fine)
    left = rest - (low.float() - ZERO_BYTE) * fine
    out = torch.ops.onednn.qlinear_pointwise(
        torch.cat([high, low]), 1.0, ZERO_BYTE, copy.weight, copy.scales, copy.zeros, None,
        1.0, 0, torch.float32, "none", [], "none",
    )  # fmt: skip
    of_high, of_low = out.chunk(2)  # [R, V]
    rough = of_high.add_(of_low, alpha=1 / (2 * LARGEST)).mul_(coarse)
    size = hidden.norm(dim=-1)
    return rough, copy.lost * size + copy.norm * (left.norm(dim=-1) + SUMMATION * size)


def _round_to_bytes(x: Tensor) -> Tensor:
    """The nearest bytes, ZERO_BYTE for 0."""
    return (x + (ZERO_BYTE + 0.5)).to(torch.uint8)
