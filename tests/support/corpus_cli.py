"""For the tests of corpora: rows to correct, the command as a process, what came out."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROSE = [line for line in (Path(__file__).parents[2] / "data/samples/prose.txt").read_text().splitlines() if line]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
FRAGILE = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "fragile"), os.environ.get("PYTHONPATH", "")])}
DEADLY, FAULTY = "basilisk", "gremlin"  # words that a FRAGILE model dies of, and fails at


def rows(count: int) -> list[dict[str, Any]]:
    """So many different rows; every third text is the same."""
    return [{"id": n, "text": PROSE[0] if n % 3 == 0 else f"{PROSE[n % len(PROSE)]} {n} times."} for n in range(count)]


def write_jsonl(path: Path, values: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
    return path


def command(*args: Any) -> list[str]:
    return [sys.executable, "-m", "edit_gec", "corpus", "--workers", "1", *map(str, args)]


def corpus(*args: Any, status: int = 0, env: dict[str, str] | None = None, **options: Any) -> str:
    """Run the command to its end; what it said on standard error."""
    environment = {**ENVIRONMENT, **(env or {})}
    done = subprocess.run(command(*args), env=environment, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert done.stdout == ""
    return str(done.stderr)


def begin(*args: Any, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command(*args), env={**ENVIRONMENT, **(env or {})}, stderr=subprocess.PIPE)


def wait_for_units(output: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Until so many units are done; the process must not be at its end then."""
    journal, until = output / "__job__" / "journal.jsonl", time.monotonic() + 240
    while not journal.exists() or journal.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.stderr and process.stderr.read().decode()
        assert time.monotonic() < until, "no unit is done"
        time.sleep(0.01)


def workers_of(driver: int) -> list[int]:
    """Its processes that correct; multiprocessing has one more, which looks after resources."""
    children = Path(f"/proc/{driver}/task/{driver}/children").read_text().split()
    return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def kill(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


@contextlib.contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    """A disk of this size at a folder; the test is skipped where none can be mounted."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        # lazily: Ray's processes may take a moment longer than the job
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def parts(output: Path) -> list[Path]:
    return sorted(path for path in output.rglob("*-0*") if path.is_file() and "__job__" not in path.parts)


def read(output: Path) -> Iterator[dict[str, Any]]:
    """The rows of all parts, in order."""
    for path in parts(output):
        if ".jsonl" in path.name:
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            yield from map(json.loads, data.decode().splitlines())
        elif path.suffix == ".csv":
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    yield {**row, "edits": json.loads(row["edits"])}
        else:
            import pyarrow.parquet

            yield from pyarrow.parquet.read_table(path).to_pylist()


def summary(output: Path) -> dict[str, Any]:
    return dict(json.loads((output / "__job__" / "summary.json").read_text()))


def set_aside(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (output / "__job__" / "set-aside.jsonl").read_text().splitlines()]


def once_each(output: Path, wanted: list[dict[str, Any]]) -> bool:
    """Whether every row came out once, in order, with all that it had."""
    return [{"id": row["id"], "text": row["text"]} for row in read(output)] == wanted
