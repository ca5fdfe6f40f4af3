"""The course of a stage: its settings after each update.

    stage = TrainingStage("long", pieces=300_000_000, batch_pieces=4096, later=[{"at": 0.2, "batch_pieces": 8192}])
    steps(stage)                       ->  43946
    progress(14_649, stage)            ->  0.2

A stage is measured in pieces or in updates; `progress`, from 0 to 1, is the share of it that has passed. Batches are
counted as full, although they hold about 2 % less. On a machine that is lent for a while, the stage follows the clock
instead (`follow_clock`).
"""

from __future__ import annotations

from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edit_gec.lab.training.recipe import TrainingStage


ENDLESS = 10**9  # updates
_clock: tuple[float, float] | None = None  # start and length in seconds


def follow_clock(seconds: float) -> None:
    """From now on the progress of a stage is the share of these seconds that has passed, not that of its updates.

    It then ends in time, its decay included, however fast the machine is. Processes that are forked later follow, too.
    """
    global _clock
    _clock = monotonic(), seconds


def is_over() -> bool:
    """Whether the time that a stage follows has passed; False where it follows none."""
    return _clock is not None and monotonic() - _clock[0] >= _clock[1]


def _legs(stage: TrainingStage) -> list[tuple[float, int]]:
    """(length in updates, pieces in a batch) of the parts of a stage that have batches of one size."""
    turns = sorted((float(turn["at"]), int(turn["batch_pieces"])) for turn in stage.later if "batch_pieces" in turn)
    starts = [0.0, *(at for at, _ in turns)]
    sizes = [stage.batch_pieces, *(size for _, size in turns)]
    shares = [end - start for start, end in zip(starts, [*starts[1:], 1.0], strict=True)]
    if not stage.pieces:
        return [(share * stage.steps, size) for share, size in zip(shares, sizes, strict=True)]
    return [(share * stage.pieces / size, size) for share, size in zip(shares, sizes, strict=True)]


def steps(stage: TrainingStage) -> int:
    """Number of updates in a stage; no bound where the clock ends it."""
    if _clock is not None:
        return ENDLESS
    return ceil(sum(length for length, _ in _legs(stage)) - 1e-6) if stage.pieces else stage.steps


def pieces(step: float, stage: TrainingStage) -> float:
    """Source pieces of the first `step` updates, in one process."""
    seen = 0.0
    for length, size in _legs(stage):
        seen += min(step, length) * size
        step = max(0.0, step - length)
    return seen


def progress(step: float, stage: TrainingStage) -> float:
    """Share of the stage that has passed after `step` updates: of its pieces, or of its updates, or of the time."""
    if _clock is not None:
        return min(1.0, (monotonic() - _clock[0]) / _clock[1])
    return min(1.0, pieces(step, stage) / stage.pieces if stage.pieces else step / stage.steps)


def falling(at: float, stage: TrainingStage) -> float:
    """How far the decay is at a progress, from 0 to 1."""
    share = stage.decay / stage.steps if stage.steps and stage.decay >= 1 else stage.decay
    return max(0.0, 1 - (1 - at) / share) if share else 0.0


def learning_rate(step: int, stage: TrainingStage) -> float:
    """Share of the learning rate at an update: it rises, stays, and falls linearly at the end.

    A stage that does not fall can be continued later.
    """
    rising = (step + 1) / stage.warmup if stage.warmup else 1.0
    return min(1.0, rising) * (1 - (1 - stage.floor) * falling(progress(step, stage), stage))


def setting(name: str, at: float, stage: TrainingStage) -> int:
    """batch_pieces or max_pieces at a progress."""
    turns = sorted((turn["at"], turn[name]) for turn in stage.later if name in turn and turn["at"] <= at)
    return int(turns[-1][1] if turns else getattr(stage, name))


def share(name: str, at: float, stage: TrainingStage) -> float:
    """A share at a progress: real, labelled, clean or predicted."""
    start: float = getattr(stage, name)
    return start + (stage.end.get(name, start) - start) * falling(at, stage)
