"""What was documented under another name before the rooms still works, and says where it is now."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "score": ["edit_gec", "score"],
    "word_list": ["edit_gec.training.build_lexicon"],
    "learner_corpora": ["edit_gec.training.learner_corpora"],
    "speculator": ["edit_gec.training.mlp_speculator"],
    "scoring.syntax": ["edit_gec.annotation.syntax"],
    "corpora.measure": ["edit_gec.corpus.rate"],
    "corpora.cost": ["edit_gec.corpus.cost"],
}


def run_help(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *words, "--help"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("old", COMMANDS)
def test_an_old_command_is_the_new_one(old: str) -> None:
    """The same help or usage, and before it the new name."""
    done, expected = run_help(f"edit_gec.{old}"), run_help(*COMMANDS[old])
    assert "usage:" in expected.stdout + expected.stderr
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)
    assert done.stderr.endswith(expected.stderr)
    new = "edit-gec score" if old == "score" else f"python -m {COMMANDS[old][0]}"
    assert f"DeprecationWarning: python -m edit_gec.{old} is now {new}\n" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("corpora.once", "runtime.dedup", {"Once": "DeduplicatingCorrector"}),
        ("corpora.parts", "corpus.edit_column", {"plain": "edit_to_dict", "revert": "revert_edits"}),
    ],
)
def test_an_old_module_holds_the_new_ones_names(old: str, new: str, names: dict[str, str]) -> None:
    sys.modules.pop(f"edit_gec.{old}", None)  # which warns once
    with pytest.warns(DeprecationWarning, match=f"edit_gec.{old} is now edit_gec.{new}"):
        module = importlib.import_module(f"edit_gec.{old}")
    now = importlib.import_module(f"edit_gec.{new}")
    for name, new_name in names.items():
        assert getattr(module, name) is getattr(now, new_name)
