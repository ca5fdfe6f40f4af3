"""Fit the thresholds of a model: the scale of confidence, and the best F0.5 for each rate of false alarms.

    python -m edit_gec.lab.training.calibrate --model models/edit5-mini --data DEV --keep-bias -1.1 -0.8
    python -m edit_gec.lab.training.calibrate --model models/edit5-mini --data DEV --write --rate 2

The model reads text with corrections and clean text twice, with all edits that it proposes at any threshold
(evidence.py). Logistic regression on all of them maps its evidence to one scale of confidence (confidence.py); edits of
clean text count as wrong there. The final slope and offset then follow likely edits of text with corrections.

Slopes for the support of neighbouring edits are tried, and the smallest one that costs learners' text next to no F0.5
is taken; then slopes for the share of rare words, and the one with the best F0.5 on all sets is taken. The threshold
for a rate has the best F0.5 among those that change at most that share of the clean sentences.

Two tables are printed: on the sentences that everything was fitted on, and in five folds, on sentences that neither the
scale nor the thresholds have seen. With --write the model folder gets the scale, the threshold of one rate, and the
presets of --strictness. They are fitted in float32 and hold for products in int8 too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import CALM, MOST_SUPPORT, NO_SUPPORT, Evidence, EvidenceKind, Scale, log_odds, weigh
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.calibration import fit_logistic, fit_platt, measure_calibration
from edit_gec.lab.evaluation.datasets import TestSet, find_test_sets
from edit_gec.lab.training.entry import run_main
from edit_gec.lab.training.evidence import Sample, collect, reread
from edit_gec.modeling.config import read_config
from edit_gec.text.files import write_json

RATES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)  # clean sentences changed, per cent
STEPS = [float(step) for step in np.arange(0.02, 0.98, 0.005)]  # thresholds that are tried
KINDS = tuple(kind for kind in EvidenceKind if kind != EvidenceKind.REPLACE)
OTHER_SETS = ("cweb-G-dev", "cweb-S-dev", "jfleg-dev", "gmeg-fce-dev", "gmeg-wiki-dev")
FOLDS = 5
NEVER = 2.0  # a threshold that nothing reaches
LEAST_SLOPE = 0.001  # of the tags; a model folder's must be above 0
SLOPES = ("slope", "written_slope", "stays_slope", "doubt_slope")  # the first columns of `features`
NEIGHBOUR_SLOPES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)  # that are tried
RARE_SLOPES = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0)
LIKELY = 0.2  # confidence of an edit that the final slope and offset are fitted on: near a threshold or above it
SURE = 0.88  # confidence from which 144 of 146 edits of three sets were right, read by eye (LOG.md)
STRICTNESS_RATES = {"low": 0.5, "high": 6.0}  # clean sentences changed, per cent
TOLERANCE = 0.25  # of F0.5, per cent
ROUNDS = 5  # of fitting: what supports an edit depends on the scale


class Outcome(NamedTuple):
    """The outcome of a threshold: clean sentences changed, edits made, right ones, and edits expected."""

    min_confidence: float
    changed: int
    clean: int
    made: int
    right: int
    expected: int

    def plus(self, other: Outcome) -> Outcome:
        """Both counted together; the threshold is this one's."""
        return Outcome(self[0], *(int(a + b) for a, b in zip(self[1:], other[1:], strict=True)))

    @property
    def rate(self) -> float:
        """Clean sentences changed, per cent."""
        return 100 * self.changed / max(1, self.clean)

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F0.5, per cent."""
        p = self.right / max(1, self.made)
        r = self.right / max(1, self.expected)
        return 100 * p, 100 * r, 125 * p * r / max(1e-9, 0.25 * p + r)


# ---------------------------------------------------------------- the scale of confidence


def features(evidence: Evidence, doubt: float) -> list[float]:
    """What the regression weighs: tags, what is written, that the source does not stay, doubt, a constant, the kind."""
    doubted = log_odds(CALM) - log_odds(max(doubt, CALM))
    return [*weigh(evidence), doubted, 1.0, *(float(evidence.kind == kind) for kind in KINDS)]


class Table:
    """The proposals of several samples as arrays [N]; no two samples share a sentence."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        proposals = [(n, p) for n, sample in enumerate(samples) for p in sample.proposals]
        self.rows = np.array([features(p.evidence, p.doubt) for _, p in proposals])  # [N, F]
        self.right = np.array([0 < p.made == p.right for _, p in proposals], bool)
        sentences: dict[tuple[int, int], int] = {}
        self.sentence = np.array([sentences.setdefault((n, p.sentence), len(sentences)) for n, p in proposals], int)
        self.rare = np.array([p.evidence.rare for _, p in proposals])

    def support(self, odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much the most confident other proposal of its sentence supports each, as in Scale.judge."""
        each = np.clip(odds - NO_SUPPORT, 0, MOST_SUPPORT)
        count = int(self.sentence.max(initial=-1)) + 1
        most = np.zeros(count)
        np.maximum.at(most, self.sentence, each)
        is_most = each >= most[self.sentence]
        ties = np.bincount(self.sentence, is_most, minlength=count)
        second = np.zeros(count)
        np.maximum.at(second, self.sentence[~is_most], each[~is_most])
        second = np.where(ties > 1, most, second)
        return np.asarray(np.where(is_most, second[self.sentence], most[self.sentence]), np.float64)


def fit_scale(samples: Sequence[Sample], neighbour_slope: float = 0.0, rare_slope: float = 0.0) -> Scale:
    """The scale under which what happened is most likely, with no slope below 0.

    Raises InputError where nothing is proposed, or all of it is right, or wrong.
    """
    table = Table(samples)
    if len(set(table.right.tolist())) < 2:
        raise InputError(f"{len(table.right)} edits, {table.right.sum()} right: too few sentences to fit a scale")
    support = np.zeros(len(table.right))
    rare = rare_slope * table.rare
    for _ in range(ROUNDS if neighbour_slope else 1):
        weights = _fit_weights(table, neighbour_slope * support - rare)
        support = table.support(table.rows @ weights - rare)
    values = [round(float(weight), 3) for weight in weights]
    slopes = dict(zip(SLOPES, values, strict=False)) | {"slope": max(values[0], LEAST_SLOPE)}
    offset, *kinds = values[len(SLOPES) :]
    offsets = {f"{kind}_offset": value for kind, value in zip(KINDS, kinds, strict=True)}
    around = {"neighbour_slope": neighbour_slope, "rare_slope": rare_slope}
    return Scale(**slopes, offset=offset, **around, **offsets)


def temper(samples: Sequence[Sample], scale: Scale) -> Scale:
    """The scale with the final slope and offset that calibrate likely edits."""
    judged = [
        (sure, 0 < p.made == p.right)
        for sample in samples
        for p, sure in zip(sample.proposals, grade(sample, scale), strict=True)
        if sure >= LIKELY
    ]
    slope, offset = fit_platt(judged)
    return replace(scale, final_slope=round(slope, 3), final_offset=round(offset, 3)) if slope > 0 else scale


def _fit_weights(table: Table, known: NDArray[np.float64]) -> NDArray[np.float64]:
    slopes = list(range(len(SLOPES)))
    while True:
        columns = [*slopes, *range(len(SLOPES), table.rows.shape[1])]
        weights = np.zeros(table.rows.shape[1])
        weights[columns] = fit_logistic(table.rows[:, columns].tolist(), table.right.tolist(), known.tolist())
        if min(weights[slopes], default=0.0) >= 0:
            return weights
        slopes.remove(min(slopes, key=weights.__getitem__))  # without the worst of them


def best_scale(samples: Sequence[Sample], clean: Sample) -> Scale:
    """The scale with the best slopes for the support of neighbours, then for rare words, of those that are tried.

    Support is what an edit loses when a writer accepts the one next to it, so its slope is the smallest whose score on
    the first sample is at most TOLERANCE below the best. The slope for rare words has the best score on all samples.
    """
    learners = samples[:1]
    scores = {slope: mean_score(learners, clean, _fit(samples, clean, slope, 0.0)) for slope in NEIGHBOUR_SLOPES}
    neighbour_slope = min(slope for slope, score in scores.items() if score >= max(scores.values()) - TOLERANCE)
    scales = [_fit(samples, clean, neighbour_slope, rare_slope) for rare_slope in RARE_SLOPES]
    return max(scales, key=lambda scale: mean_score(samples, clean, scale))


def _fit(samples: Sequence[Sample], clean: Sample, neighbour_slope: float, rare_slope: float) -> Scale:
    return temper(samples, fit_scale([*samples, clean], neighbour_slope, rare_slope))


def mean_score(samples: Sequence[Sample], clean: Sample, scale: Scale) -> float:
    """F0.5 at the thresholds that `choose` takes on each sample, in the mean."""
    scores = [each.scores[2] for sample in samples for each in choose(sample, clean, scale).values()]
    return sum(scores) / max(1, len(scores))


# ---------------------------------------------------------------- thresholds


def grade(sample: Sample, scale: Scale) -> list[float]:
    """The final confidence of each proposal."""
    of_sentence: dict[int, list[int]] = {}
    for n, p in enumerate(sample.proposals):
        of_sentence.setdefault(p.sentence, []).append(n)
    graded = [0.0] * len(sample.proposals)
    for numbers in of_sentence.values():
        proposals = [sample.proposals[n] for n in numbers]
        own = [scale.confidence(p.evidence) for p in proposals]
        for n, sure in zip(numbers, scale.judge(own, [p.doubt for p in proposals]), strict=True):
            graded[n] = sure
    return graded


def count(learners: Sample, clean: Sample, scale: Scale, thresholds: Sequence[float]) -> list[Outcome]:
    """The outcome of each of some thresholds."""
    ours = np.array(grade(learners, scale))
    theirs = grade(clean, scale)
    most: dict[int, float] = {}
    for p, sure in zip(clean.proposals, theirs, strict=True):
        most[p.sentence] = max(sure, most.get(p.sentence, 0.0))
    surest = np.array(list(most.values()))
    made, right = (np.array([getattr(p, name) for p in learners.proposals]) for name in ("made", "right"))
    expected = sum(learners.expected.get(n, 0) for n in learners.sentences)
    return [
        Outcome(
            least,
            changed=int((surest >= least).sum()),
            clean=len(clean.sentences),
            made=int(made[ours >= least].sum()),
            right=int(right[ours >= least].sum()),
            expected=expected,
        )
        for least in thresholds
    ]


def choose(learners: Sample, clean: Sample, scale: Scale) -> dict[float, Outcome]:
    """For each of RATES the threshold with the best F0.5 that changes no more of the clean sentences."""
    outcomes = count(learners, clean, scale, STEPS)
    able = {rate: [outcome for outcome in outcomes if outcome.rate <= rate] for rate in RATES}
    return {rate: max(found, key=lambda o: o.scores[2]) for rate, found in able.items() if found}


def add_outcomes(
    total: dict[float, Outcome], chosen: dict[float, Outcome], learners: Sample, clean: Sample, scale: Scale
) -> None:
    """Add what the chosen thresholds do on other sentences."""
    for rate in RATES:
        least = chosen[rate].min_confidence if rate in chosen else NEVER
        (outcome,) = count(learners, clean, scale, [least])
        total[rate] = outcome.plus(total[rate]) if rate in total else outcome


def presets_of(seen: dict[float, Outcome]) -> dict[str, float]:
    """The thresholds of --strictness other than the default."""
    rates = {name: rate for name, rate in STRICTNESS_RATES.items() if rate in seen}
    return {"sure": SURE} | {name: round(float(seen[rate].min_confidence), 3) for name, rate in rates.items()}


class Unseen(NamedTuple):
    """Results of the folds on unseen sentences: outcomes, and (confidence, right) for each set."""

    outcomes: dict[float, Outcome]
    confidences: list[list[tuple[float, bool]]]


def cross_validate(learners: Sample, others: Sequence[Sample], clean: Sample) -> Unseen:
    """For each of RATES the outcome on every fold, with a scale and thresholds that were fitted on the others."""
    total: dict[float, Outcome] = {}
    confidences: list[list[tuple[float, bool]]] = [[] for _ in (learners, *others)]
    for number in range(FOLDS):
        known, *known_others, known_clean = (
            sample.fold(number, FOLDS, inside=False) for sample in (learners, *others, clean)
        )
        scale = best_scale([known, *known_others], known_clean)
        chosen = choose(known, known_clean, scale)
        new = [sample.fold(number, FOLDS, inside=True) for sample in (learners, *others, clean)]
        add_outcomes(total, chosen, new[0], new[-1], scale)
        for pairs, sample in zip(confidences, new[:-1], strict=True):
            rights = [0 < p.made == p.right for p in sample.proposals]
            pairs += zip(grade(sample, scale), rights, strict=True)
    return Unseen(total, confidences)


def table_of(outcomes: dict[float, Outcome], *, thresholds: bool) -> list[str]:
    """One line for each rate: clean sentences changed, the threshold where it is one, P, R, F0.5."""
    names = "   edit" if thresholds else ""
    lines = [f"clean %  at most{names}      P      R   F0.5"]
    for rate, outcome in outcomes.items():
        least = f" {outcome.min_confidence:6.3f}" if thresholds else ""
        lines.append(f"{outcome.rate:7.2f} {rate:8.1f}{least} " + " ".join(f"{v:6.1f}" for v in outcome.scores))
    return lines


# ---------------------------------------------------------------- a model folder


class Fit(NamedTuple):
    """The thresholds of a model for one keep bias: the scale, and the outcomes on seen and on unseen sentences."""

    keep_bias: float
    scale: Scale
    seen: dict[float, Outcome]
    unseen: Unseen
    names: tuple[str, ...]  # of the sets with gold edits

    def thresholds(self, rate: float) -> dict[str, float]:
        """What a model folder carries, for one rate of clean sentences changed."""
        least = round(float(self.seen[rate].min_confidence), 3)
        return {"keep_bias": self.keep_bias, **asdict(self.scale), "min_confidence": least}

    def report(self) -> str:
        """The scale as lines of a recipe, both tables, the calibration error of all that is proposed."""
        lines = [f"keep_bias = {self.keep_bias:g}"]
        lines += [f"{name} = {value:g}" for name, value in asdict(self.scale).items()]
        lines += table_of(self.seen, thresholds=True)
        lines += [f"in {FOLDS} folds, fitted on other sentences:", *table_of(self.unseen.outcomes, thresholds=False)]
        pairs = dict(zip(self.names, self.unseen.confidences, strict=True))
        pairs["all of these"] = [pair for each in self.unseen.confidences for pair in each]
        for name, each in pairs.items():
            lines.append(f"calibration error, {name}: {measure_calibration(each).ece:.3f} ({len(each)} edits)")
        return "\n".join(lines) + "\n"


def calibrate(corrector: Corrector, sets: Sequence[TestSet], clean: TestSet) -> Fit:
    """Fit the thresholds of a corrector on sets with corrections, the learners' first, and on clean sentences.

    Its keep bias stays. Raises InputError where there are too few sentences.
    """
    read_once = [collect(corrector, test) for test in (*sets, clean)]
    alone = fit_scale(read_once[:1])
    learners, *others, untouched = (reread(corrector, sample, alone) for sample in read_once)
    scale = best_scale([learners, *others], untouched)
    seen = choose(learners, untouched, scale)
    unseen = cross_validate(learners, others, untouched)
    return Fit(corrector.edit5.thresholds.keep_bias, scale, seen, unseen, tuple(test.name for test in sets))


def write_thresholds(model: Path, fit: Fit, rate: float) -> None:
    """Put what was fitted into config.json of a model folder, in one step; entries that decide nothing go.

    Raises InputError where no threshold changes so few clean sentences.
    """
    if rate not in fit.seen:
        raise InputError(f"{model}: no thresholds change {rate:g} % of the clean sentences or fewer")
    config = read_config(model)
    config["thresholds"] = {**config.get("thresholds", {}), **fit.thresholds(rate)}
    config["strictness"] = presets_of(fit.seen)
    write_json(model / "config.json", config)


def add_set_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name the development sets."""
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of the development sets")
    add("--learners", default="wi-3k", help="set with gold edits that thresholds are chosen on (default: wi-3k)")
    others = f"more sets with gold edits or references (default: {' '.join(OTHER_SETS)})"
    add("--others", nargs="*", default=OTHER_SETS, help=others)
    add("--clean", default="clean", help="set of clean sentences (default: clean)")


def find_sets(args: argparse.Namespace) -> list[TestSet]:
    """The sets that the options name, learners' first, clean sentences last. Raises InputError for a missing one."""
    names = (args.learners, *args.others, args.clean)
    return [find_test_sets(name, args.data)[0] for name in names]


def main(argv: Sequence[str] | None = None) -> int:
    """Calibrate a model folder; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", type=Path, required=True, help="model folder")
    add_set_arguments(parser)
    add("--keep-bias", type=float, nargs="+", default=[-1.1], help="values to try (default: -1.1)")
    add("--rate", type=float, default=2.0, choices=RATES, help="clean sentences changed, per cent (default: 2)")
    add("--write", action="store_true", help="write the best thresholds for --rate into the model folder")
    args = parser.parse_args(argv)
    *tests, clean = find_sets(args)
    corrector = Corrector.load(args.model, precision="float32")
    fits = []
    for keep_bias in args.keep_bias:
        fits.append(calibrate(corrector.with_thresholds(keep_bias=keep_bias), tests, clean))
        sys.stdout.write(fits[-1].report())
        sys.stdout.flush()
    if args.write:
        best = max(fits, key=lambda fit: fit.seen[args.rate].scores[2] if args.rate in fit.seen else 0.0)
        write_thresholds(args.model, best, args.rate)
    return 0


if __name__ == "__main__":
    run_main(main)
