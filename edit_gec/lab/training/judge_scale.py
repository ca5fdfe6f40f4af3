"""Fit one confidence from two models: an EdiT5's on its own proposals, and a language model's gain of each.

    python -m edit_gec.lab.training.judge_scale --model models/edit5-mini --judge models/smollm2 --data DEV
    python -m edit_gec.lab.training.judge_scale --model models/edit5-mini --judge models/smollm2 --data DEV --write

The EdiT5 proposes edits of text with corrections and of clean text (evidence.py), and so does the language model
(speculative/rewordings.py), which says of each by how much it makes its sentence likelier (speculative/judge.py).
Logistic regression on all of them, those of clean text as wrong ones, gives the slopes, the offset and the priors.

Two tables are printed, the EdiT5 alone and both, in five folds: fitted on other sentences, the scale of the EdiT5 as
well. With --write the folder of the judge gets the scale, the threshold of one rate, and the presets of --strictness.
Run it again for new weights of either model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from edit_gec.config.load_settings import DTYPES
from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import CALM, Evidence, Scale, log_odds
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.calibration import fit_logistic
from edit_gec.lab.training.calibrate import (
    FOLDS,
    NEVER,
    RATES,
    ROUNDS,
    STRICTNESS_RATES,
    SURE,
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
from edit_gec.lab.training.evidence import ProposedEdit, Sample, collect, collect_proposed, reread
from edit_gec.modeling.config import read_config
from edit_gec.speculative.judge import KEY, MOST_GAIN, JointScale, JudgedChange, LanguageJudge, weigh_rivals
from edit_gec.speculative.rewordings import RewordingKind, choose_apart
from edit_gec.text.edits import Change
from edit_gec.text.files import write_json

if TYPE_CHECKING:
    from edit_gec.lab.evaluation.datasets import TestSet
    from edit_gec.modeling.tokenizer import Pieces

USUAL_RATE = 1.5  # clean sentences changed by default, per cent
AS_IT_IS = Scale()  # under which a confidence that is given as evidence stays what it is


class Opinion(NamedTuple):
    """What is known of a proposal beside its evidence. `kind` is None where the EdiT5 proposes it."""

    gain: float
    kind: RewordingKind | None = None


class Opinions(NamedTuple):
    """What both models say of the proposals of the samples: learners' text, other sets, clean text last."""

    samples: tuple[Sample, ...]
    opinions: tuple[tuple[Opinion, ...], ...]  # of each proposal of each sample

    def fold(self, number: int, *, inside: bool) -> Opinions:
        """The sentences of one fold, or all others."""
        return self._select(
            lambda p, _: (p.sentence % FOLDS == number) == inside,
            [sample.fold(number, FOLDS, inside=inside) for sample in self.samples],
        )

    def of_edit5(self) -> list[Sample]:
        """The samples with what the EdiT5 proposes, only."""
        return list(self._select(lambda _, opinion: opinion.kind is None, self.samples).samples)

    def _select(self, keeps: Callable[[ProposedEdit, Opinion], bool], samples: Sequence[Sample]) -> Opinions:
        """`samples` with those of our proposals that are kept."""
        pairs = [
            [pair for pair in zip(sample.proposals, opinions, strict=True) if keeps(*pair)]
            for sample, opinions in zip(self.samples, self.opinions, strict=True)
        ]
        proposals = [tuple(p for p, _ in each) for each in pairs]
        kept = [each._replace(proposals=mine) for each, mine in zip(samples, proposals, strict=True)]
        return Opinions(tuple(kept), tuple(tuple(opinion for _, opinion in each) for each in pairs))

    def own_scale(self) -> Scale:
        """The best scale of the EdiT5 alone."""
        *known, clean = self.of_edit5()
        return best_scale(known, clean)

    def alone(self, own: Scale) -> list[Sample]:
        """The samples with the EdiT5's confidence as their only evidence, and nothing that the judge proposes."""
        return [with_confidences(sample, grade(sample, own)) for sample in self.of_edit5()]

    def candidates(self, own: Scale) -> list[list[tuple[list[int], list[JudgedChange]]]]:
        """For each sample what is proposed in each window: numbers of the proposals, and the candidates."""
        found = []
        for sample, opinions in zip(self.samples, self.opinions, strict=True):
            windows: dict[int, tuple[list[int], list[JudgedChange]]] = {}
            for n, (p, first, opinion) in enumerate(zip(sample.proposals, grade(sample, own), opinions, strict=True)):
                numbers, candidates = windows.setdefault(p.window, ([], []))
                numbers.append(n)
                candidates.append(JudgedChange(p.change._replace(confidence=first), *opinion))
            found.append(list(windows.values()))
        return found

    def joined(self, own: Scale, joint: JointScale) -> list[Sample]:
        """The samples with the joint confidence as their only evidence, without what stands beside surer changes."""
        joined = []
        for sample, windows in zip(self.samples, self.candidates(own), strict=True):
            sure: dict[int, float] = {}
            for numbers, candidates in windows:
                found = joint.confidences(candidates, sample.proposals[numbers[0]].evidence.rare)
                changes = [c.change._replace(confidence=value) for c, value in zip(candidates, found, strict=True)]
                left = choose_apart(changes)
                sure |= {n: change.confidence for n, change in zip(numbers, changes, strict=True) if change in left}
            kept = sample._replace(proposals=tuple(sample.proposals[n] for n in sorted(sure)))
            joined.append(with_confidences(kept, [sure[n] for n in sorted(sure)]))
        return joined


def with_confidences(sample: Sample, confidences: Sequence[float]) -> Sample:
    """The sample with these confidences as its only evidence; AS_IT_IS grades with them."""
    each = zip(sample.proposals, confidences, strict=True)
    return sample._replace(proposals=tuple(p._replace(evidence=Evidence(sure), doubt=CALM) for p, sure in each))


def collect_opinions(judge: LanguageJudge, corrector: Corrector, test: TestSet) -> tuple[Sample, tuple[Opinion, ...]]:
    """What an EdiT5 and the judge propose in a set, and what the judge says of each, alone in its sentence."""
    sample = reread(corrector, collect(corrector, test), corrector.edit5.thresholds)
    known: list[list[Change]] = [[] for _ in sample.windows]
    for p in sample.proposals:
        known[p.window].append(p.change)
    weighed = judge.weigh(sample.windows, known, [*RewordingKind])
    opinions = {(n, each.change): Opinion(each.gain, each.kind) for n, found in enumerate(weighed) for each in found}

    def propose(windows: Sequence[Pieces]) -> list[list[tuple[Change, Evidence]]]:
        rare = [judge.words.rare_share(pieces.covered) if judge.words else 0.0 for pieces in windows]
        return [
            [(each.change, Evidence(0.5, rare=share)) for each in found if each.kind]
            for found, share in zip(weighed, rare, strict=True)
        ]

    proposals = (*sample.proposals, *collect_proposed(corrector, test, propose).proposals)
    return sample._replace(proposals=proposals), tuple(opinions[p.window, p.change] for p in proposals)


def features(candidate: JudgedChange, rare: float) -> list[float]:
    """What the regression weighs, without rivalry."""
    gain = max(-MOST_GAIN, min(MOST_GAIN, candidate.gain))
    kinds = [float(candidate.kind == kind) for kind in RewordingKind]
    if candidate.kind:
        return [0.0, 0.0, gain, -rare, 0.0, *kinds]
    return [log_odds(candidate.change.confidence), gain, 0.0, -rare, 1.0, *kinds]


def fit_joint(opinions: Opinions, own: Scale) -> JointScale:
    """The scale under which what happened to all proposals is most likely.

    Raises InputError where all of these are right, or none is.
    """
    windows = [
        (candidates, sample.proposals[numbers[0]].evidence.rare, [sample.proposals[n] for n in numbers])
        for sample, found in zip(opinions.samples, opinions.candidates(own), strict=True)
        for numbers, candidates in found
    ]
    asked = [(each, rare) for candidates, rare, _ in windows for each in candidates]
    kinds = {kind for each in opinions.opinions for _, kind in each}
    right = [0 < p.made == p.right for _, _, proposals in windows for p in proposals]
    if len(set(right)) < 2:
        raise InputError(f"{len(right)} edits, {sum(right)} right: too few sentences to fit a scale")
    scale = JointScale(priors=dict.fromkeys(RewordingKind, 0.0))
    for _ in range(ROUNDS):
        rivalry = [weight for candidates, rare, _ in windows for weight in weigh_all(scale, candidates, rare)]
        rows = [[*features(each, rare), -weight] for (each, rare), weight in zip(asked, rivalry, strict=True)]
        weights = fit_logistic(rows, right)
        scale = scale_of([round(weight, 3) for weight in weights], kinds)
    return scale


def weigh_all(scale: JointScale, candidates: Sequence[JudgedChange], rare: float) -> list[float]:
    """The rivalry of each candidate of a window."""
    alone = [scale.alone(each, rare) for each in candidates]
    return [weigh_rivals(each, candidates, alone) for each in candidates]


def scale_of(weights: Sequence[float], kinds: set[RewordingKind | None]) -> JointScale:
    """The scale of what the regression found; a slope that it would turn round is 0."""
    first, gained, own, rare, offset, *priors, rivalry = weights
    return JointScale(
        first_slope=max(first, 0.001), gain_slope=max(gained, 0.0), rare_slope=max(rare, 0.0), offset=offset,
        own_slope=max(own, 0.0), rival_slope=max(rivalry, 0.0),
        priors={str(kind): prior for kind, prior in zip(RewordingKind, priors, strict=True) if kind in kinds},
    )  # fmt: skip


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
        numbers = asdict(self.scale)
        priors = numbers.pop("priors")
        lines = [f"{name} = {value:g}" for name, value in numbers.items()]
        lines += [f"prior of {kind} = {value:g}" for kind, value in priors.items()]
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
    strictness = {"sure": SURE} | {name: round(fitted.seen[rate].min_confidence, 3) for name, rate in presets.items()}
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
    judge = LanguageJudge.load(args.judge, JointScale(), corrector.edit5.spelling, dtype=args.dtype)
    found = [collect_opinions(judge, corrector, test) for test in find_sets(args)]
    fitted = fit(Opinions(*zip(*found, strict=True)), corrector.edit5.thresholds, args.rate)
    sys.stdout.write(fitted.report())
    if args.write:
        write_scale(args.judge, fitted)
    return 0


if __name__ == "__main__":
    run_main(main)
