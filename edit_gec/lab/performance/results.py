"""A result as a table, its ratios, and the regression check against an older result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.text.files import write_json
from edit_gec.text.tables import to_markdown

PEERS = ("transformers", "transformers assisted", "transformers lookup", "ctranslate2 float32", "ctranslate2 int8")
TOLERANCE = 1.1


def read_result(path: str | Path, kind: str = "bench") -> dict[str, Any]:
    """A result file of `edit-gec bench`, or of `profile`. Raises InputError for anything else."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read it as a result of edit-gec {kind}: {error}") from None
    if not isinstance(result, dict) or result.get("kind") != kind or not isinstance(result.get("systems"), dict):
        raise InputError(f"{path}: no result of edit-gec {kind}; what its --out writes is one")
    return result


def write_result(path: Path, result: Mapping[str, Any]) -> None:
    """The result file, whole or not at all."""
    write_json(path, result, indent=1)


# ---------------------------------------------------------------- table


def format_result(result: Mapping[str, Any]) -> str:
    """Markdown: a row for each system, latencies in ms, sentences a second by batch, times `transformers`."""
    batches = sorted({int(b) for row in result["systems"].values() for b in row.get("throughput", {})})
    base = result["systems"].get("transformers", {}).get("latency", {}).get("mean_s")
    head = ["system", "p50 ms", "p95 ms", "x", *(f"/s at {batch}" for batch in batches), "cold s", "peak MB", "same"]
    rows = [head]
    for name, row in result["systems"].items():
        timed = row.get("latency", {})
        rows.append(
            [
                name + (" *" if row.get("replayed") else ""),
                *(_number(timed.get(key), 1000) for key in ("p50_s", "p95_s")),
                _number(base / timed["mean_s"] if base and timed else None),
                *(_number(row.get("throughput", {}).get(str(batch))) for batch in batches),
                _number(row.get("cold_start_s")),
                _number(row.get("peak_bytes"), 1e-6),
                _number(row.get("same_output"), 100, "%"),
            ]
        )
    notes = [f"left out: {name}: {why}" for name, why in result["skipped"].items()]
    notes += [
        f"edit-gec correct, cold: {s:.2f} s ({name})" for name, s in result.get("command_cold_start_s", {}).items()
    ]
    if any(row.get("replayed") for row in result["systems"].values()):
        notes.insert(0, f"* untrained weights that take the steps of {result.get('streams', 'trained ones')}")
    for peer in ("transformers", "ctranslate2 int8"):
        if peer in result["systems"] and "edit5" in result["systems"]:
            times = [result["systems"][name].get("latency", {}).get("mean_s") for name in (peer, "edit5")]
            if all(times):
                notes.append(f"edit5 is {times[0] / times[1]:.1f} times as fast as {peer}, one sentence at a time")
    return to_markdown(rows) + "".join(f"\n{note}" for note in notes) + "\n"


def _number(value: float | None, times: float = 1, unit: str = "") -> str:
    if value is None:
        return ""
    value *= times
    return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}" if value >= 10 else f"{value:.2f}{unit}"


# ---------------------------------------------------------------- regressions


class Cost(NamedTuple):
    """A figure of a system that must not grow."""

    system: str
    what: str
    seconds: float


def list_costs(result: Mapping[str, Any]) -> Iterator[Cost]:
    """Every figure of a result that must not grow."""
    for name, row in result["systems"].items():
        for key in ("p50_s", "p95_s"):
            if "latency" in row:
                yield Cost(name, key.replace("_s", " latency"), row["latency"][key])
        for batch, rate in row.get("throughput", {}).items():
            yield Cost(name, f"time a sentence at batch {batch}", 1 / rate)
        if "cold_start_s" in row:
            yield Cost(name, "cold start", row["cold_start_s"])


def find_slower(old: Mapping[str, Any], new: Mapping[str, Any], tolerance: float = TOLERANCE) -> tuple[list[str], str]:
    """Lines for everything that takes `tolerance` times as long as before, worst first, and a line on the comparison.

    Where peers were measured both times, the median change of their time is the machine's own and is divided out.
    Raises InputError for results that cannot be compared.
    """
    for key in ("size", "device", "dtype", "threads", "text"):
        if old.get(key) != new.get(key):
            raise InputError(f"these results differ in {key}: {old.get(key)} and {new.get(key)}; measure alike")
    before = {(cost.system, cost.what): cost.seconds for cost in list_costs(old)}
    after = {(cost.system, cost.what): cost.seconds for cost in list_costs(new)}
    ratios = {key: value / before[key] for key, value in after.items() if key in before}
    if not ratios:
        raise InputError("these results have no system in common")
    of_peers = [ratio for (name, what), ratio in ratios.items() if name in PEERS and "cold" not in what]
    drift = median(of_peers) if of_peers else 1.0
    grown = {key: ratio / drift for key, ratio in ratios.items() if key[0] not in PEERS and ratio / drift > tolerance}
    lines = [f"{name}: {what} x{grown[name, what]:.2f}" for name, what in sorted(grown, key=grown.__getitem__)[::-1]]
    own = sum(name not in PEERS for name, _ in ratios)
    basis = (
        f"relative to the peers, which took x{drift:.2f}" if of_peers else "no common peer, so not corrected for drift"
    )
    return lines, f"{own} figures compared, {len(lines)} above x{tolerance:g}; {basis}"
