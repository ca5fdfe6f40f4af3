"""How a command declares its options, and the options and types that commands share.

@dataclass(frozen=True, kw_only=True)
class Arguments(FrontOptions):
    files: Sequence[str] = option(nargs="*", metavar="FILE", help="file or folder")
    count: int = option("--count", type=positive, default=3, metavar="N", help="how many (default: 3)")
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from edit_gec.catalog import DEFAULT_JUDGE, DEFAULT_MODEL, DEFAULT_TARGET
from edit_gec.config.load_settings import BACKENDS, DTYPES, STRICTNESS
from edit_gec.config.settings import RUN, read_run_setting
from edit_gec.errors import InputError, did_you_mean
from edit_gec.rules.dialect import DIALECTS
from edit_gec.text.kinds import parse_names

STATUSES = """exit status:
  0    success; where findings are asked for (--check, --format findings, several files without another output): none
  1    such findings
  2    wrong usage, an unsupported format, or something that cannot be read, written or loaded; other files are still
       processed
  130  interrupted by Ctrl-C; every file is either corrected or unchanged
  141  standard output was closed by its reader"""
MAX_PORT = 65_535


SETTINGS = (
    "The nearest edit-gec.toml, .edit-gec.toml or [tool.edit-gec] in pyproject.toml sets dictionary, ignore,\n"
    "ignore-regex, min-confidence, strictness, dialect, exclude, model, verify, what --set can set, and [[overrides]]\n"
    "for some files."
)


class UsageError(Exception):
    """Arguments that do not fit together. The command line says so in one line, and exits with 2."""


class Parser(argparse.ArgumentParser):
    """Wrong usage is one line: what is wrong, what was probably meant, and where to read more."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments. Leaves by SystemExit where some are unknown."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known = [option for action in self._actions for option in action.option_strings]
            self.error(f"unknown arguments: {' '.join(unknown)}{did_you_mean(unknown[0].partition('=')[0], known)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit with 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


# ---------------------------------------------------------------- declarations


def option(*flags: str, group: str = "", either: str = "", also: Mapping[str, str] | None = None, **how: Any) -> Any:
    """A field of `Arguments` that argparse fills, as `how` says; without flags a positional argument of its name.

    `group`: its heading, by default that of the field before it. Options of the same `either` exclude each other.
    `also`: flags that stand for the value that they name, with their help.
    """
    return field(metadata={"flags": flags, "group": group, "either": either, "also": also or {}, "how": how})


def add_options(parser: argparse.ArgumentParser, kind: type) -> None:
    """Add what the fields of a command's `Arguments` declare: its own first, then those of the classes it extends."""
    exclusive: dict[str, Any] = {}
    declared = {each.name: each for each in fields(kind) if each.metadata}
    for owner in kind.__mro__:
        group: Any = parser
        for name in [name for name in vars(owner).get("__annotations__", ()) if name in declared]:
            said = declared.pop(name).metadata
            if said["group"]:
                group = parser.add_argument_group(said["group"])
            place = group
            if either := said["either"]:
                place = exclusive[either] = exclusive.get(either) or group.add_mutually_exclusive_group()
            for flags, summary in said["also"].items():
                value = flags.rpartition("--")[2]
                place.add_argument(*flags.split(), action="store_const", dest=name, const=value, help=summary)
            named = {"dest": name} if said["flags"] else {}
            place.add_argument(*(said["flags"] or (name,)), **named, **said["how"])


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


def run_setting(value: str) -> tuple[str, Any]:
    """KEY=VALUE of config.settings.RUN, with the keyword for the key."""
    try:
        return read_run_setting(value)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def edit_names(value: str) -> tuple[str, ...]:
    """Kinds and types of edits, separated by commas."""
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    try:
        parse_names(names)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return names


def data_folder(value: str) -> Path:
    """A folder of corpora; "" stands for the usual one."""
    return Path(value or os.environ.get("EDIT_GEC_DATA", "data"))


def _whole_number(value: str) -> int:
    """The number, or -1 for anything else."""
    return int(value) if value.isascii() and value.isdecimal() else -1


# ---------------------------------------------------------------- the options of a corrector


@dataclass(frozen=True, kw_only=True)
class FrontOptions:
    """The options of every command that corrects text and obeys the settings of projects (config/)."""

    ignore: Sequence[Sequence[str]] = option(
        "--ignore", group="settings", type=edit_names, action="append", default=[], metavar="NAMES",
        help="drop edits of these kinds or types, for instance case,PUNCT,R:DET",
    )  # fmt: skip
    dialect: str | None = option(
        "--dialect", choices=DIALECTS, help="enforce British or American spelling (default: accept both)"
    )
    config: str | None = option("--config", metavar="FILE", help="read settings from FILE only")
    isolated: bool = option("--isolated", action="store_true", help="ignore settings files and the user's own words")
    verify: bool = option(
        "--verify", group="verification", action="store_true", help=f"ask a second model: --target, or {DEFAULT_JUDGE}"
    )
    model: str | None = option(
        "--model", group="model", metavar="NAME|PATH", help=f"model to correct with (default: {DEFAULT_MODEL})"
    )
    min_confidence: float | None = option(
        "--min-confidence", either="threshold", type=confidence, metavar="P",
        help="drop edits below this confidence, 0 to 1",
    )  # fmt: skip
    strictness: str | None = option(
        "--strictness", either="threshold", choices=STRICTNESS,
        help="threshold preset of the model: sure for edits to apply unread, low for fewer edits, high for more",
    )  # fmt: skip
    dictionary: Sequence[str] = option(
        "--dictionary", action="append", default=[], metavar="FILE", help="words to leave alone, one per line"
    )
    threads: int | None = option(
        "--threads", type=positive, metavar="N", help="CPU threads (default: all cores; corpus: 1, lsp: half of them)"
    )
    target: str | None = option(
        "--target", metavar="NAME|PATH|ID",
        help="second model, which judges the edits if it can, and otherwise shows its own text: a name such as "
        f"{DEFAULT_JUDGE} or {DEFAULT_TARGET}, a folder, or an id on the Hugging Face hub",
    )  # fmt: skip
    set: Sequence[tuple[str, Any]] = option(
        "--set", type=run_setting, action="append", default=[], metavar="KEY=VALUE",
        help=f"how models run, as settings files say it: {', '.join(RUN)}; device=cuda, for instance",
    )  # fmt: skip
    own: ClassVar[Mapping[str, Any]] = {}  # what the command sets where nobody does

    @property
    def backend(self) -> str:
        """What is asked to run the model."""
        return str(self.run_settings.get("backend", BACKENDS[0]))

    @property
    def run_settings(self) -> dict[str, Any]:
        """The settings that are the same for all files, by their keywords of Corrector.load."""
        return {**dict(self.set), **({} if self.threads is None else {"threads": self.threads})}


@dataclass(frozen=True, kw_only=True)
class TimingOptions:
    """The options of the commands that measure speed."""

    device: str = option(
        "--device", group="how", type=device, default="cpu", metavar="D", help="cpu, cuda, cuda:1 (default: cpu)"
    )
    dtype: str = option("--dtype", default=DTYPES[0], choices=DTYPES, help="number format of torch (default: float32)")
    threads: int | None = option("--threads", type=positive, metavar="N", help="CPU threads (default: all cores)")
    out: str | None = option(
        "--out", metavar="DIR", help="write the result to this folder; of a profile also plots, traces and its stages"
    )
    compare: Sequence[str] | None = option(
        "--compare", nargs=2, metavar=("OLD", "NEW"), help="measure nothing: compare two results of --out"
    )


def check_target(options: FrontOptions) -> None:
    """Raises UsageError for settings of a target without a target."""
    if options.target == "":
        raise UsageError("--target: expected a name, a folder, or an id on the Hugging Face hub")
    if options.verify or options.target or "verify" in dict(options.set):
        return
    if given := [name.replace("_", "-") for name, _ in options.set if name.startswith("target")]:
        raise UsageError(f"--set {given[0]} needs --verify or --target")
