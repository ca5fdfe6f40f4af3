"""What goes wrong in long jobs, with real processes: every good row comes out once, bad ones are set aside."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from support.corpus_cli import (
    DEADLY,
    FAULTY,
    FRAGILE,
    PROSE,
    begin,
    corpus,
    kill,
    once_each,
    parts,
    read,
    rows,
    set_aside,
    small_disk,
    summary,
    wait_for_units,
    workers_of,
)
from support.corpus_cli import write_jsonl as write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]
MANY = rows(1000)


def options(model: Path) -> tuple[str, ...]:
    return ("--model", str(model), "--no-types", "--unit-size", "2000")


def test_a_worker_is_killed(tmp_path: Path, model_folder: Path) -> None:
    source, output = write(tmp_path / "a.jsonl", MANY), tmp_path / "out"
    process = begin(source, output, *options(model_folder))
    wait_for_units(output, 1, process)
    (worker,) = workers_of(process.pid)
    os.kill(worker, signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0 and b"a worker died" in said and b"SIGKILL" in said
    assert once_each(output, MANY) and not set_aside(output)


def test_the_driver_is_killed_and_goes_on(tmp_path: Path, model_folder: Path) -> None:
    source, output, reference = write(tmp_path / "a.jsonl", MANY), tmp_path / "out", tmp_path / "reference"
    done = 0
    for more in (1, 3):
        process = begin(source, output, *options(model_folder))
        wait_for_units(output, done + more, process)
        done += more
        (worker,) = workers_of(process.pid)
        kill(process)
        assert not once_each(output, MANY), "killed too late to show anything"
        for _ in range(3000):  # its worker sees that nobody listens
            if not Path(f"/proc/{worker}").exists():
                break
            time.sleep(0.01)
        else:
            raise AssertionError("the worker lives on")
    (output / "__job__" / ".plan.json.x.partial").write_text("{")
    journal = output / "__job__" / "journal.jsonl"
    before = journal.read_bytes()
    journal.write_bytes(before + b'{"unit": 9')  # as a power cut leaves it
    assert "parts are there already" in corpus(source, output, *options(model_folder))
    assert journal.read_bytes().startswith(before) and journal.read_bytes().endswith(b"\n")
    assert once_each(output, MANY) and not list(output.rglob("*.partial"))
    corpus(source, reference, *options(model_folder))
    assert [part.read_bytes() for part in parts(output)] == [part.read_bytes() for part in parts(reference)]
    assert {**summary(output), **dict.fromkeys(TIMES)} == {**summary(reference), **dict.fromkeys(TIMES)}


TIMES = ("worker_seconds", "wall_seconds", "rows_per_second", "sentences_per_second", "hours_per_million_sentences",
         "sentences_inferred", "duplicates")  # what a worker remembers is gone with it  # fmt: skip


def test_a_second_driver_is_refused(tmp_path: Path, model_folder: Path) -> None:
    source, output = write(tmp_path / "a.jsonl", MANY), tmp_path / "out"
    process = begin(source, output, *options(model_folder))
    wait_for_units(output, 1, process)
    assert "another process is running this job" in corpus(source, output, *options(model_folder), status=2)
    kill(process)


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


def test_no_room_for_the_output(tmp_path: Path, model_folder: Path) -> None:
    """A limit on the size of files stands for the disk; parts that are there are whole, and the job goes on later."""
    few = rows(30)
    source, output = write(tmp_path / "a.jsonl", few), tmp_path / "out"
    said = corpus(source, output, *options(model_folder), status=2, preexec_fn=small_files)
    assert said.count("\n") == 1 and "cannot write: File too large" in said
    assert not list(output.rglob("*.partial"))
    corpus(source, output, *options(model_folder))
    assert once_each(output, few)


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_full_disk(engine: str, tmp_path: Path, model_folder: Path) -> None:
    if engine == "ray":
        pytest.importorskip("ray")
    table, disk = tmp_path / "a.parquet", tmp_path / "disk"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(MANY), table)
    disk.mkdir()
    words = (table, disk / "out", *options(model_folder), "--engine", engine, "--quiet")
    with small_disk(disk, "100k"):
        said = corpus(*words, status=2)
        assert "cannot write: No space left on device" in said and said.count("\n") == 1
        assert not list(disk.rglob("*.partial"))
        subprocess.run(["mount", "-o", "remount,size=10m", str(disk)], check=True)
        assert not corpus(*words)
        assert once_each(disk / "out", MANY)


def test_rows_that_kill_or_confuse_the_model(tmp_path: Path, model_folder: Path) -> None:
    values = rows(30)
    values[7]["text"] = f"The {DEADLY} looked at me."
    values[20]["text"] = f"A {FAULTY} was in the machine."
    source, output = write(tmp_path / "a.jsonl", values), tmp_path / "out"
    said = corpus(source, output, *options(model_folder), "--unit-size", 100_000, env=FRAGILE)
    assert said.count("a worker died") == 4  # twice with all rows, twice alone
    assert once_each(output, [value for n, value in enumerate(values) if n not in (7, 20)])
    assert not list(output.rglob("*.partial"))
    assert [(bad["row"], bad["reason"]) for bad in set_aside(output)] == [
        (8, "killed 2 workers"),
        (21, "correction failed: IndexError('a gremlin')"),
    ]


def test_a_model_that_fails_at_everything_stops_the_job(tmp_path: Path, model_folder: Path) -> None:
    values = [{"id": n, "text": f"{FAULTY} {n}"} for n in range(5)]
    source = write(tmp_path / "a.jsonl", values)
    said = corpus(source, tmp_path / "out", *options(model_folder), status=2, env=FRAGILE)
    assert "IndexError: a gremlin" in said and "a worker failed" in said and not parts(tmp_path / "out")


def test_bad_rows_among_good_ones(tmp_path: Path, model_folder: Path) -> None:
    """Invalid UTF-8, broken JSON, other schemas, nulls, and a text of 256 kB."""
    output = tmp_path / "out"
    long = {"id": 40, "text": (" ".join(PROSE) * 1000)[: 2**18]}
    good = [*rows(40), long, {"id": 41, "text": None}, {"id": 42, "text": ""}]
    bad = {
        3: (b'{"id": 1, "text": "caf\xe9"}', "not UTF-8: byte 23 is 0xe9"),
        17: (b'{"id": 2, "text', "not JSON: Unterminated string starting at: line 1 column 11 (char 10)"),
        18: (b'{"id": 3, "words": "She go."}', "no column 'text': id, words"),
        19: (b'{"id": 4, "text": ["no"]}', "not a string: 'text' is list"),
        44: (b"[]", "no JSON object: list"),
    }
    lines = [json.dumps(row).encode() for row in good]
    for place, (line, _) in bad.items():
        lines.insert(place - 1, line)
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    corpus(tmp_path / "a.jsonl", output, *options(model_folder))
    assert once_each(output, good)
    assert [(row["row"], row["reason"]) for row in set_aside(output)] == [(n, why) for n, (_, why) in bad.items()]
    found = list(read(output))
    assert found[40]["edits"] and (found[41]["corrected"], found[41]["edits"]) == (None, [])
    counts = summary(output)
    assert (counts["rows"], counts["written"], counts["null"]) == (48, 43, 1)
    assert counts["sentences"] > 10 * counts["sentences_inferred"]


def test_broken_files_among_good_ones(tmp_path: Path, model_folder: Path) -> None:
    source, output, good = tmp_path / "in", tmp_path / "out", rows(60)
    write(source / "a.jsonl", good[:20])
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(good[20:40]), source / "b.parquet")
    (source / "c.parquet").write_bytes((source / "b.parquet").read_bytes()[:-40])  # cut short
    other = pyarrow.table({"id": ["x"], "text": [1.5], "more": [None]})  # another schema
    pyarrow.parquet.write_table(other, source / "d.parquet")
    pages = bytearray((source / "b.parquet").read_bytes())
    pages[60:400] = bytes(340)  # rows that cannot be read, though the file says that they are there
    (source / "e.parquet").write_bytes(pages)
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in good[40:])
    (source / "f.jsonl.gz").write_bytes(gzip.compress(lines, 0)[: -len(lines) // 3])
    (source / "g.csv").write_bytes(b"id,words\n1,She go\n")
    said = corpus(source, output, *options(model_folder), status=2)
    found = list(read(output))
    assert found[:40] and len(found) > 45
    assert [{"id": row["id"], "text": row["text"]} for row in found] == good[: len(found)]
    reasons = {Path(row["path"]).name: row["reason"] for row in set_aside(output)}
    assert "not readable as Parquet" in reasons["c.parquet"]
    assert reasons["d.parquet"] == "column 'text' is double, expected text"
    assert reasons["e.parquet"].startswith("cannot read on")
    assert reasons["f.jsonl.gz"].startswith("cannot read on")
    assert reasons["g.csv"] == "no column 'text' among id, words"
    assert "3 files could not be read, 2 files cut short" in said
