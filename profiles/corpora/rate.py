"""Rows per second by number of workers, and memory by number of rows: the measurements in README.md.

    python profiles/corpora/rate.py prose.txt rate.json --rows 3000 --workers 1 2      on a quiet machine
    python profiles/corpora/rate.py prose.txt memory.json --rows 1000 30000 1000000 --distinct 2000

Rows are the different lines of the text, so the model reads every sentence. `--distinct N` repeats N of them instead: a
million rows take minutes, because the model reads no sentence twice. This measures memory, reading
and writing. Other options go to `edit-gec corpus` (`--unit-size 100000` makes enough parts for all workers).

Each run is a JSON object: rows, workers, seconds, peak resident memory in MB of the driver and of its largest worker,
the mean memory of that worker in each fifth of the time (a peak belongs to the longest sentences; growth shows here),
and the summary of the job, whose rates exclude the start. cost.py makes a table of it.
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
from edit_gec.lab.performance import machine
from edit_gec.text.files import write_json

PACKAGES = ("torch", "sentencepiece", "numpy", "pyarrow", "errant", "spacy")


def write_rows(path: Path, lines: list[str], rows: int) -> None:
    """Write JSONL with this number of rows, repeating the lines."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(rows):
            file.write(json.dumps({"id": n, "text": lines[n % len(lines)]}, ensure_ascii=False) + "\n")


def read_lines(path: Path, rows: int, distinct: int | None) -> list[str]:
    """The first `distinct` or else `rows` different lines of a text. Raises InputError if it has fewer."""
    lines = list(dict.fromkeys(line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()))
    count = distinct or rows
    if len(lines) < count:
        raise InputError(f"{path}: {len(lines):,} different lines, expected {count:,}; see --distinct")
    return lines[:count]


def resident_mb(pid: int, kind: str = "VmHWM") -> float:
    """Resident memory of a process: its peak so far (VmHWM), or the present (VmRSS)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{kind}:")[2].split()[0]) / 1024


def mean_fifths(values: list[float]) -> list[int]:
    """The mean of each fifth of the values, of fewer parts if there are fewer values.

    >>> mean_fifths([1, 3, 2, 2, 5, 5, 1, 1, 0, 10])
    [2, 2, 5, 1, 5]
    """
    cuts = [len(values) * n // 5 for n in range(6)]
    return [round(sum(values[a:b]) / (b - a)) for a, b in pairwise(cuts) if a < b]


def child_processes(pid: int) -> list[int]:
    """Processes that this one has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def measure_job(source: Path, output: Path, workers: int, options: list[str]) -> dict[str, Any]:
    """Run one job in its own process and watch it. Raises RuntimeError if it fails."""
    command = [
        sys.executable,
        "-m",
        "edit_gec",
        "corpus",
        str(source),
        str(output),
        "--workers",
        str(workers),
        *options,
    ]
    begun = time.monotonic()
    driver = 0.0
    largest = 0.0
    seen: list[float] = []
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while process.poll() is None:
        try:
            driver = max(driver, resident_mb(process.pid))
            started = child_processes(process.pid)
            largest = max([largest, *map(resident_mb, started)])
            seen += [max(resident_mb(pid, "VmRSS") for pid in started)] if started else []
        except (OSError, IndexError):
            pass  # the process has just ended
        time.sleep(0.2)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    summary = json.loads((output / "__job__" / "summary.json").read_text())
    return {
        "seconds": round(time.monotonic() - begun, 1),
        "driver_mb": round(driver),
        "worker_mb": round(largest),
        "worker_mb_in_time": mean_fifths(seen),
        "summary": summary,
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure every combination of rows and workers, and write the JSON file again after each."""
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
    words = ["python", "profiles/corpora/rate.py", args.prose.name, args.result.name, *given, *more]
    about = {"command": shlex.join(map(str, words)), "machine": machine.describe(packages=PACKAGES)}
    runs = []
    for rows in args.rows:
        for workers in args.workers:
            with tempfile.TemporaryDirectory(dir=args.result.resolve().parent) as folder:
                source = Path(folder) / "rows.jsonl"
                write_rows(source, lines, rows)
                found = measure_job(source, Path(folder) / "out", workers, more)
            runs.append({"rows": rows, "workers": workers, **found})
            write_json(args.result, {**about, "runs": runs}, indent=1)


if __name__ == "__main__":
    main()
