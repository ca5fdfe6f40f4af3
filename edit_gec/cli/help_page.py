"""README.md of this folder: the output of `--help` for every command.

python -m edit_gec.cli.help_page      # rewrites it, after a change of an option
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from edit_gec.cli.main import COMMANDS, command_parser, main_parser

PAGE = Path(__file__).parent / "README.md"
WIDTH = 110  # characters of a line
INTRODUCTION = """# The commands

The output of `--help` for each. `python -m edit_gec.cli.help_page` writes this page; a test checks that it is current.

In this folder: `main.py` starts a command, `arguments.py` has the options that commands share, `loading.py` makes a
corrector of them, `console.py` prints. Each command is a file of its own, with a dataclass `Arguments` and a
function `run`; a new one also needs a line in `COMMANDS` in `main.py`.
"""


def format_page() -> str:
    """The page as Markdown."""
    parsers = [main_parser(), *(command_parser(name) for name in COMMANDS)]
    return "\n".join([INTRODUCTION, *map(format_section, parsers)])


def format_section(parser: argparse.ArgumentParser) -> str:
    """The section of one command."""
    parser.formatter_class = partial(argparse.RawDescriptionHelpFormatter, width=WIDTH)
    lines = [line.rstrip() for line in parser.format_help().splitlines()]
    return "\n".join([f"## {parser.prog}", "", "```text", *lines, "```", ""])


if __name__ == "__main__":
    PAGE.write_text(format_page(), encoding="utf-8")
