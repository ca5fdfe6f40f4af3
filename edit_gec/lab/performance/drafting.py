"""What drafts save in a benchmark: passes and tokens of each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from edit_gec.speculative.decode import VerifyOptions, verify
from edit_gec.speculative.drafters import Drafter, Proposal, Row, prepare_target
from edit_gec.speculative.statistics import Statistics, Trace

if TYPE_CHECKING:
    from edit_gec.speculative.any_target import AnyTarget


class Verification:
    """A system: the target verifies what a drafter writes. It keeps what happened to each sentence."""

    def __init__(self, target: AnyTarget, drafter: Drafter) -> None:
        self.target = prepare_target(target, drafter)
        self.drafter = drafter
        self.traces: dict[str, Trace] = {}

    def __call__(self, given: Sequence[str]) -> list[str]:
        """The target's text for each sentence, all of them in one batch."""
        outputs, statistics = verify(self.target, self.drafter, given, VerifyOptions(batch_size=len(given)))
        self.traces.update(zip(given, statistics.traces, strict=True))
        return [self.target.text(ids) for ids in outputs]


class OutputDrafter:
    """Drafts what the target will write: no drafter can do better. Its outputs are decoded once, before the clock."""

    aligns = False

    def __init__(self, target: AnyTarget) -> None:
        self.target = target
        self.outputs: dict[str, list[int]] = {}

    def begin(self, rows: Sequence[Row]) -> None:
        """Decode what is not known yet."""
        new = [row.source for row in rows if row.source not in self.outputs]
        self.outputs.update(zip(new, self.target.generate(new), strict=True))

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        """What is left of each output."""
        return [Proposal(self.outputs[row.source][len(row.tokens) :]) for row in rows]


def summarize(run: Verification, sentences: Sequence[str]) -> dict[str, Any]:
    """What happened to these sentences, as plain values."""
    traces = [run.traces[sentence] for sentence in sentences]
    summary = Statistics(traces).summary()
    names = ("passes_mean", "tokens_per_pass", "accepted_of_proposed", "alpha", "one_pass_rate", "verified_per_token")
    accepted = fmean(n for trace in traces for n in trace.accepted)
    return {name: summary[name] for name in names} | {"accepted_mean": accepted}
