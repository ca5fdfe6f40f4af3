"""What holds after so many updates: batches, shares and the learning rate."""

from __future__ import annotations

from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_gec.lab.training import course
from edit_gec.lab.training.recipe import TrainingStage

LONG = TrainingStage(
    "long",
    pieces=300_000_000,
    batch_pieces=4096,
    later=[{"at": 0.2, "batch_pieces": 8192}, {"at": 0.8, "max_pieces": 96}],
    warmup=100,
    decay=0.22,
    floor=0.1,
    clean=0.12,
    end={"clean": 0.2, "predicted": 0.5},
)


def test_the_long_run() -> None:
    last = course.steps(LONG)
    assert last == 43946 and course.pieces(last, LONG) == pytest.approx(300e6, abs=8192)
    sizes = [course.setting("batch_pieces", course.progress(step, LONG), LONG) for step in (0, 14648, 14649, last)]
    assert sizes == [4096, 4096, 8192, 8192]
    assert [course.setting("max_pieces", at, LONG) for at in (0, 0.79, 0.8, 1)] == [0, 0, 96, 96]
    assert [course.share("clean", at, LONG) for at in (0, 0.78, 0.89, 1)] == pytest.approx([0.12, 0.12, 0.16, 0.2])
    assert [course.share("predicted", at, LONG) for at in (0, 0.89, 1)] == pytest.approx([1, 0.75, 0.5])
    assert course.share("real", 1, LONG) == LONG.real
    rates = [course.learning_rate(step, LONG) for step in (0, 49, 99, 30000, last - 1)]
    assert rates == pytest.approx([0.01, 0.5, 1, 1, 0.1], abs=1e-3)


def test_the_learning_rate_of_a_stage_in_steps() -> None:
    stage = TrainingStage("x", steps=100, warmup=10, decay=20)
    rates = [course.learning_rate(step, stage) for step in range(100)]
    assert rates[:10] == pytest.approx([n / 10 for n in range(1, 11)]) and rates[10:80] == [1.0] * 70
    assert rates[80:] == pytest.approx([n / 20 for n in range(20, 0, -1)])
    assert course.learning_rate(99, TrainingStage("x", steps=100)) == 1.0
    share = TrainingStage("x", steps=100, warmup=10, decay=0.2)
    assert [course.learning_rate(step, share) for step in range(100)] == pytest.approx(rates)


stages = st.builds(
    TrainingStage,
    name=st.just("x"),
    pieces=st.integers(10_000, 10**7),
    batch_pieces=st.integers(64, 4096),
    later=st.lists(
        st.fixed_dictionaries({"at": st.floats(0.01, 0.99), "batch_pieces": st.integers(64, 4096)}), max_size=3
    ),
    decay=st.floats(0, 1),
    floor=st.floats(0, 1),
)


@given(stages)
@settings(max_examples=60, deadline=None)
def test_a_stage_passes_once_and_completely(stage: TrainingStage) -> None:
    last = course.steps(stage)
    at = [course.progress(step, stage) for step in range(0, last + 1, max(1, last // 50))]
    assert at[0] == 0 and at == sorted(at) and course.progress(last, stage) == pytest.approx(1)
    assert course.progress(last - 1, stage) < 1
    rates = [course.learning_rate(step, stage) for step in range(0, last, max(1, last // 50))]
    assert rates == sorted(rates, reverse=True) and min(rates) >= stage.floor - 1e-9


def test_a_stage_that_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "_clock", None)  # put back at the end
    assert not course.is_over()
    course.follow_clock(1000)
    assert not course.is_over() and course.progress(10**8, LONG) < 0.1, "updates do not count"
    assert course.steps(LONG) > 10**8
    for passed, over in ((500, False), (2000, True)):
        monkeypatch.setattr(course, "_clock", (monotonic() - passed, 1000))
        assert course.is_over() == over and course.progress(0, LONG) == pytest.approx(min(1, passed / 1000), abs=0.01)
    assert course.learning_rate(0, LONG) == pytest.approx(LONG.floor / max(1, LONG.warmup))
