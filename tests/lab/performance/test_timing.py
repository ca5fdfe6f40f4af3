"""Systems take turns, nobody answers from memory, and p95 means one thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.lab.performance import timing
from edit_gec.lab.performance.stage_summary import summarize
from edit_gec.lab.performance.stages import TimedRun
from edit_gec.speculative.statistics import Statistics, quantile
from edit_gec.speculative.statistics import Trace as Passes


def test_systems_take_turns() -> None:
    seen: list[tuple[str, int]] = []
    runs = {name: (lambda job, name=name: seen.append((name, job))) for name in "abc"}
    times = timing.interleave(runs, [1, 2], repeats=2, warm_up=0)
    assert ["".join(name for name, _ in seen[n : n + 3]) for n in range(0, 12, 3)] == ["abc", "bca", "bca", "cab"]
    assert all(len(of_job) == 2 for of_jobs in times.values() for of_job in of_jobs)


def test_nobody_answers_from_memory() -> None:
    class Remembering:
        def __init__(self) -> None:
            self.known: set[int] = set()
            self.repeated = 0

        def __call__(self, job: int) -> None:
            self.repeated += job in self.known
            self.known.add(job)

        def forget(self) -> None:
            self.known.clear()

    run = Remembering()
    timing.interleave({"a": run}, [1, 2, 3], repeats=3, warm_up=2)
    assert run.known == {1, 2, 3} and not run.repeated


@law
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values: list[float], share: float) -> None:
    assert quantile(values, share) == pytest.approx(float(np.quantile(values, share)), abs=1e-6)


def test_p95_means_one_thing() -> None:
    """In a profile, in a benchmark, in the statistics of verification: of 20 values it is not the largest."""
    values = [float(n) for n in range(1, 21)]
    profile = summarize([TimedRun(n, []) for n in values], 1)
    statistics = Statistics([Passes(proposed=[1] * int(n), tokens=int(n)) for n in values])
    assert profile["total_p95_ms"] == pytest.approx(1000 * quantile(values, 0.95)) == pytest.approx(19050.0)
    assert statistics.summary()["passes_p95"] == quantile(values, 0.95)
