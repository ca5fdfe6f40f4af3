"""Dynamic batching: sentences of all clients that wait together are predicted together.

    client A  a1 a2 a3 a4 ...            batch 1   a1 b1 c1 a2 ...
    client B  b1                  ->     batch 2   a3 a4 ...
    client C  c1

A batch takes one sentence of each text in turn, so that a short text never waits for a long one. While the model is
busy sentences gather by themselves; when it is idle the first one waits at most `LATENCY_S` for company. Too many
waiting sentences are refused at the door (`Busy`), because a queue that only grows answers nobody in time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from edit_gec.edits import Change
from edit_gec.regions import Clock, listen
from edit_gec.server.stopwatch import Timing, timing

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.decode import Options
    from edit_gec.server.metrics import Metrics
    from edit_gec.tokens import Pieces

LATENCY_S = 0.003  # how long a lone sentence waits for others


class Busy(Exception):
    """More sentences wait than can be answered in time."""


@dataclass(frozen=True)
class Found:
    """What changes in a sentence: the drafter's opinion, and the target's where there is one."""

    drafted: tuple[Change, ...]
    verified: tuple[Change, ...] | None


Result = tuple[Found, Timing]  # the time is that of the batch that the sentence was in


@dataclass(frozen=True, eq=False)
class Item:
    """One sentence, or window of one, and where its changes will be: `done` gives them with its batch's timing."""

    pieces: Pieces
    done: asyncio.Future[Result]


@dataclass(frozen=True, eq=False)
class Group:
    """The waiting sentences of one text, to be decided with the same thresholds."""

    options: Options
    items: deque[Item]


class Batcher:
    """One model in one thread, and the queue before it. To be used from one event loop; `close` it in the end."""

    def __init__(self, corrector: Corrector, metrics: Metrics | None, *, max_waiting: int) -> None:
        self.corrector, self.metrics, self.max_waiting = corrector, metrics, max_waiting
        self.groups: deque[Group] = deque()
        self.waiting = 0
        self.wake = asyncio.Event()
        self.thread = ThreadPoolExecutor(1, "model")
        self.loop = asyncio.create_task(self._serve())

    def submit(self, sentences: Sequence[Pieces], options: Options) -> list[asyncio.Future[Result]]:
        """Put the sentences of one text in the queue. Cancel a future whose result nobody wants any more.

        Raises Busy where they would not fit; a text that finds the queue empty always does.
        """
        if self.waiting and self.waiting + len(sentences) > self.max_waiting:
            raise Busy
        futures = [asyncio.get_running_loop().create_future() for _ in sentences]
        if sentences:
            self.groups.append(Group(options, deque(map(Item, sentences, futures))))
            self._count(len(sentences))
            self.wake.set()
        return futures

    async def close(self) -> None:
        """Stop; what still waits is cancelled."""
        self.loop.cancel()
        await asyncio.gather(self.loop, return_exceptions=True)
        for group in self.groups:
            for item in group.items:
                item.done.cancel()
        await asyncio.to_thread(self.thread.shutdown)

    def _count(self, more: int) -> None:
        self.waiting += more
        if self.metrics:
            self.metrics.waiting.set(self.waiting)

    async def _serve(self) -> None:
        while True:
            if not self.groups:
                self.wake.clear()
                await self.wake.wait()
                await asyncio.sleep(LATENCY_S)
            options, batch = self._take()
            if batch:
                await self._predict(options, batch)

    def _take(self) -> tuple[Options, list[Item]]:
        """The next batch: one sentence of each text in turn, oldest text first, all with the thresholds of that one."""
        batch: list[Item] = []
        options = self.groups[0].options
        while len(batch) < self.corrector.batch_size:
            group = next((group for group in self.groups if group.options == options), None)
            if group is None:
                break
            self.groups.remove(group)
            item = group.items.popleft()
            self._count(-1)
            if group.items:
                self.groups.append(group)
            if not item.done.cancelled():
                batch.append(item)
        return options, batch

    async def _predict(self, options: Options, batch: list[Item]) -> None:
        """Predict a batch; where that fails each sentence is tried alone, so that it fails for its own text only."""
        try:
            found, timing = await asyncio.get_running_loop().run_in_executor(self.thread, self._run, options, batch)
        except Exception as error:
            if len(batch) > 1:
                for item in batch:
                    await self._predict(options, [item])
            elif not batch[0].done.cancelled():
                batch[0].done.set_exception(error)
            return
        if self.metrics:
            self.metrics.batch(len(batch), timing)
        for item, each in zip(batch, found, strict=True):
            if not item.done.cancelled():
                item.done.set_result((each, timing))

    def _run(self, options: Options, batch: list[Item]) -> tuple[list[Found], Timing]:
        begun = perf_counter()
        corrector, sentences = self.corrector, [item.pieces for item in batch]
        with listen(clock := Clock()):
            predictions, encoded = corrector.draft(sentences, options)
            drafted = list(map(tuple, corrector.changes(sentences, predictions, options)))
        times = timing(clock, perf_counter() - begun)
        if corrector.verifier is None:
            return [Found(each, None) for each in drafted], times
        begun = perf_counter()
        verified = map(tuple, corrector.verified(sentences, predictions, encoded))
        found = [Found(*each) for each in zip(drafted, verified, strict=True)]
        return found, replace(times, verify_s=perf_counter() - begun)
