"""Matrix products on a CPU: by oneDNN where it is faster, by torch's default otherwise.

torch computes float32 products with MKL, which is slow on processors of other makers than Intel. With oneDNN a
correction takes 70 % of the time there (profiles/LOG.md). Precision is the same; only the order of summation differs.
A call costs about 10 us more, so small products stay with torch, and so does everything that needs a gradient.

oneDNN stores weights in its own order and re-orders them in each call. For the few rows of one sentence that takes as
long as the product. A layer therefore keeps a re-ordered copy, made at its first product with few rows. The copy takes
as much memory as the weights. Where all batches are large, only the widest layers have one.

oneDNN compiles code for each shape of a product (some 256 kB) and caches 1,024 of them; torch caches 1,024 more in each
thread. With many distinct sequence lengths these caches grow by hundreds of MB and fragment the heap. The capacities
in CACHED_SHAPES are enough for a batch; larger ones are not faster. They are environment variables, set before the
first product, not at import. Few rows are padded to a round number: fewer shapes, whose code is found more often.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from math import prod
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.modeling.processor import read_entry

MIN_PRODUCTS = 1 << 20  # multiplications from which on oneDNN pays
MIN_PACKED_WEIGHTS = 1 << 17  # weights from which on it pays for a single row, if it has a copy of them
MAX_PACKED_ROWS = 128  # rows up to which a copy pays
ROW_STEP = 8  # few rows are padded to a multiple of this: fewer shapes
ALWAYS_PACKED_WEIGHTS = 1 << 19  # weights from which on it always does
CACHED_SHAPES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64", "LRU_CACHE_CAPACITY": "16"}  # of oneDNN, of torch

WeightVersion = tuple[int, int]
_packed_weights: WeakKeyDictionary[nn.Module, tuple[WeightVersion, Tensor]] = WeakKeyDictionary()


class Linear(nn.Linear):
    """nn.Linear by oneDNN where that is faster."""

    def forward(self, x: Tensor) -> Tensor:
        """x [..., K] -> [..., N]."""
        return linear(x, self)


def linear(x: Tensor, module: nn.Module) -> Tensor:
    """x [..., K] times module.weight [N, K] transposed, plus its bias if it has one -> [..., N]; as F.linear."""
    weight = module.weight
    bias = getattr(module, "bias", None)
    assert isinstance(weight, Tensor)
    if x.device.type != "cpu" or torch.compiler.is_compiling():  # a compiler would take the sizes below for guards
        return F.linear(x, weight, bias)
    rows = prod(x.shape[:-1])
    weights = weight.numel()
    copied = not module.training and (rows <= MAX_PACKED_ROWS or weights >= ALWAYS_PACKED_WEIGHTS)
    large = rows * weights >= MIN_PRODUCTS or (copied and rows > 0 and weights >= MIN_PACKED_WEIGHTS)
    if not large or not can_use_onednn(x, weight) or (rows == 1 and mkl_is_faster_for_a_row()):
        return F.linear(x, weight, bias)
    if not copied:
        return _onednn(x, weight, bias)
    given = packed_weight(module, weight)
    if rows == round_up(rows):
        return _onednn(x, given, bias)
    filled = F.pad(x.reshape(rows, -1), (0, 0, 0, -rows % ROW_STEP))
    return _onednn(filled, given, bias)[:rows].view(*x.shape[:-1], len(weight))


def round_up(rows: int) -> int:
    """How many rows a product has that is asked for so many. Who pads once to this number spares each product 7 us.

    A single row, the step of plain decoding, stays alone: eight take 1.2 times as long.
    """
    return rows if rows == 1 or rows > MAX_PACKED_ROWS else -(-rows // ROW_STEP) * ROW_STEP


def padded_length(sentences: Sequence[Sequence[int]]) -> int:
    """The length to which the sentences of a batch are padded: that of the longest, rounded up if it is alone."""
    longest = max(map(len, sentences))
    return round_up(longest) if len(sentences) == 1 else longest


def _onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return out


def packed_weight(module: nn.Module, weight: Tensor) -> Tensor:
    """The module's weight in oneDNN's order; re-ordered again when it has changed."""
    version = weight_version(weight)
    found = _packed_weights.get(module)
    if found is None or found[0] != version:
        found = version, torch.ops.mkldnn._reorder_linear_weight(weight.detach(), None)
        _packed_weights[module] = found
    return found[1]


def weight_version(weight: Tensor) -> WeightVersion:
    """Differs when the weight has changed: where it lies, and how often it was written to."""
    return weight.data_ptr(), 0 if weight.is_inference() else weight._version


def can_use_onednn(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN may compute this product: in float32, on a CPU where it is faster, without a gradient, and not
    under autocast, which expects torch's own operators."""
    return (
        x.dtype == weight.dtype == torch.float32
        and x.device.type == weight.device.type == "cpu"
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and onednn_is_faster()
    )


def has_native_dtype(dtype: torch.dtype, device: str = "cpu") -> bool:
    """Whether the device has instructions for products in this dtype. A CPU without them converts number by number,
    many times slower than float32."""
    name = {torch.bfloat16: "_is_mkldnn_bf16_supported", torch.float16: "_is_mkldnn_fp16_supported"}.get(dtype)
    found = getattr(torch.ops.mkldnn, name, None) if name and device == "cpu" else None
    return found is None or bool(found())


@cache
def mkl_is_faster_for_a_row() -> bool:
    """Whether this is a processor of MKL's maker: there its product with one row takes 0.7 times as long as oneDNN's
    (120 matrices of SmolLM2, one core of an Intel Xeon: 35 and 48 ms)."""
    return read_entry("vendor_id") == "GenuineIntel"


@cache
def onednn_is_faster() -> bool:
    """Whether torch has oneDNN and the CPU has AVX-512. With AVX2 (Zen 3) MKL is faster (profiles/LOG.md).

    Where it is, the capacities of the caches are set: both are read at the first product of oneDNN.
    """
    there = torch._C._has_mkldnn and all(
        hasattr(torch.ops.mkldnn, name) for name in ("_linear_pointwise", "_reorder_linear_weight")
    )
    faster = there and torch.backends.cpu.get_cpu_capability() == "AVX512"
    if faster:
        for name, shapes in CACHED_SHAPES.items():
            os.environ.setdefault(name, shapes)
    return faster
