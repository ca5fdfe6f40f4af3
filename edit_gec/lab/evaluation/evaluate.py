"""Score one system on one test set: the metric, its 95 % interval and the signature that makes it repeatable.

score_hypothesis(test, make_hypothesis(test, ScoredSystem("harper")), options)
    ->  Result(scores={"P": 23.33, "R": 4.64, "F0.5": 12.93, ...}, signature="ERRANT:F0.5|mode:cs|ref:gold|...")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from edit_gec.annotation.errant_edits import load_extractor
from edit_gec.annotation.m2 import M2Sentence
from edit_gec.errors import InputError
from edit_gec.lab.evaluation import calibration, errant_score, gleu, projection, significance
from edit_gec.lab.evaluation.datasets import TestSet
from edit_gec.lab.evaluation.errant_score import Counts
from edit_gec.lab.evaluation.hypotheses import Hypothesis
from edit_gec.lab.evaluation.signature import ScoreOptions, build_signature
from edit_gec.text.detokenize import splits_hyphens

THRESHOLDS = [i / 20 for i in range(20)]


class CurvePoint(NamedTuple):
    """Counts if only edits with at least this confidence are made."""

    threshold: float
    counts: Counts


@dataclass
class Result:
    """Scores of one system on one set; `stats` are the per-sentence statistics that tests resample.

    P and R follow ERRANT: 100 if the system proposes nothing, or if there are no gold edits.
    """

    test: str
    system: str
    metric: str
    sentences: int
    scores: dict[str, float]
    stats: np.ndarray[Any, Any]
    score: significance.Metric
    interval: tuple[float, float] = (0.0, 0.0)
    signature: str = ""
    seconds: float | None = None
    errant: errant_score.ErrantScore | None = None
    calibration: calibration.Calibration | None = None
    curve: Sequence[CurvePoint] = ()


def score_hypothesis(test: TestSet, hypothesis: Hypothesis, options: ScoreOptions) -> Result:
    """Score one hypothesis with the metric of the set. Raises InputError where the pipeline or ERRANT is missing."""
    score = {"errant": _score_errant, "gleu": _score_gleu, "false-alarms": _count_false_alarms}[test.metric]
    result = score(test, hypothesis, options)
    result.interval = significance.bootstrap_interval(result.stats, result.score)
    result.signature = build_signature(test, hypothesis, options)
    result.seconds = hypothesis.seconds
    return result


def reference_edits(test: TestSet, options: ScoreOptions) -> list[M2Sentence]:
    """The annotated edits; ERRANT's own if the set has only corrected lines."""
    if test.m2:
        return test.m2
    columns = [[line.split() for line in ref] for ref in test.references]
    return load_extractor(options.spacy_model).to_m2([line.split() for line in test.lines], columns)


def _score_errant(test: TestSet, hypothesis: Hypothesis, options: ScoreOptions) -> Result:
    reference = reference_edits(test, options)
    edits = hypothesis.edits or _extract_edits(test, hypothesis.lines, options)
    score = _compare(test, edits, reference, options)
    p, r, f = (round(100 * x, 2) for x in score.prf)
    result = Result(
        test=test.name,
        system=hypothesis.system,
        metric="F0.5",
        sentences=len(test.lines),
        scores={"P": p, "R": r, "F0.5": f, "TP": score.total.tp, "FP": score.total.fp, "FN": score.total.fn},
        stats=np.array([(c.tp, c.fp, c.fn) for c in score.per_sentence]),
        score=significance.f_score,
        errant=score,
    )
    if hypothesis.raws and any(output.changes for output in hypothesis.outputs):
        result.calibration = _measure_calibration(test, hypothesis, reference, score, options)
        if options.curve:
            result.curve = _measure_curve(test, hypothesis, reference, options)
    return result


def _extract_edits(test: TestSet, lines: Sequence[str], options: ScoreOptions) -> list[M2Sentence]:
    sources = [line.split() for line in test.lines]
    targets = [line.split() for line in lines]
    return load_extractor(options.spacy_model).to_m2(sources, [targets])


def _compare(
    test: TestSet, edits: Sequence[M2Sentence], reference: Sequence[M2Sentence], options: ScoreOptions
) -> errant_score.ErrantScore:
    # errant_parallel leaves empty sources out.
    kept = [i for i, line in enumerate(test.lines) if line.strip()]
    return errant_score.score_edits([edits[i] for i in kept], [reference[i] for i in kept], options.mode)


def _measure_calibration(
    test: TestSet,
    hypothesis: Hypothesis,
    reference: Sequence[M2Sentence],
    score: errant_score.ErrantScore,
    options: ScoreOptions,
) -> calibration.Calibration:
    sources = [line.split() for line in test.lines]
    targets = [line.split() for line in hypothesis.lines]
    found = load_extractor(options.spacy_model).extract(sources, targets)
    pairs: list[tuple[float, bool]] = []
    for i, annotator in enumerate(score.annotator):
        edits = reference[i].annotators[annotator]
        pairs += calibration.pair_confidences(hypothesis.raws[i], hypothesis.outputs[i].changes, found[i], edits)
    return calibration.measure_calibration(pairs)


def _measure_curve(
    test: TestSet, hypothesis: Hypothesis, reference: Sequence[M2Sentence], options: ScoreOptions
) -> list[CurvePoint]:
    split = splits_hyphens([line.split() for line in test.lines])
    curve = []
    for threshold in THRESHOLDS:
        lines = []
        for raw, output in zip(hypothesis.raws, hypothesis.outputs, strict=True):
            text = output.keep_confident(raw.text, threshold)
            lines.append(" ".join(projection.project_to_tokens(raw, text, split)))
        edits = _extract_edits(test, lines, options)
        curve.append(CurvePoint(threshold, _compare(test, edits, reference, options).total))
    return curve


def _score_gleu(test: TestSet, hypothesis: Hypothesis, options: ScoreOptions) -> Result:
    stats = gleu.count_ngrams(test.lines, hypothesis.lines, test.corrected)
    return Result(
        test=test.name,
        system=hypothesis.system,
        metric="GLEU",
        sentences=len(test.lines),
        scores={"GLEU": round(gleu.mean_gleu(stats), 2)},
        stats=stats.mean(axis=1),  # the expected counts of a drawn reference
        score=gleu.score_totals,
    )


def _count_false_alarms(test: TestSet, hypothesis: Hypothesis, options: ScoreOptions) -> Result:
    changed = [a != b for a, b in zip(test.lines, hypothesis.lines, strict=True) if a.strip()]
    if not changed:
        raise InputError(f"{test.name}: no sentences in it")
    return Result(
        test=test.name,
        system=hypothesis.system,
        metric="false alarms",
        sentences=len(changed),
        scores={"changed per 100": round(100 * sum(changed) / len(changed), 2), "changed": sum(changed)},
        stats=np.array([(int(c), 1) for c in changed]),
        score=significance.rate_per_100,
    )
