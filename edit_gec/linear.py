"""Matrix products of a CPU: torch's own, or oneDNN's where it is faster.

torch hands products in float32 to MKL, which holds back on processors that are not Intel's: with oneDNN a whole
correction takes 70 % of its time there (profiles/LOG.md). Precision is the same, only the order of summation differs.
A call costs some 10 us more, so small products stay where they are, and so does everything that needs a gradient.
"""

from __future__ import annotations

from functools import cache
from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEAST = 1 << 20  # multiplications from which on oneDNN pays


class Linear(nn.Linear):
    """nn.Linear by `product`."""

    def forward(self, x: Tensor) -> Tensor:
        return product(x, self.weight, self.bias)


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x [..., K] times weight [N, K] transposed, plus bias [N] -> [..., N]; as F.linear."""
    if prod(x.shape[:-1]) * weight.numel() >= LEAST and usable(x, weight):
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
        return out
    return F.linear(x, weight, bias)


def usable(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN may do this product: float32 on a CPU that was measured to gain, nothing to differentiate, and
    nobody who wants to see torch's own operators (autocast, the compiler)."""
    return (
        x.dtype == weight.dtype == torch.float32
        and x.device.type == weight.device.type == "cpu"
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and gains()
    )


@cache
def gains() -> bool:
    """oneDNN is there and generates code for AVX-512; on narrower processors nobody has measured."""
    there = torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return there and torch.backends.cpu.get_cpu_capability() == "AVX512"
