"""What drafts save in a benchmark: passes and tokens of each sentence, and the gain that their cost predicts.

    seconds = passes * base + tokens * each        of a batch; fitted to passes over few and many tokens (`fit_cost`)

A batch takes as many passes as its longest sentence. Plain decoding takes one for each token, and reads one token of
each sentence in a pass; a draft is read as a whole. Drafting itself is not in the prediction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from edit_gec.lab.performance.timing import interleave, medians
from edit_gec.speculative.decode import VerifyOptions, verify
from edit_gec.speculative.drafters import Drafter, Proposal, Row, prepare_target
from edit_gec.speculative.statistics import Statistics, Trace

if TYPE_CHECKING:
    from edit_gec.speculative.any_target import AnyTarget

WIDTHS = (1, 8, 24)  # tokens of each row in the passes that are timed
REPEATS = 5


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


# ---------------------------------------------------------------- what passes cost


class Cost(NamedTuple):
    """Seconds of a pass beside its tokens, and of each token."""

    base: float
    each: float

    def seconds(self, passes: int, tokens: int) -> float:
        """Of so many passes that read so many tokens."""
        return passes * self.base + tokens * self.each


def fit_cost(target: AnyTarget, sentences: Sequence[str], rows: int, device: str) -> Cost:
    """The cost of passes over so many rows, in the middle of a sentence of median length."""
    import numpy as np
    import torch

    sentence = sorted(sentences, key=len)[len(sentences) // 2]
    sources = target.encode_shared([sentence] * rows)
    ids = (target.tokens.ids(sentence) * (2 * max(WIDTHS)))[: 2 * max(WIDTHS)]
    before = [[start, *ids[: max(WIDTHS) // 2]] for start in sources.starts]
    with torch.inference_mode():
        decoder = target.new_decoder()
        decoder.add_sources(sources)
        decoder.forward(before)

        def read(width: int) -> None:
            target.logits(decoder.forward([ids[:width]] * rows)).argmax(-1).tolist()
            decoder.roll_back([len(row) for row in before])

        runs = {str(width): (lambda _, w=width: read(w)) for width in WIDTHS}
        times = interleave(runs, [None], repeats=REPEATS, device=device)
    taken = [medians(of_jobs)[0] for of_jobs in times.values()]
    each, base = np.polyfit([rows * width for width in WIDTHS], taken, 1)
    return Cost(max(0.0, float(base)), float(each))


def predict_gain(target: AnyTarget, batches: Sequence[Sequence[str]], traces: Mapping[str, Trace], cost: Cost) -> float:
    """How many times as fast as plain decoding verification should be, from its passes and tokens."""
    plain = drafted = 0.0
    for batch in batches:
        of_batch = [traces[sentence] for sentence in batch]
        prompts = count_prompts(target, batch)
        written, read = sum(t.tokens for t in of_batch), sum(sum(t.proposed) + t.passes for t in of_batch)
        plain += cost.seconds(max(t.tokens for t in of_batch), written + prompts)
        drafted += cost.seconds(max(t.passes for t in of_batch), read + prompts)
    return plain / drafted


def count_prompts(target: AnyTarget, batch: Sequence[str]) -> int:
    """Tokens that the first pass reads before those of the draft; 0 for a T5, which encodes its sources."""
    pending = getattr(target.new_decoder(), "pending", None)
    return 0 if pending is None else sum(len(row) - 1 for row in target.encode_shared(batch).ids)


def summarize(run: Verification, batches: Sequence[Sequence[str]], cost: Cost) -> dict[str, Any]:
    """What happened to the sentences of these batches, as plain values."""
    traces = run.traces
    summary = Statistics([traces[sentence] for batch in batches for sentence in batch]).summary()
    names = ("passes_mean", "tokens_per_pass", "accepted_of_proposed", "alpha", "one_pass_rate", "verified_per_token")
    accepted = fmean(n for batch in batches for sentence in batch for n in traces[sentence].accepted)
    figures = {name: summary[name] for name in names} | {"accepted_mean": accepted}
    return {**figures, "predicted_gain": predict_gain(run.target, batches, traces, cost)}
