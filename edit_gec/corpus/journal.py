"""The record of a job. A job that is killed at any time resumes from it.

    OUTPUT/__job__/plan.json       units and settings, written once
                   journal.jsonl   one line for each unit that is done, appended after its part is written
                   set-aside/      bad rows of each unit
    at the end     summary.json, set-aside.jsonl

A unit that is not in the journal is repeated, and its part replaces any earlier one. So every row is output exactly
once.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from edit_gec.corpus.job import JOB_FOLDER, bad_rows_path
from edit_gec.corpus.partition import Partition, plan_from_json, plan_to_json
from edit_gec.corpus.records import UnitResult
from edit_gec.errors import InputError, WriteError
from edit_gec.text.files import PARTIAL_SUFFIX, atomic_file, atomic_write


class Journal:
    """The plan of a job and the results so far. `open_journal` opens it, for one process at a time."""

    def __init__(self, folder: str, plan: Partition, file: FileIO) -> None:
        self.folder = folder
        self.plan = plan
        self.file = file
        self.results: dict[int, UnitResult] = {}

    def add(self, result: UnitResult) -> None:
        """Record that a unit is done. Raises WriteError."""
        try:
            self.file.write(json.dumps(result).encode() + b"\n")
            os.fsync(self.file.fileno())
        except OSError as error:
            raise WriteError(f"{self.file.name}: cannot write: {error.strerror}") from None
        self.results[result["unit"]] = result

    def finish(self, summary: dict[str, Any]) -> None:
        """Write the summary, and the bad rows of all units in one file. Raises WriteError."""
        folder = os.path.join(self.folder, JOB_FOLDER)
        try:
            text = json.dumps(summary, indent=2, ensure_ascii=False)
            atomic_write(os.path.join(folder, "summary.json"), text.encode() + b"\n")
            with atomic_file(os.path.join(folder, "set-aside.jsonl")) as file:
                for line in self._bad_rows():
                    file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            raise WriteError(f"{self.folder}: cannot write: {error.strerror}") from None

    def _bad_rows(self) -> Iterator[dict[str, Any]]:
        """Files that could not be read, and bad rows with their number in their file, from 1."""
        for path, reason in self.plan.broken.items():
            yield {"path": path, "row": None, "reason": reason}
        rows_before: dict[str, int] = {}
        for unit in self.plan.units:
            result = self.results[unit.number]
            before = rows_before.get(unit.path, 0)
            after = before + int(result["counts"].get("rows", 0))
            rows_before[unit.path] = after
            with contextlib.suppress(FileNotFoundError), open(bad_rows_path(self.folder, unit.number), "rb") as file:
                for line in file:
                    bad = json.loads(line)
                    yield {"path": unit.path, **bad, "row": before + 1 + bad["row"]}
            if result["broken"]:
                yield {"path": unit.path, "row": after + 1, "reason": result["broken"], "part": unit.part}


@contextlib.contextmanager
def open_journal(folder: str, settings: dict[str, Any], make_plan: Callable[[], Partition]) -> Iterator[Journal]:
    """The journal of a new job, planned by `make_plan`, or of the one that the folder holds.

    Raises InputError if the folder holds something else, a job with other settings or changed input, or a job that
    another process is running.
    """
    job = Path(folder, JOB_FOLDER)
    if not job.is_dir() and os.path.isdir(folder) and os.listdir(folder):
        raise InputError(f"{folder}: not empty, and not a job of edit-gec; give a new folder for the output")
    with contextlib.ExitStack() as stack:
        try:
            job.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(open(job / "journal.jsonl", "ab+", buffering=0))
            _lock(file, folder)
            _remove_partial_files(folder)
            journal = Journal(folder, _load_plan(job / "plan.json", settings, make_plan), file)
            journal.results = _read_results(file)
        except OSError as error:
            raise WriteError(f"{folder}: cannot write: {error.strerror}") from None
        try:
            yield journal
        finally:  # also those of workers that an error, or Ctrl-C, ended
            with contextlib.suppress(OSError):
                _remove_partial_files(folder)


def _remove_partial_files(folder: str) -> None:
    """Remove the unfinished files of workers that died."""
    for path in Path(folder).rglob(f".*{PARTIAL_SUFFIX}"):
        path.unlink(missing_ok=True)


def _lock(file: FileIO, folder: str) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{folder}: another process is running this job; wait for it, or end it") from None


def _load_plan(path: Path, settings: dict[str, Any], make_plan: Callable[[], Partition]) -> Partition:
    """The plan of the job, which must have these settings; a new plan for a new job."""
    if not path.exists():
        plan = make_plan()
        atomic_write(path, json.dumps({"settings": settings, **plan_to_json(plan)}).encode())
        return plan
    known = json.loads(path.read_bytes())
    for name, value in json.loads(json.dumps(settings)).items():
        if known["settings"].get(name) != value:
            given = f"{name} was {known['settings'].get(name)!r}, now {value!r}"
            raise InputError(f"{path.parent.parent}: holds a job with other settings ({given}); give a new folder")
    plan = plan_from_json(known)
    for name, stamp in plan.stamps.items():
        status = os.stat(name) if os.path.exists(name) else None
        if status is None or [status.st_size, status.st_mtime_ns] != stamp:
            raise InputError(f"{name}: changed since this job began; give a new folder for the output")
    return plan


def _read_results(file: FileIO) -> dict[int, UnitResult]:
    """The results in the journal; a last line that was cut short is removed."""
    file.seek(0)
    results: dict[int, UnitResult] = {}
    end = 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        result: UnitResult = json.loads(line)
        results[result["unit"]] = result
        end += len(line)
    file.truncate(end)
    file.seek(end)
    return results
