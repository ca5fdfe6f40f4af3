"""Measuring corpora: what a run is told by, and what follows for a billion sentences."""

from __future__ import annotations

import doctest
import json
import sys
from pathlib import Path

import pytest
from support.corpus_cli import PROSE

from edit_gec.corpus import cost, rate
from edit_gec.errors import InputError


def test_the_arithmetic() -> None:
    assert doctest.testmod(cost).failed == doctest.testmod(rate).failed == 0
    once = {"workers": 4, "summary": {"sentences_per_second": 1000.0, "duplicates": 0.0}}
    twice = {"workers": 4, "summary": {"sentences_per_second": 2000.0, "duplicates": 0.5}}  # half of them were free
    assert cost.compute_cost(once, 0.1) == cost.compute_cost(twice, 0.1) == (1111.1, 111.11)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read in /proc")
def test_a_measurement_and_its_table(tmp_path: Path, model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prose, result = tmp_path / "prose.txt", tmp_path / "result.json"
    prose.write_text("\n".join([*PROSE, *PROSE]), encoding="utf-8")
    with pytest.raises(InputError, match="different lines, expected 400"):
        rate.main([str(prose), str(result), "--rows", "400"])
    options = ["--model", str(model_folder), "--no-types", "--quiet"]
    rate.main([str(prose), str(result), "--rows", "400", "--distinct", "8", *options])
    (run,) = json.loads(result.read_text())["runs"]
    assert run["summary"]["rows"] == 400 and run["summary"]["duplicates"] > 0.9
    assert run["worker_mb"] >= max(run["worker_mb_in_time"]) > run["driver_mb"] > 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prose.txt", "result.json"]
    cost.main([str(result), "--core-hour", "0.05"])
    _, _, line = capsys.readouterr().out.splitlines()
    assert line.startswith("| 400 | 1 | ") and line.endswith(f" | {run['worker_mb']} |  |  |")
