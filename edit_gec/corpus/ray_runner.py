"""Many machines: the same three stages as a pipeline of Ray Data, with the model in actors.

    units -> load (CPU tasks) -> infer (actors: one GPU or some cores each) -> save (CPU tasks) -> journal (driver)

Ray passes blocks from stage to stage as there is room (back-pressure) and repeats tasks whose process has died. A unit
at which two actors have died is left to the end, when local_runner.py finds the row at fault by going row by row. All
machines see input and output under the same paths and have edit-gec installed. A unit is held in memory as a whole.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pickle
import queue
import re
import shutil
import socket
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.corpus import local_runner
from edit_gec.corpus.job import JOB_FOLDER, Events, Job
from edit_gec.corpus.records import Columns, Unit, UnitResult
from edit_gec.errors import EditGecError, InputError, WriteError

if TYPE_CHECKING:
    from edit_gec.runtime.dedup import DeduplicatingCorrector

MAX_BLOCKS = 2000  # of the list of units; a block is a task
CPU_STAGE_CORES = 0.5  # of a task that loads or saves; not the actors' number, or Ray would fuse the stages
ROOM = 20_000_000  # bytes for Ray's own files; a small job writes 1 MB
PATIENCE_S = 5  # without a result, after which it is looked for a reason
DEATHS_PER_UNIT = 2  # actor deaths after which a unit is left to local_runner.py

Row = dict[str, Any]


@cache
def _load_corrector(options: str, remember: int) -> DeduplicatingCorrector:
    """The corrector of this process."""
    return Job("", Columns(), json.loads(options), remember=remember).load_corrector()


def _corrector_of(job: Job) -> DeduplicatingCorrector:
    return _load_corrector(json.dumps(job.options), job.remember)


def _pass_on_errors(stage: Callable[[Any, Row], Row]) -> Callable[[Any, Row], Row]:
    """A stage that passes its errors to the driver, which stops at the first. Ray's own report is unreadable."""

    @wraps(stage)
    def guarded(self: Any, row: Row) -> Row:
        if row["refused"] or row["failed"] or row["lost"]:
            return row
        try:
            return stage(self, row)
        except EditGecError as error:
            return {**row, "works": b"", "refused": str(error)}
        except Exception:
            return {**row, "works": b"", "failed": traceback.format_exc()}

    return guarded


class LoadStage:
    """First stage: the rows of a unit and their sentences."""

    def __init__(self, job: Job) -> None:
        self.job = job

    @_pass_on_errors
    def __call__(self, row: Row) -> Row:
        """The row with the texts of its unit, split into windows."""
        unit: Unit = pickle.loads(row["unit"])
        return {**row, "works": pickle.dumps(list(self.job.load(unit, _corrector_of(self.job))))}


class InferStage:
    """Second stage, an actor: the changes of the sentences."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.corrector = _corrector_of(job)

    @_pass_on_errors
    def __call__(self, row: Row) -> Row:
        """The row with the changes of its windows. A unit at which workers die repeatedly is given up."""
        attempts = _attempts_folder(self.job) / str(pickle.loads(row["unit"]).number)
        if _count_attempt(attempts) >= DEATHS_PER_UNIT:
            return {**row, "works": b"", "lost": True}
        try:
            works = [self.job.infer(work, self.corrector) for work in pickle.loads(row["works"])]
        except MemoryError:
            os._exit(1)  # as if the system had killed it
        attempts.unlink(missing_ok=True)
        return {**row, "works": pickle.dumps(works)}


class SaveStage:
    """Third stage: the part, and the line of the journal."""

    def __init__(self, job: Job) -> None:
        self.job = job

    @_pass_on_errors
    def __call__(self, row: Row) -> Row:
        """The row with the result of its unit, once its part is written."""
        unit: Unit = pickle.loads(row["unit"])
        result = self.job.save(unit, pickle.loads(row["works"]), _corrector_of(self.job))
        return {**row, "works": b"", "result": json.dumps(result)}


def run(job: Job, units: Sequence[Unit], workers: int | None, address: str | None, events: Events) -> None:
    """Do all units on the Ray cluster at `address`, or on one that is started on this machine.

    `workers` is the number of actors, of which those begin that fit into the cluster; None fills it. Raises InputError
    if the cluster cannot be reached or started, a stage cannot read or write, or Ray's folder is full; RuntimeError
    with the traceback of a fault of the program; and ModuleNotFoundError without Ray.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # Ray logs to standard error
    os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # a thread that outlives its cluster would start another
    import ray
    import ray.data
    from ray.exceptions import RayError

    cores = max(os.cpu_count() or 1, (workers or 1) * _resources(job.options)["num_cpus"] + 1)
    check = _check_room if address is None else lambda: None  # a cluster elsewhere has other disks
    check()
    _connect(address, cores)
    shutil.rmtree(_attempts_folder(job), ignore_errors=True)  # of a driver that was killed
    try:
        actors = workers or _count_actors(job.options)
        for result in _run_units(job, units, actors, check):
            events.on_rows(int(result["counts"].get("rows", 0)))
            events.on_result({**result, "workers": actors})
    except RayError as error:
        cause = _unwrap(error)
        if cause is None:
            raise
        raise cause from None
    finally:
        _silence_threads()
        ray.shutdown()
        shutil.rmtree(_attempts_folder(job), ignore_errors=True)


def _connect(address: str | None, cores: int) -> None:
    """Connect to a cluster, or start one with so many cores, whatever cluster this machine remembers.

    Raises InputError.
    """
    import ray

    _silence_ray()
    try:
        _check_reachable(address)
        with _closed_stderr():
            ray.init(
                address=address or "local",
                num_cpus=None if address else cores,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                include_dashboard=None if address else False,
            )
    except Exception as error:  # Ray raises many kinds, plain Exception among them
        place = f"--address {address}: no Ray cluster there" if address else "--engine ray: Ray does not start here"
        raise InputError(f"{place} ({(str(error) or repr(error)).splitlines()[0]})") from None


def _run_units(job: Job, units: Sequence[Unit], actors: int, check: Callable[[], None]) -> Iterator[UnitResult]:
    """The results of all units: first those of the pipeline, then those of units at which actors died."""
    import ray

    lost: list[Unit] = []
    with contextlib.closing(_pull(_build_pipeline(job, units, actors).iter_rows(), check)) as rows:
        for row in rows:
            if row["refused"]:
                raise InputError(row["refused"])
            if row["failed"]:
                raise RuntimeError(f"a worker failed:\n{row['failed']}")
            if row["lost"]:
                lost.append(pickle.loads(row["unit"]))
            else:
                yield json.loads(row["result"])
    remote = ray.remote(_run_row_by_row).options(**_resources(job.options), max_retries=0)
    waiting = [remote.remote(job, unit) for unit in lost]
    while waiting:
        (done, *_), waiting = ray.wait(waiting)
        yield ray.get(done)


def _pull(rows: Iterator[Row], check: Callable[[], None]) -> Generator[Row, None, None]:
    """The same rows; while none comes, `check` is called again and again, and may raise why none will."""
    pulled: queue.Queue[Row | BaseException | None] = queue.Queue()
    is_over = threading.Event()

    def pull() -> None:
        try:
            for row in rows:
                pulled.put(row)
                if is_over.is_set():
                    return
            pulled.put(None)
        except BaseException as error:
            pulled.put(error)

    thread = threading.Thread(target=pull, daemon=True)
    thread.start()
    try:
        while True:
            try:
                row = pulled.get(timeout=PATIENCE_S)
            except queue.Empty:
                check()
                continue
            if row is None:
                return
            if isinstance(row, BaseException):
                raise row
            yield row
    finally:
        is_over.set()
        thread.join(PATIENCE_S)  # the process may crash where the cluster ends while Ray waits for a row


def _run_row_by_row(job: Job, unit: Unit) -> UnitResult:
    """Do a unit at which processes die, on any machine of the cluster."""
    results: list[UnitResult] = []
    events = Events(on_result=results.append, on_rows=lambda rows: None, on_message=lambda line: None)
    local_runner.run(job, [unit], [job.options["device"]], events, row_by_row=True)
    return results[0]


def _attempts_folder(job: Job) -> Path:
    """A folder with a file for each unit that an actor has begun and not finished."""
    return Path(job.folder, JOB_FOLDER, "tries")


def _count_attempt(path: Path) -> int:
    """Add an attempt to this file and return the number before. Raises WriteError."""
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            before = file.tell()
            file.write(b".")
    except OSError as error:
        raise WriteError(f"{path}: cannot write: {error.strerror}") from None
    return before


def _silence_ray() -> None:
    """Keep Ray's logs off standard error; they are in its files. What cannot be written there is no news either."""
    logging.raiseExceptions = False
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setLevel(logging.CRITICAL)


def _silence_threads() -> None:
    """Say nothing of threads of Ray that fail because their cluster ends before them."""
    report = threading.excepthook

    def report_others(failure: threading.ExceptHookArgs) -> None:
        if not (failure.thread and failure.thread.name.startswith("ray")):
            report(failure)

    threading.excepthook = report_others


@contextlib.contextmanager
def _closed_stderr() -> Iterator[None]:
    """Nothing on the standard error of this process, also from C++: Ray says there that it was told to say nothing."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _check_reachable(address: str | None) -> None:
    """Raise OSError if nothing answers at HOST:PORT; Ray itself would try for minutes. "auto" is the cluster that this
    machine remembers, which may be gone."""
    known = _remembered_cluster() if address == "auto" else address
    found = re.fullmatch(r"(?:ray://)?(.+):(\d+)", known or "")
    if not found:
        return
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), timeout=10).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"{known} does not answer: {reason}; start it, or leave --address out") from None


def _check_room() -> None:
    """Raise InputError if the folder of our own cluster is full: Ray would try for ever."""
    folder = next(path for path in (_ray_folder(), *_ray_folder().parents) if path.exists())
    if (free := shutil.disk_usage(folder).free) < ROOM:
        room = f"{folder} has {free // 10**6} MB left, and Ray needs {ROOM // 10**6}"
        raise InputError(f"--engine ray: {room}; make room, or name another folder in RAY_TMPDIR")


def _ray_folder() -> Path:
    """Where Ray keeps its logs, what does not fit into memory, and the address of the last cluster."""
    return Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray")


def _remembered_cluster() -> str | None:
    """The address of the cluster that was last started on this machine, where Ray finds it for "auto"."""
    path = _ray_folder() / "ray_current_cluster"
    return os.environ.get("RAY_ADDRESS") or (path.read_text(encoding="utf-8").strip() if path.is_file() else None)


def _unwrap(error: BaseException | None) -> EditGecError | None:
    """Our own error, which Ray may have wrapped several times."""
    while error is not None and not isinstance(error, EditGecError):
        error = getattr(error, "cause", None) or error.__cause__
    return error


def _count_actors(options: dict[str, Any]) -> int:
    """How many actors fit into the cluster beside a task of the other stages, without which they would only wait."""
    import ray

    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    needed = _resources(options)
    fit = int((there.get("CPU", 0) - CPU_STAGE_CORES) // needed["num_cpus"])
    return max(1, min(fit, int(there.get("GPU", 0))) if "num_gpus" in needed else fit)


def _resources(options: dict[str, Any]) -> dict[str, Any]:
    """The resources that a process with the model reserves."""
    return {"num_cpus": options["threads"] or 1} if options["device"] == "cpu" else {"num_gpus": 1, "num_cpus": 1}


def _build_pipeline(job: Job, units: Sequence[Unit], actors: int) -> Any:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False  # ours counts rows
    without_model = replace(job, options={**job.options, "device": "cpu", "threads": 1, "target": None})
    empty = {"works": b"", "lost": False, "refused": "", "failed": "", "result": ""}
    rows = [{"unit": pickle.dumps(unit), **empty} for unit in units]
    data: Any = ray.data.from_items(rows, override_num_blocks=min(len(rows), MAX_BLOCKS))
    data = data.map(LoadStage(without_model).__call__, num_cpus=CPU_STAGE_CORES)
    data = data.map(
        InferStage,
        fn_constructor_args=(job,),
        compute=ray.data.ActorPoolStrategy(min_size=min(actors, _count_actors(job.options)), max_size=actors),
        **_resources(job.options),
    )
    return data.map(SaveStage(without_model).__call__, num_cpus=CPU_STAGE_CORES)
