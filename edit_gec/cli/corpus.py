"""`edit-gec corpus INPUT OUTPUT`: the same rows with two more columns, for corpora of any size.

    $ edit-gec corpus comments.jsonl corrected/
    $ cat corrected/comments-*.jsonl
    {"id": 7, "text": "She go home.", "corrected": "She goes home.", "edits": [{"offset": 4, "length": 2, ...}]}

The work itself is in corpus/, from run.py on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from edit_gec.cli.arguments import SETTINGS, FrontOptions, UsageError, check_target, option, positive
from edit_gec.cli.console import say
from edit_gec.config.settings import Settings
from edit_gec.corpus.run import UNIT_BYTES
from edit_gec.runtime.dedup import REMEMBERED
from edit_gec.text.formats import UNDERSTOOD

EPILOG = f"--set device=cuda starts one process per GPU; --threads is per worker.\n\n{SETTINGS}"


@dataclass(frozen=True, kw_only=True)
class Arguments(FrontOptions):
    """The arguments of `edit-gec corpus`."""

    input: str = option(
        metavar="INPUT", help="file (text, JSONL, CSV, TSV, Parquet), folder, saved data set, or hub:NAME"
    )
    output: str = option(metavar="OUTPUT", help="folder for the parts; repeat the command to resume an interrupted job")
    column: str = option("--column", default="text", metavar="NAME", help="column to correct (default: text)")
    corrected: str = option(
        "--corrected", default="corrected", metavar="NAME", help="column for the corrected text (default: corrected)"
    )
    edits: str = option("--edits", default="edits", metavar="NAME", help="column for the edits (default: edits)")
    subset: str | None = option("--subset", metavar="NAME", help="configuration of the data set (hub:NAME)")
    split: str | None = option("--split", metavar="NAME", help="split of the data set (default: all)")
    read_as: str = option(
        "--read-as", default="markdown", metavar="FORMAT",
        help=f"format of the texts: {', '.join(UNDERSTOOD[:-1])}, plain, or a programming language (default: markdown)",
    )  # fmt: skip
    no_types: bool = option(
        "--no-types", action="store_true", help="leave out the types of edits, which need edit-gec[score]"
    )
    engine: str = option(
        "--engine", choices=("local", "ray"), default="local",
        help="run in processes of this machine (default), or on Ray",
    )  # fmt: skip
    address: str | None = option(
        "--address", metavar="A", help="Ray cluster: auto or ray://HOST:PORT (default: this machine)"
    )
    workers: int | None = option(
        "--workers", type=positive, metavar="N", help="processes or actors (default: one per GPU, or one per core)"
    )
    unit_size: int = option(
        "--unit-size",
        type=positive,
        default=UNIT_BYTES,
        metavar="BYTES",
        help=f"size of a part (default: {UNIT_BYTES})",
    )
    remember: int = option(
        "--remember", type=positive, default=REMEMBERED, metavar="N", help=f"sentences to cache (default: {REMEMBERED})"
    )
    hourly_cost: float | None = option(
        "--hourly-cost", type=float, metavar="X",
        help="price of all machines together per hour; the summary then has the cost of a million sentences",
    )  # fmt: skip
    quiet: bool = option("--quiet", action="store_true", help="report errors only")
    own: ClassVar[Mapping[str, Any]] = {"threads": 1}


def run(arguments: Arguments) -> int:
    """Do the job, or what is left of it. Raises InputError, UsageError."""
    from edit_gec.cli.loading import corrector_arguments, find_projects, warn_of_slow_dtype
    from edit_gec.corpus.records import Columns
    from edit_gec.corpus.run import CorpusTask, Engine, correct_corpus

    check_arguments(arguments)
    settings = find_projects(arguments).find_shared_settings(
        [arguments.input] if os.path.exists(arguments.input) else []
    )
    options = corrector_arguments(arguments, settings)
    warn_of_slow_dtype(options)
    task = CorpusTask(
        arguments.input,
        arguments.output,
        Columns(arguments.column, arguments.corrected, arguments.edits),
        config=arguments.subset,
        split=arguments.split,
        unit_size=arguments.unit_size,
        names_types=not arguments.no_types,
        read_as=arguments.read_as,
        options=options,
        settings=Settings(ignore=settings.ignore, ignore_regex=settings.ignore_regex),
        remember=arguments.remember,
        engine=Engine(arguments.engine),
        workers=arguments.workers,
        address=arguments.address,
    )
    summary = correct_corpus(task, say, is_quiet=arguments.quiet, hourly_cost=arguments.hourly_cost)
    has_nothing = bool(summary["set_aside"]) and not summary["written"]  # a wrong --column, for instance
    return 2 if summary["unreadable_files"] or summary["files_cut_short"] or has_nothing else 0


def check_arguments(arguments: Arguments) -> None:
    """Raises UsageError for columns of the same name, and for settings of a target without one."""
    if len({arguments.column, arguments.corrected, arguments.edits}) < 3:
        raise UsageError("--column, --corrected and --edits: expected three different names")
    check_target(arguments)
