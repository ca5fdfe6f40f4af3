"""Logits -> plan: tags with a keep bias, the pointer walk, the insertion loop, and the confidence of each edit.

    predict(network, tokens, sentences, thresholds) -> one Prediction per sentence

Decisions, in order:

    tags         greedy, with a bonus for KEEP; words change as a whole (tags.py)
    points       followed only where they leave the source order, which has the same bonus (pointer.py)
    insertions   written only into open slots whose edit can still pass the threshold (insertion.py)
    thresholds   an edit below `min_confidence` is undone; its confidence counts the other edits of its sentence, and
                 the second reading may still lower it (second_pass.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from edit_gec.backends.network import Network
from edit_gec.editing.confidence import (
    MIN_STAYS,
    MISSPELT,
    Evidence,
    EvidenceKind,
    classify,
    possible_kinds,
    supports,
)
from edit_gec.editing.insertion import (
    InsertionDecoder,
    Slot,
    decode_insertions,
    mark_unchanged,
    open_slots,
    score_sources,
)
from edit_gec.editing.lexicon import WordList
from edit_gec.editing.moves import join_moves
from edit_gec.editing.plan import Plan, spans, unchanged
from edit_gec.editing.pointer import Order, follow_points, keep_order
from edit_gec.editing.spelling import (
    Proposed,
    find_misspelt_slots,
    tag_certain_errors,
    tag_suspect_words,
    write_candidates,
    write_proposals,
)
from edit_gec.editing.tags import choose_tags, tag_probabilities
from edit_gec.editing.thresholds import Thresholds
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.rules.engine import Found, find_rules
from edit_gec.text.edits import Change, Provenance
from edit_gec.tracing import Stage, span


@dataclass
class Prediction:
    """A plan and, for each kept piece with a change after it, the confidence that this change has on its own.

    `Scale.judge` turns it into the final confidence; `refused` are the changes below the threshold.
    """

    plan: Plan
    confidence: dict[int, float] = field(default_factory=dict)
    refused: tuple[float, ...] = ()
    steps: int = 0  # of the insertion decoder, as far as this sentence needed them
    doubts: Sequence[float] = ()  # probability of each piece, the sentinel first, that it does not simply stay
    respelt: frozenset[int] = frozenset()  # kept pieces after which a word of the lexicon was chosen
    ruled: frozenset[int] = frozenset()  # and after which what a rule proposes
    found: Sequence[Found] = ()  # what the rules find in the sentence

    @property
    def doubt(self) -> float:
        """The largest of the sentence."""
        return max(self.doubts, default=0.0)

    def between(self, first: int, last: int) -> float:
        """The confidence of the edit between two kept pieces: the lowest of its parts."""
        return min((c for piece, c in self.confidence.items() if first <= piece < last), default=1.0)

    def changes(self, pieces: Pieces, tokens: Tokens, *, respelt: bool = False) -> Iterator[Change]:
        """What the plan changes in its sentence; `respelt`: only changes that do nothing but take words of the
        lexicon."""
        made = []
        for start, end, text, (first, last) in spans(self.plan, pieces, tokens) if self.plan.changes else ():
            pieces_changed = {piece for piece in self.confidence if first <= piece < last}
            if not respelt or pieces_changed <= self.respelt:
                source = Provenance.RULE if pieces_changed <= self.ruled else Provenance.EDIT5
                made.append(Change(start, end, text, self.between(first, last), source))
        return join_moves(pieces.source, made)


@dataclass
class SentenceState:
    """The decisions for one sentence, filled in stage by stage; positions count the sentinel."""

    pieces: Pieces
    tags: list[int]  # [length]
    probabilities: list[list[float]]  # [S][4] of the tags
    order: Order
    is_english: bool = True
    found: Sequence[Found] = ()  # what the rules find
    proposed: Sequence[Proposed] = ()  # of that, what the model doubts, misspelt words included
    rare: float = 0.0  # share of rare words, numbers and marks
    gaps: dict[int, list[int]] = field(init=False)  # deleted pieces after each kept piece where something changes
    likely: frozenset[int] = frozenset()  # kept pieces whose changes can still pass the threshold
    slots: list[Slot] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gaps = find_gaps(self.tags)

    @property
    def length(self) -> int:
        """Pieces with the sentinel."""
        return len(self.tags)

    def evidence(self, tags: float, **more: Any) -> Evidence:
        """The evidence for a change of this sentence."""
        return Evidence(tags, **more, rare=self.rare)

    def proposals(self, kept: int) -> list[Proposed]:
        """The proposals that make up all that is replaced after a kept piece; [] where there is more, or no rule."""
        gap = self.gaps.get(kept, [])
        inside = [each for each in self.proposed if gap and each.first + 1 in gap]
        pieces = [n + 1 for each in inside for n in range(each.first, each.last)]  # the sentinel comes first
        is_all = pieces == gap and self.tags[kept] == KEEP
        return inside if is_all and any(each.certain for each in inside) else []

    @property
    def all_tags(self) -> list[int]:
        """Those of all positions, </s> included."""
        return [*self.tags, KEEP]

    @property
    def all_ranks(self) -> list[int]:
        """The position of each piece in the output order, -1 for deleted ones; </s> comes last."""
        return [*Plan(self.length, tuple(self.order.pieces)).ranks(), len(self.order.pieces)]

    @property
    def likely_slots(self) -> list[Slot]:
        """The slots that are worth writing."""
        return [slot for slot in self.slots if slot.after_piece in self.likely]


def predict(
    network: Network,
    tokens: Tokens,
    sentences: Sequence[Pieces],
    thresholds: Thresholds,
    lexicon: WordList | None = None,
) -> list[Prediction]:
    """Plans for one batch of sentences, none longer than network.config.max_pieces.

    With a `lexicon`, unknown words that the model doubts are replaced by known ones, and sentences in other languages
    are left unchanged.
    """
    with span(Stage.TOKENIZE):
        ids = [tokens.wrap(sentence.ids) for sentence in sentences]
    with span(Stage.ENCODE):
        source = network.encode(ids)
    with span(Stage.TAG):
        probabilities = [tag_probabilities(logits, thresholds.keep_bias) for logits in network.tag(source)]
        states = [decide_tags(*each, tokens, lexicon) for each in zip(sentences, probabilities, strict=True)]
    with span(Stage.POINT):
        if thresholds.reorder:
            scores = network.point(source, [state.all_tags for state in states])
            orders = follow_points(scores, [state.tags for state in states], thresholds.keep_bias)
            for state, order in zip(states, orders, strict=True):
                if not any(each.certain for each in state.proposed):  # what a rule proposes is about words in order
                    state.order = order
    for state in states:
        if state.is_english:
            state.likely = prune_unlikely(state, thresholds)
    changed = [n for n, state in enumerate(states) if state.likely]
    for row, n in enumerate(changed):
        states[n].slots = open_slots(states[n].tags, states[n].order.pieces, row)
    changing = [states[n] for n in changed]
    if any(state.likely_slots for state in changing):
        with span(Stage.INSERT_SETUP):
            tags = [state.all_tags for state in changing]
            ranks = [state.all_ranks for state in changing]
            decoder = InsertionDecoder(network.remember(source, changed, tags, ranks), tokens)
        write_slots(decoder, changing, lexicon, thresholds)
    with span(Stage.REALIZE):
        return [finish(state, tokens, thresholds) for state in states]


# ---------------------------------------------------------------- the stages


def decide_tags(
    pieces: Pieces, probabilities: list[list[float]], tokens: Tokens, lexicon: WordList | None
) -> SentenceState:
    """The tags of a sentence; unknown words that the model doubts are tagged too. The order is that of the source."""
    tags = choose_tags(probabilities, pieces, tokens)
    text = pieces.covered
    is_english = lexicon is None or not lexicon.is_foreign(text)
    found: list[Found] = []
    proposed: list[Proposed] = []
    rare = 0.0
    if lexicon and is_english:
        suspect = tag_suspect_words(lexicon, tags, probabilities, pieces)
        found = find_rules(text)
        proposed = tag_certain_errors(tags, probabilities, pieces, found, suspect)
        rare = lexicon.rare_share(text)
    return SentenceState(pieces, tags, probabilities, keep_order(tags), is_english, found, proposed, rare)


def write_slots(
    decoder: InsertionDecoder, states: Sequence[SentenceState], lexicon: WordList | None, thresholds: Thresholds
) -> None:
    """Write into the slots whose changes can still pass the threshold: words of the lexicon first, then the rest."""
    if lexicon:
        with span(Stage.SPELL):
            proposed = []
            misspelt = []
            for state in states:
                certain = {slot.after_piece: state.proposals(slot.after_piece) for slot in state.likely_slots}
                slots = [slot for slot in state.likely_slots if certain[slot.after_piece]]
                proposed += [(slot, deleted_ids(state, slot), certain[slot.after_piece]) for slot in slots]
                left = [slot for slot in state.likely_slots if not certain[slot.after_piece]]
                misspelt += find_misspelt_slots(lexicon, left, state.tags, state.pieces)
            write_proposals(decoder, proposed)
            write_candidates(decoder, misspelt)
    left = [slot for state in states for slot in state.likely_slots if not slot.finished]
    if left:
        decode_insertions(decoder, left, sequential=thresholds.sequential)
    sources = [(slot, deleted_ids(state, slot)) for state in states for slot in state.likely_slots]
    mark_unchanged(sources)
    if thresholds.asks_what_stays:
        score_sources(decoder, sources)


def finish(state: SentenceState, tokens: Tokens, thresholds: Thresholds) -> Prediction:
    """The prediction of a sentence whose slots are written."""
    doubts = [1 - piece[KEEP] for piece in state.probabilities[: state.length]]
    if not state.likely:
        return Prediction(unchanged(state.length), doubts=doubts)
    classify_slots(state, tokens)
    prediction = assemble(state, thresholds)
    prediction.doubts = doubts
    prediction.found = state.found
    return prediction


# ---------------------------------------------------------------- the plan and its confidence


def find_gaps(tags: Sequence[int]) -> dict[int, list[int]]:
    """The kept pieces after which something changes, with the pieces deleted there; none for a pure insertion.

    >>> find_gaps([KEEP, REPLACE, DELETE, INSERT])
    {0: [1, 2], 3: []}
    """
    gaps: dict[int, list[int]] = {}
    kept = 0
    for i, tag in enumerate(tags):
        if tag in (KEEP, INSERT):
            kept = i
        if tag == INSERT:
            gaps[i] = []
        elif tag != KEEP:
            gaps.setdefault(kept, []).append(i)
    return gaps


def deleted_ids(state: SentenceState, slot: Slot) -> list[int]:
    """Ids of the pieces that are deleted where a slot stands."""
    return [state.pieces.ids[i - 1] for i in state.gaps.get(slot.after_piece, ())]  # the sentinel comes first


def tag_confidences(gaps: dict[int, list[int]], probabilities: list[list[float]]) -> dict[int, float]:
    """Probability of each change by its tags alone, in the mean over deleted pieces."""
    chances: dict[int, float] = {}
    for piece, deleted in gaps.items():
        sure = [probabilities[i][DELETE] + probabilities[i][REPLACE] for i in deleted]
        sure = sure or [probabilities[piece][INSERT] + probabilities[piece][REPLACE]]
        chances[piece] = sum(sure) / len(sure)
    return chances


def prune_unlikely(state: SentenceState, thresholds: Thresholds) -> frozenset[int]:
    """Kept pieces whose changes could still pass the threshold, and those that could support them; none without the
    former.

    A change that fails on tags alone, whatever the decoder writes and says of what stays (Slot.stays), needs no
    decoding.
    """
    links = state.order.links
    gaps = state.gaps
    best = {piece: thresholds.confidence(state.evidence(value)) for piece, value in links.items()}
    for piece, value in tag_confidences(gaps, state.probabilities).items():
        certain = bool(state.proposals(piece))
        before = state.pieces.before(piece)
        kinds = possible_kinds(gaps[piece], before, certain=certain)
        sure = max(thresholds.confidence(state.evidence(value, kind=kind, stays=MIN_STAYS)) for kind in kinds)
        best[piece] = min(sure, best.get(piece, sure))
    judged = dict(zip(best, thresholds.judge(list(best.values())), strict=True))
    good = frozenset(piece for piece, value in judged.items() if value >= thresholds.threshold)
    if not good or (links and len(good) < len(best)):
        return frozenset()
    if thresholds.sequential:
        return frozenset(best)  # each slot reads the slots before it
    return good | {piece for piece, value in best.items() if supports(value)}


def classify_slots(state: SentenceState, tokens: Tokens) -> None:
    """Record in each written slot the kind of its edit; slots with words of the lexicon have theirs."""
    for slot in state.slots:
        deleted = state.gaps.get(slot.after_piece, [])
        removed = state.pieces.text(deleted[0] - 1, deleted[-1]) if deleted else ""  # the sentinel comes first
        before = state.pieces.before(slot.after_piece)
        slot.kind = slot.kind or classify(removed, tokens.decode(slot.pieces), before)


def assemble(state: SentenceState, thresholds: Thresholds) -> Prediction:
    """The plan of one sentence. Gaps below the threshold, or whose slot was never finished, are restored.

    Where pieces moved, gaps and links are one decision: all or nothing.
    """
    written = {slot.after_piece: slot for slot in state.slots}
    links = state.order.links
    gaps = state.gaps
    confidence = {piece: thresholds.confidence(state.evidence(value)) for piece, value in links.items()}
    for piece, value in tag_confidences(gaps, state.probabilities).items():
        slot = written.get(piece)
        if slot is None:
            evidence = state.evidence(value, kind=EvidenceKind.DELETE)
        else:
            kind = slot.kind or EvidenceKind.REPLACE
            evidence = state.evidence(value, written=slot.probability, kind=kind, stays=slot.stays)
        sure = thresholds.confidence(evidence)
        confidence[piece] = min(sure, confidence.get(piece, sure))
    judged = zip(confidence, thresholds.judge(list(confidence.values())), strict=True)
    refused = {piece for piece, value in judged if value < thresholds.threshold}
    made = {piece: value for piece, value in confidence.items() if piece not in refused}
    if not made or (links and refused):
        return Prediction(unchanged(state.length))
    restored = {i for piece in refused for i in gaps.get(piece, [])}
    order = state.order.pieces if links else sorted({*state.order.pieces, *restored})
    insertions = tuple(
        (k, tuple(written[i].pieces))
        for k, i in enumerate(order, start=1)
        if i in written and written[i].pieces and i not in refused
    )
    steps = [len(slot.pieces) + 1 for slot in state.slots]
    return Prediction(
        Plan(state.length, tuple(order), insertions),
        made,
        refused=tuple(confidence[piece] for piece in refused),
        steps=sum(steps) if thresholds.sequential else max(steps, default=0),
        respelt=frozenset(slot.after_piece for slot in state.slots if slot.kind in MISSPELT) - refused,
        ruled=frozenset(slot.after_piece for slot in state.slots if slot.kind == EvidenceKind.CERTAIN) - refused,
    )
