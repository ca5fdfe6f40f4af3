"""Corpora on a Ray cluster of this machine: the same bytes as without it, also when it breaks."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from support.corpus_cli import (
    DEADLY,
    FAULTY,
    FRAGILE,
    begin,
    corpus,
    kill,
    once_each,
    parts,
    read,
    rows,
    set_aside,
    small_disk,
    wait_for_units,
    write_jsonl,
)

from edit_gec.corpus import ray_runner
from edit_gec.errors import InputError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]


def test_ray_does_what_processes_do_also_where_things_break(tmp_path: Path, model_folder: Path) -> None:
    """Actors die of a row, the model fails at another, files and rows are broken, the driver is killed."""
    values = rows(60)
    values[30]["text"] = f"The {DEADLY} looked at me."
    values[45]["text"] = f"A {FAULTY} was in the machine."
    source, output, reference = tmp_path / "in", tmp_path / "out", tmp_path / "reference"
    file = write_jsonl(source / "a.jsonl", [*values, {"id": 60, "text": None}])
    with file.open("ab") as more:
        more.write(b'{"id": 61, "text": "caf\xe9"}\n{"id": 62}\n')
    (source / "b.parquet").write_bytes(b"PAR1 no")
    options = ("--model", model_folder, "--no-types", "--unit-size", "1500")
    process = begin(source, output, *options, "--engine", "ray", env=FRAGILE)
    wait_for_units(output, 1, process)
    kill(process)
    (output / "a-000002.jsonl").unlink(missing_ok=True)
    journal = output / "__job__" / "journal.jsonl"
    first, *_ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first)  # what was done but not yet told is done again
    said = corpus(source, output, *options, "--engine", "ray", env=FRAGILE, status=2)
    assert "1 of " in said and "parts are there already" in said and "1 file could not be read" in said
    assert "raylet" not in said  # what Ray says of dead actors is in its logs
    good = [value for n, value in enumerate(values) if n not in (30, 45)]
    assert once_each(output, [*good, {"id": 60, "text": None}]) and any(row["edits"] for row in read(output))
    assert [(bad["row"], bad["reason"].partition(":")[0]) for bad in set_aside(output)] == [
        (None, "not readable as Parquet"),
        (31, "killed 2 workers"),
        (46, "correction failed"),
        (62, "not UTF-8"),
        (63, "no column 'text'"),
    ]
    corpus(source, reference, *options, env=FRAGILE, status=2)
    assert [part.name for part in parts(output)] == [part.name for part in parts(reference)]
    assert list(map(without_confidence, read(output))) == list(map(without_confidence, read(reference)))
    assert set_aside(output) == set_aside(reference)


def without_confidence(row: dict[str, Any]) -> dict[str, Any]:
    """Its last digits depend on what was in the batch, and a row at which workers die changes the batches."""
    return {**row, "edits": [{**edit, "confidence": None} for edit in row["edits"]]}


def test_ray_stops_at_a_model_that_fails_at_everything(tmp_path: Path, model_folder: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", [{"id": n, "text": f"{FAULTY} {n}"} for n in range(5)])
    options = ("--model", model_folder, "--no-types", "--engine", "ray")
    said = corpus(source, tmp_path / "out", *options, env=FRAGILE, status=2)
    assert "IndexError: a gremlin" in said and "a worker failed" in said and not parts(tmp_path / "out")


def test_no_cluster(tmp_path: Path, model_folder: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", rows(3))
    arguments = ("--model", model_folder, "--no-types", "--engine", "ray", "--address", "127.0.0.1:1")
    said = corpus(source, tmp_path / "out", *arguments, status=2)
    assert "--address 127.0.0.1:1: no Ray cluster there" in said


@pytest.fixture
def gone() -> Iterator[dict[str, str]]:
    """A machine that remembers a cluster which is gone."""
    with tempfile.TemporaryDirectory(prefix="r") as place:  # sockets want short paths
        folder = Path(place, "ray")
        folder.mkdir()
        (folder / "ray_current_cluster").write_text("127.0.0.1:1")
        yield {"RAY_TMPDIR": place}


def test_a_cluster_that_is_gone(tmp_path: Path, model_folder: Path, gone: dict[str, str]) -> None:
    """It is named at once where it was asked for; where it was not, one of our own is started.

    It has room for as many workers as there are cores, and for the tasks that give them something to do.
    """
    source = write_jsonl(tmp_path / "a.jsonl", rows(3))
    options = ("--model", model_folder, "--no-types", "--engine", "ray")
    begun = monotonic()
    said = corpus(source, tmp_path / "out", *options, "--address", "auto", env=gone, status=2)
    assert "127.0.0.1:1 does not answer" in said and monotonic() - begun < 60
    corpus(source, tmp_path / "own", *options, "--workers", os.cpu_count() or 1, env=gone)
    assert len(list(read(tmp_path / "own"))) == 3


def test_no_room_for_ray(tmp_path: Path, model_folder: Path) -> None:
    """Before, Ray tried for ever to write its own files, and said so in thousands of lines."""
    source = write_jsonl(tmp_path / "a.jsonl", rows(3))
    words = (source, tmp_path / "out", "--model", model_folder, "--no-types", "--quiet", "--engine", "ray")
    with tempfile.TemporaryDirectory(prefix="r") as place, small_disk(Path(place), "1m"):
        said = corpus(*words, env={"RAY_TMPDIR": place}, status=2)
        assert said.count("\n") == 1 and "make room, or name another folder in RAY_TMPDIR" in said
    assert not corpus(*words) and len(list(read(tmp_path / "out"))) == 3


def test_rows_that_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and errors of the pipeline pass through; while it is silent, it is asked why."""
    monkeypatch.setattr(ray_runner, "PATIENCE_S", 0.01)
    assert list(ray_runner._pull(iter([{"n": 1}, {"n": 2}]), check=lambda: None)) == [{"n": 1}, {"n": 2}]
    with pytest.raises(ZeroDivisionError):
        list(ray_runner._pull(({"n": 1 // n} for n in (1, 0)), check=lambda: None))

    def fall_silent() -> Iterator[dict[str, Any]]:
        yield {"n": 1}
        threading.Event().wait()

    def find_reason() -> None:
        raise InputError("no room")

    rows = ray_runner._pull(fall_silent(), find_reason)
    assert next(rows) == {"n": 1}
    with pytest.raises(InputError, match="no room"):
        next(rows)
