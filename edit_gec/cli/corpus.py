"""`edit-gec corpus INPUT OUTPUT`: the same rows with two columns more, for corpora of any size.

    $ edit-gec corpus comments.jsonl corrected/
    $ cat corrected/comments-*.jsonl
    {"id": 7, "text": "She go home.", "corrected": "She goes home.", "edits": [{"offset": 4, "length": 2, ...}]}

INPUT -> units (corpus/partition.py) -> workers (local_runner.py, ray_runner.py): load, infer, save (job.py)
-> journal -> summary.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import find_model, fingerprint
from edit_gec.cli.arguments import (
    ModelOptions,
    UsageError,
    add_model_options,
    add_verification_options,
    check_verification,
    positive,
)
from edit_gec.cli.console import say
from edit_gec.errors import DeviceError

if TYPE_CHECKING:
    from edit_gec.corpus.job import Job
    from edit_gec.corpus.progress import Progress
    from edit_gec.corpus.records import Unit

UNIT_SIZE = 2_000_000  # bytes of a unit: some 20,000 sentences, a minute on one core
REMEMBERED = 100_000  # sentences
ALL_GPUS = "cuda"
# All that decides what comes out, beside the model, its target and the dictionary: a job goes on only with the same.
SETTINGS = ("column", "corrected", "edits", "config", "split", "unit_size")
MODEL_SETTINGS = ("min_confidence", "target_prefix", "dtype", "verify", "lenience")


@dataclass(frozen=True, kw_only=True)
class Arguments(ModelOptions):
    """What `edit-gec corpus` was asked."""

    input: str
    output: str
    column: str
    corrected: str
    edits: str
    config: str | None
    split: str | None
    no_types: bool
    engine: str
    address: str | None
    workers: int | None
    unit_size: int
    remember: int
    hourly_cost: float | None
    quiet: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.epilog = "--device cuda is a process for each GPU; --threads are those of one worker."
    add = parser.add_argument
    add("input", metavar="INPUT", help="file (text, JSONL, CSV, TSV, Parquet), folder, saved data set, or hub:NAME")
    add("output", metavar="OUTPUT", help="folder for the parts; the same command again goes on where it was")
    add("--column", default="text", metavar="NAME", help="column to correct (default: text)")
    add("--corrected", default="corrected", metavar="NAME", help="column for the corrected text (default: corrected)")
    add("--edits", default="edits", metavar="NAME", help="column for the edits (default: edits)")
    add("--config", metavar="NAME", help="configuration of the data set (hub:NAME)")
    add("--split", metavar="NAME", help="split of the data set (default: all)")
    add("--no-types", action="store_true", help="leave the types of edits out (they need edit-gec[score])")
    add("--engine", choices=("local", "ray"), default="local", help="processes of this machine, or Ray Data")
    add("--address", metavar="A", help="of the Ray cluster, auto or ray://HOST:PORT (default: this machine)")
    add("--workers", type=positive, metavar="N", help="processes or actors (default: one a GPU, or one a core)")
    add("--unit-size", type=positive, default=UNIT_SIZE, metavar="BYTES", help=f"of one part (default: {UNIT_SIZE})")
    add(
        "--remember", type=positive, default=REMEMBERED, metavar="N",
        help=f"sentences to recall (default: {REMEMBERED})",
    )  # fmt: skip
    add("--hourly-cost", type=float, metavar="X", help="of all machines together, for the cost of a million sentences")
    add("--quiet", action="store_true", help="say nothing but errors")
    add_model_options(parser, threads=1, threads_help="1")
    add_verification_options(parser)


def run(arguments: Arguments) -> int:
    """Do the job, or what is left of it. Raises InputError, UsageError."""
    from edit_gec.cli.loading import warn_of_slow_dtype
    from edit_gec.corpus import journal, partition
    from edit_gec.corpus.job import Job
    from edit_gec.corpus.progress import Progress
    from edit_gec.corpus.records import Columns
    from edit_gec.corpus.summary import summary, talk

    check_arguments(arguments)
    warn_of_slow_dtype(arguments)
    columns = Columns(arguments.column, arguments.corrected, arguments.edits)
    options = worker_options(arguments)
    if not arguments.no_types:
        check_packages_of_types()
    is_remote = arguments.input.startswith(partition.HUB)
    source = arguments.input if is_remote else os.path.realpath(arguments.input)
    begun = time.monotonic()

    def make_plan() -> partition.Plan:
        return partition.plan(source, columns, arguments.unit_size, arguments.config, arguments.split)

    with journal.opened(arguments.output, {"input": source, **job_settings(arguments, options)}, make_plan) as book:
        sizes = {unit.number: unit.size for unit in book.plan.units}
        units = [unit for unit in book.plan.units if unit.number not in book.done]
        if book.done and not arguments.quiet:
            say(f"edit-gec: {len(book.done):,} of {len(sizes):,} parts are there already")
        with Progress(
            units=len(units), size=sum(unit.size for unit in units), wanted=not arguments.quiet, say=say
        ) as progress:

            def on_result(result: dict[str, Any]) -> None:
                book.add(result)
                progress.add_unit(sizes[result["unit"]])

            if units:
                job = Job(arguments.output, columns, not arguments.no_types)
                correct_units(arguments, job, units, options, on_result, progress)
        elapsed = time.monotonic() - begun
        cost = arguments.hourly_cost
        total = summary(book.done.values(), book.plan.broken, wall_seconds=elapsed, hourly_cost=cost)
        book.close(total)
    if not arguments.quiet:
        for line in talk(total):
            say(line)
    return 1 if total["unreadable_files"] or total["files_cut_short"] else 0


def check_arguments(arguments: Arguments) -> None:
    """Raises UsageError for columns of one name, and for options of a T5 where there is none."""
    if len({arguments.column, arguments.corrected, arguments.edits}) < 3:
        raise UsageError("--column, --corrected and --edits: expected three different names")
    check_verification(arguments)


def check_packages_of_types() -> None:
    """Raises ModuleNotFoundError where a package is missing that names the types of edits."""
    for module in ("errant", "spacy"):
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"no {module}", name=module)


def correct_units(
    arguments: Arguments,
    job: Job,
    units: Sequence[Unit],
    options: dict[str, Any],
    on_result: Callable[[dict[str, Any]], None],
    progress: Progress,
) -> None:
    """Hand the units to the engine that was asked for; `on_result` gets what comes of each."""
    if arguments.engine == "ray":
        from edit_gec.corpus import ray_runner

        with contextlib.redirect_stdout(sys.stderr):  # Ray tells there of processes that died
            ray_runner.run(
                job, units, options, arguments.remember, arguments.workers, arguments.address, on_result,
                progress.add_rows,
            )  # fmt: skip
        return
    from edit_gec.corpus import local_runner

    devices = worker_devices(arguments.device)
    default = len(devices) if arguments.device != "cpu" else max(1, available_cores() // (arguments.threads or 1))
    each = [{**options, "device": devices[n % len(devices)]} for n in range(arguments.workers or default)]
    local_runner.run(job, units, each, arguments.remember, on_result, progress.add_rows, say)


def worker_options(arguments: Arguments) -> dict[str, Any]:
    """Arguments of Corrector.load, for a worker with another working folder. Raises InputError for what is missing."""
    from edit_gec.cli.loading import corrector_arguments

    options = corrector_arguments(arguments)
    for name in ("model", "target"):
        options[name] = options[name] and str(find_model(options[name]).resolve())
    return options


def job_settings(arguments: Arguments, options: dict[str, Any]) -> dict[str, Any]:
    """What must be the same for a job to go on."""
    words = "\n".join(options["dictionary"]).encode()
    return {
        **{name: getattr(arguments, name) for name in SETTINGS},
        **{name: options[name] for name in MODEL_SETTINGS},
        "types": not arguments.no_types,
        "dictionary": hashlib.sha256(words).hexdigest()[:16],
        "model": fingerprint(options["model"]),
        "target": options["target"] and fingerprint(options["target"]),
    }


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worker_devices(device: str) -> list[str]:
    """The devices of the workers: "cuda" is every GPU."""
    if device != ALL_GPUS:
        return [device]
    import torch

    if not torch.cuda.is_available():
        raise DeviceError("device cuda: this torch sees no GPU; leave --device out to use the CPU")
    return [f"cuda:{n}" for n in range(torch.cuda.device_count())]
