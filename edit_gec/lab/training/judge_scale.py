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
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from edit_gec.config.load_settings import DTYPES
from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import CALM, Evidence, Scale, log_odds
from edit_gec.editing.predictor import WindowChanges
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.calibration import fit_logistic
from edit_gec.lab.training.calibrate import (
    FOLDS,
    RATES,
    ROUNDS,
    Outcome,
    add_outcomes,
    add_set_arguments,
    best_scale,
    choose,
    find_sets,
    grade,
    presets_of,
    table_of,
)
from edit_gec.lab.training.entry import run_main
from edit_gec.lab.training.evidence import Sample, collect, collect_proposed, reread
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


def of_edit5(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with what the EdiT5 proposes, only."""
    return [s._replace(proposals=tuple(p for p in s.proposals if p.rewording is None)) for s in samples]


def own_scale(samples: Sequence[Sample]) -> Scale:
    """The best scale of the EdiT5 alone."""
    *known, clean = of_edit5(samples)
    return best_scale(known, clean)


def find_candidates(sample: Sample, own: Scale) -> list[tuple[list[int], list[JudgedChange]]]:
    """What is proposed in each window: numbers of the proposals, and the candidates."""
    windows: dict[int, tuple[list[int], list[JudgedChange]]] = {}
    for n, (p, first) in enumerate(zip(sample.proposals, grade(sample, own), strict=True)):
        numbers, candidates = windows.setdefault(p.window, ([], []))
        numbers.append(n)
        candidates.append(JudgedChange(p.change._replace(confidence=first), p.gain, p.rewording))
    return list(windows.values())


def judge_alone(samples: Sequence[Sample], own: Scale) -> list[Sample]:
    """The samples with the EdiT5's confidence as their only evidence, and nothing that the judge proposes."""
    return [with_confidences(sample, grade(sample, own)) for sample in of_edit5(samples)]


def judge_jointly(samples: Sequence[Sample], own: Scale, joint: JointScale) -> list[Sample]:
    """The samples with the joint confidence as their only evidence, without what stands beside surer changes."""
    joined = []
    for sample in samples:
        sure: dict[int, float] = {}
        for numbers, candidates in find_candidates(sample, own):
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


def collect_opinions(judge: LanguageJudge, corrector: Corrector, test: TestSet) -> Sample:
    """What an EdiT5 and the judge propose in a set, and what the judge says of each, alone in its sentence."""
    sample = reread(corrector, collect(corrector, test), corrector.edit5.thresholds)
    known: list[list[Change]] = [[] for _ in sample.windows]
    for p in sample.proposals:
        known[p.window].append(p.change)
    doubts = (max(doubts, default=0.0) for doubts in sample.doubts)
    drafts = [WindowChanges(tuple(c), doubt=doubt) for c, doubt in zip(known, doubts, strict=True)]
    weighed = judge.weigh(sample.windows, drafts, [*RewordingKind])
    opinions = {(n, each.change): each for n, found in enumerate(weighed) for each in found}

    def propose(windows: Sequence[Pieces]) -> list[list[tuple[Change, Evidence]]]:
        rare = [judge.words.rare_share(pieces.covered) if judge.words else 0.0 for pieces in windows]
        return [
            [(each.change, Evidence(0.5, rare=share)) for each in found if each.kind]
            for found, share in zip(weighed, rare, strict=True)
        ]

    judged = []
    for p in (*sample.proposals, *collect_proposed(corrector, test, propose).proposals):
        said = opinions[p.window, p.change]
        judged.append(p._replace(gain=said.gain, rewording=said.kind))
    return sample._replace(proposals=tuple(judged))


def features(candidate: JudgedChange, rare: float) -> list[float]:
    """What the regression weighs, without rivalry."""
    gain = max(-MOST_GAIN, min(MOST_GAIN, candidate.gain))
    kinds = [float(candidate.kind == kind) for kind in RewordingKind]
    if candidate.kind:
        return [0.0, 0.0, gain, -rare, 0.0, *kinds]
    return [log_odds(candidate.change.confidence), gain, 0.0, -rare, 1.0, *kinds]


def fit_joint(samples: Sequence[Sample], own: Scale) -> JointScale:
    """The scale under which what happened to all proposals is most likely.

    Raises InputError where all of these are right, or none is.
    """
    windows = [
        (candidates, sample.proposals[numbers[0]].evidence.rare, [sample.proposals[n] for n in numbers])
        for sample in samples
        for numbers, candidates in find_candidates(sample, own)
    ]
    asked = [(each, rare) for candidates, rare, _ in windows for each in candidates]
    kinds = {p.rewording for sample in samples for p in sample.proposals}
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


def cross_validate(samples: Sequence[Sample]) -> tuple[dict[float, Outcome], dict[float, Outcome]]:
    """For each of RATES the outcome on every fold, of the EdiT5 alone and of both; all was fitted on the others."""
    totals: tuple[dict[float, Outcome], dict[float, Outcome]] = ({}, {})
    for number in range(FOLDS):
        known, new = ([s.fold(number, FOLDS, inside=inside) for s in samples] for inside in (False, True))
        own = own_scale(known)
        joint = fit_joint(known, own)
        joint = replace(joint, priors={**dict.fromkeys(RewordingKind, 0.0), **joint.priors})  # a fold may lack a kind
        alone = (judge_alone(known, own), judge_alone(new, own))
        tried = (alone, (judge_jointly(known, own, joint), judge_jointly(new, own, joint)))
        for total, (fitted, unseen) in zip(totals, tried, strict=True):
            chosen = choose(fitted[0], fitted[-1], AS_IT_IS)
            add_outcomes(total, chosen, unseen[0], unseen[-1], AS_IT_IS)
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


def fit(samples: Sequence[Sample], own: Scale, rate: float) -> JointFit:
    """The best scale for an EdiT5 that has its `own`, with the threshold of a rate. Raises InputError if none is.

    The samples are learners' text, other sets, and clean text last.
    """
    joint = fit_joint(samples, own)
    learners, *_, clean = judge_jointly(samples, own, joint)
    seen = choose(learners, clean, AS_IT_IS)
    if rate not in seen:
        raise InputError(f"no threshold changes {rate:g} % of the clean sentences or fewer")
    scale = replace(joint, min_confidence=round(seen[rate].min_confidence, 3))
    return JointFit(scale, seen, *cross_validate(samples))


def write_scale(folder: Path, fitted: JointFit) -> None:
    """Put what was fitted into config.json of a judge's folder, in one step."""
    config = {**read_config(folder), KEY: asdict(fitted.scale), "strictness": presets_of(fitted.seen)}
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
    samples = [collect_opinions(judge, corrector, test) for test in find_sets(args)]
    fitted = fit(samples, corrector.edit5.thresholds, args.rate)
    sys.stdout.write(fitted.report())
    if args.write:
        write_scale(args.judge, fitted)
    return 0


if __name__ == "__main__":
    run_main(main)
