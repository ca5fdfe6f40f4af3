"""Timed runs: a warm-up, then all systems in turn, so that a disturbance of the machine hits all of them.

Each run is timed by a clock for its stages. On a GPU, device events are recorded at the same places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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

    total_s: float
    spans: list[Span]
    device_s: list[float] = field(default_factory=list)

    def stage_s(self, name: str) -> float:
        """Time of a stage."""
        return sum(span.own_s for span in self.spans if span.name == name)

    def stage_on_device_s(self, name: str) -> float:
        """The same by the device's events."""
        return sum(own for span, own in zip(self.spans, self.device_s, strict=True) if span.name == name)


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
) -> dict[str, list[TimedRun]]:
    """Run each system `warm_up` + `repeats` times over the texts, one text at a time."""
    timed: dict[str, list[TimedRun]] = {name: [] for name in runs}
    systems = {name: partial(_add_timed, timed[name], run, device) for name, run in runs.items()}
    interleave(systems, [texts] * (warm_up + repeats), repeats=1, warm_up=0, device=device)
    return {name: each[warm_up:] for name, each in timed.items()}


def run_each(run: Run, texts: Sequence[str]) -> None:
    """One text at a time."""
    for text in texts:
        run([text])


def _add_timed(to: list[TimedRun], run: Run, device: str, texts: Sequence[str]) -> None:
    clock = DeviceClock() if device.startswith("cuda") else Clock()
    with listen(clock):
        synchronize(device)
        begun = perf_counter()
        run_each(run, texts)
        synchronize(device)
        total_s = perf_counter() - begun
    to.append(TimedRun(total_s, clock.spans, clock.device_s() if isinstance(clock, DeviceClock) else []))


def rounded(value: float) -> float:
    """Four significant digits."""
    return float(f"{value:.4g}")
