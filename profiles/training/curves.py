"""Learning curves: F0.5 on wi-3k against pairs seen and CPU hours, from the table curves.csv next to this file.

    python profiles/training/curves.py                                  draws curves.png
    edit-gec score --benchmark wi-3k --system edit-gec --model STAGE --min-confidence 0 --curve --format json > s.json
    python profiles/training/curves.py --add long "12 layers" --log models/.runs/NAME/*/log.jsonl --score s.json
                                                                        adds a row for a stage, then draws

Columns: run, stage, step, pairs and hours since the run began (wall clock, on so many cores), P, R and F0.5 in per cent
at the best threshold, and how many of 100 clean sentences the shipped threshold changes, where that was measured.
`--log` takes the logs of all stages up to that one, oldest first; cores is 0 for a GPU, which has no CPU hours.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TABLE, PLOT = HERE / "curves.csv", HERE / "curves.png"
HARPER = 12.9  # its F0.5 on the same set: profiles/score/README.md
COLUMNS = ["run", "stage", "step", "pairs", "hours", "cores", "P", "R", "F0.5", "clean"]


def read_lines(log: Path) -> list[dict[str, Any]]:
    """The lines of a log.jsonl with figures; those that a resumed training wrote again, once."""
    lines: list[dict[str, Any]] = []
    for line in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        if "pairs" in line:
            while lines and lines[-1]["step"] >= line["step"]:
                lines.pop()
            lines.append(line)
    return lines


def read_logs(logs: list[Path]) -> tuple[int, int, float]:
    """(steps, pairs, wall hours) of some log.jsonl files; a pause between two runs of a stage is not counted."""
    steps = pairs = 0
    seconds = 0.0
    for log in logs:
        lines = read_lines(log)
        gaps = [b["time"] - a["time"] for a, b in pairwise(lines)]
        usual = statistics.median(gaps) if gaps else 0.0
        seconds += usual + sum(min(gap, 5 * usual) for gap in gaps)  # the first line has no line before it
        pairs += int(sum(line["pairs"] for line in lines))
        steps += max((line["step"] for line in lines), default=0)
    return steps, pairs, seconds / 3600


def read_score(path: Path) -> dict[str, Any]:
    """P, R, F0.5 in per cent at the threshold that is best on wi-3k, and the false alarms on `clean`."""
    found: dict[str, Any] = {}
    for row in json.loads(path.read_text(encoding="utf-8")):
        if row["set"] == "wi-3k":
            points = [(p["P"], p["R"], p["F"]) for p in row.get("curve", [])]
            scores = row["scores"]
            p, r, f = max(points, key=lambda point: point[2], default=(None, None, None))
            percent = {"P": p, "R": r, "F0.5": f}
            found |= {k: round(100 * v, 1) if v is not None else round(scores[k], 1) for k, v in percent.items()}
        elif row["set"] == "clean":
            found["clean"] = round(row["scores"]["changed per 100"], 1)
    if "F0.5" not in found:
        raise SystemExit(f"{path}: no scores of wi-3k in it")
    return found


def add(run: str, stage: str, logs: list[Path], score: Path, cores: int) -> None:
    """Append a row to the table."""
    steps, pairs, hours = read_logs(logs)
    row = {"run": run, "stage": stage, "step": steps, "pairs": pairs, "hours": round(hours, 2), "cores": cores}
    row |= read_score(score)
    with TABLE.open("a", encoding="utf-8", newline="") as table:
        csv.DictWriter(table, COLUMNS, restval="", lineterminator="\n").writerow(row)


def draw(rows: list[dict[str, str]]) -> None:
    """One line for each run, against pairs and against CPU hours."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axes, label in zip(panels, ("pairs seen (thousands)", "CPU hours (wall hours x cores)"), strict=True):
        for run in dict.fromkeys(row["run"] for row in rows):
            of_run = [row for row in rows if row["run"] == run and (axes is panels[0] or float(row["cores"]))]
            pairs = [float(row["pairs"]) / 1000 for row in of_run]
            hours = [float(row["hours"]) * float(row["cores"]) for row in of_run]
            xs, ys = (pairs if axes is panels[0] else hours), [float(row["F0.5"]) for row in of_run]
            axes.plot(xs, ys, "o-", label=run)
            for x, y, row in zip(xs, ys, of_run, strict=True):
                if axes is panels[0]:  # downwards from the curve, which rises: no label meets another, or the axis
                    name = row["stage"].partition(":")[0].removeprefix("12 layers, ")
                    slant: dict[str, Any] = {"rotation": -40, "rotation_mode": "anchor", "va": "top"}
                    axes.annotate(name, (x, y), (3, -4), textcoords="offset points", fontsize=6, **slant)
        axes.axhline(HARPER, color="grey", linestyle=":", label="Harper 2.10")
        axes.margins(y=0.12)
        axes.set(xlabel=label, xlim=(0, None), ylim=(0, None))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("F0.5 on wi-3k (%), best threshold")
    panels[0].legend(fontsize=8, loc="lower left")
    figure.tight_layout()
    figure.savefig(PLOT, dpi=150)


def main() -> None:
    """Add a row where one is given, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", nargs=2, metavar=("RUN", "STAGE"))
    parser.add_argument("--log", nargs="+", type=Path, default=[])
    parser.add_argument("--score", type=Path)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    if args.add:
        if not (args.log and args.score):
            parser.error("--add needs --log and --score")
        add(*args.add, args.log, args.score, args.cores)
    with TABLE.open(encoding="utf-8", newline="") as table:
        draw(list(csv.DictReader(table)))


if __name__ == "__main__":
    main()
