"""Two profiles side by side; and a machine that was busy."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.performance.results import compare, format_comparison
from edit_gec.lab.performance.stage_summary import find_disturbance

OWN = {
    "total_ms": 10.0, "total_p95_ms": 11.0, "encoder_ms": 4.0, "decoder_ms": 5.0, "overhead_ms": 1.0,
    "stages": [{"name": "encode", "ms": 4.0}, {"name": "insert step", "ms": 5.0}],
}  # fmt: skip
OLD: dict[str, Any] = {
    "kind": "profile", "date": "2026-11-26", "machine": {"name": "m", "threads": 1, "commit": "a"},
    "settings": {"models": ["a"], "device": "cpu", "dtype": "float32", "mode": "eager", "texts": 1, "replayed": None},
    "systems": {"edit5": OWN},
}  # fmt: skip


def changed(**own: Any) -> dict[str, Any]:
    new = deepcopy(OLD)
    new["systems"]["edit5"].update(own)
    return new


def test_what_changed() -> None:
    """A change is clear beyond the spread of both."""
    new = changed(total_ms=14.0, total_p95_ms=14.5, decoder_ms=9.0, encoder_ms=4.2)
    changes = {change.what: change for change in compare(OLD, new)[0]}
    assert list(changes) == ["total", "encoder", "decoder", "overhead", "encode", "insert step"]
    assert [name for name, change in changes.items() if change.is_clear] == ["total", "decoder"]
    assert not any(change.is_clear for change in compare(OLD, OLD)[0])
    text, is_slower = format_comparison(OLD, new)
    assert "x1.80" in text and text.count("slower") == 2 and is_slower
    assert format_comparison(new, OLD)[0].count("faster") == 2


@pytest.mark.parametrize(
    ("where", "name", "value"), [("machine", "name", "n"), ("machine", "threads", 2), ("settings", "dtype", "bfloat16")]
)
def test_what_is_not_comparable(where: str, name: str, value: Any) -> None:
    new = changed()
    new[where][name] = value
    with pytest.raises(InputError, match=f"differ in {name}"):
        compare(OLD, new)
    with pytest.raises(InputError, match="no system in common"):
        compare(OLD, {**OLD, "systems": {"t5": OWN}})


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for file, profile in zip(files, (OLD, changed(encoder_ms=8.0)), strict=True):
        file.write_text(json.dumps(profile), encoding="utf-8")
    assert main(["profile", "--compare", *map(str, files)]) == 0
    assert "x2.00" in capfd.readouterr().out
    files[1].write_text('{"kind": "bench", "systems": {}}', encoding="utf-8")
    assert main(["profile", "--compare", *map(str, files)]) == 2
    assert "no result of edit-gec profile" in capfd.readouterr().err


def test_a_busy_machine_is_noticed() -> None:
    quiet: dict[str, dict[str, Any]] = {"edit5": OWN}
    assert find_disturbance(quiet, [0.3, 9, 9]) is None
    assert find_disturbance(quiet, None) is None
    assert find_disturbance(quiet, [10.2, 0, 0]) == "load 10.2 before the start"
    slow: dict[str, dict[str, Any]] = {"edit5": OWN, "t5": {"total_ms": 5465.0, "total_p95_ms": 135100.0}}
    assert find_disturbance(slow, [0, 0, 0]) == "t5: p95 is 24.7 times the median"
