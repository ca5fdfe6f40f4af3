"""Systems take turns, and nobody answers from memory."""

from __future__ import annotations

from edit_gec.performance import timing


def test_systems_take_turns() -> None:
    seen: list[tuple[str, int]] = []
    runs = {name: (lambda job, name=name: seen.append((name, job))) for name in "abc"}  # type: ignore[misc]
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
