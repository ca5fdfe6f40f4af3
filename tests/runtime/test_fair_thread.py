"""The thread for work in Python: a short text waits for one step of a long one, and nobody starves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.runtime.fair_thread import Account, FairThread, Steps


def run(work: Callable[[FairThread], Awaitable[Any]]) -> Any:
    async def all_of_it() -> Any:
        thread = FairThread("test")
        try:
            return await work(thread)
        finally:
            await thread.close()

    return asyncio.run(all_of_it())


def count(log: list[str], name: str, steps: int) -> Steps[int]:
    for _ in range(steps):
        log.append(name)
        yield
    return steps


@given(texts=st.lists(st.integers(0, 5), max_size=6))
def test_everything_is_done_in_the_order_of_its_steps(texts: list[int]) -> None:
    log: list[str] = []

    async def work(thread: FairThread) -> list[int]:
        asked = (thread.run_steps(count(log, str(n), steps), Account()) for n, steps in enumerate(texts))
        return list(await asyncio.gather(*asked))

    assert run(work) == texts
    assert sorted(log) == sorted(str(n) for n, steps in enumerate(texts) for _ in range(steps))


def test_a_short_text_waits_for_the_step_in_progress_only() -> None:
    log: list[str] = []
    begun, go = threading.Event(), threading.Event()

    def long() -> Steps[None]:
        begun.set()
        go.wait(10)
        for _ in range(20):
            log.append("long")
            yield

    async def work(thread: FairThread) -> None:
        longs = [asyncio.create_task(thread.run_steps(long(), Account(needs=1.0))) for _ in range(5)]
        await asyncio.to_thread(begun.wait, 10)
        short = asyncio.create_task(thread.run_steps(count(log, "short", 3), Account()))
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*longs, short)

    run(work)
    assert log.index("short") == 1 and log.count("long") == 100


def test_errors_and_cancelling_concern_one_text() -> None:
    def fail() -> Steps[None]:
        yield
        raise ValueError("of this text")

    async def work(thread: FairThread) -> str:
        log: list[str] = []
        endless = asyncio.create_task(thread.run_steps(count(log, "x", 10**9), Account()))
        with pytest.raises(ValueError, match="of this text"):
            await thread.run_steps(fail(), Account())
        endless.cancel()
        await asyncio.gather(endless, return_exceptions=True)
        return await thread.run(lambda: "done", Account())

    assert run(work) == "done"


def test_closing_cancels_what_waits() -> None:
    async def work(thread: FairThread) -> None:
        asked = [asyncio.create_task(thread.run_steps(count([], "x", 10**9), Account())) for _ in range(3)]
        await asyncio.sleep(0.05)
        await thread.close()
        found = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 5)
        assert all(isinstance(each, asyncio.CancelledError) for each in found)

    run(work)
