"""The hooks for pre-commit: their commands, run as pre-commit runs them, with file names behind."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
STAND_IN = [sys.executable, str(Path(__file__).with_name("stand_in.py"))]


@pytest.mark.parametrize(
    ("hook", "status", "after", "says"),
    [
        ("edit-gec-check", 2, "She go home.\n", "notes.md:1:5: “go” → “goes” (97%)"),
        ("edit-gec", 0, "She goes home.\n", "1 files changed, 1 edits"),
    ],
)
def test_hooks(hook: str, status: int, after: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HOOKS.parent))
    hooks = {each["id"]: each for each in yaml.safe_load(HOOKS.read_text(encoding="utf-8"))}
    assert len(hooks) == 2
    name, *arguments = shlex.split(hooks[hook]["entry"])
    assert name == "edit-gec" and hooks[hook]["language"] == "python"
    (tmp_path / "notes.md").write_text("She go home.\n")
    (tmp_path / "fine.md").write_text("She is home.\n")
    command = [*STAND_IN, *arguments, "--min-confidence", "0.9", "notes.md", "fine.md"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, (tmp_path / "notes.md").read_text(), done.stdout) == (status, after, "")
    assert says in done.stderr
