"""The law that reading takes linear time, tried with two sizes, so that it holds on slow machines, too."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES = 8  # larger: 8 times the time if linear, 64 times if quadratic
BOUND = 30
NOISE_S = 0.002  # shorter times are taken for this


def is_linear(read: Callable[[str], object], make: Callable[[int], str], size: int = 40_000) -> bool:
    """Whether reading a text of `size` characters takes less than BOUND times as long as one of size / TIMES.

    Processor time counts, so other work does not; a slow try is repeated twice.
    """
    small, large = make(size // TIMES), make(size)
    before = max(NOISE_S, min(_measure(read, small) for _ in range(2)))
    return any(_measure(read, large) < BOUND * before for _ in range(3))


def repeat(unit: str, before: str = "") -> Callable[[int], str]:
    """Texts that repeat a unit after what comes before, by their length."""
    return lambda size: before + unit * (size // len(unit))


def _measure(read: Callable[[str], object], text: str) -> float:
    """Seconds of processor time."""
    start = time.process_time()
    read(text)
    return time.process_time() - start
