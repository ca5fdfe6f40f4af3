"""edit_gec/cli/README.md says what --help says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from edit_gec.cli import help_page
from edit_gec.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]


def letters(text: str) -> str:
    """Without spaces and line breaks, which another width or another Python's argparse sets elsewhere."""
    return "".join(text.split())


def test_the_page_is_what_the_parsers_say() -> None:
    page = help_page.PAGE.read_text(encoding="utf-8")
    message = "the options have changed: python -m edit_gec.cli.help_page"
    assert letters(page) == letters(help_page.format_page()), message


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_the_page_has_what_is_printed(name: str) -> None:
    command = [sys.executable, "-m", "edit_gec", *name.split(), "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert letters(done.stdout) in letters(help_page.PAGE.read_text(encoding="utf-8"))
