"""What a job has done, so that it can be killed at any time and goes on where it was.

    OUTPUT/__job__/plan.json       units and settings, written once
                   journal.jsonl   one line for each unit that is done, appended behind its part
                   set-aside/      bad rows of each unit
    in the end     summary.json, set-aside.jsonl

A unit that is not in the journal is done again; its part has the same name and replaces what may be there. So every
row comes out once, and readers of data sets leave out the folder for its underscores.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from edit_gec.corpus.job import JOB, leftovers, set_aside_path, whole
from edit_gec.corpus.partition import Plan, as_json, from_json
from edit_gec.errors import InputError, WriteError


class Journal:
    """The memory of a job. Open it with `opened`; one process at a time has it."""

    def __init__(self, folder: str, settings: dict[str, Any], plan: Plan, file: FileIO) -> None:
        self.folder, self.settings, self.plan, self.file = folder, settings, plan, file
        self.done: dict[int, dict[str, Any]] = {}

    def add(self, result: dict[str, Any]) -> None:
        """A unit is done. Raises WriteError."""
        try:
            self.file.write(json.dumps(result).encode() + b"\n")
            os.fsync(self.file.fileno())
        except OSError as error:
            raise WriteError(f"{self.file.name}: cannot write: {error.strerror}") from None
        self.done[result["unit"]] = result

    def close(self, summary: dict[str, Any]) -> None:
        """All is done: the summary, and the rows set aside of all units in one file. Raises WriteError."""
        try:
            for path in leftovers(self.folder):  # of workers that died
                path.unlink()
            with whole(os.path.join(self.folder, JOB, "summary.json")) as file:
                file.write(json.dumps(summary, indent=2, ensure_ascii=False).encode() + b"\n")
            with whole(os.path.join(self.folder, JOB, "set-aside.jsonl")) as file:
                for line in self._set_aside():
                    file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            raise WriteError(f"{self.folder}: cannot write: {error.strerror}") from None

    def _set_aside(self) -> Iterator[dict[str, Any]]:
        """Files that could not be read, and bad rows with their number in their file, from 1."""
        for path, reason in self.plan.broken.items():
            yield {"path": path, "row": None, "reason": reason}
        before: dict[str, int] = {}
        for unit in self.plan.units:
            result = self.done[unit.number]
            first = before.get(unit.path, 0) + 1
            before[unit.path] = first - 1 + result["counts"].get("rows", 0)
            with contextlib.suppress(FileNotFoundError), open(set_aside_path(self.folder, unit.number), "rb") as file:
                for line in file:
                    bad = json.loads(line)
                    yield {"path": unit.path, **bad, "row": first + bad["row"]}
            if result["broken"]:
                yield {"path": unit.path, "row": before[unit.path] + 1, "reason": result["broken"], "part": unit.part}


@contextlib.contextmanager
def opened(folder: str, settings: dict[str, Any], make_plan: Any) -> Iterator[Journal]:
    """The journal of a job that is new, or goes on.

    make_plan() is called for a new one. Raises InputError where the folder holds something else, a job with other
    settings or input, or one that another process is at.
    """
    job = Path(folder, JOB)
    if not job.is_dir() and os.path.isdir(folder) and os.listdir(folder):
        raise InputError(f"{folder}: not empty, and no job of edit-gec; give a new folder for the output")
    with contextlib.ExitStack() as stack:
        try:
            job.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(open(job / "journal.jsonl", "ab+", buffering=0))
            _lock(file, folder)
            for path in leftovers(folder):
                path.unlink()
            journal = Journal(folder, settings, _plan(job / "plan.json", settings, make_plan), file)
            journal.done = _done(file)
        except OSError as error:
            raise WriteError(f"{folder}: cannot write: {error.strerror}") from None
        yield journal


def _lock(file: FileIO, folder: str) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{folder}: another process is at this job; wait for it, or end it") from None


def _plan(path: Path, settings: dict[str, Any], make_plan: Any) -> Plan:
    if not path.exists():
        plan: Plan = make_plan()
        with whole(str(path)) as file:
            file.write(json.dumps({"settings": settings, **as_json(plan)}).encode())
        return plan
    known = json.loads(path.read_bytes())
    for name, value in json.loads(json.dumps(settings)).items():
        if known["settings"].get(name) != value:
            given = f"{name} was {known['settings'].get(name)!r}, now {value!r}"
            raise InputError(f"{path.parent.parent}: holds a job with other settings ({given}); give a new folder")
    plan = from_json(known)
    for name, stamp in plan.stamps.items():
        status = os.stat(name) if os.path.exists(name) else None
        if status is None or [status.st_size, status.st_mtime_ns] != stamp:
            raise InputError(f"{name}: changed since this job began; give a new folder for the output")
    return plan


def _done(file: FileIO) -> dict[int, dict[str, Any]]:
    """Lines of the journal; a last one that was cut short is removed."""
    file.seek(0)
    done, end = {}, 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        result = json.loads(line)
        done[result["unit"]] = result
        end += len(line)
    file.truncate(end)
    file.seek(end)
    return done
