"""Timing in turns: every system once on each job, then all again, so that a busy minute affects all of them.

    times = interleave({"a": run_a, "b": run_b}, jobs, repeats=3)      times["a"][job] = [seconds, seconds, seconds]

Quantiles over jobs are of each job's median over the repeats. A system that remembers what it was given has a method
`forget`, which is called before each repeat, while no clock runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import TypeVar

J = TypeVar("J")


def interleave(
    runs: Mapping[str, Callable[[J], object]],
    jobs: Sequence[J],
    *,
    repeats: int,
    warm_up: int = 1,
    device: str = "cpu",
) -> dict[str, list[list[float]]]:
    """Seconds of every run on every job, `repeats` of each.

    The order of the systems rotates from job to job, so that none always follows the same other. `warm_up` jobs are
    run first and not counted. Jobs should have nothing in common, because some systems remember their input.
    """
    names = list(runs)
    times: dict[str, list[list[float]]] = {name: [[] for _ in jobs] for name in names}
    for job in jobs[:warm_up]:
        for name in names:
            runs[name](job)
    for repeat in range(repeats):
        for run in runs.values():
            if forget := getattr(run, "forget", None):
                forget()
        for number, job in enumerate(jobs):
            turn = (number + repeat) % len(names) if names else 0
            for name in names[turn:] + names[:turn]:
                times[name][number].append(time_call(partial(runs[name], job), device))
    return times


_clock: Callable[[], float] = perf_counter


def use_processor_time() -> None:
    """From now on count the seconds of the processor. What one thread does takes as many on a busy machine."""
    global _clock
    _clock = process_time


def time_call(work: Callable[[], object], device: str = "cpu") -> float:
    """Seconds of one call, on the wall unless `use_processor_time` was called; on a GPU until it has finished."""
    synchronize(device)
    begun = _clock()
    work()
    synchronize(device)
    return _clock() - begun


def synchronize(device: str) -> None:
    """Wait until a GPU has finished its work. A CPU always has."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize(device)


def use_device(device: str) -> None:
    """Let events, streams and counts of memory that name no device mean this one. Nothing on a CPU."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.set_device(device)


def medians(times: Sequence[Sequence[float]]) -> list[float]:
    """Each job's median over its repeats."""
    return [median(of_job) for of_job in times]
