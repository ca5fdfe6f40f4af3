"""One machine: a process per device, or per core, that reads, corrects and writes unit after unit.

The driver hands out units and passes on their results. A worker that dies (out of memory, a signal) is replaced, and
its unit is repeated. After two deaths it is repeated row by row: a row at which two workers die is set aside with the
reason. Workers end when the driver is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from edit_gec.corpus.job import ChunkWork, Events, Job, Splitter
from edit_gec.corpus.records import BadRow, Chunk, Unit, UnitResult
from edit_gec.errors import EditGecError, InputError

DEATHS_BEFORE_ROWS = 2  # deaths of workers after which a unit is done row by row
DEATHS_PER_ROW = 2  # deaths of workers after which a row is set aside


class MessageKind(Enum):
    """What a worker tells the driver."""

    READY = "ready"  # the model is loaded
    ROW = "row"  # the number of the row that it begins
    ROWS = "rows"  # how many rows are corrected
    DONE = "done"  # the result of the unit
    REFUSED = "refused"  # the message of an error of the input
    FAILED = "failed"  # the traceback of a fault of the program


class Message(NamedTuple):
    """A message of a worker to the driver."""

    kind: MessageKind
    value: Any = None


@dataclass
class Task:
    """A unit, and how many workers died at it and at each of its rows."""

    unit: Unit
    deaths: int = 0
    row_deaths: Counter[int] = field(default_factory=Counter)

    @property
    def is_row_by_row(self) -> bool:
        """Whether the rows of the unit are done one by one."""
        return self.deaths >= DEATHS_BEFORE_ROWS


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    task: Task | None = None
    row: int | None = None  # the current row, if rows are done one by one
    is_ready: bool = False


def run(job: Job, units: Sequence[Unit], devices: Sequence[str], events: Events, *, row_by_row: bool = False) -> None:
    """Do all units with one worker for each of `devices`.

    With `row_by_row`, rows are done one by one from the start. Raises InputError if workers cannot start or write, and
    RuntimeError with the traceback of a bug.
    """
    driver = _Driver(job, units, devices, events)
    if row_by_row:
        for task in driver.waiting:
            task.deaths = DEATHS_BEFORE_ROWS
    try:
        driver.run()
    finally:
        driver.stop()


class _Driver:
    """The workers, the waiting units, and the task of each worker."""

    def __init__(self, job: Job, units: Sequence[Unit], devices: Sequence[str], events: Events) -> None:
        self.job = job
        self.devices = devices
        self.events = events
        self.waiting = deque(Task(unit) for unit in units)
        self.worker_count = min(len(devices), len(units))
        self.workers: dict[int, _Worker] = {}
        self.failed_starts = 0

    def run(self) -> None:
        """Start the workers and listen to them until all units are done."""
        for number in range(self.worker_count):
            self._start(number)
        while self.workers:
            for number in self._wait():
                try:
                    message: Message = self.workers[number].pipe.recv()
                except (EOFError, OSError):
                    self._replace(number)
                else:
                    self._handle(number, message)

    def stop(self) -> None:
        """End all workers."""
        for worker in self.workers.values():
            worker.process.terminate()
        for worker in self.workers.values():
            worker.process.join()

    def _start(self, number: int) -> None:
        options = {**self.job.options, "device": self.devices[number]}
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        arguments = (theirs, replace(self.job, options=options))
        process = context.Process(target=_run_worker, args=arguments, daemon=True)
        process.start()
        theirs.close()  # otherwise the end of the process would not close the pipe
        self.workers[number] = _Worker(process, ours)

    def _wait(self) -> list[int]:
        """The workers that have sent a message or have died."""
        ready = wait([worker.pipe for worker in self.workers.values()])
        return [number for number, worker in self.workers.items() if worker.pipe in ready]

    def _handle(self, number: int, message: Message) -> None:
        worker = self.workers[number]
        if message.kind is MessageKind.REFUSED:
            raise InputError(message.value)
        if message.kind is MessageKind.FAILED:
            raise RuntimeError(f"a worker failed:\n{message.value}")
        worker.is_ready = True
        if message.kind is MessageKind.ROW:
            worker.row = message.value
        elif message.kind is MessageKind.ROWS:
            self.events.on_rows(message.value)
        elif message.kind is MessageKind.DONE:
            result: UnitResult = message.value
            self.events.on_result({**result, "workers": self.worker_count})
        if message.kind in (MessageKind.READY, MessageKind.DONE):
            self._assign(number)

    def _assign(self, number: int) -> None:
        """Give a worker its next unit, or let it end."""
        worker = self.workers[number]
        worker.task = self.waiting.popleft() if self.waiting else None
        worker.row = None
        with suppress(OSError):  # a worker that has just died is replaced when its pipe is read
            worker.pipe.send(worker.task)
        if worker.task is None:
            worker.process.join()
            del self.workers[number]

    def _replace(self, number: int) -> None:
        """Replace a worker that died and repeat its unit. Raises InputError if workers die before they are ready."""
        worker = self.workers[number]
        worker.process.join()
        self.failed_starts += not worker.is_ready
        self.events.on_message(_describe_death(worker))
        if self.failed_starts > len(self.devices) + DEATHS_BEFORE_ROWS:
            raise InputError("workers exit before they are ready; see above, or try --workers 1") from None
        if worker.task is not None:
            _count_death(worker.task, worker.row)
            self.waiting.appendleft(worker.task)
        self._start(number)


def _describe_death(worker: _Worker) -> str:
    code = worker.process.exitcode
    cause = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    at = f" at {worker.task.unit.part}" if worker.task else ""
    return f"edit-gec: a worker died{at} ({cause}); its rows are done again"


def _count_death(task: Task, row: int | None) -> None:
    """Count a death, at the row if it is known. Raises InputError if workers die before any row."""
    task.deaths += 1
    if row is not None:
        task.row_deaths[row] += 1
    elif task.deaths > DEATHS_BEFORE_ROWS + DEATHS_PER_ROW and not task.row_deaths:
        raise InputError(
            f"{task.unit.path}: workers die while they read it ({task.unit.part}); is there enough memory?"
        )


# ---------------------------------------------------------------- the worker


def _run_worker(pipe: Connection, job: Job) -> None:
    """Do units until there are no more or the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the driver ends its workers
    try:
        corrector = job.load_corrector()
        job.warm_up()
        pipe.send(Message(MessageKind.READY))
        for task in iter(pipe.recv, None):
            split = _row_splitter(pipe, task) if task.is_row_by_row else None
            works = (job.infer(work, corrector) for work in job.load(task.unit, corrector, split))
            pipe.send(Message(MessageKind.DONE, job.save(task.unit, _count_rows(works, pipe), corrector)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(1)  # the driver is gone
    except EditGecError as error:
        with suppress(OSError):
            pipe.send(Message(MessageKind.REFUSED, str(error)))
    except MemoryError:
        os._exit(1)  # as if the system had killed it: another worker tries
    except Exception:
        with suppress(OSError):
            pipe.send(Message(MessageKind.FAILED, traceback.format_exc()))


def _count_rows(works: Iterator[ChunkWork], pipe: Connection) -> Iterator[ChunkWork]:
    """The same chunks; the driver is told the number of rows of each."""
    for work in works:
        yield work
        pipe.send(Message(MessageKind.ROWS, len(work.chunk.texts) + len(work.chunk.bad)))


def _row_splitter(pipe: Connection, task: Task) -> Splitter:
    """Splits a chunk into rows. The driver learns of each before it is done. Rows that kill workers are set aside."""

    def split(chunk: Chunk) -> Iterator[Chunk]:
        yield Chunk(chunk.rows[:0], [], [], chunk.bad)
        for place, (text, number) in enumerate(zip(chunk.texts, chunk.numbers, strict=True)):
            deaths = task.row_deaths[number]
            if deaths >= DEATHS_PER_ROW:
                yield Chunk(chunk.rows[:0], [], [], [BadRow(number, f"killed {deaths} workers", text or "")])
            else:
                pipe.send(Message(MessageKind.ROW, number))
                yield Chunk(chunk.rows[place : place + 1], [text], [number])

    return split
