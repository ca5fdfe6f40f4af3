"""Lossless speculative verification: any draft in, exactly the target's own output out, in few target passes.

    outputs, statistics = verify(target, Follow(target.tokens), ["She go home ."])
    outputs == target.generate(["She go home ."])                     # always; token for token in fp32

    pass 1  reads   <pad> She go home . </s>        drafted: a copy of the source
            says    She goes ...                    "She" accepted, "goes" is the target's correction
    pass 2  reads   goes home . </s>                drafted: what follows "go" in the source
            says    home . </s> ...                 all accepted: two passes for five tokens

Acceptance. Greedy: a drafted token is right if it is the target's. Sampling, draft not sampled (a point): the target
draws its token at each position, from the stream that plain decoding uses; go on while the draft agrees. Same tokens,
same seed. Several hypotheses: all are read, the one that is right for longest counts. Sampling, sampled draft: accept
with min(1, p / q), else draw from norm(max(0, p - q)), both after temperature, top_k and top_p (Leviathan et al. 2022,
algorithm 1): same distribution, not the same tokens.

Lenience, the lossy gear (their appendix A.5, greedy): a drafted token passes if it is at least `lenience` times as
probable as the target's own. 1 is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import torch
from torch import Tensor

from edit_gec.errors import InputError
from edit_gec.modeling.tokenizer import EOS, PAD
from edit_gec.speculative.drafters import Drafter, Proposal, Row
from edit_gec.speculative.ragged_cache import Decoding
from edit_gec.speculative.target import (
    ACCEPT,
    RESIDUAL,
    TARGET,
    Encoded,
    Sampling,
    Target,
    draw,
    probabilities,
    uniform,
)
from edit_gec.speculative.theory import Statistics, Trace, best_length
from edit_gec.tracing import Stage, span

# On a CPU each token of a pass costs time (a GPU reads all that was drafted): drafts are cut to the length that theory
# says is best, with what a pass and each of its rows cost beside their tokens, in tokens (t5-mini, one core of Zen 5).
PASS, ROW = 40.0, 1.5
LEFT = 0.5  # of a batch may be unfinished when the next one joins it
HOLDS, BROKEN = 0.98, 0.95  # alpha while the draft holds, and in the pass after a disagreement


@dataclass(frozen=True)
class Judgement:
    """What one pass says about one row: the tokens that are written now, how many of them were drafted."""

    tokens: list[int]
    accepted: int
    acceptance: list[float]  # probability of acceptance, for each drafted token that was reached
    probabilities: list[float] = field(default_factory=list)  # the target's, of the tokens
    proposed: int = 0  # drafted tokens of the hypothesis that counts
    by_another: bool = False  # which is not the first


@torch.inference_mode()
def verify(
    target: Target,
    drafter: Drafter,
    sentences: Sequence[str],
    sampling: Sampling | None = None,
    *,
    batch_size: int = 32,
    longest_draft: int | None = None,
    lenience: float = 1.0,
    encoded: Encoded | None = None,
) -> tuple[list[list[int]], Statistics]:
    """Output tokens of each sentence as `target.generate` writes them, and statistics in the same order.

    `batch_size` sentences are encoded together; the few that are not finished when most are go on beside the next ones,
    for each row advances at its own pace. `longest_draft` caps the tokens verified in one pass; without it, it is as
    many as pay on this device (`worthwhile`). `encoded` is what `target.encode_shared` made of the sentences, where
    that is known. Raises InputError as `generate` does, and for a lenience that cannot be.
    """
    begun = perf_counter()
    if not 0 < lenience <= 1 or (lenience < 1 and sampling is not None):
        raise InputError(
            f"lenience {lenience}: above 0 and up to 1 (exact) is wanted, and below 1 only without sampling"
        )
    if longest_draft is None and (target.device.type != "cpu" or lenience < 1):
        longest_draft = target.max_length  # where a lenient draft is cut, the target's own token would follow
    target.begin(sentences)
    statistics = Statistics([Trace() for _ in sentences])
    outputs: list[list[int]] = [[] for _ in sentences]
    waiting = sorted(range(len(sentences)), key=lambda n: len(sentences[n]))  # together with others of its length
    rows: list[Row] = []
    decoding = Decoding(target.model)
    while waiting or rows:
        if waiting and len(rows) <= batch_size * LEFT:
            new, waiting = waiting[:batch_size], waiting[batch_size:]
            known = None if encoded is None else encoded.rows(new)
            rows += admit([(n, sentences[n]) for n in new], known, target, drafter, decoding, statistics)
        with span(Stage.DRAFT):
            proposals = propose(drafter, rows, longest_draft, target.model.config.vocab_size, statistics)
        with span(Stage.VERIFY):
            judgements = read(target, decoding, rows, proposals, sampling, lenience, statistics)
            for row, proposal, judgement in zip(rows, proposals, judgements, strict=True):
                advance(row, proposal, judgement, statistics.traces[row.number])
            decoding.roll_back([len(row.tokens) for row in rows])  # <pad> and all tokens but the last
            for row in rows:
                outputs[row.number] = row.tokens
            alive = [n for n, row in enumerate(rows) if row.tokens[-1] != EOS and row.limit]
            decoding.keep(alive)
            rows = [rows[n] for n in alive]
    for output, trace in zip(outputs, statistics.traces, strict=True):
        trace.finished = output[-1] == EOS
        trace.draft_is_output = trace.draft == output
    statistics.total_s = perf_counter() - begun
    return outputs, statistics


def admit(
    sentences: list[tuple[int, str]],
    known: Encoded | None,
    target: Target,
    drafter: Drafter,
    decoding: Decoding,
    statistics: Statistics,
) -> list[Row]:
    """Encode new sentences for the target, if they are not `known`; let the drafter prepare them."""
    begun = perf_counter()
    rows = [Row(number, sentence, target.limit(sentence)) for number, sentence in sentences]
    encoded = target.encode_shared([sentence for _, sentence in sentences]) if known is None else known
    with span(Stage.DECODER_SETUP):
        decoding.admit(encoded.states, encoded.mask)
        if encoded.edit5 is not None:
            for row, states, length in zip(rows, encoded.edit5, encoded.mask.sum(1).tolist(), strict=True):
                row.encoded = states[:length]
    target_done = perf_counter()
    with span(Stage.DRAFT):
        drafter.begin(rows)
    statistics.target_s += target_done - begun
    statistics.begin_s += perf_counter() - target_done
    return rows


def worthwhile(row: Row, rows: int) -> int:
    """Drafted tokens of this row that a pass over so many rows should read on a CPU."""
    holds = row.accepted == row.proposed  # before the first pass, both are 0
    return best_length(HOLDS if holds else BROKEN, PASS / rows + ROW)


def propose(
    drafter: Drafter, rows: list[Row], longest: int | None, vocabulary: int, statistics: Statistics
) -> list[Proposal]:
    """The drafter's proposals, cut to what can be used."""
    begun = perf_counter()
    proposals = []
    for row, proposal in zip(rows, drafter.propose(rows), strict=True):
        tokens = usable(proposal.tokens, vocabulary)
        if not row.tokens:
            statistics.traces[row.number].draft = tokens
        room = min(longest or worthwhile(row, len(rows)), row.limit - 1)  # the last token is the target's own
        weights = proposal.probabilities
        others = tuple(cut for other in proposal.others if (cut := usable(other, vocabulary)[:room]))
        tokens = tokens[:room]
        proposals.append(Proposal(tokens, None if weights is None else weights[: len(tokens)], others))
    took = perf_counter() - begun
    statistics.propose_s += took
    statistics.resync_s += took * drafter.aligns
    return proposals


def usable(tokens: list[int], vocabulary: int) -> list[int]:
    """A draft without what stands behind </s>, and from an unknown id on."""
    end = next((n for n, token in enumerate(tokens) if token == EOS or not 0 <= token < vocabulary), len(tokens))
    return tokens[: end + 1] if tokens[end : end + 1] == [EOS] else tokens[:end]


def read(
    target: Target,
    decoding: Decoding,
    rows: list[Row],
    proposals: list[Proposal],
    sampling: Sampling | None,
    lenience: float,
    statistics: Statistics,
) -> list[Judgement]:
    """One target pass over all drafts, and what it says about the best of each row."""
    begun = perf_counter()
    drafts = [(n, draft) for n, p in enumerate(proposals) for draft in (p.tokens, *p.others)]
    inputs = [[rows[n].tokens[-1] if rows[n].tokens else PAD, *draft] for n, draft in drafts]
    decoding.keep([n for n, _ in drafts])  # a row for each hypothesis, on the same past
    hidden = decoding.forward(inputs)  # [N, d]
    logits = target.model.logits(hidden)
    weights = None if sampling is None else probabilities(logits, sampling)
    places = [(rows[n].number, len(rows[n].tokens) + at) for n, draft in drafts for at in range(len(draft) + 1)]
    if sampling is None or weights is None:
        said = target.choose(logits, None, places)
    else:
        said = draw(weights, [uniform(sampling.seed, *place, TARGET) for place in places])
    best: dict[int, tuple[Judgement, int, int]] = {}  # of each row: what is said, which hypothesis, its first position
    start = 0
    for hypothesis, (n, draft) in enumerate(drafts):
        here = slice(start, start + len(draft) + 1)
        if proposals[n].probabilities is not None and weights is not None and sampling is not None:
            judgement = accept_sampled(proposals[n], weights[here], said[here], sampling, rows[n])
        elif lenience < 1:
            judgement = tolerate(draft, said[here], logits[here], lenience)
        else:
            judgement = agree(draft, said[here], None if weights is None else weights[here])
        if n not in best or judgement.accepted > best[n][0].accepted:
            best[n] = (replace(judgement, proposed=len(draft), by_another=n in best), hypothesis, start)
        start = here.stop
    decoding.keep([hypothesis for _, hypothesis, _ in best.values()])
    written = [(first + at, token) for j, _, first in best.values() for at, token in enumerate(j.tokens)]
    for row, (judgement, _, first) in zip(rows, best.values(), strict=True):
        row.hidden = hidden[first + len(judgement.tokens) - 1]
    at, tokens = torch.tensor(written, device=logits.device).unbind(-1)
    if weights is None:
        chances = logits.softmax(-1, dtype=torch.float32)[at, tokens]
    else:
        chances = weights[at, tokens]
    sure = iter(chances.tolist())
    judgements = [replace(j, probabilities=[next(sure) for _ in j.tokens]) for j, _, _ in best.values()]
    statistics.target_s += perf_counter() - begun
    return judgements


def agree(drafted: list[int], said: list[int], weights: Tensor | None) -> Judgement:
    """Accept while draft and target say the same; the target's token at the first disagreement, or one more."""
    accepted = next((n for n, (d, s) in enumerate(zip(drafted, said, strict=False)) if d != s), len(drafted))
    reached = drafted[: accepted + 1]
    if weights is None:
        acceptance = [1.0] * accepted + [0.0] * (len(reached) - accepted)
    else:
        acceptance = [float(weights[n, token]) for n, token in enumerate(reached)]
    return Judgement(said[: accepted + 1], accepted, acceptance)


def tolerate(drafted: list[int], said: list[int], logits: Tensor, lenience: float) -> Judgement:
    """Accept while the drafted token has at least `lenience` times the probability of the likeliest."""
    if not drafted:
        return agree(drafted, said, None)
    ids = torch.tensor(drafted, device=logits.device)[:, None]
    behind = logits[:-1].gather(1, ids)[:, 0].float() - logits[:-1].max(-1).values.float()  # log of the ratio
    good = (behind >= math.log(lenience)).tolist()
    accepted = next((n for n, ok in enumerate(good) if not ok), len(drafted))
    acceptance = [1.0] * accepted + [0.0] * (accepted < len(drafted))
    return Judgement([*drafted[:accepted], said[accepted]], accepted, acceptance)


def accept_sampled(proposal: Proposal, weights: Tensor, said: list[int], sampling: Sampling, row: Row) -> Judgement:
    """Modified rejection sampling; target_probabilities are weights [n + 1, V], draft_probabilities the proposal's."""
    assert proposal.probabilities is not None
    drafted, q = proposal.tokens, proposal.probabilities
    acceptance: list[float] = []
    for n, token in enumerate(drafted):
        place = (sampling.seed, row.number, len(row.tokens) + n)
        acceptance.append(float(torch.minimum(weights[n], q[n]).sum()))
        if uniform(*place, ACCEPT) * float(q[n, token]) < float(weights[n, token]):
            continue
        residual = (weights[n] - q[n]).clamp(min=0)
        correction = draw(residual[None], [uniform(*place, RESIDUAL)])
        return Judgement([*drafted[:n], *correction], n, acceptance)
    return Judgement([*drafted, said[len(drafted)]], len(drafted), acceptance)


def advance(row: Row, proposal: Proposal, judgement: Judgement, trace: Trace) -> None:
    """Write what was judged; nothing is written behind </s>."""
    tokens = judgement.tokens
    if EOS in tokens:
        tokens = tokens[: tokens.index(EOS) + 1]
    row.tokens = [*row.tokens, *tokens]
    row.limit -= len(tokens)
    row.proposed, row.accepted = judgement.proposed, judgement.accepted
    trace.add(row.proposed, row.accepted, len(tokens), judgement.acceptance)
    trace.extra += sum(len(draft) + 1 for draft in (proposal.tokens, *proposal.others)) - judgement.proposed - 1
    trace.won_by_others += judgement.by_another
    trace.probabilities += judgement.probabilities[: len(tokens)]
