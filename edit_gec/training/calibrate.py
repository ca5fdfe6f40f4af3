"""Fit the thresholds of a model: the scale of confidence, and the best F0.5 for each rate of false alarms.

    python -m edit_gec.training.calibrate --model models/edit5-mini --data DEV --keep-bias -1.1 -0.8
    python -m edit_gec.training.calibrate --model models/edit5-mini --data DEV --write --rate 2

The model runs once on learners' and on clean text with every edit that it can think of. Logistic regression brings what
it says of them (Evidence) on one scale of confidence; then all pairs of thresholds, of an edit and of the edits of a
sentence together, are counted. Two tables come out: on the sentences that everything was fitted on, and in five folds,
where neither the scale nor the thresholds have seen the sentences that are counted. With --write the model folder gets
the scale and the thresholds of one rate; its other thresholds, of the second pass for instance, stay.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edit_gec.annotation.errant_edits import load_extractor
from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import MIN_STAYS, POWER, Evidence, Kind, Scale, log_odds
from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import EditGecError, InputError
from edit_gec.evaluation import projection
from edit_gec.evaluation.calibration import changes_of_edit, fit_logistic
from edit_gec.evaluation.datasets import TestSet, find_test_sets
from edit_gec.evaluation.systems import Change, Output
from edit_gec.modeling.checkpoint import read_config
from edit_gec.text.detokenize import detokenize, splits_hyphens

RATES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 20.0)  # clean sentences changed, per cent
STEPS = [float(step) for step in np.arange(0.02, 0.98, 0.02)]  # thresholds that are tried
KINDS = (Kind.INSERT, Kind.DELETE, Kind.CASE, Kind.SPELLING)
FOLDS = 5
NEVER = 2.0  # a threshold that nothing reaches
LEAST_SLOPE = 0.001  # of the tags; a model folder's must be above 0


class Edit(NamedTuple):
    """An edit of a sentence: what the model says of its parts, and whether it is right."""

    sentence: int
    parts: tuple[Evidence, ...]
    right: bool


class Sample(NamedTuple):
    """Sentences by their numbers, their edits, and how many edits an annotator made in all of them."""

    sentences: tuple[int, ...]
    edits: tuple[Edit, ...]
    expected: dict[int, int]

    def fold(self, number: int, *, inside: bool) -> Sample:
        """The sentences of one fold, or all others."""
        chosen = tuple(n for n in self.sentences if (n % FOLDS == number) == inside)
        kept = set(chosen)
        return Sample(chosen, tuple(edit for edit in self.edits if edit.sentence in kept), self.expected)


class Outcome(NamedTuple):
    """What two thresholds come to: clean sentences changed, edits made, right ones, and edits expected."""

    min_confidence: float
    sentence_gate: float
    changed: int
    clean: int
    made: int
    right: int
    expected: int

    def plus(self, other: Outcome) -> Outcome:
        """Both counted together; the thresholds are this one's."""
        return Outcome(*self[:2], *(int(a + b) for a, b in zip(self[2:], other[2:], strict=True)))

    @property
    def rate(self) -> float:
        """Clean sentences changed, per cent."""
        return 100 * self.changed / max(1, self.clean)

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F0.5, per cent."""
        p, r = self.right / max(1, self.made), self.right / max(1, self.expected)
        return 100 * p, 100 * r, 125 * p * r / max(1e-9, 0.25 * p + r)


@dataclass(frozen=True)
class Recorder(Thresholds):
    """Thresholds under which nothing is refused, and the confidence of an edit says where its evidence stands."""

    seen: list[Evidence] = field(default_factory=list, hash=False, compare=False)

    def confidence(self, evidence: Evidence) -> float:
        """Number of the evidence, from 1; 0 where the edit is impossible."""
        self.seen.append(evidence)
        return float(len(self.seen)) if min(evidence.tags, evidence.written) > 0 else 0.0


# ---------------------------------------------------------------- what the model says


def collect(model: Path, keep_bias: float, learners: TestSet, clean: TestSet) -> tuple[Sample, Sample]:
    """Every edit that a model can think of in learners' sentences and in clean ones."""
    recorder = Recorder(keep_bias=keep_bias)
    corrector = replace(Corrector.load(model), thresholds=recorder, workers=1)  # one worker: the list has one order
    return collect_learners(corrector, recorder.seen, learners), collect_clean(corrector, recorder.seen, clean)


def collect_learners(corrector: Corrector, seen: Sequence[Evidence], test: TestSet) -> Sample:
    """Every edit of an ERRANT set, right or wrong against the annotator that agrees most."""
    tokens = [line.split() for line in test.lines]
    split = splits_hyphens(tokens)
    raws = [detokenize(t, split) for t in tokens]
    outputs = correct_all(corrector, [raw.text for raw in raws])
    targets = [projection.project_to_tokens(raw, o.text, split) for raw, o in zip(raws, outputs, strict=True)]
    found = load_extractor(None).extract(tokens, targets)
    edits = []
    for n, (raw, output, mine, reference) in enumerate(zip(raws, outputs, found, test.m2, strict=True)):
        golds = [{(e.start, e.end, e.correction) for e in gold} for gold in reference.annotators.values()]
        gold = max(golds, key=lambda gold: sum((e.start, e.end, e.correction) in gold for e in mine), default=set())
        for e in mine:
            parts = tuple(seen[int(c.confidence) - 1] for c in changes_of_edit(raw, output.changes, e))
            if parts:
                edits.append(Edit(n, parts, (e.start, e.end, e.correction) in gold))
    expected = {n: min(map(len, s.annotators.values())) for n, s in enumerate(test.m2) if s.annotators}
    return Sample(tuple(range(len(test.lines))), tuple(edits), expected)


def collect_clean(corrector: Corrector, seen: Sequence[Evidence], test: TestSet) -> Sample:
    """Every edit of clean sentences; none is right."""
    outputs = correct_all(corrector, test.lines)
    edits = [Edit(n, (seen[int(c.confidence) - 1],), False) for n, o in enumerate(outputs) for c in o.changes]
    return Sample(tuple(range(len(outputs))), tuple(edits), {})


def correct_all(corrector: Corrector, texts: Sequence[str]) -> list[Output]:
    """Corrections of texts that are one sentence each."""
    found = corrector.correct_batch(list(texts), lines=True, markup=False)
    return [
        Output(c.corrected, tuple(Change(e.start, e.end, e.replacement, e.confidence) for e in c.edits)) for c in found
    ]


# ---------------------------------------------------------------- the scale of confidence


def features(evidence: Evidence) -> list[float]:
    """What the regression weighs: tags, what is written, that the source does not stay, a constant, and the kind."""
    stays = log_odds(1 - max(evidence.stays, MIN_STAYS))
    kinds = [float(evidence.kind == kind) for kind in KINDS]
    return [log_odds(evidence.tags), float(np.log(max(evidence.written, 1e-6))), stays, 1.0, *kinds]


def fit_scale(edits: Sequence[Edit]) -> Scale:
    """The scale under which what happened is likeliest, with no slope below 0. The weakest part of an edit counts.

    Raises InputError where there are no edits, or all of them are right, or wrong.
    """
    right = [edit.right for edit in edits]
    if len(set(right)) < 2:
        raise InputError(f"{len(edits)} edits, {sum(right)} of them right: too few sentences to fit a scale")
    rows = np.array([features(min(edit.parts, key=Scale().confidence)) for edit in edits])  # [N, 8]
    slopes = [0, 1, 2]
    while True:
        columns = [*slopes, *range(3, rows.shape[1])]
        weights = np.zeros(rows.shape[1])
        weights[columns] = fit_logistic(rows[:, columns].tolist(), right)
        if min(weights[slopes], default=0.0) >= 0:
            break
        slopes.remove(min(slopes, key=weights.__getitem__))  # without the worst of them
    tags, written, stays, offset, *kinds = (round(float(weight), 3) for weight in weights)
    offsets = {f"{kind}_offset": weight for kind, weight in zip(KINDS, kinds, strict=True)}
    return Scale(max(tags, LEAST_SLOPE), written, stays, offset, **offsets)


# ---------------------------------------------------------------- thresholds


class Graded:
    """The edits of a sample with their confidence on one scale."""

    def __init__(self, sample: Sample, scale: Scale) -> None:
        self.sample = sample
        self.confidence = np.array([min(map(scale.confidence, edit.parts)) for edit in sample.edits])  # [N]
        self.sentence = np.array([edit.sentence for edit in sample.edits], int)  # [N]
        self.right = np.array([edit.right for edit in sample.edits], bool)  # [N]
        self.expected = sum(sample.expected.get(n, 0) for n in sample.sentences)

    def together(self, least: float) -> NDArray[np.float64]:
        """How sure the edits of each sentence are together (confidence.together), those below `least` left out."""
        norms = np.where(self.confidence >= least, self.confidence, 0) ** POWER
        sums = np.bincount(self.sentence, norms, minlength=1)  # [last sentence + 1]
        return np.minimum(1.0, np.asarray(sums, np.float64) ** (1 / POWER))


def count(learners: Graded, clean: Graded, least: float, gates: Sequence[float]) -> Iterator[Outcome]:
    """What a threshold of an edit comes to with each of some thresholds of a sentence."""
    ours, theirs = learners.together(least)[learners.sentence], clean.together(least)
    sure = learners.confidence >= least
    for gate in gates:
        kept = sure & (ours >= gate)
        yield Outcome(
            least,
            gate,
            changed=int((theirs >= gate).sum()),
            clean=len(clean.sample.sentences),
            made=int(kept.sum()),
            right=int((learners.right & kept).sum()),
            expected=learners.expected,
        )


def choose(learners: Graded, clean: Graded) -> dict[float, Outcome]:
    """For each of RATES the thresholds with the best F0.5 that change no more of the clean sentences."""
    best: dict[float, Outcome] = {}
    for least in STEPS:
        for outcome in count(learners, clean, least, [gate for gate in STEPS if gate >= least]):
            for rate in RATES:
                if outcome.rate <= rate and (rate not in best or outcome.scores[2] > best[rate].scores[2]):
                    best[rate] = outcome
    return {rate: best[rate] for rate in RATES if rate in best}


def cross_validate(learners: Sample, clean: Sample) -> dict[float, Outcome]:
    """For each of RATES the outcome on every fold, with a scale and thresholds that were fitted on the others."""
    total: dict[float, Outcome] = {}
    for number in range(FOLDS):
        others = [sample.fold(number, inside=False) for sample in (learners, clean)]
        scale = fit_scale(others[0].edits)
        chosen = choose(*(Graded(sample, scale) for sample in others))
        ours, theirs = (Graded(sample.fold(number, inside=True), scale) for sample in (learners, clean))
        for rate in RATES:
            least, gate = chosen[rate][:2] if rate in chosen else (NEVER, NEVER)
            (outcome,) = count(ours, theirs, least, [gate])
            total[rate] = outcome.plus(total[rate]) if rate in total else outcome
    return total


def table(outcomes: dict[float, Outcome], *, thresholds: bool) -> list[str]:
    """One line for each rate: clean sentences changed, the thresholds where they are one pair, P, R, F0.5."""
    names = "   edit together" if thresholds else ""
    lines = [f"clean %  at most{names}      P      R   F0.5"]
    for rate, outcome in outcomes.items():
        pair = f" {outcome.min_confidence:6.2f} {outcome.sentence_gate:8.2f}" if thresholds else ""
        lines.append(f"{outcome.rate:7.2f} {rate:8.1f}{pair} " + " ".join(f"{v:6.1f}" for v in outcome.scores))
    return lines


# ---------------------------------------------------------------- a model folder


class Fit(NamedTuple):
    """The thresholds of a model for one keep bias: the scale, and the outcomes on seen and on unseen sentences."""

    keep_bias: float
    scale: Scale
    seen: dict[float, Outcome]
    unseen: dict[float, Outcome]

    def thresholds(self, rate: float) -> dict[str, float]:
        """What a model folder carries, for one rate of clean sentences changed."""
        chosen = self.seen[rate]
        pair = {"min_confidence": chosen.min_confidence, "sentence_gate": chosen.sentence_gate}
        return {"keep_bias": self.keep_bias, **asdict(self.scale), **{k: round(float(v), 2) for k, v in pair.items()}}

    def report(self) -> str:
        """The scale as lines of a recipe, and both tables."""
        lines = [f"keep_bias = {self.keep_bias:g}"]
        lines += [f"{name} = {value:g}" for name, value in asdict(self.scale).items()]
        lines += table(self.seen, thresholds=True)
        lines += [f"in {FOLDS} folds, fitted on other sentences:", *table(self.unseen, thresholds=False)]
        return "\n".join(lines) + "\n"


def calibrate(model: Path, keep_bias: float, learners: TestSet, clean: TestSet) -> Fit:
    """Fit the thresholds of a model folder on learners' sentences with gold edits and on clean ones.

    Raises InputError where there are too few sentences.
    """
    samples = collect(model, keep_bias, learners, clean)
    scale = fit_scale(samples[0].edits)
    seen = choose(*(Graded(sample, scale) for sample in samples))
    return Fit(keep_bias, scale, seen, cross_validate(*samples))


def write_thresholds(model: Path, thresholds: dict[str, float]) -> None:
    """Put thresholds into config.json of a model folder, in one step; the ones that are not named stay."""
    config = read_config(model)
    config["thresholds"] = {**config.get("thresholds", {}), **thresholds}
    partial = model / "config.json.partial"
    partial.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    os.replace(partial, model / "config.json")


def first_sentences(test: TestSet, limit: int | None) -> TestSet:
    """The first sentences of a set, for a trial."""
    return TestSet(test.name, test.lines[:limit], test.metric, test.m2[:limit], raw=test.raw)


def main(argv: Sequence[str] | None = None) -> int:
    """Calibrate a model folder; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", type=Path, required=True, help="model folder")
    add("--data", type=Path, required=True, help="folder of the development sets")
    add("--keep-bias", type=float, nargs="+", default=[-1.1], help="values to try (default: -1.1)")
    add("--learners", default="wi-3k", help="set with gold edits (default: wi-3k)")
    add("--clean", default="clean", help="set of clean sentences (default: clean)")
    add("--limit", type=int, help="read only so many sentences of each set")
    add("--rate", type=float, default=2.0, choices=RATES, help="clean sentences changed, per cent (default: 2)")
    add("--write", action="store_true", help="write the best thresholds for --rate into the model folder")
    args = parser.parse_args(argv)
    learners = first_sentences(find_test_sets(args.learners, args.data)[0], args.limit)
    clean = first_sentences(find_test_sets(args.clean, args.data)[0], args.limit)
    fits = []
    for keep_bias in args.keep_bias:
        fits.append(calibrate(args.model, keep_bias, learners, clean))
        sys.stdout.write(fits[-1].report())
        sys.stdout.flush()
    if args.write:
        able = [fit for fit in fits if args.rate in fit.seen]
        if not able:
            raise InputError(f"{args.model}: no thresholds change {args.rate:g} % of the clean sentences or fewer")
        best = max(able, key=lambda fit: fit.seen[args.rate].scores[2])
        write_thresholds(args.model, best.thresholds(args.rate))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EditGecError as error:
        sys.exit(str(error))
