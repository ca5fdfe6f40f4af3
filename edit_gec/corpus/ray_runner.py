"""Many machines: the same three stages as a pipeline of Ray Data, the model held by actors.

    units -> load (CPU tasks) -> infer (actors: one GPU or some cores each) -> save (CPU tasks) -> journal (driver)

Ray hands blocks from stage to stage as there is room (back-pressure) and does tasks again whose process has died. A
unit at which two actors died is done in the end in a process that is watched (local_runner.py), a row at a time, so
that the row at fault is found. All machines see input and output under the same paths, and have edit-gec installed. A
unit is in memory as a whole."""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import shutil
import socket
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any

from edit_gec.corpus import local_runner
from edit_gec.corpus.job import JOB, Job
from edit_gec.corpus.records import Unit
from edit_gec.errors import EditGecError, InputError, WriteError
from edit_gec.runtime.dedup import REMEMBERED, DeduplicatingCorrector

BLOCKS = 2000  # of the list of units; one block is one task
CPU_STAGE = 0.5  # cores of a task of the first and last stage; other than the actors', or Ray would join the stages
FATAL = 2  # so many actors that died at a unit

Row = dict[str, Any]


@cache
def _once(options: str, remember: int = REMEMBERED) -> DeduplicatingCorrector:
    """The corrector of this process."""
    from edit_gec.corrector import Corrector

    return DeduplicatingCorrector(Corrector.load(**json.loads(options)), remember)


def _stage(work: Callable[[Any, Row], Row]) -> Callable[[Any, Row], Row]:
    """A stage whose errors travel on with the row to the driver, which stops at the first without Ray's words."""

    @wraps(work)
    def guarded(self: Any, row: Row) -> Row:
        if row["refused"] or row["failed"] or row["lost"]:
            return row
        try:
            return work(self, row)
        except EditGecError as error:
            return {**row, "works": b"", "refused": str(error)}
        except Exception:
            return {**row, "works": b"", "failed": traceback.format_exc()}

    return guarded


class Load:
    """First stage: the rows of a unit and their sentences."""

    def __init__(self, job: Job, options: str) -> None:
        self.job, self.options = job, options

    @_stage
    def __call__(self, row: Row) -> Row:
        unit: Unit = pickle.loads(row["unit"])
        return {**row, "works": pickle.dumps(list(self.job.load(unit, _once(self.options))))}


class Infer:
    """Second stage, an actor: what changes in the sentences."""

    def __init__(self, job: Job, options: str, remember: int) -> None:
        self.job, self.once = job, _once(options, remember)

    @_stage
    def __call__(self, row: Row) -> Row:
        mark = _tries(self.job) / str(pickle.loads(row["unit"]).number)
        if _mark(mark) >= FATAL:
            return {**row, "works": b"", "lost": True}
        try:
            works = [self.job.infer(work, self.once) for work in pickle.loads(row["works"])]
        except MemoryError:
            os._exit(1)  # as if it had been killed for it
        mark.unlink(missing_ok=True)
        return {**row, "works": pickle.dumps(works)}


class Save:
    """Third stage: the part, and the line of the journal."""

    def __init__(self, job: Job, options: str) -> None:
        self.job, self.options = job, options

    @_stage
    def __call__(self, row: Row) -> Row:
        unit: Unit = pickle.loads(row["unit"])
        result = self.job.save(unit, pickle.loads(row["works"]), _once(self.options))
        return {**row, "works": b"", "result": json.dumps(result)}


def run(
    job: Job,
    units: Sequence[Unit],
    options: dict[str, Any],
    remember: int,
    workers: int | None,
    address: str | None,
    on_result: Callable[[dict[str, Any]], None],
    on_rows: Callable[[int], None],
) -> None:
    """Do all units on a Ray cluster, or on one of this machine alone.

    `options` are those of Corrector.load. Raises InputError when the cluster cannot be reached or begun, or a stage
    cannot read or write, RuntimeError with the traceback of a fault of ours, ModuleNotFoundError without Ray.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it talks of itself on standard error
    import ray
    import ray.data
    from ray.exceptions import RayError

    _quiet()
    try:
        _knock(address)
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            include_dashboard=None if address else False,
        )
    except Exception as error:  # of many kinds; also plain ones
        place = f"--address {address}: no Ray cluster there" if address else "--engine ray: Ray does not start here"
        raise InputError(f"{place} ({(str(error) or repr(error)).splitlines()[0]})") from None
    shutil.rmtree(_tries(job), ignore_errors=True)  # of a driver that was killed
    try:
        actors = workers or _fitting(options)
        for result in _results(job, units, options, remember, actors):
            on_rows(result["counts"].get("rows", 0))
            on_result({**result, "workers": actors})
    except RayError as error:
        if (cause := _input_error(error)) is not None:
            raise cause from None
        raise
    finally:
        ray.shutdown()
        shutil.rmtree(_tries(job), ignore_errors=True)


def _results(
    job: Job, units: Sequence[Unit], options: dict[str, Any], remember: int, actors: int
) -> Iterator[dict[str, Any]]:
    """Lines of the journal of all units: those of the pipeline, then those at which its actors died."""
    import ray

    lost = []
    for row in _pipeline(job, units, options, remember, actors).iter_rows():
        if row["refused"]:
            raise InputError(row["refused"])
        if row["failed"]:
            raise RuntimeError(f"a worker failed:\n{row['failed']}")
        if row["lost"]:
            lost.append(pickle.loads(row["unit"]))
        else:
            yield json.loads(row["result"])
    alone = ray.remote(_alone).options(**_needs(options), max_retries=0)
    waiting = [alone.remote(job, unit, options, remember) for unit in lost]
    while waiting:
        (done, *_), waiting = ray.wait(waiting)
        yield ray.get(done)


def _alone(job: Job, unit: Unit, options: dict[str, Any], remember: int) -> dict[str, Any]:
    """A unit at which processes die, in a process that is watched, on some machine of the cluster."""
    results: list[dict[str, Any]] = []
    local_runner.run(
        job, [unit], [options], remember, results.append, lambda rows: None, lambda line: None, careful=True
    )
    return results[0]


def _tries(job: Job) -> Path:
    """A folder with a file for each unit that actors have begun and not ended."""
    return Path(job.folder, JOB, "tries")


def _mark(path: Path) -> int:
    """Count a try in this file; how many there were before. Raises WriteError."""
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            before = file.tell()
            file.write(b".")
    except OSError as error:
        raise WriteError(f"{path}: cannot write: {error.strerror}") from None
    return before


def _quiet() -> None:
    """Ray talks of itself on standard error; its files have it all the same."""
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setLevel(logging.CRITICAL)


def _knock(address: str | None) -> None:
    """Raise OSError where nobody answers: Ray itself would try for minutes."""
    if found := re.fullmatch(r"(?:ray://)?(.+):(\d+)", address or ""):
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout=10).close()


def _input_error(error: BaseException | None) -> EditGecError | None:
    """The error of ours that Ray has wrapped, maybe more than once."""
    while error is not None and not isinstance(error, EditGecError):
        error = getattr(error, "cause", None) or error.__cause__
    return error


def _fitting(options: dict[str, Any]) -> int:
    """As many actors as the cluster has GPUs, or cores less one for the other stages."""
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    if options["device"] != "cpu":
        return max(1, int(resources.get("GPU", 0)))
    return max(1, int(resources.get("CPU", 1)) // (options["threads"] or 1) - 1)


def _needs(options: dict[str, Any]) -> dict[str, Any]:
    """What a process with the model holds of its machine."""
    return {"num_cpus": options["threads"] or 1} if options["device"] == "cpu" else {"num_gpus": 1, "num_cpus": 1}


def _pipeline(job: Job, units: Sequence[Unit], options: dict[str, Any], remember: int, actors: int) -> Any:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False  # ours tells rows
    light = json.dumps({**options, "device": "cpu", "threads": 1, "target": None})
    empty = {"works": b"", "lost": False, "refused": "", "failed": "", "result": ""}
    rows = [{"unit": pickle.dumps(unit), **empty} for unit in units]
    data: Any = ray.data.from_items(rows, override_num_blocks=min(len(rows), BLOCKS))
    data = data.map(Load(job, light).__call__, num_cpus=CPU_STAGE)
    data = data.map(
        Infer,
        fn_constructor_args=(job, json.dumps(options), remember),
        compute=ray.data.ActorPoolStrategy(size=actors),
        **_needs(options),
    )
    return data.map(Save(job, light).__call__, num_cpus=CPU_STAGE)
