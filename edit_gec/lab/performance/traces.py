"""What the stages of a system are made of, beside the clock: a Chrome trace of torch, or ONNX Runtime's operators.

A trace opens in Perfetto or chrome://tracing; a stage is a label around its operators and kernels. ONNX Runtime counts
its operators in sessions of their own, which are a few per cent slower.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.stages import rounded, run_each
from edit_gec.tracing import listen

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

LABEL = "edit-gec: "


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


def write_trace(run: Run, texts: Sequence[str], device: str, file: Path) -> None:
    """Run a system under torch.profiler; `file` (.json.gz) gets the Chrome trace of its second run."""
    from torch.profiler import ProfilerActivity, profile

    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device.startswith("cuda") else [])]
    for _ in range(2):
        with profile(activities=kinds) as profiler, listen(Labels()):
            run_each(run, texts)
    file.parent.mkdir(parents=True, exist_ok=True)
    profiler.export_chrome_trace(str(file))


@dataclass(frozen=True)
class GraphTimes:
    """How often a graph ran, how long it took in all, and its operators by their kind."""

    runs: float = 0
    ms: float = 0
    operators: dict[str, float] = field(default_factory=dict)

    def divided_by(self, count: int) -> GraphTimes:
        """The same for one of `count` texts, the longest operator first."""
        operators = sorted(self.operators.items(), key=lambda each: -each[1])
        return GraphTimes(
            rounded(self.runs / count),
            rounded(self.ms / count),
            {kind: rounded(ms / count) for kind, ms in operators},
        )


def measure_operators(
    corrector: Corrector, texts: Sequence[str], *, threads: int, repeats: int
) -> dict[str, dict[str, Any]]:
    """Runs and milliseconds per text of each graph of ONNX Runtime, and of each of its kinds of operators."""
    from edit_gec.backends.onnx_network import OnnxNetwork
    from edit_gec.backends.sessions import Sessions
    from edit_gec.lab.performance.systems import run_corrector

    int8 = corrector.edit5.network.precision == "int8"
    with TemporaryDirectory(prefix="edit-gec-profile-") as folder:
        network = OnnxNetwork.load(corrector.folder, int8=int8, threads=threads, profiles=Path(folder))
        run = run_corrector(corrector.with_predictor(replace(corrector.edit5, network=network)))
        for _ in range(repeats):
            run_each(run, texts)
        files = {name: session.end_profiling() for name, session in network.sessions._asdict().items()}
        graphs = {name: read_operators(Path(files[name])) for name in Sessions._fields}
    return {name: asdict(graph.divided_by(repeats * len(texts))) for name, graph in graphs.items() if graph.runs}


def read_operators(path: Path) -> GraphTimes:
    """What a file of ONNX Runtime's profiler says, without the first run, with which the model is tried out."""
    events = json.loads(path.read_text(encoding="utf-8"))
    runs = sorted((e["ts"], e["dur"]) for e in events if e["name"] == "model_run")[1:]
    if not runs:
        return GraphTimes()
    kinds: Counter[str] = Counter()
    for event in events:
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time") and event["ts"] >= runs[0][0]:
            kinds[event["args"]["op_name"]] += event["dur"]
    return GraphTimes(len(runs), sum(us for _, us in runs) / 1000, {kind: us / 1000 for kind, us in kinds.items()})
