"""Lossless speculative verification: any draft in, exactly the target's own output out, in few target passes.

    outputs, statistics = verify(target, TextDrafter(target.tokens), ["She go home ."])
    outputs == target.generate(["She go home ."])                     # always; token for token in fp32

    pass 1  reads   <pad> She go home . </s>        drafted: a copy of the source
            says    She goes ...                    "She" accepted, "goes" is the target's correction
    pass 2  reads   goes home . </s>                drafted: what follows "go" in the source
            says    home . </s> ...                 all accepted: two passes for five tokens

Greedy decoding accepts a drafted token if it is the target's. Sampling with a draft that was not sampled: the target
draws its token at each position from the stream that plain decoding uses, and the draft is accepted while it agrees.
The same seed gives the same tokens. Sampling with a sampled draft: accept with min(1, p / q), else draw from
norm(max(0, p - q)), both after temperature, top_k and top_p (Leviathan et al. 2022, algorithm 1). The distribution is
the same, the tokens are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.modeling.precision import exact_products
from edit_gec.speculative.any_target import AnyTarget, Context, Sources
from edit_gec.speculative.drafters import Drafter, Proposal, Row
from edit_gec.speculative.realign import Choices
from edit_gec.speculative.sampling import Purpose, Sampling, draw_tokens, token_probabilities, uniform
from edit_gec.speculative.statistics import Statistics, Trace
from edit_gec.speculative.theory import best_length
from edit_gec.tracing import Stage, span

# On a CPU each token of a pass costs time (a GPU reads whole drafts). There drafts have the length that theory finds
# best, for the costs beside the tokens themselves, counted in tokens: of a pass (AnyTarget.pass_cost), and of a row.
ROW_COST = 1.5  # t5-mini, one core of Zen 5
ALPHA = 0.985  # acceptance after a pass that accepted the whole draft
ALPHA_AFTER_REJECTION = 0.95
JOIN_AT = 0.5  # the next sentences join when no more than this share of a batch is unfinished


@dataclass(frozen=True)
class VerifyOptions:
    """How to verify.

    `sampling`: None decodes greedily. `batch_size`: sentences that are encoded together. `longest_draft`: most tokens
    of a draft that a pass reads; None lets `draft_length` decide on a CPU and reads whole drafts elsewhere.
    """

    sampling: Sampling | None = None
    batch_size: int = 32
    longest_draft: int | None = None


@dataclass(frozen=True)
class Judgement:
    """What one pass says about one row: the tokens to write now, and how many of them were drafted."""

    tokens: list[int]
    accepted: int
    acceptance: list[float]  # probability of acceptance of each drafted token that was reached
    probabilities: list[float] = field(default_factory=list)  # the target's, of `tokens`


@torch.inference_mode()
@exact_products()
def verify(
    target: AnyTarget,
    drafter: Drafter,
    sentences: Sequence[str],
    options: VerifyOptions | None = None,
    *,
    encoded: Sources | None = None,
) -> tuple[list[list[int]], Statistics]:
    """Output tokens of each sentence as `target.generate` writes them, and statistics in the same order.

    `encoded` is what `target.encode_shared` returned for the sentences, if they are encoded already. Raises InputError
    as `generate` does.
    """
    begun = perf_counter()
    verification = _Verification(target, drafter, sentences, options or VerifyOptions())
    verification.run(encoded)
    statistics = verification.statistics
    for output, trace in zip(verification.outputs, statistics.traces, strict=True):
        trace.finished = output[-1] in target.ends
        trace.draft_is_output = trace.draft == output
    statistics.total_s = perf_counter() - begun
    return verification.outputs, statistics


# ---------------------------------------------------------------- one call


class _Draft(NamedTuple):
    """The draft of one row, and where the pass reads it."""

    tokens: list[int]
    start: int  # its first position among the N that the pass reads

    @property
    def positions(self) -> slice:
        """Its positions: the last accepted token, then the drafted ones."""
        return slice(self.start, self.start + len(self.tokens) + 1)


class _PassReading(NamedTuple):
    """What the target makes of the N positions of a pass."""

    logits: Tensor  # [N, V]
    weights: Tensor | None  # [N, V] the distributions to sample from
    tokens: list[int]  # [N] the target's own

    def chances(self, positions: Sequence[int], tokens: Sequence[int]) -> list[float]:
        """Probability of a token at each of some positions."""
        at = torch.tensor(positions, device=self.logits.device)
        ids = torch.tensor(tokens, device=self.logits.device)
        if self.weights is None:
            read = self.logits[at].float()  # of all N positions, most are behind a rejection
            return (read.gather(1, ids[:, None])[:, 0] - read.logsumexp(-1)).exp().tolist()
        return self.weights[at, ids].tolist()


class _Verification:
    """One call of `verify`: the unfinished rows, the decoder that holds their caches, outputs and counts."""

    def __init__(self, target: AnyTarget, drafter: Drafter, sentences: Sequence[str], options: VerifyOptions) -> None:
        self.target = target
        self.drafter = drafter
        self.sentences = sentences
        self.options = options
        self.longest_draft = options.longest_draft
        if self.longest_draft is None and target.device.type != "cpu":
            self.longest_draft = target.max_length
        self.decoder = target.new_decoder()
        self.rows: list[Row] = []
        self.outputs: list[list[int]] = [[] for _ in sentences]
        self.statistics = Statistics([Trace() for _ in sentences])

    def run(self, encoded: Sources | None) -> None:
        """Verify all sentences. Rows finish independently; new sentences join before all of a batch are finished."""
        size = self.options.batch_size
        waiting = sorted(range(len(self.sentences)), key=lambda n: len(self.sentences[n]))  # similar lengths together
        while waiting or self.rows:
            if waiting and len(self.rows) <= size * JOIN_AT:
                numbers = waiting[:size]
                waiting = waiting[size:]
                self.add_sentences(numbers, None if encoded is None else encoded.rows(numbers))
            with span(Stage.DRAFT):
                proposals = self.propose()
            with span(Stage.VERIFY):
                judgements = self.verify_drafts(proposals)
                self.write_tokens(proposals, judgements)
                self.drop_finished()

    def add_sentences(self, numbers: Sequence[int], encoded: Sources | None) -> None:
        """Encode new sentences for the target unless they are `encoded`; let the drafter prepare them."""
        begun = perf_counter()
        sentences = [self.sentences[number] for number in numbers]
        sources: Sources = self.target.encode_shared(sentences) if encoded is None else encoded
        rows = [
            Row(n, sentence, self.target.limit(sentence), start)
            for n, sentence, start in zip(numbers, sentences, sources.starts, strict=True)
        ]
        with span(Stage.DECODER_SETUP):
            self.decoder.add_sources(sources)
            for row, states in zip(rows, sources.edit5_states or (), strict=False):
                row.encoded = states
        target_done = perf_counter()
        with span(Stage.DRAFT):
            self.drafter.begin(rows)
        self.rows += rows
        self.statistics.target_s += target_done - begun
        self.statistics.begin_s += perf_counter() - target_done

    def propose(self) -> list[Proposal]:
        """The drafter's proposals, cut to what a pass can use."""
        begun = perf_counter()
        entries, ends = self.target.entries, self.target.ends
        proposals = []
        for row, proposal in zip(self.rows, self.drafter.propose(self.rows), strict=True):
            tokens = cut_draft(proposal.tokens, entries, ends)
            if not row.tokens:
                self.statistics.traces[row.number].draft = tokens
            longest = self.longest_draft or draft_length(row, self.target.pass_cost / len(self.rows))
            room = min(longest, row.limit - 1)  # the last token is the target's own
            tokens = tokens[:room]
            weights = proposal.probabilities
            if weights is not None:
                weights = F.pad(weights[: len(tokens)], (0, entries - weights.shape[1]))
            proposals.append(Proposal(tokens, weights))
        seconds = perf_counter() - begun
        self.statistics.propose_s += seconds
        if self.drafter.aligns:
            self.statistics.resync_s += seconds
        return proposals

    def verify_drafts(self, proposals: list[Proposal]) -> list[Judgement]:
        """One target pass over all drafts, and what it says about each."""
        begun = perf_counter()
        drafts = list_drafts(proposals)
        reading = self._read(drafts)
        judgements = []
        positions: list[int] = []
        for row, proposal, draft in zip(self.rows, proposals, drafts, strict=True):
            judgement = self._judge(row, proposal, draft, reading)
            written = range(draft.start, draft.start + len(judgement.tokens))
            row.choices = Choices(draft.tokens, reading.tokens[draft.positions])
            judgements.append(judgement)
            positions += written
        chances = iter(reading.chances(positions, [token for each in judgements for token in each.tokens]))
        judgements = [replace(each, probabilities=[next(chances) for _ in each.tokens]) for each in judgements]
        self.statistics.target_s += perf_counter() - begun
        return judgements

    def _read(self, drafts: list[_Draft]) -> _PassReading:
        """The target pass: each draft after the last accepted token of its row."""
        rows = self.rows
        hidden = self.decoder.forward([[row.last, *draft.tokens] for row, draft in zip(rows, drafts, strict=True)])
        logits = self.target.logits(hidden)  # [N, V]
        read = [(row, d.tokens[:n]) for row, d in zip(rows, drafts, strict=True) for n in range(len(d.tokens) + 1)]
        places = [(row.number, len(row.tokens) + len(drafted)) for row, drafted in read]
        sampling = self.options.sampling
        if sampling is None:
            drafted = [token for draft in drafts for token in (*draft.tokens, None)]
            own = self.target.choose(logits, None, places, lambda n: context(*read[n]), drafted)
            return _PassReading(logits, None, own)
        weights = token_probabilities(logits, sampling)
        uniforms = [uniform(sampling.seed, *place, Purpose.TARGET) for place in places]
        return _PassReading(logits, weights, draw_tokens(weights, uniforms))

    def _judge(self, row: Row, proposal: Proposal, draft: _Draft, reading: _PassReading) -> Judgement:
        """What a pass says about one draft, by the rule that fits how the draft and the output are chosen."""
        here = draft.positions
        own = reading.tokens[here]
        sampling = self.options.sampling
        if sampling is None or reading.weights is None:
            return accept_greedy(draft.tokens, own, None)
        weights = reading.weights[here]
        if proposal.probabilities is None:
            return accept_greedy(draft.tokens, own, weights)
        return accept_sampled(proposal, weights, own, sampling, row)

    def write_tokens(self, proposals: list[Proposal], judgements: list[Judgement]) -> None:
        """Append the judged tokens to their rows, up to the first that ends an output, and count the pass."""
        for row, proposal, judgement in zip(self.rows, proposals, judgements, strict=True):
            tokens = cut_at_end(judgement.tokens, self.target.ends)
            row.tokens = [*row.tokens, *tokens]
            row.limit -= len(tokens)
            row.proposed = len(proposal.tokens)
            row.accepted = judgement.accepted
            trace = self.statistics.traces[row.number]
            trace.add(row.proposed, row.accepted, len(tokens), judgement.acceptance)
            trace.probabilities += judgement.probabilities[: len(tokens)]

    def drop_finished(self) -> None:
        """Forget rejected tokens, store the outputs, and drop rows that ended or reached their limit."""
        self.decoder.roll_back([len(row.tokens) for row in self.rows])  # the start and all tokens but the last
        for row in self.rows:
            self.outputs[row.number] = row.tokens
        unfinished = [n for n, row in enumerate(self.rows) if row.last not in self.target.ends and row.limit]
        self.decoder.keep(unfinished)
        self.rows = [self.rows[n] for n in unfinished]


# ---------------------------------------------------------------- drafts


def context(row: Row, drafted: Sequence[int]) -> Context:
    """What the target has read after some drafted tokens of a row."""
    return Context(row.source, [*row.tokens, *drafted])


def draft_length(row: Row, share: float) -> int:
    """Drafted tokens of this row that a pass should read on a CPU; `share`: the row's part of what the pass costs."""
    whole_draft_accepted = row.accepted == row.proposed  # before the first pass both are 0
    return best_length(ALPHA if whole_draft_accepted else ALPHA_AFTER_REJECTION, share + ROW_COST)


def cut_draft(tokens: list[int], entries: int, ends: frozenset[int]) -> list[int]:
    """A draft up to its first end, and without everything from the first unknown id on."""
    unknown = next((n for n, token in enumerate(tokens) if not 0 <= token < entries), len(tokens))
    return cut_at_end(tokens[:unknown], ends)


def cut_at_end(tokens: list[int], ends: frozenset[int]) -> list[int]:
    """The tokens up to the first that ends an output, this one included."""
    end = next((n for n, token in enumerate(tokens) if token in ends), len(tokens))
    return tokens[: end + 1]


def list_drafts(proposals: list[Proposal]) -> list[_Draft]:
    """The drafts of all rows, in the order in which a pass reads them."""
    drafts: list[_Draft] = []
    start = 0
    for proposal in proposals:
        drafts.append(_Draft(proposal.tokens, start))
        start += len(proposal.tokens) + 1
    return drafts


# ---------------------------------------------------------------- acceptance


def accept_greedy(drafted: list[int], own: list[int], weights: Tensor | None) -> Judgement:
    """Accept while the draft is the target's `own`; then comes the target's token.

    `weights` [n + 1, V] are the distributions that `own` was drawn from, None in greedy decoding.
    """
    pairs = zip(drafted, own, strict=False)
    accepted = next((n for n, (draft, token) in enumerate(pairs) if draft != token), len(drafted))
    if weights is None:
        acceptance = [1.0] * accepted + [0.0] * (accepted < len(drafted))
    else:
        ids = torch.tensor(drafted[: accepted + 1], dtype=torch.long, device=weights.device)
        acceptance = weights[: len(ids)].gather(1, ids[:, None])[:, 0].tolist()
    return Judgement(own[: accepted + 1], accepted, acceptance)


def accept_sampled(proposal: Proposal, weights: Tensor, own: list[int], sampling: Sampling, row: Row) -> Judgement:
    """Modified rejection sampling: p are the target's `weights` [n + 1, V], q the proposal's probabilities [n, V]."""
    assert proposal.probabilities is not None
    drafted = proposal.tokens
    q = proposal.probabilities
    p = weights[: len(drafted)]
    ids = torch.tensor(drafted, dtype=torch.long, device=p.device)[:, None]  # [n, 1]
    reached = torch.minimum(p, q).sum(-1)
    acceptance, of_q, of_p = torch.stack([reached, q.gather(1, ids)[:, 0], p.gather(1, ids)[:, 0]]).tolist()
    for n in range(len(drafted)):
        place = (sampling.seed, row.number, len(row.tokens) + n)
        if uniform(*place, Purpose.ACCEPT) * of_q[n] < of_p[n]:
            continue
        residual = (p[n] - q[n]).clamp(min=0)  # [V]
        correction = draw_tokens(residual[None], [uniform(*place, Purpose.RESIDUAL)])
        return Judgement([*drafted[:n], *correction], n, acceptance[: n + 1])
    return Judgement([*drafted, own[len(drafted)]], len(drafted), acceptance)
