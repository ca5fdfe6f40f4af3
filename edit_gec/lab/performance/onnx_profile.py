"""A profile of ONNX Runtime: the stages of the path, and the operators of each graph. Needs no torch.

    result = OnnxProfiling(Path("models/edit5-mini"), texts, precision="int8").measure()

Stages are timed by the wall clock. What an operator takes is what ONNX Runtime's own profiler says, in sessions of
their own: it slows them down by a few per cent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from edit_gec.backends.choose import choose_int8
from edit_gec.backends.onnx_network import OnnxNetwork
from edit_gec.backends.sessions import Sessions
from edit_gec.corrector import Corrector
from edit_gec.lab.performance import results
from edit_gec.lab.performance.stages import measure_stages, rounded, run_each, summarize_stage
from edit_gec.speculative.statistics import quantile
from edit_gec.text.tables import align_columns
from edit_gec.tracing import STAGES

PACKAGES = ("onnxruntime", "numpy", "sentencepiece")


@dataclass(frozen=True)
class OnnxProfiling:
    """What to profile, and how often: texts one by one, each `repeats` times after `warm_up` rounds."""

    folder: Path
    texts: Sequence[str]
    precision: str = "auto"
    threads: int = 1
    warm_up: int = 2
    repeats: int = 20

    def measure(self) -> dict[str, Any]:
        """The result as plain values; times in milliseconds per text. Raises as Corrector.load does."""
        how: dict[str, Any] = {"precision": self.precision, "threads": self.threads}
        corrector = Corrector.load(self.folder, backend="onnx", **how)
        counts = {"warm_up": self.warm_up, "repeats": self.repeats}
        runs = measure_stages({"edit5": self._run_of(corrector)}, self.texts, device="cpu", **counts)["edit5"]
        return {
            **results.head("profile of onnxruntime", packages=PACKAGES, threads=self.threads),
            "settings": {"model": self.folder.name, "precision": corrector.edit5.network.precision,
                         "texts": len(self.texts), **counts},
            "total_ms": rounded(1000 * median(runs.bare_s) / len(self.texts)),
            "total_p95_ms": rounded(1000 * quantile(runs.bare_s, 0.95) / len(self.texts)),
            "stages": [summarize_stage(name, runs, len(self.texts)) for name in STAGES if runs.stage_s(name)[0]],
            "graphs": self._measure_operators(corrector),
        }  # fmt: skip

    def _measure_operators(self, corrector: Corrector) -> dict[str, dict[str, Any]]:
        """Runs and milliseconds per text of each graph, and of each of its kinds of operators."""
        int8 = choose_int8(corrector.folder, self.precision)
        with TemporaryDirectory(prefix="edit-gec-profile-") as folder:
            network = OnnxNetwork.load(corrector.folder, int8=int8, threads=self.threads, profiles=Path(folder))
            run = self._run_of(corrector.with_predictor(replace(corrector.edit5, network=network)))
            for _ in range(self.repeats):
                run_each(run, self.texts)
            files = {name: session.end_profiling() for name, session in network.sessions._asdict().items()}
            graphs = {name: read_operators(Path(files[name])) for name in Sessions._fields}
        rounds = self.repeats * len(self.texts)
        return {name: asdict(graph.divided_by(rounds)) for name, graph in graphs.items() if graph.runs}

    @staticmethod
    def _run_of(corrector: Corrector) -> Any:
        def run(given: Sequence[str]) -> list[str]:
            return [c.corrected for c in corrector.correct_batch(given, lines=True, markup=False)]

        return run


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


def format_onnx_profile(result: dict[str, Any]) -> str:
    """One screen of text: the stages, then the graphs with their operators."""
    s, where = result["settings"], result["machine"]
    lines = [
        f"{s['model']} on {where['name']}: onnxruntime {where['versions'].get('onnxruntime')}, {s['precision']}, "
        f"{where['threads']} thread(s); {s['texts']} text(s), {s['repeats']} runs, medians",
        f"total {result['total_ms']:.2f} ms, p95 {result['total_p95_ms']:.2f} ms",
        "",
    ]
    rows = [["stage", "n", "ms", "p95"]]
    for stage in result["stages"]:
        rows.append([stage["name"], f"{stage['regions']:g}", f"{stage['ms']:.2f}", f"{stage['p95_ms']:.2f}"])
    lines += [*align_columns(rows), ""]
    rows = [["graph, operator", "runs", "ms", "of it"]]
    for name, graph in result["graphs"].items():
        rows.append([name.upper(), f"{graph['runs']:g}", f"{graph['ms']:.2f}", ""])
        rows += [[kind, "", f"{ms:.3f}", f"{ms / graph['ms']:.0%}"] for kind, ms in graph["operators"].items()]
    return "\n".join([*lines, *align_columns(rows)]) + "\n"
