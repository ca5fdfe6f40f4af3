r"""The command line: edit-gec correct | score | train | bench | serve ...

    $ echo 'They was late.' | edit-gec correct --inline
    They [-was-]{+were+} late.
    $ edit-gec correct --write docs/ README.md
    2 files changed, 9 edits

Data goes to standard output, messages to standard error. A command is a module with a dataclass `Arguments`, which
declares its options, and a function `run(arguments)`; only the module of the requested command is imported. Models are
imported when there is work for them, because `--help` must answer at once.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from edit_gec.cli.arguments import STATUSES, Parser, UsageError, add_options
from edit_gec.cli.console import out, say
from edit_gec.cli.extras import needing, require
from edit_gec.errors import EditGecError, describe_failure, did_you_mean
from edit_gec.version import version


class Command(NamedTuple):
    """A command: its module, a summary, the extra of our package that it needs, and whether it needs torch."""

    module: str
    summary: str
    extra: str | None
    needs_torch: bool = False


COMMANDS = {
    "correct": Command("edit_gec.cli.correct", "correct text files, folders or standard input", None),
    "score": Command("edit_gec.cli.score", "measure corrections: ERRANT precision, recall and F0.5", "score"),
    "train": Command("edit_gec.cli.train", "train a model from a recipe", "train", needs_torch=True),
    "corrupt": Command("edit_gec.cli.corrupt", "insert errors into clean text", "train"),
    "label": Command("edit_gec.cli.label", "label text that nobody edited, by a judge, to train on", "lm"),
    "profile": Command("edit_gec.cli.profile", "show where the time goes, stage by stage", "profile", needs_torch=True),
    "bench": Command(
        "edit_gec.cli.bench",
        "compare speed with other tools, and drafters with their theory",
        "bench",
        needs_torch=True,
    ),
    "serve": Command("edit_gec.cli.serve", "run a LanguageTool-compatible server and a page to write on", "serve"),
    "lsp": Command("edit_gec.cli.lsp", "run a language server for an editor", "lsp"),
    "corpus": Command("edit_gec.cli.corpus", "correct a table, a folder of files or a data set of any size", "corpus"),
    "export": Command("edit_gec.cli.export", "write a model's network as ONNX graphs", "onnx"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the return value is the exit status. Wrong usage and --help leave by SystemExit."""
    try:
        name, words = split_command(sys.argv[1:] if argv is None else argv)
        return run_command(name, words)
    except EditGecError as error:
        say(f"edit-gec: {error}")
        return 2
    except KeyboardInterrupt:
        say("edit-gec: interrupted")
        return 130
    except BrokenPipeError:
        # Buffered output of other commands would fail again, loudly, when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def command() -> NoReturn:
    """`main` as a process of its own: the entry point of `edit-gec` and of `python -m edit_gec`.

    After `correct` the process ends without Python's clean-up, in which torch takes as long as for a hundred sentences.
    Nothing is lost: files are written and closed by then, and both streams are flushed here.
    """
    # OpenMP's threads would spin while they wait for each other, and starve on a machine that does other work as well.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("KMP_BLOCKTIME", "0")
    try:
        status = main()
    except Exception as error:  # with Python's own status, 1, it would pass for findings
        if sys.flags.dev_mode:
            traceback.print_exc()
        say(f"edit-gec: {describe_failure(error)}")
        status = 2
    if sys.argv[1:2] == ["correct"]:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            sys.exit(status)  # Python reports it
        os._exit(status)
    sys.exit(status)


def split_command(argv: Sequence[str]) -> tuple[str, list[str]]:
    """The name of the command, and its own arguments. Leaves by SystemExit for --help, --version and wrong usage."""
    parser = main_parser()
    end = next((place + 1 for place, word in enumerate(argv) if not word.startswith("-")), len(argv))
    if not argv:
        parser.exit(2, parser.format_help())
    name = argv[end - 1]
    if name not in COMMANDS and not name.startswith("-"):
        is_file = os.path.exists(name) or "." in name
        meant = f"; did you mean edit-gec correct {name}?" if is_file else did_you_mean(name, COMMANDS, "edit-gec {}")
        parser.error(f"{name!r} is no command{meant}")
    return str(parser.parse_args(argv[:end]).command), list(argv[end:])


def run_command(name: str, words: Sequence[str]) -> int:
    """Run a command with its arguments; the exit status. Raises InputError."""
    with needing(name, COMMANDS[name].extra):
        module = importlib.import_module(COMMANDS[name].module)
        parser = command_parser(name)
        arguments = module.Arguments(**vars(parser.parse_args(words)))
        if COMMANDS[name].needs_torch and getattr(arguments, "backend", "torch") != "onnx":
            require(name, "torch", COMMANDS[name].extra or "torch")
        try:
            return int(module.run(arguments))
        except UsageError as error:
            parser.error(str(error))


def main_parser() -> argparse.ArgumentParser:
    """The parser of what comes before a command's own arguments."""
    parser = Parser(
        prog="edit-gec",
        description="Correct the grammar of text: exact about what it changes, on this machine, offline.",
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, entry in COMMANDS.items():
        commands.add_parser(name, help=entry.summary, add_help=False)
    return parser


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser of a command's arguments. Raises ModuleNotFoundError where the command's module needs another."""
    summary = COMMANDS[name].summary
    module = importlib.import_module(COMMANDS[name].module)
    parser = Parser(
        prog=f"edit-gec {name}",
        description=getattr(module, "DESCRIPTION", f"{summary[0].upper()}{summary[1:]}."),
        epilog=getattr(module, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, module.Arguments)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        out(f"edit-gec {version()}\n")
        parser.exit()
