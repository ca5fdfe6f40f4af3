"""Time against input: seconds from one sentence to ten thousand, and from five pieces to two hundred.

A slope of 1 in doubly logarithmic scale is linear; below 1, larger inputs are cheaper by the piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import median
from typing import Any

from edit_gec.errors import InputError
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.performance.peers import Run
from edit_gec.performance.timing import interleave
from edit_gec.text.counts import format_count

COUNTS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
LENGTHS = (5, 10, 20, 40, 60, 80, 100, 125, 150, 175, 200)
Say = Callable[[str], None]


@dataclass(frozen=True)
class Grid:
    """The inputs that are tried, and how often."""

    counts: Sequence[int] = COUNTS
    lengths: Sequence[int] = LENGTHS
    repeats: int = 3
    device: str = "cpu"
    longest_s: float = 600.0  # of one run


def measure_scaling(
    runs: Mapping[str, Run],
    sentences: Sequence[str],
    tokens: Tokens,
    grid: Grid | None = None,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """For each system: `sentences` and `pieces`, lists of [size, seconds], and their `slope` in logarithms.

    A system skips counts that would take more than `longest_s`. Runs of ten seconds or more are measured once. The
    order of the sentences is random, so that small counts have about the same mean length as large ones.
    """
    grid = grid or Grid()
    sentences = Random(0).sample(sentences, len(sentences))
    result: dict[str, Any] = {name: {"sentences": [], "pieces": []} for name in runs}
    for count in grid.counts:
        able = {name: run for name, run in runs.items() if _next(result[name]["sentences"], count) <= grid.longest_s}
        say(f"{format_count(count, 'sentence')}: {', '.join(able) or 'no system'}")
        long = any(_next(result[name]["sentences"], count) > 10 for name in able)
        jobs = [sentences[n % len(sentences)] for n in range(count)]
        times = measure_input(able, jobs, count, replace(grid, repeats=1) if long else grid)
        for name, seconds in times.items():
            result[name]["sentences"].append([count, seconds])
    for length in grid.lengths:
        say(f"{length} pieces")
        times = measure_input(runs, [text_of_length(sentences, length, tokens)], length, grid)
        for name, seconds in times.items():
            result[name]["pieces"].append([length, seconds])
    for of_system in result.values():
        of_system["slope"] = {kind: fit_slope(of_system[kind]) for kind in ("sentences", "pieces")}
    return result


def _next(points: Sequence[Sequence[float]], size: int) -> float:
    return points[-1][1] * size / points[-1][0] if points else 0.0


def measure_input(runs: Mapping[str, Run], sentences: Sequence[str], size: int, grid: Grid) -> dict[str, float]:
    """Median seconds of each system on one input; large ones are not worth a warm-up."""
    warm_up = 1 if size <= 100 else 0
    times = interleave(runs, [sentences], repeats=grid.repeats, warm_up=warm_up, device=grid.device)
    return {name: median(of_job) for name, (of_job,) in times.items()}


def text_of_length(sentences: Sequence[str], length: int, tokens: Tokens) -> str:
    """Words of the sentences, one after the other, that have about `length` pieces: as near as words allow.

    Raises InputError when there are not so many.
    """
    words = " ".join(sentences).split(" ")
    low = 1
    high = len(words)
    if len(tokens.ids(" ".join(words))) < length:
        raise InputError(f"the sentences have less than the {length} pieces of a text to measure; give a longer --file")
    while low < high:
        middle = (low + high) // 2
        if len(tokens.ids(" ".join(words[:middle]))) < length:
            low = middle + 1
        else:
            high = middle
    return " ".join(words[:low])


def fit_slope(points: Sequence[Sequence[float]]) -> float:
    """Least-squares slope of log seconds over log size.

    >>> round(fit_slope([[1, 0.5], [10, 5.0], [100, 50.0]]), 6)
    1.0
    """
    xs, ys = ([math.log(point[n]) for point in points] for n in (0, 1))
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread if spread else math.nan
