"""Tables of the measurements of rate.py, and the cost of a billion sentences at these rates.

    python profiles/corpora/cost.py rate.json memory.json --core-hour 0.05

    hours = sentences / (sentences a second of all workers together) / 3600;   cost = hours * workers * price

A worker is a process with one core or one GPU; `--core-hour` is the price of one hour of it. The model reads equal
sentences once, so a corpus with duplicates costs less by about their share. Rows without edits are part of the rate.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

BILLION = 1_000_000_000


class Cost(NamedTuple):
    """Hours of a single worker, and their price."""

    worker_hours: float
    price: float


def compute_cost(run: dict[str, Any], hour: float, sentences: int = BILLION) -> Cost:
    """The cost of `sentences` different sentences at the rate of a run. `hour` is the price of a worker for one hour.

    >>> compute_cost({"workers": 2, "summary": {"sentences_per_second": 200.0, "duplicates": 0.0}}, 0.05)
    Cost(worker_hours=2777.8, price=138.89)
    """
    summary = run["summary"]
    inferred = summary["sentences_per_second"] * (1 - summary["duplicates"])
    hours = sentences / inferred / 3600 * run["workers"]
    return Cost(round(hours, 1), round(hours * hour, 2))


def format_table(results: Iterable[dict[str, Any]], hour: float) -> str:
    """Markdown with a row for each run of each result. Hours and cost are those of a billion sentences."""
    lines = [
        "| rows | workers | rows/s | sentences/s | characters each | driver MB | worker MB | worker-hours | cost |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for run in (run for result in results for run in result["runs"]):
        summary = run["summary"]
        each = summary["characters"] / max(1, summary["sentences"])
        row = [f"{run['rows']:,}", run["workers"], f"{summary['rows_per_second']:,.0f}"]
        row += [f"{summary['sentences_per_second']:,.0f}", f"{each:.0f}", run["driver_mb"], run["worker_mb"]]
        if summary["duplicates"] < 0.5:
            hours, price = compute_cost(run, hour)
            row += [f"{hours:,.0f}", f"{price:,.0f}"]
        else:  # remembered sentences say nothing about the model
            row += ["", ""]
        lines.append("| " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Write the table to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="files that rate.py wrote")
    parser.add_argument("--core-hour", type=float, required=True, metavar="X", help="price of an hour of one worker")
    args = parser.parse_args(arguments)
    results = [json.loads(path.read_text(encoding="utf-8")) for path in args.results]
    sys.stdout.write(format_table(results, args.core_hour) + "\n")


if __name__ == "__main__":
    main()
