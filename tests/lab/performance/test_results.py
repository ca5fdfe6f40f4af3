"""Results: the table, what got slower, speed against quality, and results that older versions wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.performance import results
from edit_gec.lab.performance.stage_table import format_stages, format_table

PROFILES = Path(__file__).parents[3] / "profiles"


def result(**times: float) -> dict[str, Any]:
    """A result in which each system takes so many seconds."""
    rows = {
        name.replace("_", " "): {
            "latency": {"p50_s": s, "p95_s": 2 * s, "mean_s": s, "sentences": [[5, s], [9, 2 * s]]},
            "throughput": {"8": 1 / s},
            "replayed": name == "edit5",
            "exact": name == "t5",
        }
        for name, s in times.items()
    }
    heading = {"kind": "bench", "size": "shipped", "device": "cpu", "dtype": "float32", "threads": 1, "text": "0"}
    machine = {"name": "some-machine"}
    return {**heading, "date": "2026-01-01", "machine": machine, "systems": rows, "skipped": {"harper": "not there"}}


def test_what_got_slower() -> None:
    old = result(transformers=1.0, ctranslate2_int8=0.5, edit5=0.1, t5=0.6)
    changes, drift = results.compare(old, result(transformers=2.0, ctranslate2_int8=1.0, edit5=0.4, t5=1.2))
    what = {"p50 latency", "p95 latency", "time a sentence at batch 8"}
    clear = {(each.system, each.what) for each in changes if each.is_clear}
    assert clear == {("edit5", each) for each in what} and drift == 2, "t5 has kept up with the peers"
    assert not any(each.is_clear for each in results.compare(old, old)[0])
    with pytest.raises(InputError, match="differ in threads: 1 and 2"):
        results.compare(old, {**old, "threads": 2})
    with pytest.raises(InputError, match="no system in common"):
        results.compare(result(t5=1.0), result(edit5=1.0))


def test_compare_from_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old, same, slow = (
        str(results.save(tmp_path, str(of_edit5), result(transformers=1.0, edit5=of_edit5))[0])
        for of_edit5 in (0.1, 0.101, 0.3)
    )
    assert main(["bench", "--compare", old, same]) == 0
    assert main(["bench", "--compare", old, slow]) == 1
    assert "x3.00  slower" in capfd.readouterr().out
    (tmp_path / "other.json").write_text('{"kind": "profile"}', encoding="utf-8")
    assert main(["bench", "--compare", old, str(tmp_path / "other.json")]) == 2


def test_the_table_has_every_system() -> None:
    made = results.format_result(result(transformers=1.0, edit5=0.1))
    assert "| transformers | 1000 | 2000 | 1.00 | 1.00 |" in made
    assert "| edit5 * | 100 | 200 | 10.0 | 10.0 |" in made
    assert "left out: harper: not there" in made and "* untrained weights" in made
    assert "edit5 is 10.0 times as fast as transformers" in made and "as ctranslate2" not in made


@pytest.mark.parametrize("path", sorted(PROFILES.glob("*/bench-*.json")), ids=lambda path: path.stem)
def test_older_results_can_be_read(path: Path) -> None:
    old = results.read_result(path)
    assert all(f"| {name}" in results.format_result(old) for name in old["systems"])
    assert not any(each.is_clear for each in results.compare(old, old)[0])


@pytest.mark.parametrize("path", sorted(PROFILES.glob("*/*-eager.json")), ids=lambda path: path.stem)
def test_older_profiles_can_be_read(path: Path) -> None:
    old = json.loads(path.read_text(encoding="utf-8"))
    assert all(f"\n{name} " in format_table(old) for name in old["systems"])
    made = format_stages(old)
    assert all(f"\n{name.upper()}" in made for name in old["systems"])
