"""The record of a job: one process at a time, the same settings and input, and a last line that a power cut left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from edit_gec.corpus.job import JOB_FOLDER, bad_rows_path
from edit_gec.corpus.journal import open_journal
from edit_gec.corpus.partition import Partition
from edit_gec.corpus.records import Format, Unit, UnitResult
from edit_gec.errors import InputError

SETTINGS = {"model": "abc", "unit_size": 10}


def result(unit: int, *, rows: int = 2, broken: str | None = None) -> UnitResult:
    return {"unit": unit, "broken": broken, "seconds": 1.0, "reasons": {}, "counts": {"rows": rows}, "workers": 1}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "a.jsonl"
    file.write_text("{}\n")
    return file


@pytest.fixture
def plan(source: Path) -> Partition:
    """Two units of one file, and a file that cannot be read."""
    status = source.stat()
    units = [Unit(n, Format.JSONL, str(source), f"a-{n}.jsonl", n, n + 1, 0, 1) for n in range(2)]
    return Partition(units, {"b.parquet": "not Parquet"}, {str(source): [status.st_size, status.st_mtime_ns]})


def no_plan() -> Partition:
    raise AssertionError("the job has a plan already")


def test_a_job_goes_on_where_it_was(tmp_path: Path, plan: Partition) -> None:
    folder = str(tmp_path / "out")
    with open_journal(folder, SETTINGS, lambda: plan) as journal:
        assert journal.results == {} and journal.plan == plan
        journal.add(result(1))
    with open_journal(folder, SETTINGS, no_plan) as journal:
        assert journal.results == {1: result(1)} and journal.plan == plan


def test_half_a_line_is_removed(tmp_path: Path, plan: Partition) -> None:
    folder = tmp_path / "out"
    with open_journal(str(folder), SETTINGS, lambda: plan) as journal:
        journal.add(result(0))
    file = folder / JOB_FOLDER / "journal.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"unit": 1, "bro')
    with open_journal(str(folder), SETTINGS, no_plan) as journal:
        assert list(journal.results) == [0]
        journal.add(result(1))
    assert [json.loads(line)["unit"] for line in file.read_bytes().splitlines()] == [0, 1]


def test_unfinished_files_of_dead_workers_go(tmp_path: Path, plan: Partition) -> None:
    folder = tmp_path / "out"
    with open_journal(str(folder), SETTINGS, lambda: plan):
        pass
    partial = folder / ".a-0.jsonl.1.partial"
    partial.write_text("half")
    with open_journal(str(folder), SETTINGS, no_plan):
        assert not partial.exists()


def test_the_summary_and_all_bad_rows_in_one_file(tmp_path: Path, plan: Partition) -> None:
    """Rows are counted in their file, from 1, over all of its units."""
    folder = str(tmp_path / "out")
    with open_journal(folder, SETTINGS, lambda: plan) as journal:
        journal.add(result(0, rows=3))
        journal.add(result(1, rows=2, broken="cut short"))
        bad = Path(bad_rows_path(folder, 1))
        bad.parent.mkdir(parents=True, exist_ok=True)
        bad.write_text(json.dumps({"row": 1, "reason": "not JSON", "text": "{"}) + "\n")
        journal.finish({"rows": 5})
    job = Path(folder, JOB_FOLDER)
    assert json.loads((job / "summary.json").read_text()) == {"rows": 5}
    lines = [json.loads(line) for line in (job / "set-aside.jsonl").read_text().splitlines()]
    assert [(Path(line["path"]).name, line["row"], line["reason"]) for line in lines] == [
        ("b.parquet", None, "not Parquet"),
        ("a.jsonl", 5, "not JSON"),
        ("a.jsonl", 6, "cut short"),
    ]


def test_what_is_refused(tmp_path: Path, plan: Partition, source: Path) -> None:
    folder = str(tmp_path / "out")
    running = pytest.raises(InputError, match="another process is running this job")
    with open_journal(folder, SETTINGS, lambda: plan), running, open_journal(folder, SETTINGS, no_plan):
        pass
    with (
        pytest.raises(InputError, match=r"other settings \(unit_size was 10, now 20\)"),
        open_journal(folder, {**SETTINGS, "unit_size": 20}, no_plan),
    ):
        pass
    os.utime(source, ns=(0, 1))
    with (
        pytest.raises(InputError, match=r"a\.jsonl: changed since this job began"),
        open_journal(folder, SETTINGS, no_plan),
    ):
        pass
    source.unlink()
    with (
        pytest.raises(InputError, match=r"a\.jsonl: changed since this job began"),
        open_journal(folder, SETTINGS, no_plan),
    ):
        pass
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with (
        pytest.raises(InputError, match="not empty, and not a job of edit-gec"),
        open_journal(str(other), SETTINGS, no_plan),
    ):
        pass
    assert [path.name for path in other.iterdir()] == ["notes.txt"]
