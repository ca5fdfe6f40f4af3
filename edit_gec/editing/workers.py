"""Batches on the cores of a CPU: each core takes a batch of its own.

That is twice as fast on two cores, where two threads for each matrix product are hardly faster than one. For a small
model, waking a second thread costs more than the product itself, so a single batch of it runs on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from edit_gec.modeling.edit5 import EdiT5

Batch = TypeVar("Batch")
Result = TypeVar("Result")
SMALL = 1 << 20  # weights of a layer up to which a batch is not worth a second thread (edit5-mini: 180k)


def is_small(model: EdiT5) -> bool:
    """Whether the layers are so small that each batch belongs on one core."""
    return model.config.d_model * model.config.d_ff < SMALL


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Torch computes with this many threads until the block ends."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def map_batches(
    work: Callable[[Batch], Result], batches: Sequence[Batch], workers: int, *, small: bool
) -> Iterator[Result]:
    """work(batch) of each batch, in order, by as many workers at once. What the caller does in between is not affected
    by the number of threads."""
    workers = min(workers, len(batches))
    if workers > 1:
        threads = torch.get_num_threads()
        with ThreadPoolExecutor(workers, "batch", initializer=torch.set_num_threads, initargs=(1,)) as pool:
            try:
                yield from pool.map(work, batches)
            finally:
                torch.set_num_threads(threads)  # MKL's number is one for all threads
        return
    for batch in batches:
        with torch_threads(1 if small else torch.get_num_threads()):
            result = work(batch)
        yield result
