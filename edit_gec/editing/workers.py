"""Batches on the cores of a CPU: each core takes a batch of its own.

That is twice as fast on two cores, where two threads for each matrix product are hardly faster than one. For a small
model, waking a second thread costs more than the product itself, so a single batch of it runs on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from edit_gec.backends.network import Network, is_small

Batch = TypeVar("Batch")
Result = TypeVar("Result")


@contextmanager
def use_threads(network: Network, threads: int) -> Iterator[None]:
    """The network computes on this many threads until the block ends."""
    before = network.get_threads()
    network.set_threads(threads)
    try:
        yield
    finally:
        network.set_threads(before)


def map_batches(
    work: Callable[[Batch], Result], batches: Sequence[Batch], workers: int, network: Network
) -> Iterator[Result]:
    """work(batch) of each batch, in order, by as many workers at once. What the caller does in between is not affected
    by the number of threads."""
    workers = min(workers, len(batches))
    if workers > 1:
        threads = network.get_threads()
        with ThreadPoolExecutor(workers, "batch", initializer=network.set_threads, initargs=(1,)) as pool:
            try:
                yield from pool.map(work, batches)
            finally:
                network.set_threads(threads)  # MKL's number is one for all threads
        return
    for batch in batches:
        with use_threads(network, 1 if is_small(network.config) else network.get_threads()):
            result = work(batch)
        yield result
