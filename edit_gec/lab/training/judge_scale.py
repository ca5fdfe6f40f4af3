"""JointFit one confidence from two models: an EdiT5's on its own proposals, and a language model's gain of each.

    python -m edit_gec.lab.training.judge_scale --model models/edit5-mini --judge models/smollm2 --data DEV
    python -m edit_gec.lab.training.judge_scale --model models/edit5-mini --judge models/smollm2 --data DEV --write

The EdiT5 proposes edits of text with corrections and of clean text (evidence.py). The
language model says of each by how much it makes its sentence likelier (speculative/judge.py). Logistic regression on
all of them, those of clean text as wrong ones, gives the slopes and the offset.

Two tables are printed, the EdiT5 alone and both, in five folds: fitted on other sentences, the scale of the EdiT5 as
well. With --write the folder of the judge gets the scale, the threshold of one rate, and the presets of --strictness.
Run it again for new weights of either model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from edit_gec.config.load_settings import DTYPES
from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import CALM, Evidence, Scale, log_odds
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.calibration import fit_logistic
from edit_gec.lab.training.calibrate import (
    FOLDS,
    NEVER,
    RATES,
    STRICTNESS_RATES,
    Outcome,
    add_set_arguments,
    best_scale,
    choose,
    count,
    find_sets,
    grade,
    table_of,
)
from edit_gec.lab.training.entry import run_main
from edit_gec.lab.training.evidence import Sample, collect, reread
from edit_gec.modeling.config import read_config
from edit_gec.speculative.judge import KEY, MOST_GAIN, JointScale, LanguageJudge
from edit_gec.text.edits import Change
from edit_gec.text.files import write_json

USUAL_RATE = 1.5  # clean sentences changed by default, per cent
AS_IT_IS = Scale()  # under which a confidence that is given as evidence stays what it is


class Opinions(NamedTuple):
    """What both models say of the proposals of the samples: learners' text, other sets, clean text last."""

    samples: tuple[Sample, ...]
    gains: tuple[tuple[float, ...], ...]  # of each proposal of each sample

    def fold(self, number: int, *, inside: bool) -> Opinions:
        """The sentences of one fold, or all others."""
        kept = tuple(
            tuple(
                gain
                for p, gain in zip(sample.proposals, gains, strict=True)
                if (p.sentence % FOLDS == number) == inside
            )
            for sample, gains in zip(self.samples, self.gains, strict=True)
        )
        return Opinions(tuple(sample.fold(number, FOLDS, inside=inside) for sample in self.samples), kept)

    def own_scale(self) -> Scale:
        """The best scale of the EdiT5 alone."""
        *known, clean = self.samples
        return best_scale(known, clean)

    def alone(self, own: Scale) -> list[Sample]:
        """The samples with the EdiT5's confidence as their only evidence."""
        return [with_confidences(sample, grade(sample, own)) for sample in self.samples]

    def joined(self, own: Scale, joint: JointScale) -> list[Sample]:
        """The samples with the joint confidence as their only evidence."""
        joined = []
        for sample, gains in zip(self.samples, self.gains, strict=True):
            rare = [p.evidence.rare for p in sample.proposals]
            each = zip(grade(sample, own), gains, rare, strict=True)
            joined.append(with_confidences(sample, [joint.confidence(*evidence) for evidence in each]))
        return joined


def with_confidences(sample: Sample, confidences: Sequence[float]) -> Sample:
    """The sample with these confidences as its only evidence; AS_IT_IS grades with them."""
    each = zip(sample.proposals, confidences, strict=True)
    return sample._replace(proposals=tuple(p._replace(evidence=Evidence(sure), doubt=CALM) for p, sure in each))


def collect_opinions(judge: LanguageJudge, samples: Sequence[Sample]) -> Opinions:
    """What the judge says of the proposals of an EdiT5, each alone in its sentence."""
    found = []
    for sample in samples:
        asked: list[list[Change]] = [[] for _ in sample.windows]
        for p in sample.proposals:
            asked[p.window].append(p.change)
        gains = [iter(each) for each in judge.gains(sample.windows, asked)]
        found.append(tuple(next(gains[p.window]) for p in sample.proposals))
    return Opinions(tuple(samples), tuple(found))


def fit_joint(opinions: Opinions, own: Scale) -> JointScale:
    """The scale under which what happened to all proposals is most likely.

    Raises InputError where all of these are right, or none is.
    """
    rows, right = [], []
    for sample, gains in zip(opinions.samples, opinions.gains, strict=True):
        for p, first, gain in zip(sample.proposals, grade(sample, own), gains, strict=True):
            rows.append([log_odds(first), max(-MOST_GAIN, min(MOST_GAIN, gain)), -p.evidence.rare, 1.0])
            right.append(0 < p.made == p.right)
    if len(set(right)) < 2:
        raise InputError(f"{len(right)} edits, {sum(right)} right: too few sentences to fit a scale")
    first, gained, rare, offset = (round(float(weight), 3) for weight in fit_logistic(rows, right))
    return JointScale(max(first, 0.001), max(gained, 0.0), max(rare, 0.0), offset)


def cross_validate(opinions: Opinions) -> tuple[dict[float, Outcome], dict[float, Outcome]]:
    """For each of RATES the outcome on every fold, of the EdiT5 alone and of both; all was fitted on the others."""
    totals: tuple[dict[float, Outcome], dict[float, Outcome]] = ({}, {})
    for number in range(FOLDS):
        known = opinions.fold(number, inside=False)
        new = opinions.fold(number, inside=True)
        own = known.own_scale()
        joint = fit_joint(known, own)
        tried = ((known.alone(own), new.alone(own)), (known.joined(own, joint), new.joined(own, joint)))
        for total, (fitted, unseen) in zip(totals, tried, strict=True):
            chosen = choose(fitted[0], fitted[-1], AS_IT_IS)
            for rate in RATES:
                least = chosen[rate].min_confidence if rate in chosen else NEVER
                (outcome,) = count(unseen[0], unseen[-1], AS_IT_IS, [least])
                total[rate] = outcome.plus(total[rate]) if rate in total else outcome
    return totals


class JointFit(NamedTuple):
    """A scale, what its thresholds do on the sentences that it was fitted on, and the outcomes in folds."""

    scale: JointScale
    seen: dict[float, Outcome]
    alone: dict[float, Outcome]
    both: dict[float, Outcome]

    def report(self) -> str:
        """The scale as lines of a recipe, and the tables."""
        lines = [f"{name} = {value:g}" for name, value in asdict(self.scale).items()]
        lines += table_of(self.seen, thresholds=True)
        lines += [f"in {FOLDS} folds, the EdiT5 alone:", *table_of(self.alone, thresholds=False)]
        lines += [f"in {FOLDS} folds, both:", *table_of(self.both, thresholds=False)]
        return "\n".join(lines) + "\n"


def fit(opinions: Opinions, own: Scale, rate: float) -> JointFit:
    """The best scale for an EdiT5 that has its `own`, with the threshold of a rate. Raises InputError if none is."""
    joint = fit_joint(opinions, own)
    learners, *_, clean = opinions.joined(own, joint)
    seen = choose(learners, clean, AS_IT_IS)
    if rate not in seen:
        raise InputError(f"no threshold changes {rate:g} % of the clean sentences or fewer")
    scale = replace(joint, min_confidence=round(seen[rate].min_confidence, 3))
    return JointFit(scale, seen, *cross_validate(opinions))


def write_scale(folder: Path, fitted: JointFit) -> None:
    """Put what was fitted into config.json of a judge's folder, in one step."""
    presets = {name: rate for name, rate in STRICTNESS_RATES.items() if rate in fitted.seen}
    strictness = {name: round(fitted.seen[rate].min_confidence, 3) for name, rate in presets.items()}
    config = {**read_config(folder), KEY: asdict(fitted.scale), "strictness": strictness}
    write_json(folder / "config.json", config)


def main(argv: Sequence[str] | None = None) -> int:
    """Fit a pair of model folders; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", type=Path, required=True, help="folder of the EdiT5")
    add("--judge", type=Path, required=True, help="folder of the language model")
    add_set_arguments(parser)
    add(
        "--rate", type=float, default=USUAL_RATE, choices=RATES, help="clean sentences changed, per cent (default: 1.5)"
    )
    add("--dtype", default="float32", choices=DTYPES, help="of the judge (default: float32)")
    add("--write", action="store_true", help="write the scale into the folder of the judge")
    args = parser.parse_args(argv)
    corrector = Corrector.load(args.model, precision="float32")
    own = corrector.edit5.thresholds
    samples = [reread(corrector, collect(corrector, test), own) for test in find_sets(args)]
    judge = LanguageJudge.load(args.judge, JointScale(), dtype=args.dtype)
    fitted = fit(collect_opinions(judge, samples), own, args.rate)
    sys.stdout.write(fitted.report())
    if args.write:
        write_scale(args.judge, fitted)
    return 0


if __name__ == "__main__":
    run_main(main)
