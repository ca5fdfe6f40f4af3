"""Many machines: the same three stages as a pipeline of Ray Data, the model held by actors.

    units -> load (CPU tasks) -> infer (actors: one GPU or some cores each) -> save (CPU tasks) -> journal (driver)

Ray hands blocks from stage to stage as there is room (back-pressure) and does lost tasks again. All machines see input
and output under the same paths, and have edit-gec installed. A unit is in memory as a whole.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import socket
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from edit_gec.corpora.chunk import Unit
from edit_gec.corpora.once import REMEMBERED, Once
from edit_gec.corpora.parts import Job
from edit_gec.errors import InputError

BLOCKS = 2000  # of the list of units; one block is one task
CPU_STAGE = 0.5  # cores of a task of the first and last stage; other than the actors', or Ray would join the stages

Row = dict[str, Any]


@cache
def _once(options: str, remember: int = REMEMBERED) -> Once:
    """The corrector of this process."""
    from edit_gec.corrector import Corrector

    return Once(Corrector.load(**json.loads(options)), remember)


class Load:
    """First stage: the rows of a unit and their sentences."""

    def __init__(self, job: Job, options: str) -> None:
        self.job, self.options = job, options

    def __call__(self, row: Row) -> Row:
        unit: Unit = pickle.loads(row["unit"])
        return {**row, "works": pickle.dumps(list(self.job.load(unit, _once(self.options))))}


class Infer:
    """Second stage, an actor: what changes in the sentences."""

    def __init__(self, job: Job, options: str, remember: int) -> None:
        self.job, self.once = job, _once(options, remember)

    def __call__(self, row: Row) -> Row:
        works = [self.job.infer(work, self.once) for work in pickle.loads(row["works"])]
        return {**row, "works": pickle.dumps(works)}


class Save:
    """Third stage: the part, and the line of the journal."""

    def __init__(self, job: Job, options: str) -> None:
        self.job, self.options = job, options

    def __call__(self, row: Row) -> Row:
        unit: Unit = pickle.loads(row["unit"])
        return {"result": json.dumps(self.job.save(unit, pickle.loads(row["works"]), _once(self.options)))}


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

    `options` are those of Corrector.load. Raises InputError when the cluster cannot be reached or a stage cannot read
    or write, ModuleNotFoundError without Ray.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it talks of itself on standard error
    import ray
    import ray.data
    from ray.exceptions import RayError

    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        _knock(address)
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=None if address else False,
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"--address {address}: no Ray cluster there ({str(error).splitlines()[0]})") from None
    try:
        actors = workers or _fitting(options)
        for row in _pipeline(job, units, options, remember, actors).iter_rows():
            result = {**json.loads(row["result"]), "workers": actors}
            on_rows(result["counts"].get("rows", 0))
            on_result(result)
    except RayError as error:
        if (cause := _input_error(error)) is not None:
            raise cause from None
        raise
    finally:
        ray.shutdown()


def _knock(address: str | None) -> None:
    """Raise OSError where nobody answers: Ray itself would try for minutes."""
    if found := re.fullmatch(r"(?:ray://)?(.+):(\d+)", address or ""):
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout=10).close()


def _input_error(error: BaseException | None) -> InputError | None:
    """The error of ours that Ray has wrapped, maybe more than once."""
    while error is not None and not isinstance(error, InputError):
        error = getattr(error, "cause", None) or error.__cause__
    return error


def _fitting(options: dict[str, Any]) -> int:
    """As many actors as the cluster has GPUs, or cores less one for the other stages."""
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    if options["device"] != "cpu":
        return max(1, int(resources.get("GPU", 0)))
    return max(1, int(resources.get("CPU", 1)) // (options["threads"] or 1) - 1)


def _pipeline(job: Job, units: Sequence[Unit], options: dict[str, Any], remember: int, actors: int) -> Any:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False  # ours tells rows
    light = json.dumps({**options, "device": "cpu", "threads": 1, "target": None})
    needs = {"num_cpus": options["threads"] or 1} if options["device"] == "cpu" else {"num_gpus": 1, "num_cpus": 1}
    rows = [{"unit": pickle.dumps(unit)} for unit in units]
    data: Any = ray.data.from_items(rows, override_num_blocks=min(len(rows), BLOCKS))
    data = data.map(Load(job, light).__call__, num_cpus=CPU_STAGE)
    data = data.map(
        Infer,
        fn_constructor_args=(job, json.dumps(options), remember),
        compute=ray.data.ActorPoolStrategy(size=actors),
        **needs,
    )
    return data.map(Save(job, light).__call__, num_cpus=CPU_STAGE)
