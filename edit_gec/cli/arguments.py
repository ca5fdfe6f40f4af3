"""The arguments that commands share: their types, the options of a corrector, wrong usage.

    add_model_options(parser)             # in add_arguments
    load_corrector(arguments)             # in run; loading.py

Each command has a frozen dataclass `Arguments` with a field for each of its options.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edit_gec.catalog import DEFAULT_JUDGE, DEFAULT_MODEL, DEFAULT_TARGET
from edit_gec.config.load_settings import BACKENDS, DTYPES, PRECISIONS, STRICTNESS, VERIFY
from edit_gec.errors import InputError
from edit_gec.rules.dialect import DIALECTS
from edit_gec.text.kinds import parse_names

STATUSES = """exit status:
  0    success; where findings are asked for (--check, --format findings, several files without another output): none
  1    such findings, unless --exit-zero is given
  2    wrong usage, an unsupported format, or something that cannot be read, written or loaded; other files are still
       processed
  130  interrupted by Ctrl-C; every file is either corrected or unchanged
  141  standard output was closed by its reader"""
MAX_PORT = 65_535


SETTINGS = (
    "The nearest edit-gec.toml, .edit-gec.toml or [tool.edit-gec] in pyproject.toml sets dictionary, ignore,\n"
    "ignore-regex, min-confidence, dialect, exclude, model, and [[overrides]] for some files."
)


class UsageError(Exception):
    """Arguments that do not fit together. The command line shows how the command is used, and exits with 2."""


# ---------------------------------------------------------------- types


def confidence(value: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(value)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {value!r}")
    return number


def positive(value: str) -> int:
    """A whole number from 1."""
    number = _whole_number(value)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {value!r}")
    return number


def natural(value: str) -> int:
    """A whole number from 0."""
    number = _whole_number(value)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0, not {value!r}")
    return number


def port(value: str) -> int:
    """The number of a TCP port; 0 stands for a free one."""
    number = _whole_number(value)
    if not 0 <= number <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"must be a port from 0 to {MAX_PORT}, not {value!r}")
    return number


def device(value: str) -> str:
    """cpu, cuda or cuda:N."""
    if not re.fullmatch(r"cpu|cuda(:\d+)?", value):
        raise argparse.ArgumentTypeError(f"must be cpu, cuda or cuda:N, not {value!r}")
    return value


def edit_names(value: str) -> tuple[str, ...]:
    """Kinds and types of edits, separated by commas."""
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    try:
        parse_names(names)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return names


def data_folder() -> Path:
    """The default folder of corpora."""
    return Path(os.environ.get("EDIT_GEC_DATA", "data"))


def _whole_number(value: str) -> int:
    """The number, or -1 for anything else."""
    return int(value) if value.isascii() and value.isdecimal() else -1


# ---------------------------------------------------------------- the options of a corrector


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The options of add_model_options and add_verification_options, by their names."""

    model: str | None
    min_confidence: float | None
    strictness: str | None
    dictionary: Sequence[str]  # paths
    target: str | None
    target_prefix: str | None
    target_prompt: str | None
    device: str
    dtype: str
    threads: int | None
    batch_size: int
    verify: bool = False
    verify_mode: str | None = None
    backend: str = BACKENDS[0]
    precision: str = PRECISIONS[0]


def add_model_options(
    parser: argparse.ArgumentParser,
    *,
    batch_size: int = 32,
    threads: int | None = None,
    threads_help: str = "all cores",
) -> None:
    """The options of every command that corrects text. `threads_help` names the default of --threads."""
    group = parser.add_argument_group("model")
    add = group.add_argument
    add("--model", metavar="NAME|PATH", help=f"model to correct with (default: {DEFAULT_MODEL})")
    threshold = group.add_mutually_exclusive_group().add_argument
    threshold("--min-confidence", type=confidence, metavar="P", help="drop edits below this confidence, 0 to 1")
    threshold(
        "--strictness", choices=STRICTNESS, help="threshold preset of the model: low for fewer edits, high for more"
    )
    add("--dictionary", action="append", default=[], metavar="FILE", help="words to leave alone, one per line")
    add(
        "--backend", choices=BACKENDS, default=BACKENDS[0],
        help="what runs the model; --target, a GPU and --dtype need torch (default: onnx if possible)",
    )  # fmt: skip
    add(
        "--precision", choices=PRECISIONS, default=PRECISIONS[0],
        help="number format of the onnx backend (default: int8 if the processor is fast at it, otherwise float32)",
    )  # fmt: skip
    add("--device", type=device, default="cpu", metavar="D", help="cpu, cuda, cuda:1 (default: cpu)")
    add(
        "--dtype", choices=DTYPES, default=DTYPES[0],
        help="number format of the torch backend; only float32 verifies exactly (default: float32)",
    )  # fmt: skip
    add("--threads", type=positive, default=threads, metavar="N", help=f"CPU threads (default: {threads_help})")
    add(
        "--batch-size", type=positive, default=batch_size, metavar="N",
        help=f"sentences per batch (default: {batch_size})",
    )  # fmt: skip
    add(
        "--target", metavar="NAME|PATH|ID",
        help="second model that judges or verifies the edits: a name, a folder, or an id on the Hugging Face hub; "
        "without --verify-mode it judges them if it can, and verifies exactly otherwise",
    )  # fmt: skip
    add("--target-prefix", metavar="TEXT", help='text that the T5 expects before each sentence, such as "grammar: "')
    add(
        "--target-prompt", metavar="TEXT",
        help="text in which a language model reads each sentence before it writes its own, such as "
        "'Correct: {source}\\n'; with \\n, its correction is one line",
    )  # fmt: skip


def add_verification_options(parser: argparse.ArgumentParser) -> None:
    """What a second model does: by default the language model judges, and the shipped T5 verifies exactly."""
    add = parser.add_argument_group("verification").add_argument
    add("--verify", action="store_true", help=f"ask a second model: --target, or {DEFAULT_JUDGE}")
    add(
        "--verify-mode", choices=VERIFY,
        help="--verify in this way. judge: a language model judges the edits. exact: show the target's own text, by "
        f"default that of {DEFAULT_TARGET}",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FrontOptions(ModelOptions):
    """The options of add_settings_options as well."""

    config: str | None
    isolated: bool
    ignore: Sequence[Sequence[str]]
    dialect: str | None


def add_settings_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that obeys the settings of projects (config/)."""
    add = parser.add_argument_group("settings").add_argument
    add("--ignore", type=edit_names, action="append", default=[], metavar="NAMES",
        help="drop edits of these kinds or types, for instance case,PUNCT,R:DET")  # fmt: skip
    add("--dialect", choices=DIALECTS, help="enforce British or American spelling (default: accept both)")
    add("--config", metavar="FILE", help="read settings from FILE only")
    add("--isolated", action="store_true", help="ignore settings files and the user's own words")


def check_verification(options: ModelOptions, *others: str) -> None:
    """Raises UsageError for options of a T5 without a T5; `others` are further options that were given."""
    given = [*others]
    if options.target_prefix is not None:
        given.append("--target-prefix")
    if options.target_prompt is not None:
        given.append("--target-prompt")
    if options.target == "":
        raise UsageError("--target: expected a name, a folder, or an id on the Hugging Face hub")
    if given and not (options.verify or options.verify_mode or options.target):
        raise UsageError(f"{' and '.join(given)} {'needs' if len(given) == 1 else 'need'} --verify or --target")
