"""The time of a batch: encoder, steps, verification and the rest add up to the whole."""

from __future__ import annotations

import pytest

from edit_gec.runtime.timing import BatchTiming
from edit_gec.tracing import Clock, Stage, listen, span


def record(*stages: Stage) -> Clock:
    with listen(clock := Clock()):
        for stage in stages:
            with span(stage):
                pass
    return clock


def test_stages_go_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = record(
        Stage.ENCODE, Stage.TAG, Stage.INSERT_STEP, Stage.INSERT_STEP, Stage.TARGET_ENCODE, Stage.DRAFT, Stage.VERIFY
    )
    monkeypatch.setattr(Clock, "seconds", lambda self, *names: sum(each.name in names for each in self.spans))
    timing = BatchTiming.from_clock(clock, 10.0)
    assert timing == BatchTiming(encoder_s=2, steps=2, steps_s=2, other_s=4.0, verify_s=2)


def test_parts_add_up_to_the_whole() -> None:
    clock = record(Stage.ENCODE, Stage.POINT, Stage.INSERT_STEP, Stage.DECODER_STEP, Stage.REALIZE)
    timing = BatchTiming.from_clock(clock, 1.0)
    assert timing.encoder_s + timing.steps_s + timing.other_s + timing.verify_s == pytest.approx(1.0)
    assert timing.encoder_s > 0 and timing.steps_s > 0 and timing.verify_s > 0


def test_without_a_decoder_there_are_no_steps() -> None:
    timing = BatchTiming.from_clock(record(Stage.ENCODE), 1.0)
    assert (timing.steps, timing.steps_s, timing.verify_s) == (0, 0.0, 0.0)
