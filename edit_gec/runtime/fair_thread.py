"""One thread for the work of many texts: next comes a step of the text that has had the least of its time.

    text A  |=====|     |=====|     |=====|        a long text, in steps
    text B        |=|         |=|                  a short one waits for one step at most

A text that comes later begins with what the last one has had, so none starves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")
Steps = Generator[None, None, Result]  # it yields between its steps


@dataclass
class Account:
    """The seconds of the thread that a text has had, with those that it begins with; and those that it surely needs,
    by which a short text comes before long ones."""

    seconds: float = 0.0
    needs: float = 0.0


@dataclass(order=True)
class _Task:
    place: float  # seconds of its account, with those that it surely needs
    number: int
    steps: Steps[Any] = field(compare=False)
    account: Account = field(compare=False)
    done: asyncio.Future[Any] = field(compare=False)


class FairThread:
    """The thread and its queue. Use it from one event loop, and `close` it."""

    def __init__(self, name: str) -> None:
        self.pool = ThreadPoolExecutor(1, name)
        self.queue: list[_Task] = []
        self.numbers = count()
        self.clock = 0.0  # what the last text had had when its step began
        self.serving: asyncio.Task[None] | None = None
        self.is_closed = False

    async def run(self, work: Callable[[], Result], account: Account) -> Result:
        """The result of work that is one step."""

        def steps() -> Steps[Result]:
            yield from ()
            return work()

        return await self.run_steps(steps(), account)

    async def run_steps(self, steps: Steps[Result], account: Account) -> Result:
        """The result of work in steps, for the text of this account. Cancelling the call ends it after its step."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        account.seconds = max(account.seconds, self.clock)
        heappush(self.queue, _Task(account.seconds + account.needs, next(self.numbers), steps, account, done))
        if self.serving is None or self.serving.done():
            self.serving = loop.create_task(self._serve())
        return await done

    async def close(self) -> None:
        """Stop after the step in progress, and cancel what waits."""
        self.is_closed = True
        await asyncio.to_thread(self.pool.shutdown)
        while self.queue:
            self.queue.pop().done.cancel()

    async def _serve(self) -> None:
        while self.queue and not self.is_closed:
            task = heappop(self.queue)
            if task.done.done():  # cancelled
                continue
            self.clock = task.account.seconds
            begun = perf_counter()
            try:
                ended, result = await asyncio.get_running_loop().run_in_executor(self.pool, _advance, task.steps)
            except Exception as error:
                if not task.done.done():
                    task.done.set_exception(error)
                continue
            finally:
                task.account.seconds += perf_counter() - begun
                task.place = task.account.seconds + task.account.needs
            if not ended and self.is_closed:
                task.done.cancel()
            elif not ended:
                heappush(self.queue, task)
            elif not task.done.done():
                task.done.set_result(result)


def _advance(steps: Steps[Result]) -> tuple[bool, Result | None]:
    """Take one step; whether it was the last one, and the result if so."""
    try:
        next(steps)
    except StopIteration as end:
        return True, end.value
    return False, None
