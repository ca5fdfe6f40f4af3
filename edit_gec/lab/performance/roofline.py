"""Roofline: what each stage must move and compute, over what the machine can do.

    limit = max(bytes / memory bandwidth, operations / matrix product rate);  achieved = limit / time

Bytes are those that a stage reads for the first time (weights, caches, outputs of earlier stages) or writes to them,
each once: intermediate results may stay in a cache. Lookups count what they return. The limit is that of main memory,
so models that fit into the processor's cache can be faster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.stages import run_each
from edit_gec.lab.performance.timing import time_call
from edit_gec.modeling.onednn import Linear, unpadded
from edit_gec.tracing import listen

LOOKUPS = ("embedding", "index", "gather", "index_select")  # read only those rows of their table that they return
WRITES = ("copy_", "index_put_", "scatter_", "_index_put_impl_")  # write their last argument
ATTENTION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
LINEAR = torch.ops.mkldnn._linear_pointwise
LINEAR_INT8 = torch.ops.onednn.qlinear_pointwise


@dataclass
class Work:
    """What a stage moves and computes in one run."""

    bytes: int = 0
    flops: int = 0


@dataclass(frozen=True)
class Machine:
    """Measured limits."""

    bytes_per_s: float
    flops_per_s: float

    def seconds(self, work: Work) -> float:
        """The least time that the work takes here."""
        return max(work.bytes / self.bytes_per_s, work.flops / self.flops_per_s)


class _Traffic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of each region. It wraps the flop counter, which decomposes operators."""

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counter = counter
        self.work: dict[str, Work] = defaultdict(Work)
        self._open: list[tuple[str, set[int], set[tuple[int, int]]]] = []  # name, storages made, tensors read
        self._flops = 0

    def begin(self, name: str) -> None:
        self._settle()
        self._open.append((name, set(), set()))

    def end(self) -> None:
        self._settle()
        self._open.pop()

    def _settle(self) -> None:
        """Add the operations since the last call to the open region."""
        total = self.counter.get_total_flops()
        if self._open:
            self.work[self._open[-1][0]].flops += total - self._flops
        self._flops = total

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        if self._open and not function.is_view:
            name = function.overloadpacket.__name__
            given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
            made = [leaf for leaf in tree_leaves(out) if isinstance(leaf, Tensor)]
            stage, own, read = self._open[-1]
            if name in LOOKUPS:
                self.work[stage].bytes += sum(map(_bytes, made))
                given = given[1:]
            elif name in WRITES:
                if _place(given[0]) not in own:
                    self.work[stage].bytes += _bytes(given[-1])
                given = given[1:]
            for tensor in given:
                key = (_place(tensor, view=True), _bytes(tensor))
                if _place(tensor) not in own and key not in read:
                    read.add(key)
                    self.work[stage].bytes += key[1]
            if name not in WRITES:
                own.update(map(_place, made))
        return out


def _place(tensor: Tensor, *, view: bool = False) -> int:
    """The address of a tensor's storage, or of its view of it. Memory that oneDNN has packed has no address."""
    if tensor.is_mkldnn:
        return id(tensor)
    return tensor.data_ptr() if view else tensor.untyped_storage().data_ptr()


def _bytes(tensor: Tensor) -> int:
    """The bytes of a view. A view that is expanded over a batch repeats its bytes; they count once."""
    shown = tensor.numel() * tensor.element_size()
    return shown if tensor.is_mkldnn else min(shown, tensor.untyped_storage().nbytes())


def _attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    """Operations of attention on a CPU, from the shapes; torch's counter does not know it."""
    return int(sdpa_flop_count(query, key, value))  # type: ignore[no-untyped-call]


def _linear(x: Any, weight: Any, *_: Any, **__: Any) -> int:
    """Operations of oneDNN's product; torch's counter does not know it either."""
    return int(2 * prod(x) * weight[0])


def _linear_int8(x: Any, scale: Any, zero: Any, weight: Any, scales: Any, *_: Any, **__: Any) -> int:
    """Operations of oneDNN's product of bytes. The weight has one scale per row."""
    return int(2 * prod(x) * prod(scales))


def count_work(run: Run, texts: Sequence[str]) -> dict[str, Work]:
    """Bytes and operations of each stage in one run, without those of padding."""
    known = {ATTENTION: _attention, LINEAR: _linear, LINEAR_INT8: _linear_int8}
    counter = FlopCounterMode(display=False, custom_mapping=known)
    traffic = _Traffic(counter)
    with traffic, counter, listen(traffic), unpadded():
        run_each(run, texts)
    return dict(traffic.work)


@torch.inference_mode()
def measure_machine(device: str, dtype: str) -> Machine:
    """Measure what the machine can do: the best of some matrix-vector and some matrix-matrix products."""
    small = device == "cpu"
    kind = getattr(torch, dtype)
    rows, columns = (16384, 4096) if small else (65536, 8192)
    # random numbers: ones switch fewer transistors, and a GPU would run faster than any model
    matrix = torch.randn(rows, columns, device=device, dtype=torch.float32)  # larger than any cache
    vector = torch.randn(columns, device=device, dtype=torch.float32)
    bandwidth = matrix.nbytes / _best(lambda: matrix.mv(vector), device)
    n = 1024 if small else 8192
    square = torch.randn(n, n, device=device, dtype=kind)
    layer = Linear(n, n, bias=False).to(device, kind).eval()
    return Machine(bandwidth, 2 * n**3 / _best(lambda: layer(square), device))


def _best(work: Callable[[], object], device: str, seconds: float = 0.5) -> float:
    """Shortest time of a piece of work, repeated for some seconds."""
    best = float("inf")
    ends = perf_counter() + seconds
    while perf_counter() < ends:
        best = min(best, time_call(work, device))
    return best
