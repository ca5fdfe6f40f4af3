r"""The command line: edit-gec correct | score | train | bench | serve ...

    $ echo 'They was late.' | edit-gec correct --inline
    They [-was-]{+were+} late.
    $ edit-gec correct --write docs/ README.md
    2 files changed, 9 edits

Standard output carries data only, talk goes to standard error. Only light modules are imported here, because `--help`
must answer at once; correct.py imports the model when there is a text to correct.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from edit_gec.cli import correct
from edit_gec.errors import EditGecError, MissingExtraError
from edit_gec.text import formats
from edit_gec.version import version

STATUSES = """exit status:
  0    done; with --check, nothing to change
  1    something could not be read, written or loaded; all else was still done
  2    wrong usage, also a file of a format that is not understood; with --check, something would change
  130  interrupted by Ctrl-C; every file is whole, corrected or as it was
  141  nobody reads standard output any more"""
MODULES = {
    "train": "edit_gec.training.run",
    "corrupt": "edit_gec.training.synthetic.corruptor",
    "distil": "edit_gec.training.distillation",
}
OTHER_COMMANDS = {
    "score": "measure corrections: ERRANT precision, recall and F0.5",
    "train": "train a model from a recipe",
    "corrupt": "write errors into clean text, or compare them with learners' errors",
    "distil": "write what a model makes of erroneous sentences, for another to learn from",
    "profile": "show where the time goes, stage by stage",
    "bench": "measure speed side by side with other tools, and drafts against theory",
    "serve": "answer LanguageTool's clients and serve a page to write on",
    "lsp": "serve an editor that speaks the language server protocol",
    "corpus": "correct a table, a folder of files or a data set of any size",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the return value is the exit status. Wrong usage and --help leave by SystemExit."""
    argv = sys.argv[1:] if argv is None else argv
    # OpenMP's threads would spin while they wait for each other, and starve on a machine that does other work as well.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("KMP_BLOCKTIME", "0")
    try:
        args = _parser(argv).parse_args(_explicit(argv))
        return int(args.run(args))
    except EditGecError as error:
        correct.say(f"edit-gec: {error}")
        return 1
    except KeyboardInterrupt:
        correct.say("edit-gec: interrupted")
        return 130
    except BrokenPipeError:
        # What other commands printed and is still buffered would fail once more, loudly, when Python leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def command() -> NoReturn:
    """`main` as a process. After `correct` it leaves at once: torch's farewell takes as long as a hundred sentences."""
    status = main()
    if sys.argv[1:2] == ["correct"]:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            sys.exit(status)  # Python reports it
        os._exit(status)
    sys.exit(status)


def _explicit(argv: Sequence[str]) -> list[str]:
    """`--verify FILE` without a mode: a FILE is never taken for one.

    >>> _explicit(["correct", "--verify", "a.txt"]), _explicit(["correct", "--verify", "auto"])
    (['correct', '--verify=always', 'a.txt'], ['correct', '--verify', 'auto'])
    """
    following = [*argv[1:], ""][: len(argv)]
    bare = [word == "--verify" and after not in ("always", "auto") for word, after in zip(argv, following, strict=True)]
    return ["--verify=always" if alone else word for word, alone in zip(argv, bare, strict=True)]


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edit-gec",
        description="Correct the grammar of text: exact about what it changes, on this machine, offline.",
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and leave")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_correct(commands)
    chosen = next((word for word in argv if not word.startswith("-")), None)
    for name, summary in OTHER_COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == chosen:
            _with_extra(name, "add_arguments", command)
            command.set_defaults(run=partial(_with_extra, name, "run"))
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        correct.out(f"edit-gec {version()}\n")
        parser.exit()


def _with_extra(name: str, function: str, argument: Any) -> Any:
    """Call edit_gec.NAME.FUNCTION(argument). Raises MissingExtraError that names the extra when a module is missing."""
    try:
        return getattr(importlib.import_module(MODULES.get(name, f"edit_gec.cli.{name}")), function)(argument)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{name} needs {error.name}; install it: pip install 'edit-gec[{name}]'") from None


def _add_correct(commands: Any) -> None:
    command = commands.add_parser(
        "correct",
        help="correct text files, folders or standard input",
        description="Correct FILEs and print the corrected text. Markdown, HTML and plain text are understood.\n"
        f"In folders, README and files with these suffixes are corrected: {' '.join(formats.suffixes())}",
        epilog="[tool.edit-gec] in the nearest pyproject.toml sets dictionary, min-confidence, exclude, model.\n\n"
        + STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command.add_argument
    add("files", nargs="*", metavar="FILE", help="file or folder; - or none is standard input")
    add("--lines", action="store_true", help="take each line as a text of its own")
    add(
        "--read-as", choices=formats.UNDERSTOOD, metavar="FORMAT",
        help="the format of the named files, whatever their names say: markdown, html or text",
    )  # fmt: skip
    add(
        "--force-exclude", action="store_true",
        help="skip named files that a folder would not give: excluded in pyproject.toml, or of a format not understood",
    )  # fmt: skip
    add("--check", action="store_true", help="exit with 2 when something would change; print no text")
    output = command.add_mutually_exclusive_group()
    for flags, summary in (
        (("-w", "--write"), "correct the files in place, atomically"),
        (("--diff",), "print a unified diff"),
        (("--inline",), "print the text with each edit shown in its place"),
    ):
        output.add_argument(*flags, action="store_const", dest="output", const=flags[-1][2:], help=summary)
    printed = ("text", "json", "jsonl", "sarif", "github")
    output.add_argument(
        "--format", choices=printed, dest="output", default="text", help="what to print (default: text)"
    )
    add("--explain", action="store_true", help="name and explain each edit (needs edit-gec[score])")
    add("--min-confidence", type=_confidence, metavar="P", help="leave out edits below this confidence, 0 to 1")
    add("--dictionary", action="append", default=[], metavar="FILE", help="words to leave alone, one on each line")
    add("--model", metavar="NAME|PATH", help="model to correct with (default: edit5-mini)")
    add(
        "--verify", choices=("always", "auto"), nargs="?", const="always",
        help="let a T5 verify every sentence: its own corrections, made faster; auto, which is lossy, leaves out those "
        "that the model neither edits nor doubts",
    )  # fmt: skip
    add("--target", metavar="NAME|PATH", help="the T5 that verifies, a Hugging Face folder (default: t5-mini)")
    add("--target-prefix", metavar="TEXT", help='what the T5 wants before each sentence, "grammar: " for instance')
    add(
        "--lenience", type=_share, default=1.0, metavar="L",
        help="lossy verification: let words pass that have this share of the probability of the T5's own (default: 1)",
    )  # fmt: skip
    add("--stats", action="store_true", help="say on standard error what verification did, as one line of JSON")
    add("--device", type=_device, default="cpu", metavar="D", help="cpu, cuda, cuda:1 (default: cpu)")
    add(
        "--dtype", choices=("float32", "bfloat16", "float16"), default="float32",
        help="bfloat16 is faster where the processor has it; verification is exact in float32 only (default: float32)",
    )  # fmt: skip
    add("--threads", type=_positive, metavar="N", help="CPU threads (default: all cores)")
    add("--batch-size", type=_positive, default=32, metavar="N", help="sentences at a time (default: 32)")
    talk = command.add_mutually_exclusive_group()
    talk.add_argument("-v", "--verbose", action="store_true", help="say on standard error what is done")
    talk.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")

    def run(args: argparse.Namespace) -> int:
        if args.output == "write" and args.check:
            command.error("--check changes nothing: leave out --write")
        if args.output == "write" and (not args.files or "-" in args.files):
            command.error("--write needs files: standard input cannot be written back")
        needing = args.stats or args.target_prefix is not None or args.lenience < 1
        if needing and not (args.verify or args.target):
            command.error("--stats, --target-prefix and --lenience need --verify or --target")
        return correct.Run(args).run()

    command.set_defaults(run=run)


def _confidence(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {value!r}")
    return number


def _share(value: str) -> float:
    number = _confidence(value)
    if not number:
        raise argparse.ArgumentTypeError("must be above 0 and up to 1, not 0")
    return number


def _device(value: str) -> str:
    if not re.fullmatch(r"cpu|cuda(:\d+)?", value):
        raise argparse.ArgumentTypeError(f"must be cpu, cuda or cuda:N, not {value!r}")
    return value


def _positive(value: str) -> int:
    number = int(value) if value.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {value!r}")
    return number
