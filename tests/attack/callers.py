"""Many callers of one corrector that give up, or are processes: `python tests/attack/callers.py --texts 400`

The real network. (1) Tasks of one event loop are cancelled at random moments while others wait: these get what they get
alone, and nothing is left waiting. (2) Threads, processes that were forked after the model was used, and processes that
get the corrector pickled correct the same texts at the same time. Prints counts; status 1 where a result differs.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from edit_gec.corrector import Corrector
from edit_gec.runtime.async_corrector import AsyncCorrector

PROSE = Path(__file__).parent.parent.parent / "data" / "samples" / "prose.txt"
WRONG = ["She go home.", "I recieve teh letter becuase its late.", "They was tired , and him too.", "It dont work yet."]
CORRECTOR = Corrector.load(threads=1)  # forked processes have this one


def make_texts(count: int) -> list[str]:
    """Texts of one to twelve sentences, every third of them wrong."""
    right = [line for line in PROSE.read_text(encoding="utf-8").split("\n") if line.strip()]
    chance = random.Random(1)
    return [
        " ".join(chance.choice(WRONG if chance.random() < 0.3 else right) for _ in range(chance.randrange(1, 13)))
        + f" Number {n} are last."
        for n in range(count)
    ]


def correct(text: str) -> str:
    return CORRECTOR.correct(text).corrected


def correct_with(corrector: Corrector, text: str) -> str:
    return corrector.correct(text).corrected


async def cancel(texts: list[str], expected: list[str]) -> tuple[int, int, int]:
    """How many of the calls were cancelled, gave another result than alone, and were left waiting."""
    chance = random.Random(2)
    async with AsyncCorrector(CORRECTOR) as corrector:
        tasks = [asyncio.create_task(corrector.correct(text, explain=n % 4 == 0)) for n, text in enumerate(texts)]
        for task in chance.sample(tasks, len(tasks) // 2):
            await asyncio.sleep(chance.random() * 0.02)
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        cancelled = sum(isinstance(each, asyncio.CancelledError) for each in found)
        wrong = sum(
            not isinstance(each, asyncio.CancelledError) and getattr(each, "corrected", each) != right
            for each, right in zip(found, expected, strict=True)
        )
        again = [(await corrector.correct(text)).corrected for text in texts[:20]]
        wrong += sum(one != other for one, other in zip(again, expected, strict=False))
        left = corrector.batcher.waiting + len(corrector.batcher.groups) + len(corrector.thread.queue)
        left += len(asyncio.all_tasks()) - 1 - len(corrector.batcher.loops)
    return cancelled, wrong, left


def compare(name: str, pool: Executor, texts: list[str], expected: list[str]) -> bool:
    """Whether workers give what one alone gives."""
    found = list(pool.map(correct, texts, chunksize=10))
    differing = sum(one != other for one, other in zip(found, expected, strict=True))
    print(f"{name}: {len(texts):,} texts, {differing} differ", flush=True)
    return differing == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--workers", type=int, default=4)
    arguments = parser.parse_args()
    texts = make_texts(arguments.texts)
    expected = list(map(correct, texts))
    cancelled, wrong, left = asyncio.run(cancel(texts, expected))
    print(f"one event loop: {len(texts):,} calls, {cancelled} cancelled, {wrong} others differ, {left} left waiting")
    passed = not wrong and not left and cancelled > len(texts) // 4
    with ThreadPoolExecutor(4 * arguments.workers) as threads:
        passed &= compare(f"{4 * arguments.workers} threads", threads, texts, expected)
    with ProcessPoolExecutor(arguments.workers, multiprocessing.get_context("fork")) as processes:
        passed &= compare(f"{arguments.workers} forked processes", processes, texts, expected)
    with ProcessPoolExecutor(arguments.workers, multiprocessing.get_context("spawn")) as processes:
        found = list(processes.map(correct_with, [CORRECTOR] * len(texts), texts, chunksize=len(texts) // 8 or 1))
        differing = sum(one != other for one, other in zip(found, expected, strict=True))
        print(f"{arguments.workers} processes with a pickled corrector: {len(texts):,} texts, {differing} differ")
    return int(not passed or differing > 0)


if __name__ == "__main__":
    sys.exit(main())
