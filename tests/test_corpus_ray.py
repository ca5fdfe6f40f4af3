"""Corpora on a Ray cluster of this machine: the same bytes as without it, also when its driver is killed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from corpora import begin, corpus, kill, once_each, parts, read, rows, wait_for_units, write_jsonl

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]


def test_ray_writes_what_processes_write_and_goes_on_after_a_kill(tmp_path: Path, model_folder: Path) -> None:
    values = rows(300)
    source, output, reference = write_jsonl(tmp_path / "a.jsonl", values), tmp_path / "out", tmp_path / "reference"
    options = ("--model", model_folder, "--no-types", "--unit-size", "500")
    process = begin(source, output, *options, "--engine", "ray")
    wait_for_units(output, 1, process)
    kill(process)
    (output / "a-000003.jsonl").unlink(missing_ok=True)
    journal = output / "__job__" / "journal.jsonl"
    first, *_ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first)  # what was done but not yet told is done again
    said = corpus(source, output, *options, "--engine", "ray")
    assert "1 of " in said and "parts are there already" in said
    assert once_each(output, values) and any(row["edits"] for row in read(output))
    corpus(source, reference, *options)
    assert [part.read_bytes() for part in parts(output)] == [part.read_bytes() for part in parts(reference)]


def test_no_cluster(tmp_path: Path, model_folder: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", rows(3))
    arguments = ("--model", model_folder, "--no-types", "--engine", "ray", "--address", "127.0.0.1:1")
    said = corpus(source, tmp_path / "out", *arguments, status=1)
    assert "--address 127.0.0.1:1: no Ray cluster there" in said
