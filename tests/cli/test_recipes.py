"""RECIPES.md: its settings are read, its options exist, and the step of the GitHub Action does what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from edit_gec.cli.main import command_parser
from edit_gec.config.settings import KEYS, parse_file

yaml = pytest.importorskip("yaml")
tomllib = pytest.importorskip("tomllib")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "edit_gec" / "cli" / "RECIPES.md").read_text(encoding="utf-8")
ACTION = ROOT / ".github" / "actions" / "check"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_settings_are_read(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("kubectl\n")
    (table,) = map(tomllib.loads, blocks("toml"))
    found = parse_file(table, str(tmp_path / "edit-gec.toml"))
    assert found.settings.dictionary == ("kubectl",) and found.overrides
    assert all(key in table or f"`{key}" in PAGE or f"{key} =" in PAGE for key in KEYS), "all keys are shown"


def test_the_commands_are_understood() -> None:
    steps = [step for block in blocks("yaml") for step in yaml.safe_load(block) if isinstance(step, dict)]
    scripts = [*blocks("sh"), *(step.get("run", "") for step in steps)]
    lines = [line for script in scripts for line in script.splitlines() if line.startswith("edit-gec correct")]
    commands = [re.split(r" [|>#]", line)[0] for line in lines]
    assert len(commands) >= 4
    for command in commands:
        command_parser("correct").parse_args(shlex.split(command)[2:])


def test_the_diff_that_reviewdog_reads_applies(tmp_path: Path) -> None:
    """The paths lose one part (`-f.diff.strip=1`), and the corrections are what git makes of the diff."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, timeout=60)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a b.md").write_text("One.\n\nShe go home.\n")
    command = [sys.executable, str(ROOT / "tests" / "support" / "fake_model.py"), "correct", "--diff", "docs"]
    diff = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60).stdout
    subprocess.run(["git", "apply", "-p1"], cwd=tmp_path, input=diff, check=True, timeout=60)
    assert (tmp_path / "docs" / "a b.md").read_text() == "One.\n\nShe goes home.\n"


@pytest.mark.parametrize(
    ("given", "status", "annotated"),
    [
        ({}, 1, ["docs/a b.md", "docs/c.md"]),
        ({"FAIL": "false"}, 0, ["docs/a b.md", "docs/c.md"]),
        ({"PATHS": "docs/a b.md\n\n"}, 1, ["docs/a b.md"]),
        ({"OPTIONS": "--ignore=replacement\n--min-confidence=0.1"}, 0, []),
        ({"SINCE": "no-such"}, 2, []),
    ],
)
def test_the_step_of_the_action(given: dict[str, str], status: int, annotated: list[str], tmp_path: Path) -> None:
    inputs = yaml.safe_load((ACTION / "action.yml").read_text())["inputs"]
    asked = {"PATHS": "docs", **{name.upper(): each["default"] for name, each in inputs.items() if name != "paths"}}
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "edit-gec"
    fake.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/support/fake_model.py "$@"\n')
    fake.chmod(0o755)
    (tmp_path / "docs").mkdir()
    for name in ("a b.md", "c.md"):
        (tmp_path / "docs" / name).write_text("She go home.\n")
    environment = {
        **os.environ,
        "PATH": f"{fake.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        **asked,
        **given,
    }
    done = subprocess.run(
        ["bash", str(ACTION / "check.sh")], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == status, done.stderr
    assert re.findall(r"::warning file=([^,]*),", done.stdout) == annotated
