"""Choose the thresholds of a model: the best F0.5 on learners' text for each rate of false alarms on clean text.

    python profiles/training/tune.py --model models/edit5-mini --data DEV --keep-bias -0.4

What the model writes by itself is calibrated first. Then it runs once on each set with every edit that it can think of,
and all pairs of thresholds (of an edit, and of the surest edit of its sentence) are counted. Prints one line for each
rate, ready for [thresholds] of a recipe.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from edit_gec import Corrector
from edit_gec.scoring import calibration, judge, project
from edit_gec.scoring.benchmarks import TestSet, find
from edit_gec.scoring.systems import Change, Output

RATES = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)  # clean sentences changed, per cent
STEPS = np.arange(0.02, 0.98, 0.02)


class Edits(NamedTuple):
    """Edits of one set: confidence of each, of the surest in its sentence, and whether it is right."""

    confidence: np.ndarray
    surest: np.ndarray
    right: np.ndarray
    wanted: int  # edits of the reference, or sentences of a clean set


def run(corrector: Corrector, texts: Sequence[str]) -> list[Output]:
    found = corrector.correct_batch(list(texts), lines=True, markup=False)
    return [
        Output(c.corrected, tuple(Change(e.start, e.end, e.replacement, e.confidence) for e in c.edits)) for c in found
    ]


def learners(corrector: Corrector, test: TestSet) -> Edits:
    """Every edit of an ERRANT set, right or wrong against the annotator that agrees most."""
    tokens = [line.split() for line in test.lines]
    split = project.hyphens_split(tokens)
    raws = [project.detokenise(t, split) for t in tokens]
    outputs = run(corrector, [raw.text for raw in raws])
    targets = [project.project(raw, o.text, split) for raw, o in zip(raws, outputs, strict=True)]
    found = judge.extractor(None).extract(tokens, targets)
    rows: list[tuple[float, float, bool]] = []
    for raw, output, edits, gold in zip(raws, outputs, found, test.m2, strict=True):
        pairs = [calibration.outcomes(raw, output.changes, edits, g) for g in gold.annotators.values()]
        best = max(pairs, key=lambda pairs: sum(ok for _, ok in pairs), default=[])
        rows += [(c, max(c for c, _ in best), ok) for c, ok in best]
    wanted = sum(min(len(e) for e in s.annotators.values()) for s in test.m2 if s.annotators)
    return Edits(*map(np.array, zip(*rows, strict=True)), wanted)


def sentences(corrector: Corrector, test: TestSet) -> np.ndarray:
    """Confidence of the surest edit of each clean sentence, 0 where there is none."""
    outputs = run(corrector, test.lines)
    return np.array([max((c.confidence for c in o.changes), default=0.0) for o in outputs])


def calibrated(edits: Edits) -> tuple[float, float]:
    return calibration.fit(list(zip(edits.confidence.tolist(), edits.right.tolist(), strict=True)))


def table(edits: Edits, clean: np.ndarray) -> list[tuple[float, ...]]:
    """For each of RATES: rate, threshold of an edit, of the surest edit, P, R, F0.5, at the best F0.5."""
    best: dict[float, tuple[float, ...]] = {}
    for least, gate in product(STEPS, STEPS):
        if gate < least:
            continue
        alarms = 100 * float(np.mean(clean >= gate))
        kept = (edits.confidence >= least) & (edits.surest >= gate)
        right = int((edits.right & kept).sum())
        p, r = right / max(1, int(kept.sum())), right / edits.wanted
        f = 1.25 * p * r / max(1e-9, 0.25 * p + r)
        for rate in RATES:
            if alarms <= rate and (rate not in best or f > best[rate][-1]):
                best[rate] = (alarms, least, gate, p, r, f)
    return [(rate, *best[rate]) for rate in RATES if rate in best]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep-bias", type=float, nargs="+", default=[-0.4])
    parser.add_argument("--learners", default="wi-3k")
    parser.add_argument("--clean", default="clean")
    args = parser.parse_args()
    corrector = Corrector.load(args.model, min_confidence=0.0)
    test, clean_test, spelling = find(args.learners, args.data)[0], find(args.clean, args.data)[0], corrector.spelling
    for bias in args.keep_bias:
        raw = replace(corrector.options, keep_bias=bias, min_confidence=0.0, sentence_gate=0.0, slope=1.0, offset=0.0)
        corrector.options, corrector.spelling = raw, None
        slope, offset = calibrated(learners(corrector, test))
        corrector.options, corrector.spelling = replace(raw, slope=slope, offset=offset), spelling
        edits, clean = learners(corrector, test), sentences(corrector, clean_test)
        lines = [f"keep_bias {bias:g}: slope {slope:.3f}, offset {offset:.3f}"]
        lines += ["clean %  at most   edit   surest      P      R   F0.5"]
        for rate, alarms, least, gate, *prf in table(edits, clean):
            p, r, f = (100 * value for value in prf)
            lines += [f"{alarms:7.2f} {rate:8.1f} {least:6.2f} {gate:8.2f} {p:6.1f} {r:6.1f} {f:6.1f}"]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
