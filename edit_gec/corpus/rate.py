"""Rows a second with 1 and 2 workers, and memory from 1,000 to 1,000,000 rows: what corpora/README.md claims.

    python -m edit_gec.performance.corpus_rate prose.txt rate.json --rows 3000 --workers 1 2      on a quiet machine
    python -m edit_gec.performance.corpus_rate prose.txt memory.json --rows 1000 30000 1000000 --distinct 2000

Rows are the different lines of the given text as they stand, so that the model reads every sentence. `--distinct`
takes so many of them again and again, so that a million rows end in minutes: what is remembered is not inferred, and
memory, reading and writing are measured, not the model. What else is given goes to edit-gec corpus (--unit-size 100000:
enough parts for all workers). One JSON object for each run: rows, workers, seconds, peak resident memory in MB of the
driver and of its largest worker, the mean of that worker in each fifth of the time (a peak is that of the longest
sentences, what grows shows here), and the summary of the job, whose rates exclude starting. cost.py makes tables of it.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from edit_gec.errors import InputError
from edit_gec.performance import machine

PACKAGES = ("torch", "sentencepiece", "numpy", "pyarrow", "errant", "spacy")


def write_rows(path: Path, lines: list[str], rows: int) -> None:
    """JSONL of so many rows, the lines in turn."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(rows):
            file.write(json.dumps({"id": n, "text": lines[n % len(lines)]}, ensure_ascii=False) + "\n")


def read_lines(path: Path, rows: int, distinct: int | None) -> list[str]:
    """Different lines of a text, as many as are wanted. Raises InputError where it has fewer."""
    lines = list(dict.fromkeys(line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()))
    if len(lines) < (wanted := distinct or rows):
        raise InputError(f"{path}: {len(lines):,} different lines, {wanted:,} are wanted; see --distinct")
    return lines[:wanted]


def resident_mb(pid: int, kind: str = "VmHWM") -> float:
    """Resident memory of a process: its peak so far, or what it is now (VmRSS)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{kind}:")[2].split()[0]) / 1024


def fifths(values: list[float]) -> list[int]:
    """Means of the first to the last fifth of what was seen, fewer where little was.

    >>> fifths([1, 3, 2, 2, 5, 5, 1, 1, 0, 10])
    [2, 2, 5, 1, 5]
    """
    cuts = [len(values) * n // 5 for n in range(6)]
    return [round(sum(values[a:b]) / (b - a)) for a, b in pairwise(cuts) if a < b]


def children(pid: int) -> list[int]:
    """Processes that this one has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run(source: Path, output: Path, workers: int, more: list[str]) -> dict[str, Any]:
    """One job in a process of its own, watched until it ends. Raises RuntimeError where it fails."""
    command = [sys.executable, "-m", "edit_gec", "corpus", str(source), str(output), "--workers", str(workers), *more]
    begun, driver, largest, seen = time.monotonic(), 0.0, 0.0, list[float]()
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while process.poll() is None:
        try:
            driver = max(driver, resident_mb(process.pid))
            started = children(process.pid)
            largest = max([largest, *map(resident_mb, started)])
            seen += [max(resident_mb(pid, "VmRSS") for pid in started)] if started else []
        except (OSError, IndexError):
            pass  # it has just ended
        time.sleep(0.2)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    summary = json.loads((output / "__job__" / "summary.json").read_text())
    return {
        "seconds": round(time.monotonic() - begun, 1),
        "driver_mb": round(driver),
        "worker_mb": round(largest),
        "worker_mb_in_time": fifths(seen),
        "summary": summary,
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure all that was asked for and write one JSON file, again after each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prose", type=Path, help="text, a row on each line")
    parser.add_argument("result", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[3000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    parser.add_argument("--distinct", type=int)
    args, more = parser.parse_known_args(arguments)
    lines = read_lines(args.prose, max(args.rows), args.distinct)
    given = ["--rows", *args.rows, "--workers", *args.workers]
    given += ["--distinct", args.distinct] if args.distinct else []
    words = ["python", "-m", "edit_gec.performance.corpus_rate", args.prose.name, args.result.name, *given, *more]
    about = {"command": shlex.join(map(str, words)), "machine": machine.describe(packages=PACKAGES)}
    runs = []
    for rows in args.rows:
        for workers in args.workers:
            with tempfile.TemporaryDirectory(dir=args.result.resolve().parent) as folder:
                source = Path(folder) / "rows.jsonl"
                write_rows(source, lines, rows)
                found = run(source, Path(folder) / "out", workers, more)
            runs.append({"rows": rows, "workers": workers, **found})
            args.result.write_text(json.dumps({**about, "runs": runs}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
