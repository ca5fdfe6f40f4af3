"""Timed runs: a warm-up, then all systems in turn, so that a disturbance of the machine hits all of them.

Every round runs each system twice: without and with a clock for the stages. The difference is the cost of tracing. On a
GPU, device events are recorded at the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.timing import interleave, synchronize
from edit_gec.tracing import Clock, Span, listen

if TYPE_CHECKING:
    from torch.cuda import Event


@dataclass
class TimedRun:
    """One run of a system over all texts, in seconds; device_s has the device's own time of each span, on a GPU."""

    begun: float
    total_s: float
    spans: list[Span]
    device_s: list[float] = field(default_factory=list)


@dataclass
class TimedRuns:
    """All runs of one system."""

    bare_s: list[float] = field(default_factory=list)
    labelled: list[TimedRun] = field(default_factory=list)

    def stage_s(self, name: str) -> list[float]:
        """Time of a stage in each run."""
        return [sum(span.own_s for span in run.spans if span.name == name) for run in self.labelled]

    def device_s(self, name: str) -> list[float]:
        """The same by the device's events; empty on a CPU."""
        return [
            sum(own for span, own in zip(run.spans, run.device_s, strict=True) if span.name == name)
            for run in self.labelled
            if run.device_s
        ]

    def steps_s(self, *names: str) -> list[float]:
        """Median time of the first, second, ... region of these names in a run."""
        runs = [[span.own_s for span in run.spans if span.name in names] for run in self.labelled]
        return [median(times) for times in zip(*runs, strict=False)]

    def typical(self) -> TimedRun:
        """The run of median length."""
        return sorted(self.labelled, key=lambda run: run.total_s)[len(self.labelled) // 2]


class DeviceClock(Clock):
    """A clock that also records events in the stream of the device."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: list[tuple[Event, Event]] = []
        self._running: list[int] = []  # spans that have not ended
        self._within: dict[int, int] = {}  # span -> the span that it lies in

    def begin(self, name: str) -> None:
        """The stage of this name begins."""
        super().begin(name)
        number = len(self.spans) - 1
        if self._running:
            self._within[number] = self._running[-1]
        self._running.append(number)
        self._marks.append((_event(), _event()))
        self._marks[-1][0].record()
        _nvtx().range_push(f"edit-gec: {name}")  # what nsys shows

    def end(self) -> None:
        """The innermost open stage ends."""
        self._marks[self._running.pop()][1].record()
        _nvtx().range_pop()
        super().end()

    def device_s(self) -> list[float]:
        """Seconds of each span without those of the spans within it; waits for the device."""
        import torch

        torch.cuda.synchronize()  # the device in use (timing.use_device)
        times = [begun.elapsed_time(ended) / 1000 for begun, ended in self._marks]
        own = list(times)
        for inner, outer in self._within.items():
            own[outer] -= times[inner]
        return own


def _nvtx() -> Any:
    import torch

    return torch.cuda.nvtx


def _event() -> Any:
    import torch

    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def measure_stages(
    runs: Mapping[str, Run], texts: Sequence[str], *, warm_up: int, repeats: int, device: str
) -> dict[str, TimedRuns]:
    """Run each system `warm_up` + `repeats` times over the texts, one text at a time."""
    labelled: dict[str, list[TimedRun]] = {name: [] for name in runs}
    systems: dict[str, Callable[[Sequence[str]], object]] = {}
    for name, run in runs.items():
        systems[name] = partial(run_each, run)
        systems[f"{name}, labelled"] = partial(_add_labelled, labelled[name], run, device)
    jobs = [texts] * (warm_up + repeats)
    times = interleave(systems, jobs, repeats=1, warm_up=0, device=device)
    return {name: TimedRuns([each for (each,) in times[name][warm_up:]], labelled[name][warm_up:]) for name in runs}


def run_each(run: Run, texts: Sequence[str]) -> None:
    """One text at a time."""
    for text in texts:
        run([text])


def _add_labelled(to: list[TimedRun], run: Run, device: str, texts: Sequence[str]) -> None:
    clock = DeviceClock() if device.startswith("cuda") else Clock()
    with listen(clock):
        synchronize(device)
        begun = perf_counter()
        run_each(run, texts)
        synchronize(device)
        total_s = perf_counter() - begun
    device_s = clock.device_s() if isinstance(clock, DeviceClock) else []
    to.append(TimedRun(begun, total_s, clock.spans, device_s))


def rounded(value: float) -> float:
    """Four significant digits."""
    return float(f"{value:.4g}")
