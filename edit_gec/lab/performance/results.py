"""Results of `edit-gec bench` and `edit-gec profile`: their heading, their files, the table, two of them compared."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.lab.performance import machine
from edit_gec.text.files import write_json
from edit_gec.text.tables import align_columns, to_markdown

Plot = Callable[[Mapping[str, Any], Path], list[Path]]
PEERS = ("transformers", "transformers assisted", "transformers lookup", "ctranslate2 float32", "ctranslate2 int8")
TOLERANCE = 1.1  # ratio of times from which a system of a benchmark is slower
BENCHES_ALIKE = ("size", "device", "dtype", "threads", "text")  # what decides what is timed
PROFILES_ALIKE = {
    "machine": ("name", "threads"),
    "settings": ("models", "device", "dtype", "mode", "texts", "replayed"),
}


def read_result(path: str | Path, kind: str = "bench") -> dict[str, Any]:
    """A result file of `edit-gec bench`, or of `profile`. Raises InputError for anything else."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read it as a result of edit-gec {kind}: {error}") from None
    if not isinstance(result, dict) or result.get("kind") != kind or not isinstance(result.get("systems"), dict):
        raise InputError(f"{path}: no result of edit-gec {kind}; what its --out writes is one")
    return result


def head(kind: str, **machine_of: Any) -> dict[str, Any]:
    """What every result begins with; `machine_of` goes to `machine.describe`."""
    return {"kind": kind, "date": time.strftime("%Y-%m-%d"), "machine": machine.describe(**machine_of)}


def save(out: Path, name: str, result: Mapping[str, Any], plot: Plot | None = None) -> list[Path]:
    """Write OUT/MACHINE/NAME.json, whole or not at all, and its plots beside it; returns the files."""
    path = out / str(result["machine"]["name"]) / f"{name}.json"
    write_json(path, result, indent=1)
    return [path, *(plot(result, path) if plot else ())]


# ---------------------------------------------------------------- table


def format_result(result: Mapping[str, Any]) -> str:
    """Markdown: a row for each system, latencies in ms, sentences a second by batch, times `transformers`."""
    batches = sorted({int(b) for row in result["systems"].values() for b in row.get("throughput", {})})
    base = result["systems"].get("transformers", {}).get("latency", {}).get("mean_s")
    head = ["system", "p50 ms", "p95 ms", "x", *(f"/s at {batch}" for batch in batches), "same"]
    rows = [head]
    for name, row in result["systems"].items():
        timed = row.get("latency", {})
        rows.append(
            [
                name + (" *" if row.get("replayed") else ""),
                *(_number(timed.get(key), 1000) for key in ("p50_s", "p95_s")),
                _number(base / timed["mean_s"] if base and timed else None),
                *(_number(row.get("throughput", {}).get(str(batch))) for batch in batches),
                _number(row.get("same_output"), 100, "%"),
            ]
        )
    notes = [f"left out: {name}: {why}" for name, why in result["skipped"].items()]
    if any(row.get("replayed") for row in result["systems"].values()):
        notes.insert(0, f"* untrained weights that take the steps of {result.get('streams', 'trained ones')}")
    for peer in ("transformers", "ctranslate2 int8"):
        if peer in result["systems"] and "edit5" in result["systems"]:
            times = [result["systems"][name].get("latency", {}).get("mean_s") for name in (peer, "edit5")]
            if all(times):
                notes.append(f"edit5 is {times[0] / times[1]:.1f} times as fast as {peer}, one sentence at a time")
    drafting = format_drafting(result) if result.get("reference") else ""
    return to_markdown(rows) + drafting + "".join(f"\n{note}" for note in notes) + "\n"


def format_drafting(result: Mapping[str, Any]) -> str:
    """Markdown: each drafter at each batch size, its gain over the target alone and over `transformers`."""
    heads = ["drafts", "batch", "passes", "accepted a pass", "in one pass", "read / written", "gain"]
    lines = [[*heads, "x transformers"]]
    systems = result["systems"]
    bases = (result["reference"], "transformers")
    for name, row in systems.items():
        for batch, found in row.get("drafting", {}).items():
            plain, peer = (systems.get(other, {}).get("throughput", {}).get(batch) for other in bases)
            rate = row["throughput"][batch]
            gains = [f"{rate / other:.2f}" if other else "" for other in (plain, peer)]
            values = [found["passes_mean"], found["accepted_mean"], found["one_pass_rate"], found["verified_per_token"]]
            lines.append([name, batch, *(f"{value:.2f}" for value in values), *gains])
    return f"\n{to_markdown(lines)}" if len(lines) > 1 else ""


def _number(value: float | None, times: float = 1, unit: str = "") -> str:
    if value is None:
        return ""
    value *= times
    return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}" if value >= 10 else f"{value:.2f}{unit}"


# ---------------------------------------------------------------- two results


class FigureChange(NamedTuple):
    """A figure of both results, in seconds or milliseconds; `is_clear`: beyond what the runs of either differ by."""

    system: str
    what: str
    before: float
    after: float
    is_clear: bool


def list_figures(result: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """By system and name every time of a result."""
    figures: dict[tuple[str, str], float] = {}
    for name, row in result["systems"].items():
        for key in ("p50_s", "p95_s"):
            if "latency" in row:
                figures[name, key.replace("_s", " latency")] = row["latency"][key]
        for batch, rate in row.get("throughput", {}).items():
            figures[name, f"time a sentence at batch {batch}"] = 1 / rate
        for key in ("total", "encoder", "decoder", "overhead"):
            if f"{key}_ms" in row:
                figures[name, key] = row[f"{key}_ms"]
        figures |= {(name, stage["name"]): stage["ms"] for stage in row.get("stages", ())}
    return figures


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[FigureChange], float]:
    """All figures that both results have, and how much slower the machine is today by the peers of both (else 1).

    A change is clear if it is larger than the spread of the totals of a profile, or than TOLERANCE in a
    benchmark, where the machine's own is divided out and peers do not count. Raises InputError for results of other
    models, settings or machines.
    """
    is_profile = new["kind"] == "profile"
    for where, names in PROFILES_ALIKE.items() if is_profile else (("", BENCHES_ALIKE),):
        for name in names:
            given = [(each[where] if where else each).get(name) for each in (old, new)]
            if given[0] != given[1]:
                raise InputError(f"these results differ in {name}: {given[0]} and {given[1]}; measure alike")
    before, after = list_figures(old), list_figures(new)
    common = [key for key in after if key in before]
    if not common:
        raise InputError("these results have no system in common")
    of_peers = [after[key] / before[key] for key in common if key[0] in PEERS]
    drift = median(of_peers) if of_peers else 1.0
    changes = []
    for name, what in common:
        a, b = before[name, what], after[name, what]
        rows = (old["systems"][name], new["systems"][name])
        spread = max(row["total_p95_ms"] / row["total_ms"] for row in rows) if is_profile else TOLERANCE
        is_clear = a > 0 and name not in PEERS and not 1 / spread <= b / a / drift <= spread
        changes.append(FigureChange(name, what, a, b, is_clear))
    return changes, drift


def compare_files(kind: str, old: str, new: str) -> tuple[str, bool]:
    """The comparison of two files, as `format_comparison`. Raises InputError as `read_result` and `compare`."""
    return format_comparison(read_result(old, kind), read_result(new, kind))


def format_comparison(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, bool]:
    """A row for each figure: before, after, ratio, and a mark where the change is clear; whether one is slower."""
    changes, drift = compare(old, new)
    rows = [["", "before", "after", "ratio", ""]]
    system = ""
    for change in changes:
        if change.system != system:
            system = change.system
            rows.append([system.upper(), "", "", "", ""])
        ratio = f"x{change.after / change.before / drift:.2f}" if change.before else ""
        mark = "" if not change.is_clear else "slower" if change.after > drift * change.before else "faster"
        rows.append([change.what, f"{change.before:.4g}", f"{change.after:.4g}", ratio, mark])
    of = [f"{result['date']} ({result['machine'].get('commit') or 'no commit'})" for result in (old, new)]
    lines = [f"{of[0]} -> {of[1]}", *align_columns(rows)]
    if drift != 1:
        lines.append(f"ratios are relative to the peers, which took x{drift:.2f}")
    return "\n".join(lines) + "\n", any(row[-1] == "slower" for row in rows)
