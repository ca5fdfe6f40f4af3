"""What verification did, counted: passes, drafted and accepted tokens of each sentence, and where the time went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any


@dataclass
class Trace:
    """What happened to one sentence; one entry of `proposed` and `accepted` for each target pass."""

    proposed: list[int] = field(default_factory=list)  # drafted tokens that the target read
    accepted: list[int] = field(default_factory=list)
    tokens: int = 0  # written, </s> included
    probabilities: list[float] = field(default_factory=list)  # the target's, of each of them
    reached: int = 0  # drafted tokens that were judged: the accepted ones, and the first that was not
    acceptance: float = 0.0  # sum of their acceptance probabilities; 0 or 1 each in greedy decoding
    resync_passes: int = 0  # passes after a disagreement that accepted nothing: the draft was not found again
    draft: list[int] = field(default_factory=list)  # the first proposal, before it was cut to what a pass reads
    draft_is_output: bool = False
    finished: bool = False  # by </s>, not cut off at its limit
    resyncing: bool = False  # since the last disagreement nothing was accepted

    @property
    def passes(self) -> int:
        """Target passes."""
        return len(self.proposed)

    def add(self, proposed: int, accepted: int, written: int, acceptance: list[float]) -> None:
        """Count one pass."""
        lost = bool(self.accepted) and (self.resyncing or self.accepted[-1] < self.proposed[-1])
        self.resyncing = lost and accepted == 0
        self.resync_passes += self.resyncing
        self.proposed.append(proposed)
        self.accepted.append(accepted)
        self.tokens += written
        self.reached += len(acceptance)
        self.acceptance += sum(acceptance)


@dataclass
class Statistics:
    """Traces of all sentences and where the time went, in seconds."""

    traces: list[Trace] = field(default_factory=list)
    begin_s: float = 0.0  # whole-sentence drafts, the drafter's encoder
    propose_s: float = 0.0  # drafting a few tokens at a time, or finding the place in a draft
    resync_s: float = 0.0  # of these, what only found the place
    edits_s: float = 0.0  # finding the edits in the output
    target_s: float = 0.0  # encoder and passes of the target
    total_s: float = 0.0

    def add(self, other: Statistics) -> None:
        """Count the sentences and seconds of another call as well."""
        self.traces += other.traces
        for name in ("begin_s", "propose_s", "resync_s", "edits_s", "target_s", "total_s"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def alpha(self) -> float:
        """Mean acceptance probability of a drafted token after accepted ones; 0 when nothing was drafted."""
        return sum(t.acceptance for t in self.traces) / max(1, sum(t.reached for t in self.traces))

    def sums(self) -> dict[str, int]:
        """What can be added over batches, machines and runs of a job."""
        traces = self.traces
        return {
            "verified": len(traces),
            "verified unfinished": sum(not trace.finished for trace in traces),
            "verified as drafted": sum(trace.draft_is_output for trace in traces),
            "target passes": sum(trace.passes for trace in traces),
            "target tokens": sum(trace.tokens for trace in traces),
            "drafted tokens": sum(sum(trace.proposed) for trace in traces),
            "drafted tokens judged": sum(trace.reached for trace in traces),
            "drafted tokens accepted": sum(sum(trace.accepted) for trace in traces),
        }

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON; passes and lengths per sentence, rates from 0 to 1."""
        traces = self.traces
        if not traces:
            return {"sentences": 0}
        passes = [t.passes for t in traces]
        proposed, accepted = (sum(sum(getattr(t, name)) for t in traces) for name in ("proposed", "accepted"))
        tokens = sum(t.tokens for t in traces)
        return {
            "sentences": len(traces),
            "unfinished": sum(not t.finished for t in traces),
            "tokens": tokens,
            "passes": sum(passes),
            "passes_mean": fmean(passes),
            "passes_p50": median(passes),
            "passes_p95": quantile(passes, 0.95),
            "tokens_per_pass": tokens / sum(passes),
            "accepted_lengths": dict(sorted(Counter(n for t in traces for n in t.accepted).items())),
            "alpha": self.alpha,
            "accepted_of_proposed": accepted / max(1, proposed),
            "one_pass_rate": fmean(n == 1 for n in passes),
            "draft_is_output_rate": fmean(t.draft_is_output for t in traces),
            "resync_passes": sum(t.resync_passes for t in traces),
            "verified_per_token": (proposed + sum(passes)) / tokens,
            "draft_s": self.begin_s + self.propose_s - self.resync_s,
            "verify_s": self.target_s,
            "align_s": self.resync_s + self.edits_s,
            "other_s": self.total_s - self.begin_s - self.propose_s - self.edits_s - self.target_s,
        }


def quantile(values: Sequence[float], share: float) -> float:
    """Linear interpolation between order statistics, numpy's default. This is what p50 and p95 mean everywhere here.

    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5), quantile([5.0], 0.95)
    (2.5, 5.0)
    """
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
