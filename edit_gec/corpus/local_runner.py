"""One machine: a process for each device, or for each core, that reads, corrects and writes unit after unit.

The driver hands out units and keeps the journal. A worker that dies (out of memory, a signal) is replaced and its unit
done again, the third time a row at a time: the row at which workers die again and again is set aside with the reason.
Workers end when the driver is gone.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from edit_gec.corpus.job import Job, Work
from edit_gec.corpus.records import Bad, Chunk, Unit
from edit_gec.errors import EditGecError, InputError

CAREFUL = 2  # after so many lost workers a unit is done a row at a time
FATAL = 2  # so many workers that died at a row


@dataclass
class Task:
    """A unit, how many workers died at it, and at which of its rows."""

    unit: Unit
    lost: int = 0
    deaths: Counter[int] = field(default_factory=Counter)


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    task: Task | None = None
    row: int | None = None  # that it is at, when it goes row by row
    ready: bool = False


def run(
    job: Job,
    units: Sequence[Unit],
    options: Sequence[dict[str, Any]],
    remember: int,
    on_result: Callable[[dict[str, Any]], None],
    on_rows: Callable[[int], None],
    say: Callable[[str], None],
    careful: bool = False,
) -> None:
    """Do all units with one worker for each of `options`, which are those of Corrector.load.

    remember: sentences whose changes a worker knows by heart.
    careful: a row at a time from the first, as where workers have died.
    on_result gets the journal's line of each unit that is done; on_rows a number of rows as they are corrected.
    Raises InputError when workers cannot begin, or cannot write; RuntimeError with the traceback of a fault of ours.
    """
    waiting = deque(Task(unit, CAREFUL if careful else 0) for unit in units)
    workers: dict[int, _Worker] = {}
    count = min(len(options), len(waiting))
    try:
        for n in range(count):
            workers[n] = _start(job, options[n], remember)
        stillborn = 0
        while workers:
            for n in _speaking(workers):
                worker = workers[n]
                try:
                    kind, value = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    stillborn += not worker.ready
                    say(_obituary(worker))
                    if stillborn > len(options) + CAREFUL:
                        raise InputError("workers end before they begin; see above, or try --workers 1") from None
                    _requeue(worker, waiting)
                    workers[n] = _start(job, options[n], remember)
                    continue
                if kind == "refused":
                    raise InputError(value)
                if kind == "failed":
                    raise RuntimeError(f"a worker failed:\n{value}")
                worker.ready = True
                if kind == "row":
                    worker.row = value
                elif kind == "rows":
                    on_rows(value)
                elif kind == "done":
                    on_result({**value, "workers": count})
                if kind in ("ready", "done"):
                    worker.task, worker.row = waiting.popleft() if waiting else None, None
                    worker.pipe.send(worker.task)
                    if worker.task is None:
                        worker.process.join()
                        del workers[n]
    finally:
        for worker in workers.values():
            worker.process.terminate()
        for worker in workers.values():
            worker.process.join()


def _start(job: Job, options: dict[str, Any], remember: int) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, job, options, remember), daemon=True)
    process.start()
    theirs.close()  # or its end would not be seen
    return _Worker(process, ours)


def _speaking(workers: dict[int, _Worker]) -> list[int]:
    """Workers that have something to say, or have died."""
    spoken = wait([worker.pipe for worker in workers.values()])
    return [n for n, worker in workers.items() if worker.pipe in spoken]


def _obituary(worker: _Worker) -> str:
    code = worker.process.exitcode
    cause = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    at = f" at {worker.task.unit.part}" if worker.task else ""
    return f"edit-gec: a worker died{at} ({cause}); its rows are done again"


def _requeue(worker: _Worker, waiting: deque[Task]) -> None:
    task = worker.task
    if task is None:
        return
    task.lost += 1
    if worker.row is not None:
        task.deaths[worker.row] += 1
    elif task.lost > CAREFUL + FATAL and not task.deaths:
        raise InputError(f"{task.unit.path}: workers die while they read it ({task.unit.part}); is memory short?")
    waiting.appendleft(task)


# ---------------------------------------------------------------- the worker


def _work(pipe: Connection, job: Job, options: dict[str, Any], remember: int) -> None:
    """Units until there are no more, or nobody who gives them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the driver ends its workers
    try:
        from edit_gec.corrector import Corrector
        from edit_gec.runtime.dedup import DeduplicatingCorrector

        once = DeduplicatingCorrector(Corrector.load(**options), remember)
        job.warm_up()
        pipe.send(("ready", None))
        while (task := pipe.recv()) is not None:
            watch = _row_by_row(pipe, task) if task.lost >= CAREFUL else None
            works = (job.infer(work, once) for work in job.load(task.unit, once, watch))
            pipe.send(("done", job.save(task.unit, _counted(works, pipe), once)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(1)  # the driver is gone
    except EditGecError as error:
        with contextlib.suppress(OSError):
            pipe.send(("refused", str(error)))
    except MemoryError:
        os._exit(1)  # as if it had been killed for it: another one tries
    except Exception:
        with contextlib.suppress(OSError):
            pipe.send(("failed", traceback.format_exc()))


def _counted(works: Iterator[Work], pipe: Connection) -> Iterator[Work]:
    for work in works:
        yield work
        pipe.send(("rows", len(work.chunk.texts) + len(work.chunk.bad)))


def _row_by_row(pipe: Connection, task: Task) -> Callable[[Chunk], Iterator[Chunk]]:
    """Tells the driver each row before it is done; leaves out those at which workers died."""

    def watch(chunk: Chunk) -> Iterator[Chunk]:
        yield Chunk(chunk.rows[:0], [], [], chunk.bad)
        for n, (text, number) in enumerate(zip(chunk.texts, chunk.numbers, strict=True)):
            if task.deaths[number] >= FATAL:
                bad = Bad(number, f"killed {task.deaths[number]} workers", text or "")
                yield Chunk(chunk.rows[:0], [], [], [bad])
            else:
                pipe.send(("row", number))
                yield Chunk(chunk.rows[n : n + 1], [text], [number])

    return watch
