"""What the stages of a system are made of, beside the clock: a Chrome trace of torch, or ONNX Runtime's operators.

A trace opens in Perfetto or chrome://tracing; a stage is a label around its operators and kernels. ONNX Runtime counts
its operators in sessions of their own, which are a few per cent slower.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
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
        graphs = {name: read_operators(Path(files[name]), repeats * len(texts)) for name in Sessions._fields}
    return {name: graph for name, graph in graphs.items() if graph}


def read_operators(path: Path, texts: int) -> dict[str, Any]:
    """Runs and milliseconds per text in a file of ONNX Runtime's profiler, the longest operator first; {} without runs.

    The first run, with which the model is tried out, does not count.
    """
    events = json.loads(path.read_text(encoding="utf-8"))
    runs = sorted((e["ts"], e["dur"]) for e in events if e["name"] == "model_run")[1:]
    if not runs:
        return {}
    kinds: Counter[str] = Counter()
    for event in events:
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time") and event["ts"] >= runs[0][0]:
            kinds[event["args"]["op_name"]] += event["dur"]
    ms = {kind: rounded(us / 1000 / texts) for kind, us in kinds.most_common()}
    whole = sum(us for _, us in runs) / 1000
    return {"runs": rounded(len(runs) / texts), "ms": rounded(whole / texts), "operators": ms}
