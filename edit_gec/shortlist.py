"""The likeliest piece of an output layer, exactly, for a fraction of its time.

A step of the insertion decoder reads little but the output layer: 98 of 134 MB at base size. Where the processor
multiplies bfloat16 by itself, all logits are first estimated with a copy of the layer in bfloat16; the best few are
then computed again in full precision. What the estimate can be wrong by is bounded (rounding of its inputs and of the
result), so it is known when no other piece can be likelier; where one could, all logits are computed in full.

The probability of the piece is near, not exact: its logit is, the sum over all pieces is that of the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.linear import product

LISTED = 32
LEAST = 1 << 20  # weights from which on the copy pays
ROUNDING = 2.0**-8  # of two bfloat16 factors together, relative; also twice that of one bfloat16 result


@dataclass
class _Copy:
    """An output layer in bfloat16, the largest norm of its rows, and which state of the layer this is."""

    state: tuple[int, int]
    weight: Tensor
    norm: float


_copies: WeakKeyDictionary[nn.Module, _Copy] = WeakKeyDictionary()


def likeliest(module: nn.Module, hidden: Tensor, banned: Tensor, opening: Tensor, end: int) -> tuple[Tensor, Tensor]:
    """Log-probability [R] and id [R] of the likeliest piece for each row, from hidden [R, d] and module.weight [V, d].

    Pieces in `banned` do not count, nor does `end` in rows where `opening` [R] is true.
    """
    weight = module.weight
    assert isinstance(weight, Tensor)
    copy = _copy(module, weight) if usable(weight) else None
    if copy is not None:
        found = _estimated(weight, copy, hidden, banned, opening, end)
        if found is not None:
            return found
    log_probabilities = product(hidden, weight).float().log_softmax(-1)  # [R, V]
    log_probabilities[:, banned] = -1e9
    log_probabilities[opening, end] = -1e9
    values, ids = log_probabilities.max(-1)
    return values, ids


def usable(weight: Tensor) -> bool:
    """Whether an estimate in bfloat16 is much faster than the product itself."""
    native = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() >= LEAST and native()


def _copy(module: nn.Module, weight: Tensor) -> _Copy:
    """The copy of the layer, made anew when it has changed."""
    state = (weight.data_ptr(), 0 if weight.is_inference() else weight._version)
    found = _copies.get(module)
    if found is None or found.state != state:
        found = _Copy(state, weight.detach().bfloat16(), float(weight.detach().norm(dim=1).max()))
        _copies[module] = found
    return found


def _estimated(
    weight: Tensor, copy: _Copy, hidden: Tensor, banned: Tensor, opening: Tensor, end: int
) -> tuple[Tensor, Tensor] | None:
    """As `likeliest`, or None where the estimate leaves a doubt."""
    rough = F.linear(hidden.bfloat16(), copy.weight).float()  # [R, V]
    total = rough.logsumexp(-1)  # [R]
    listed, ids = rough.topk(min(LISTED, rough.shape[-1]), dim=-1)  # [R, K]
    exact = (weight[ids] @ hidden[:, :, None])[..., 0]
    refused = torch.isin(ids, banned) | ((ids == end) & opening[:, None])
    best, place = exact.masked_fill(refused, -torch.inf).max(-1)
    error = 1.05 * ROUNDING * (copy.norm * hidden.norm(dim=-1) + listed[:, -1].abs())
    if not bool((best >= listed[:, -1] + error).all()):
        return None
    share = (exact - total[:, None]).exp() - (listed - total[:, None]).exp()  # what the estimate missed of them
    return best - total - share.sum(-1).log1p(), ids.gather(1, place[:, None])[:, 0]
