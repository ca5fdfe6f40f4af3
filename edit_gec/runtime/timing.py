"""Where the time of a batch goes, in the shape of the case study: encoder + steps of the insertion decoder + the rest.

    with listen(clock := Clock()):                 # tracing.py
        predictor.predict(windows)
    BatchTiming.from_clock(clock, seconds)  ->  BatchTiming(encoder_s=0.012, steps=4, steps_s=0.006, other_s=0.002)

Everything else (tags, points, the assembly of plans) is `other`. On a GPU the figures are those of the host, which
waits for results at the end of most stages.
"""

from __future__ import annotations

from dataclasses import dataclass

from edit_gec.tracing import Clock, Stage

ENCODING = (Stage.ENCODE, Stage.TARGET_ENCODE)  # one of them, if drafter and target share the encoder
VERIFYING = (
    Stage.DRAFT,
    Stage.TARGET_TOKENIZE,
    Stage.DECODER_SETUP,
    Stage.DECODER_STEP,
    Stage.VERIFY,
    Stage.ALIGN,
)


@dataclass(frozen=True)
class BatchTiming:
    """Seconds of one batch."""

    encoder_s: float
    steps: int
    steps_s: float
    other_s: float
    verify_s: float = 0.0  # by the target, where there is one

    @classmethod
    def from_clock(cls, clock: Clock, seconds: float) -> BatchTiming:
        """What was recorded during a batch that took `seconds` in all."""
        encoder_s = clock.seconds(*ENCODING)
        steps_s = clock.seconds(Stage.INSERT_STEP)
        verify_s = clock.seconds(*VERIFYING)
        steps = sum(each.name == Stage.INSERT_STEP for each in clock.spans)
        return cls(encoder_s, steps, steps_s, seconds - encoder_s - steps_s - verify_s, verify_s)
