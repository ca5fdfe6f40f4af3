"""The data for calibration: a model's evidence on all edits that it proposes at any threshold, and which are right.

    sample = collect(corrector, test)         a Sample: proposals of all sentences, graded where the set has corrections
    reread(corrector, sample, own)            the same with the doubts of the second reading

The model reads once with thresholds that refuse nothing. Each proposal is graded on its own: ERRANT compares the
sentence with only this change to the source, and its edits are right where an annotator made them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from edit_gec.annotation.errant_edits import load_extractor
from edit_gec.editing.confidence import CALM, Evidence, Scale
from edit_gec.editing.predictor import WindowChanges
from edit_gec.editing.second_pass import apply_to_pieces, changes_of, doubts_beside
from edit_gec.editing.thresholds import Thresholds
from edit_gec.lab.evaluation import projection
from edit_gec.lab.evaluation.evaluate import reference_edits
from edit_gec.lab.evaluation.signature import ScoreOptions
from edit_gec.text.detokenize import detokenize, splits_hyphens
from edit_gec.text.edits import Change, apply

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.editing.decode import Prediction
    from edit_gec.lab.evaluation.datasets import TestSet
    from edit_gec.modeling.tokenizer import Pieces
    from edit_gec.speculative.rewordings import RewordingKind

PROPOSED = 0.2  # confidence, before its sentence counts, from which on an edit is made for the second reading


class ProposedEdit(NamedTuple):
    """A change of a sentence: what the model says of it, and how many of the ERRANT edits in it are right.

    With a judge, `gain` is what that says of it; `rewording` is the kind of a change that the judge proposes itself.
    """

    sentence: int
    window: int  # number of the window in the sample
    change: Change
    evidence: Evidence
    doubt: float = CALM
    made: int = 1
    right: int = 0
    gain: float = 0.0
    rewording: RewordingKind | None = None


class Sample(NamedTuple):
    """Sentences by their numbers, what is proposed in them, and how many edits an annotator made in each.

    `doubts` are those of the first reading in each window.
    """

    sentences: tuple[int, ...]
    proposals: tuple[ProposedEdit, ...]
    expected: dict[int, int]
    windows: tuple[Pieces, ...] = ()
    doubts: tuple[Sequence[float], ...] = ()

    def fold(self, number: int, folds: int, *, inside: bool) -> Sample:
        """The sentences of one fold, or all others."""
        chosen = tuple(n for n in self.sentences if (n % folds == number) == inside)
        kept = set(chosen)
        return Sample(chosen, tuple(p for p in self.proposals if p.sentence in kept), self.expected)


class TracedConfidence(float):
    """A confidence with the evidence that it was computed from."""

    evidence: Evidence


@dataclass(frozen=True)
class Recorder(Thresholds):
    """Thresholds that refuse nothing, under which every confidence keeps its evidence."""

    @property
    def asks_what_stays(self) -> bool:
        """All evidence is wanted."""
        return True

    def confidence(self, evidence: Evidence) -> TracedConfidence:
        """What the probabilities say by themselves; the least sure part of an edit stands for it."""
        traced = TracedConfidence(super().confidence(evidence))
        traced.evidence = evidence
        return traced

    def judge(self, own: Sequence[float], doubts: Sequence[float] = (), others: Sequence[float] = ()) -> list[float]:
        """The confidences as they are."""
        return list(own)


def collect(corrector: Corrector, test: TestSet) -> Sample:
    """All edits that the model proposes in a set at any threshold, graded if the set has gold edits or references."""
    plans: list[Prediction] = []

    def propose(windows: Sequence[Pieces]) -> list[list[tuple[Change, Evidence]]]:
        plans.extend(read(corrector, windows, Recorder(keep_bias=corrector.edit5.thresholds.keep_bias)))
        found = changes_of(windows, plans, corrector.edit5.tokens)
        return [
            [(c, c.confidence.evidence) for c in each if isinstance(c.confidence, TracedConfidence)] for each in found
        ]

    sample = collect_proposed(corrector, test, propose)
    return sample._replace(doubts=tuple(plan.doubts for plan in plans))


def collect_proposed(
    corrector: Corrector, test: TestSet, propose: Callable[[Sequence[Pieces]], list[list[tuple[Change, Evidence]]]]
) -> Sample:
    """The changes that are proposed in the windows of a set, with their evidence, graded as `collect` does."""
    test = with_gold_edits(test)
    tokens = [line.split() for line in test.lines]
    split = splits_hyphens(tokens)
    raws = [detokenize(each, split) for each in tokens] if test.m2 else []
    texts = [raw.text for raw in raws] or list(test.lines)
    prepared = corrector.prepare(texts, lines=True, markup=False)
    windows = tuple(window.pieces for window in prepared)
    proposals = []
    edited = []
    for n, (window, found) in enumerate(zip(prepared, propose(windows), strict=True)):
        for change, evidence in found:
            edits = corrector.projection.to_edits(texts[window.text], window.sentence, WindowChanges((change,))).edits
            if edits:
                proposals.append(ProposedEdit(window.text, n, change, evidence))
                edited.append(apply(texts[window.text], edits))
    expected: dict[int, int] = {}
    if test.m2:
        targets = [
            projection.project_to_tokens(raws[p.sentence], text, split)
            for p, text in zip(proposals, edited, strict=True)
        ]
        proposals, expected = grade(proposals, tokens, targets, test)
    return Sample(tuple(range(len(texts))), tuple(proposals), expected, windows)


def with_gold_edits(test: TestSet) -> TestSet:
    """The set with gold edits: where it has only reference lines, with those that ERRANT finds in each of them."""
    return replace(test, m2=reference_edits(test, ScoreOptions())) if test.references else test


def grade(
    proposals: Sequence[ProposedEdit], tokens: Sequence[list[str]], targets: Sequence[list[str]], test: TestSet
) -> tuple[list[ProposedEdit], dict[int, int]]:
    """The proposals with what is right in them, and the edits of each sentence's annotator: the one who agrees most.

    `targets` has the tokens of the sentence after each proposal.
    """
    found = load_extractor(None).extract([tokens[p.sentence] for p in proposals], targets)
    keys = [[(e.start, e.end, e.correction) for e in each] for each in found]
    golds = [
        [{(e.start, e.end, e.correction) for e in gold} for gold in sentence.annotators.values()]
        for sentence in test.m2
    ]
    proposed: dict[int, list[tuple[int, int, str]]] = {}
    for p, made in zip(proposals, keys, strict=True):
        proposed.setdefault(p.sentence, []).extend(made)
    best = {
        n: max(gold, key=lambda edits: sum(key in edits for key in proposed.get(n, ())))
        for n, gold in enumerate(golds)
        if gold
    }
    graded = [
        p._replace(made=len(made), right=sum(key in best.get(p.sentence, ()) for key in made))
        for p, made in zip(proposals, keys, strict=True)
        if made
    ]
    return graded, {n: len(edits) for n, edits in best.items()}


def reread(corrector: Corrector, sample: Sample, scale: Scale) -> Sample:
    """The sample with the doubts of the second reading: of each sentence with the proposals that are sure alone."""
    made: dict[int, list[ProposedEdit]] = {}
    for p in sample.proposals:
        if scale.confidence(p.evidence) >= PROPOSED:
            made.setdefault(p.window, []).append(p)
    again = []
    places = []
    for n, proposals in made.items():
        pieces = apply_to_pieces(sample.windows[n], [p.change for p in proposals], corrector.edit5.tokens)
        if 0 < len(pieces) <= corrector.edit5.network.config.max_pieces:
            again.append(pieces)
            places.append(n)
    plans = read(corrector, again, Recorder(keep_bias=corrector.edit5.thresholds.keep_bias))
    doubts: dict[tuple[int, Change], float] = {}
    for n, pieces, plan in zip(places, again, plans, strict=True):
        changes = [p.change for p in made[n]]
        found = doubts_beside(sample.windows[n], changes, sample.doubts[n], pieces, plan.doubts)
        doubts.update({(n, change): doubt for change, doubt in zip(changes, found, strict=True)})
    doubted = tuple(p._replace(doubt=doubts.get((p.window, p.change), CALM)) for p in sample.proposals)
    return sample._replace(proposals=doubted)


def read(corrector: Corrector, windows: Sequence[Pieces], thresholds: Thresholds) -> list[Prediction]:
    """The plans of windows, in their order."""
    plans: dict[int, Prediction] = {}
    for batch in corrector.edit5.group_by_length(windows, corrector.batch_size) if windows else ():
        found = corrector.edit5.predict_plans([windows[n] for n in batch], thresholds)
        plans.update(zip(batch, found, strict=True))
    return [plans[n] for n in range(len(windows))]
