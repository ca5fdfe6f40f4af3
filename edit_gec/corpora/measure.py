"""Rows a second with 1 and 2 workers, and memory from 1,000 to 1,000,000 rows: what corpora/README.md claims.

    python -m edit_gec.corpora.measure prose.txt out.json --rows 20000 --workers 1 2      rate, on a quiet machine
    python -m edit_gec.corpora.measure prose.txt out.json --rows 1000 30000 1000000 --distinct 2000   memory

Rows are lines of the given text; `--distinct` bounds how many differ, so that a million rows end in minutes (what is
remembered is then not inferred: memory and reading are measured, not the model). Without it every row is different: a
number is put into it. What else is given goes to edit-gec corpus (--unit-size 200000: enough parts for all workers).
One JSON object for each run: rows, workers, seconds, peak resident memory in MB of the driver and of its largest
worker, and the summary of the job, whose rates exclude starting.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def write_rows(path: Path, lines: list[str], rows: int, distinct: int | None) -> None:
    """JSONL of so many rows."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(rows):
            text = lines[n % len(lines)]
            number = n if distinct is None else n % distinct
            file.write(json.dumps({"id": n, "text": f"{text} Number {number} is here."}, ensure_ascii=False) + "\n")


def resident_mb(pid: int) -> float:
    """Peak resident memory of a process so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def children(pid: int) -> list[int]:
    """Processes that this one has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run(source: Path, output: Path, workers: int, more: list[str]) -> dict[str, Any]:
    """One job in a process of its own, watched until it ends. Raises RuntimeError where it fails."""
    command = [sys.executable, "-m", "edit_gec", "corpus", str(source), str(output), "--workers", str(workers), *more]
    begun, driver, largest = time.monotonic(), 0.0, 0.0
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while process.poll() is None:
        try:
            driver = max(driver, resident_mb(process.pid))
            largest = max([largest, *map(resident_mb, children(process.pid))])
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
        "summary": summary,
    }


def main() -> None:
    """Measure all that was asked for and write one JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prose", type=Path, help="text, a row on each line")
    parser.add_argument("result", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    parser.add_argument("--distinct", type=int)
    args, more = parser.parse_known_args()
    lines = [line for line in args.prose.read_text(encoding="utf-8").splitlines() if line.strip()]
    runs = []
    for rows in args.rows:
        for workers in args.workers:
            with tempfile.TemporaryDirectory(dir=args.result.resolve().parent) as folder:
                source = Path(folder) / "rows.jsonl"
                write_rows(source, lines, rows, args.distinct)
                found = run(source, Path(folder) / "out", workers, more)
            runs.append({"rows": rows, "workers": workers, "distinct": args.distinct, **found})
            machine = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(), "options": more}
            args.result.write_text(json.dumps({**machine, "runs": runs}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
