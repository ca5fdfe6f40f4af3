"""Products in float32 that are float32: a process may allow TF32 or bfloat16 for them, which keep 10 or 7 bits.

Two likely tokens then change places by rounding, far beyond what the verifier settles as a tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch

_lock = Lock()
_depth = 0  # threads, and calls within calls, that are inside
_before: list[Any] = []  # what the process allowed


@contextmanager
def exact_products() -> Iterator[None]:
    """Within it float32 products keep all their bits, in all threads; afterwards the process has its own choice again.

    Works as a decorator, too.
    """
    global _depth, _before
    with _lock:
        if _depth == 0:
            _before = _exchange(None)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _exchange(_before)


def _exchange(chosen: list[Any] | None) -> list[Any]:
    """Set what products may use, None: nothing but float32; returns what was set before."""
    try:
        given = [torch.get_float32_matmul_precision()]
    except RuntimeError:  # the process uses torch's newer switches, and torch refuses to mix them
        return _exchange_switches(chosen)
    if chosen is not None and len(chosen) > 1:
        return _exchange_switches(chosen)
    torch.set_float32_matmul_precision(chosen[0] if chosen else "highest")
    return given


def _exchange_switches(chosen: list[Any] | None) -> list[Any]:
    backends: Any = torch.backends
    switches = [backends.cuda.matmul, backends.mkldnn.matmul]  # torch 2.9 and later
    given = [switch.fp32_precision for switch in switches]
    for switch, value in zip(switches, chosen or ["ieee"] * len(switches), strict=True):
        switch.fp32_precision = value
    return given
