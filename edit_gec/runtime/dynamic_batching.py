"""Dynamic batching: waiting sentences of all clients are predicted together.

    client A  a1 a2 a3 a4 ...            batch 1   a1 b1 c1 a2 ...
    client B  b1                  ->     batch 2   a3 a4 ...
    client C  c1

A batch takes the sentence that leaves its text with the least, so a short text never waits for a long one, only for
the batch in progress. That is small unless the network gains from batches. While the model is busy, sentences gather.
When it is idle and gains from batches, the first sentence waits at most `LATENCY_S` for others. When too many wait, new
ones are refused (`Busy`): a queue that only grows delays every answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from edit_gec.runtime.timing import BatchTiming
from edit_gec.tracing import Clock, listen

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.editing.predictor import Window, WindowChanges
    from edit_gec.runtime.metrics import Metrics

LATENCY_S = 0.003  # how long a lone sentence waits for others
ENOUGH_PIECES = 190  # for a batch that brings nothing; more would let others wait


class Busy(Exception):
    """More sentences wait than can be answered in time."""


Result = tuple["WindowChanges", BatchTiming]  # the time is that of the batch that the sentence was in


@dataclass(frozen=True, eq=False)
class Item:
    """One sentence, or a window of one; the future `done` gives its changes and the timing of its batch."""

    window: Window
    done: asyncio.Future[Result]


@dataclass(eq=False)
class Group:
    """The waiting sentences of one text, and the corrector whose thresholds decide about them.

    `read` are its pieces that the model has read, with those that it began with.
    """

    corrector: Corrector
    items: deque[Item]
    read: int


def _ahead(group: Group) -> int:
    """The pieces of a text that are read once its next sentence is."""
    return group.read + len(group.items[0].window.pieces)


class Batcher:
    """A model, its threads and its queue. Use it from one event loop, and `close` it.

    A small model runs in one thread per core; a large one uses all cores for each batch (editing/workers.py explains).
    """

    def __init__(self, corrector: Corrector, metrics: Metrics | None, *, max_waiting: int) -> None:
        from edit_gec.backends.network import is_small  # imports numpy

        self.corrector = corrector
        self.metrics = metrics
        self.max_waiting = max_waiting
        self.groups: list[Group] = []  # in the order in which they came
        self.read = 0  # pieces of the group whose sentence was taken last: where later ones begin
        self.waiting = 0
        self.wake = asyncio.Event()
        self.gains = corrector.edit5.network.gains_from_batches
        small = is_small(corrector.edit5.network.config)
        self.workers = corrector.workers if small else 1
        threads = 1 if small else corrector.workers
        self.threads = ThreadPoolExecutor(
            self.workers, "model", initializer=corrector.edit5.network.set_threads, initargs=(threads,)
        )
        self.loops = [asyncio.create_task(self._serve()) for _ in range(self.workers)]

    def submit(self, sentences: Sequence[Window], corrector: Corrector) -> list[asyncio.Future[Result]]:
        """Put the sentences of one text in the queue; `corrector` is ours, or a copy of it with other thresholds.

        Cancel a future whose result is no longer needed. Raises Busy if the sentences do not fit; a text always fits
        into an empty queue.
        """
        if self.waiting and self.waiting + len(sentences) > self.max_waiting:
            raise Busy
        futures = [asyncio.get_running_loop().create_future() for _ in sentences]
        if sentences:
            self.groups.append(Group(corrector, deque(map(Item, sentences, futures)), self.read))
            self._count(len(sentences))
            self.wake.set()
        return futures

    async def close(self) -> None:
        """Stop, and cancel what still waits."""
        for loop in self.loops:
            loop.cancel()
        await asyncio.gather(*self.loops, return_exceptions=True)
        for group in self.groups:
            for item in group.items:
                item.done.cancel()
        await asyncio.to_thread(self.threads.shutdown)

    def _count(self, more: int) -> None:
        self.waiting += more
        if self.metrics:
            self.metrics.waiting.set(self.waiting)

    async def _serve(self) -> None:
        while True:
            if not self.groups:
                self.wake.clear()
                await self.wake.wait()
                if self.gains:
                    await asyncio.sleep(LATENCY_S)
                continue
            corrector, batch = self._take()
            if batch:
                await self._predict(corrector, batch)

    def _take(self) -> tuple[Corrector, list[Item]]:
        """The next batch: sentences of the texts that then have the least, all with the thresholds of the first.

        A thread takes no more than its share of the queue.
        """
        batch: list[Item] = []
        first = min(self.groups, key=_ahead).corrector
        most = min(self.corrector.batch_size, -(-self.waiting // self.workers))
        pieces = 0
        while len(batch) < most and (pieces < ENOUGH_PIECES or self.gains):
            alike = [group for group in self.groups if _agree(group.corrector, first)]
            if not alike:
                break
            group = min(alike, key=_ahead)
            item = group.items.popleft()
            self._count(-1)
            if not group.items:
                self.groups.remove(group)
            if not item.done.cancelled():
                batch.append(item)
                pieces += len(item.window.pieces)
                self.read = group.read
                group.read += len(item.window.pieces)
        return first, batch

    async def _predict(self, corrector: Corrector, batch: list[Item]) -> None:
        """Predict a batch. If that fails, each sentence is tried alone, so that only the text at fault fails."""
        try:
            found, timing = await asyncio.get_running_loop().run_in_executor(self.threads, self._run, corrector, batch)
        except Exception as error:
            if len(batch) > 1:
                for item in batch:
                    await self._predict(corrector, [item])
            elif not batch[0].done.cancelled():
                batch[0].done.set_exception(error)
            return
        if self.metrics:
            self.metrics.batch(len(batch), timing)
        for item, each in zip(batch, found, strict=True):
            if not item.done.cancelled():
                item.done.set_result((each, timing))

    def _run(self, corrector: Corrector, batch: list[Item]) -> tuple[list[WindowChanges], BatchTiming]:
        begun = perf_counter()
        windows = [item.window for item in batch]
        found: dict[int, WindowChanges] = {}
        with listen(clock := Clock()):
            for part in corrector.edit5.group_by_length([window.pieces for window in windows], len(windows)):
                changes = corrector.predictor.predict([windows[n] for n in part])
                found.update(zip(part, changes, strict=True))
        return [found[n] for n in range(len(batch))], BatchTiming.from_clock(clock, perf_counter() - begun)


def _agree(one: Corrector, other: Corrector) -> bool:
    """Whether two correctors of one model decide alike, so that what they read may be in one batch."""
    return (one.edit5.thresholds, one.min_confidence) == (other.edit5.thresholds, other.min_confidence)
