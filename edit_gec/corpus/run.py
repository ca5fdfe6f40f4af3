"""One job from input to summary: plan, remaining units, journal, summary.

task = CorpusTask("comments.jsonl", "corrected", options={"model": "edit5-mini", "device": "cpu", "threads": 1})
correct_corpus(task, say=print)["edits"]
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib.util import find_spec
from typing import Any

from edit_gec.catalog import DEFAULT_MODEL, find_model, find_pretrained, fingerprint
from edit_gec.config.settings import DEFAULTS, Settings
from edit_gec.corpus import partition
from edit_gec.corpus.job import Events, Job
from edit_gec.corpus.journal import open_journal
from edit_gec.corpus.progress import Progress
from edit_gec.corpus.records import Columns, Unit, UnitResult
from edit_gec.corpus.summary import describe_summary, summarize
from edit_gec.errors import DeviceError, InputError
from edit_gec.runtime.dedup import REMEMBERED
from edit_gec.text.formats import check_format

MODEL_SETTINGS = (
    "min_confidence", "strictness", "dialect", "target_prefix", "target_prompt", "backend", "precision", "dtype",
    "verify",
)  # fmt: skip
UNIT_BYTES = 2_000_000  # some 20,000 sentences: a minute on one core
Say = Callable[[str], None]


class Engine(str, Enum):
    """What runs the workers: processes of this machine, or Ray Data."""

    LOCAL = "local"
    RAY = "ray"


@dataclass(frozen=True)
class CorpusTask:
    """What is corrected, how, and where the parts go.

    `source` is a file, a folder, a saved data set or hub:NAME; `config` and `split` choose from a data set. `options`
    are the arguments of Corrector.load. `settings` say which edits to drop. `read_as` is the format of the texts
    (text/formats.py). `workers` None starts one per GPU or core. `address` is that of a Ray cluster.
    """

    source: str
    output: str
    columns: Columns = field(default_factory=Columns)
    config: str | None = None
    split: str | None = None
    unit_size: int = UNIT_BYTES
    names_types: bool = True
    read_as: str = "markdown"
    options: dict[str, Any] = field(default_factory=dict)
    settings: Settings = DEFAULTS
    remember: int = REMEMBERED
    engine: Engine = Engine.LOCAL
    workers: int | None = None
    address: str | None = None


def correct_corpus(
    task: CorpusTask, say: Say, *, is_quiet: bool = False, hourly_cost: float | None = None
) -> dict[str, Any]:
    """Run a job, or the rest of it, and return its summary.

    `say` gets messages for people; with `is_quiet` only errors. `hourly_cost` is that of all machines together. Raises
    EditGecError for what cannot be read, written or resumed, and ModuleNotFoundError for a missing extra.
    """
    begun = time.monotonic()
    job = _make_job(task)
    source = task.source if task.source.startswith(partition.HUB_PREFIX) else os.path.realpath(task.source)

    def make_plan() -> partition.Partition:
        return partition.make_plan(source, task.columns, task.unit_size, task.config, task.split)

    with open_journal(task.output, {"input": source, **_settings(task, job)}, make_plan) as journal:
        sizes = {unit.number: unit.size for unit in journal.plan.units}
        units = [unit for unit in journal.plan.units if unit.number not in journal.results]
        if journal.results and not is_quiet:
            say(f"edit-gec: {len(journal.results):,} of {len(sizes):,} parts are there already")
        left = sum(unit.size for unit in units)
        with Progress(units=len(units), size=left, is_shown=not is_quiet, say=say) as progress:

            def on_result(result: UnitResult) -> None:
                journal.add(result)
                progress.add_unit(sizes[result["unit"]])

            if units:
                _run_workers(task, job, units, Events(on_result, progress.add_rows, say))
        wall_seconds = time.monotonic() - begun
        broken = journal.plan.broken
        summary = summarize(journal.results.values(), broken, wall_seconds=wall_seconds, hourly_cost=hourly_cost)
        journal.finish(summary)
    if not is_quiet:
        for line in describe_summary(summary):
            say(line)
    return summary


def _make_job(task: CorpusTask) -> Job:
    """The job with paths for names of models. Raises InputError, ModelError and ModuleNotFoundError."""
    if len(set(task.columns)) < len(task.columns):
        raise InputError(f"columns {', '.join(task.columns)}: expected three different names")
    target = task.options.get("target")
    options = {
        "device": "cpu",
        "threads": 1,
        **task.options,
        "model": str(find_model(task.options.get("model") or DEFAULT_MODEL).resolve()),
        "target": target and str(find_pretrained(target).resolve()),
    }
    if task.names_types or task.settings.edit_filter().ignored.types:
        for module in ("errant", "spacy"):
            if find_spec(module) is None:
                raise ModuleNotFoundError(f"no {module}", name=module)
    return Job(
        task.output,
        task.columns,
        options,
        task.settings,
        task.remember,
        task.names_types,
        check_format(task.read_as),
    )


def _settings(task: CorpusTask, job: Job) -> dict[str, Any]:
    """Everything that decides the output: a job resumes only with the same settings."""
    words = "\n".join(job.options.get("dictionary", ())).encode()
    return {
        **task.columns._asdict(),
        "config": task.config,
        "split": task.split,
        "unit_size": task.unit_size,
        "types": task.names_types,
        "ignore": [*task.settings.ignore, *task.settings.ignore_regex],
        "read_as": job.read_as,
        "dictionary": hashlib.sha256(words).hexdigest()[:16],
        **{name: job.options.get(name) for name in MODEL_SETTINGS},
        "model": fingerprint(job.options["model"]),
        "target": job.options["target"] and fingerprint(job.options["target"]),
    }


def _run_workers(task: CorpusTask, job: Job, units: Sequence[Unit], events: Events) -> None:
    """Do the units with the engine of the task."""
    if task.engine is Engine.RAY:
        from edit_gec.corpus import ray_runner

        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # Ray prints what it tries again
            ray_runner.run(job, units, task.workers, task.address, events)
        return
    from edit_gec.corpus import local_runner

    device = job.options["device"]
    devices = _list_devices(device)
    count = task.workers
    if count is None:
        per_core = max(1, _count_cores() // (job.options["threads"] or 1))
        count = per_core if device == "cpu" else len(devices)
    local_runner.run(job, units, [devices[number % len(devices)] for number in range(count)], events)


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _list_devices(device: str) -> list[str]:
    """The devices of the workers: "cuda" stands for every GPU. Raises DeviceError if there is none."""
    if device != "cuda":
        return [device]
    import torch

    if not torch.cuda.is_available():
        raise DeviceError("device cuda: this torch sees no GPU; leave the device out to use the CPU")
    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]
