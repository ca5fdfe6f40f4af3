"""Edits against edits: true and false positives, misses, P, R and F, counted exactly as errant_compare does.

    reference  He [go -> goes] home [+ .]          tp 1   P = 1/2
    hypothesis He [go -> goes] [home -> house]     fp 1   R = 1/2
                                                   fn 1   F0.5 = 0.5

With several annotators, each sentence is scored against the one that gives the best total so far, in file order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from edit_gec.annotation.m2 import M2Edit, M2Sentence

MODES = {
    "cs": "span-based correction",
    "cse": "span-based correction + classification",
    "ds": "span-based detection",
    "dt": "token-based detection",
}
Keyed = dict[tuple[int | str, ...], list[str]]  # what must be equal -> the types found there


class Prf(NamedTuple):
    """Precision, recall and F0.5, from 0 to 1."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class Counts:
    """True positives, false positives, false negatives."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    def prf(self) -> Prf:
        """Precision, recall, F0.5, rounded to four digits; an empty denominator gives 1, all as in ERRANT."""
        p = self.tp / (self.tp + self.fp) if self.fp else 1.0
        r = self.tp / (self.tp + self.fn) if self.fn else 1.0
        f = 1.25 * p * r / (0.25 * p + r) if p + r else 0.0
        return Prf(round(p, 4), round(r, 4), round(f, 4))


@dataclass
class Breakdown:
    """Proposed edits by outcome (hit + wrong + over), and errors that no edit touches."""

    hit: int = 0  # the annotator's own edit
    wrong: int = 0  # there is an error, with another correction
    over: int = 0  # there is no error
    missed: int = 0  # an error that no edit touches


@dataclass
class ErrantScore:
    """Counts overall, per type and per sentence, with the annotator that each sentence is scored against."""

    mode: str
    total: Counts = field(default_factory=Counts)
    by_type: dict[str, Counts] = field(default_factory=dict)
    per_sentence: list[Counts] = field(default_factory=list)
    annotator: list[int] = field(default_factory=list)
    split: Breakdown = field(default_factory=Breakdown)

    @property
    def prf(self) -> Prf:
        """Precision, recall and F of all types together."""
        return self.total.prf()

    def at_level(self, level: int) -> dict[str, Counts]:
        """Types at level 1 (M, R, U), 2 (NOUN, VERB:SVA, ...) or 3 (R:NOUN, ...), sorted by name."""
        out: dict[str, Counts] = {}
        for name, counts in self.by_type.items():
            short = name if name == "UNK" or level == 3 else name[0] if level == 1 else name[2:]
            out[short] = out.get(short, Counts()) + counts
        return dict(sorted(out.items()))


def score_edits(hypothesis: Sequence[M2Sentence], reference: Sequence[M2Sentence], mode: str = "cs") -> ErrantScore:
    """Score hypothesis edits against reference edits, sentence by sentence in file order."""
    score = ErrantScore(mode)
    for hyp, ref in zip(hypothesis, reference, strict=True):
        # Empty hypotheses get one round, too: their misses count.
        candidates = [
            (h, r, *_count(_key(hyp_edits, mode), _key(ref_edits, mode)))
            for h, hyp_edits in hyp.annotators.items()
            for r, ref_edits in ref.annotators.items()
        ]
        # Ties go to the first, hence max() on the same order as ERRANT's loop: F, more tp, fewer fp, fewer fn.
        best = max(candidates, key=lambda c: ((score.total + c[2]).prf().f, c[2].tp, -c[2].fp, -c[2].fn))
        h, r, counts, types = best
        score.total += counts
        score.per_sentence.append(counts)
        score.annotator.append(r)
        for name, n in types.items():
            score.by_type[name] = score.by_type.get(name, Counts()) + n
        _split(_corrections(hyp.annotators[h]), _corrections(ref.annotators[r]), score.split)
    return score


def _key(edits: Sequence[M2Edit], mode: str) -> Keyed:
    keyed: Keyed = {}
    for e in edits:
        if e.type == "UNK" and mode in ("cs", "cse"):
            continue
        keys: list[tuple[int | str, ...]]
        if mode == "cs":
            keys = [(e.start, e.end, e.correction)]
        elif mode == "cse":
            keys = [(e.start, e.end, e.type, e.correction)]
        elif mode == "ds":
            keys = [(e.start, e.end)]
        else:  # an insertion is an error of the token to its right
            keys = [(i, i + 1) for i in range(e.start, max(e.end, e.start + 1))]
        for key in keys:
            keyed.setdefault(key, []).append(e.type)
    return keyed


def _count(hyp: Keyed, ref: Keyed) -> tuple[Counts, dict[str, Counts]]:
    types: dict[str, Counts] = {}
    for key, names in hyp.items():
        one = Counts(tp=1) if key in ref else Counts(fp=1)
        for name in ref.get(key, names):
            types[name] = types.get(name, Counts()) + one
    for key, names in ref.items():
        for name in names if key not in hyp else []:
            types[name] = types.get(name, Counts()) + Counts(fn=1)
    return sum(types.values(), Counts()), types


def _corrections(edits: Sequence[M2Edit]) -> list[M2Edit]:
    return [e for e in edits if e.type != "UNK"]


def _split(hyp: Sequence[M2Edit], ref: Sequence[M2Edit], into: Breakdown) -> None:
    gold = {(e.start, e.end, e.correction) for e in ref}
    for e in hyp:
        if (e.start, e.end, e.correction) in gold:
            into.hit += 1
        elif any(touches(e, r) for r in ref):
            into.wrong += 1
        else:
            into.over += 1
    into.missed += sum(not any(touches(e, r) for e in hyp) for r in ref)


def touches(a: M2Edit, b: M2Edit) -> bool:
    """Whether two edits change a common token, or one inserts at the other's edge."""
    if a.start == a.end or b.start == b.end:
        return a.start <= b.end and b.start <= a.end
    return a.start < b.end and b.start < a.end
