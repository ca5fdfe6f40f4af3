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
from importlib.util import find_spec
from typing import Any

from edit_gec.catalog import fingerprint
from edit_gec.cli import correct
from edit_gec.errors import DeviceError, InputError

SIZE = 2_000_000  # bytes of a unit: some 20,000 sentences, a minute on one core


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    from edit_gec.cli.main import _confidence, _device, _positive

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
    add("--workers", type=_positive, metavar="N", help="processes or actors (default: one a GPU, or one a core)")
    add("--unit-size", type=_positive, default=SIZE, metavar="BYTES", help=f"of one part (default: {SIZE})")
    add("--remember", type=_positive, default=100_000, metavar="N", help="sentences to recall (default: 100000)")
    add("--hourly-cost", type=float, metavar="X", help="of all machines together, for the cost of a million sentences")
    add("--min-confidence", type=_confidence, metavar="P", help="leave out edits below this confidence, 0 to 1")
    add("--dictionary", action="append", default=[], metavar="FILE", help="words to leave alone, one on each line")
    add("--model", default="edit5-mini", metavar="NAME|PATH", help="model to correct with (default: edit5-mini)")
    add("--target", metavar="NAME|PATH", help="T5 that verifies every sentence (default: none)")
    add("--target-prefix", metavar="TEXT", help='what the T5 wants before each sentence, "grammar: " for instance')
    add("--device", type=_device, default="cpu", metavar="D", help="cpu, cuda for all GPUs, cuda:1 (default: cpu)")
    add("--dtype", choices=("float32", "bfloat16", "float16"), default="float32", help="(default: float32)")
    add("--threads", type=_positive, default=1, metavar="N", help="CPU threads of a worker (default: 1)")
    add("--batch-size", type=_positive, default=32, metavar="N", help="sentences at a time (default: 32)")
    add("--quiet", action="store_true", help="say nothing but errors")


def run(args: argparse.Namespace) -> int:
    """Do the job, or what is left of it. Raises InputError."""
    from edit_gec.corpus import journal, partition
    from edit_gec.corpus.job import Job
    from edit_gec.corpus.progress import Progress
    from edit_gec.corpus.records import Columns
    from edit_gec.corpus.summary import summary, talk

    correct.say_if_slow(args.dtype, args.device)
    columns = Columns(args.column, args.corrected, args.edits)
    if len({*vars(columns).values()}) < 3:
        raise InputError("--column, --corrected and --edits: three different names are wanted")
    options, types = _options(args), not args.no_types
    if types:
        for module in ("errant", "spacy"):
            if find_spec(module) is None:
                raise ModuleNotFoundError(f"no {module}", name=module)
    source = args.input if args.input.startswith(partition.HUB) else os.path.realpath(args.input)
    begun = time.monotonic()

    def make_plan() -> partition.Plan:
        return partition.plan(source, columns, args.unit_size, args.config, args.split)

    with journal.opened(args.output, {"input": source, **_settings(args, options)}, make_plan) as book:
        sizes = {unit.number: unit.size for unit in book.plan.units}
        units = [unit for unit in book.plan.units if unit.number not in book.done]
        if book.done and not args.quiet:
            correct.say(f"edit-gec: {len(book.done):,} of {len(sizes):,} parts are there already")
        with Progress(units=len(units), size=sum(u.size for u in units), wanted=not args.quiet) as progress:

            def on_result(result: dict[str, Any]) -> None:
                book.add(result)
                progress.add_unit(sizes[result["unit"]])

            if units:
                _work(args, Job(args.output, columns, types), units, options, on_result, progress)
        elapsed = time.monotonic() - begun
        total = summary(book.done.values(), book.plan.broken, wall_seconds=elapsed, hourly_cost=args.hourly_cost)
        book.close(total)
    if not args.quiet:
        for line in talk(total):
            correct.say(line)
    return 1 if total["unreadable_files"] or total["files_cut_short"] else 0


def _work(args: Any, job: Any, units: Any, options: dict[str, Any], on_result: Any, progress: Any) -> None:
    """Run the engine that was asked for."""
    if args.engine == "ray":
        from edit_gec.corpus import ray_runner

        with contextlib.redirect_stdout(sys.stderr):  # Ray tells there of processes that died
            ray_runner.run(job, units, options, args.remember, args.workers, args.address, on_result, progress.add_rows)
        return
    from edit_gec.corpus import local_runner

    devices = _devices(args.device)
    count = args.workers or (len(devices) if args.device != "cpu" else max(1, _cores() // args.threads))
    each = [{**options, "device": devices[n % len(devices)]} for n in range(count)]
    local_runner.run(job, units, each, args.remember, on_result, progress.add_rows, correct.say)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments of Corrector.load. Raises InputError for a model that is not there."""
    from edit_gec import config
    from edit_gec.catalog import find_model

    return {
        "model": str(find_model(args.model).resolve()),
        "device": args.device,
        "dtype": args.dtype,
        "threads": args.threads,
        "min_confidence": args.min_confidence,
        "batch_size": args.batch_size,
        "dictionary": [word for path in args.dictionary for word in config.words(path)],
        "target": args.target and str(find_model(args.target).resolve()),
        "target_prefix": args.target_prefix,
    }


def _settings(args: argparse.Namespace, options: dict[str, Any]) -> dict[str, Any]:
    """All that decides what comes out: a job goes on only with the same."""
    same = ("column", "corrected", "edits", "config", "split", "unit_size", "min_confidence", "target_prefix", "dtype")
    words = "\n".join(options["dictionary"]).encode()
    return {
        **{name: getattr(args, name) for name in same},
        "types": not args.no_types,
        "dictionary": hashlib.sha256(words).hexdigest()[:16],
        "model": fingerprint(options["model"]),
        "target": options["target"] and fingerprint(options["target"]),
    }


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _devices(device: str) -> list[str]:
    """The devices of the workers: "cuda" is every GPU."""
    if device != "cuda":
        return [device]
    import torch

    if not torch.cuda.is_available():
        raise DeviceError("device cuda: this torch sees no GPU; leave --device out to use the CPU")
    return [f"cuda:{n}" for n in range(torch.cuda.device_count())]
