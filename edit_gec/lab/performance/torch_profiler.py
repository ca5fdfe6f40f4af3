"""Runs under torch.profiler: what the stages are made of. Its raw events are read as they are (its own tree of them
takes longer to build than the run took); a stage is everything between the begin and the end of its label.

    busy     time in operators (CPU), or in kernels (GPU)
    gap      the rest of the stage: Python, and on a GPU the waiting between launches
    memory   largest amount that the run held at once, beyond what was allocated before
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.stages import run_each
from edit_gec.lab.performance.timing import time_call
from edit_gec.tracing import listen

LABEL = "edit-gec: "


@dataclass
class StageTotals:
    """A stage in all traced runs together: seconds, bytes, counts."""

    regions: int = 0
    total_s: float = 0.0  # without regions within it
    busy_s: float = 0.0
    kernels: int = 0  # operators on a CPU
    allocated: int = 0


@dataclass
class ProfilerTrace:
    """What torch.profiler saw: total seconds of each run, and the stages."""

    runs_s: list[float] = field(default_factory=list)
    stages: dict[str, StageTotals] = field(default_factory=dict)
    peak_bytes: int = 0


class Labels:
    """Makes every region a label of torch.profiler; regions of one name are numbered."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._count: Counter[str] = Counter()

    def begin(self, name: str) -> None:
        """The stage of this name begins."""
        from torch.profiler import record_function

        self._count[name] += 1
        label = record_function(f"{LABEL}{name} #{self._count[name]}")
        label.__enter__()  # type: ignore[no-untyped-call]
        self._open.append(label)

    def end(self) -> None:
        """The innermost open stage ends."""
        self._open.pop().__exit__(None, None, None)


def trace_runs(run: Run, texts: Sequence[str], *, repeats: int, device: str, file: Path | None = None) -> ProfilerTrace:
    """Run a system under torch.profiler; `file` gets the Chrome trace (.json, or .json.gz) of the last run."""
    from torch.profiler import ProfilerActivity, profile

    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device.startswith("cuda") else [])]
    found = ProfilerTrace()
    for number in range(repeats):
        with profile(activities=kinds, profile_memory=True) as profiler, listen(Labels()):
            found.runs_s.append(time_call(lambda: run_each(run, texts), device))
        _read(profiler.profiler.kineto_results.events(), found, on_device=len(kinds) > 1)
        if file is not None and number == repeats - 1:
            file.parent.mkdir(parents=True, exist_ok=True)
            profiler.export_chrome_trace(str(file))
    return found


def _read(events: Iterable[Any], found: ProfilerTrace, *, on_device: bool) -> None:
    """Add the events of one run. Regions nest, and operators nest in them; both come from one thread."""
    host, kernels = _sort_events(events, on_device=on_device)
    stage_of: dict[int, StageTotals] = {}
    regions: list[tuple[int, StageTotals]] = []  # open: end, stage
    held = operator_ends = 0
    for event in host:
        begun = event.start_ns()
        seconds = event.duration_ns() / 1e9
        while regions and begun >= regions[-1][0]:
            regions.pop()
        if event.name() == "[memory]":
            held += event.nbytes()
            found.peak_bytes = max(found.peak_bytes, held)
            if regions:
                regions[-1][1].allocated += max(0, event.nbytes())
        elif event.name().startswith(LABEL):
            stage = found.stages.setdefault(event.name().removeprefix(LABEL).partition(" #")[0], StageTotals())
            stage.regions += 1
            stage.total_s += seconds
            if regions:
                regions[-1][1].total_s -= seconds
            regions.append((begun + event.duration_ns(), stage))
        elif regions:
            stage = regions[-1][1]
            stage_of[event.correlation_id()] = stage
            if not on_device and begun >= operator_ends:  # not within another operator
                operator_ends = begun + event.duration_ns()
                stage.busy_s += seconds
                stage.kernels += 1
    _add_kernels(kernels, stage_of)


def _sort_events(events: Iterable[Any], *, on_device: bool) -> tuple[list[Any], list[Any]]:
    """What the processor did, and the kernels of a GPU; both by their start, the outer ones first."""
    host = []
    kernels = []
    for event in sorted(events, key=lambda e: (e.start_ns(), -e.duration_ns())):
        if ("CUDA" in str(event.device_type())) == (event.name() == "[memory]" and on_device):
            host.append(event)
        elif event.name() != "[memory]" and not event.name().startswith(LABEL):  # which a GPU's trace repeats
            kernels.append(event)
    return host, kernels


def _add_kernels(kernels: Iterable[Any], stage_of: dict[int, StageTotals]) -> None:
    """Count the kernels of a GPU in the stages that launched them."""
    for event in kernels:
        if event.linked_correlation_id() in stage_of:
            stage = stage_of[event.linked_correlation_id()]
            stage.busy_s += event.duration_ns() / 1e9
            stage.kernels += 1
