"""Choose the thresholds of a model: the best F0.5 on learners' text for each rate of false alarms on clean text.

    python profiles/training/tune.py --model models/edit5-mini --data DEV --keep-bias -1.1

The model runs once on each set with every edit that it can think of. What it says of them is brought on one scale of
confidence (confidence.py) by logistic regression, and all pairs of thresholds (of an edit, and of what is made in its
sentence together) are counted. Prints the scale and one line for each rate, ready for [thresholds] of a recipe, and the
same with a scale that was fitted on other sentences (five parts): what the fit owes to having seen them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from edit_gec import Corrector
from edit_gec.editing.confidence import POWER, Evidence, Kind, Scale, log_odds
from edit_gec.editing.thresholds import Thresholds
from edit_gec.evaluation import evaluate, projection
from edit_gec.evaluation.calibration import fit, near
from edit_gec.evaluation.datasets import TestSet, find
from edit_gec.evaluation.systems import Change, Output

RATES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0)  # clean sentences changed, per cent
STEPS = np.arange(0.02, 0.98, 0.02)
KINDS = (Kind.INSERT, Kind.DELETE, Kind.CASE, Kind.SPELLING)
PARTS = 5


@dataclass(frozen=True)
class Recorder(Thresholds):
    """Thresholds under which nothing is refused, and the confidence of an edit says where its evidence stands."""

    seen: list[Evidence] = field(default_factory=list, hash=False, compare=False)

    def confidence(self, evidence: Evidence) -> float:
        """Number of the evidence, from 1; 0 where the edit is impossible."""
        self.seen.append(evidence)
        return float(len(self.seen)) if min(evidence.tags, evidence.written) > 0 else 0.0


class Edit(NamedTuple):
    """An edit of a sentence: what the model says of its parts, and whether it is right."""

    sentence: int
    parts: tuple[Evidence, ...]
    right: bool


def run(corrector: Corrector, texts: Sequence[str]) -> list[Output]:
    found = corrector.correct_batch(list(texts), lines=True, markup=False)
    return [
        Output(c.corrected, tuple(Change(e.start, e.end, e.replacement, e.confidence) for e in c.edits)) for c in found
    ]


def learners(corrector: Corrector, seen: list[Evidence], test: TestSet) -> tuple[list[Edit], int]:
    """Every edit of an ERRANT set, right or wrong against the annotator that agrees most; how many are wanted."""
    tokens = [line.split() for line in test.lines]
    split = projection.hyphens_split(tokens)
    raws = [projection.detokenise(t, split) for t in tokens]
    outputs = run(corrector, [raw.text for raw in raws])
    targets = [projection.project(raw, o.text, split) for raw, o in zip(raws, outputs, strict=True)]
    found = evaluate.extractor(None).extract(tokens, targets)
    edits = []
    for n, (raw, output, mine, reference) in enumerate(zip(raws, outputs, found, test.m2, strict=True)):
        golds = [{(e.start, e.end, e.correction) for e in gold} for gold in reference.annotators.values()]
        gold = max(golds, key=lambda gold: sum((e.start, e.end, e.correction) in gold for e in mine), default=set())
        for e in mine:
            parts = tuple(seen[int(c.confidence) - 1] for c in near(raw, output.changes, e))
            if parts:
                edits.append(Edit(n, parts, (e.start, e.end, e.correction) in gold))
    return edits, sum(min(len(e) for e in s.annotators.values()) for s in test.m2 if s.annotators)


def sentences(corrector: Corrector, seen: list[Evidence], test: TestSet) -> list[Edit]:
    """Every edit of clean sentences; none is right."""
    outputs = run(corrector, test.lines)
    return [Edit(n, (seen[int(c.confidence) - 1],), False) for n, output in enumerate(outputs) for c in output.changes]


def features(evidence: Evidence) -> list[float]:
    kinds = [float(evidence.kind == kind) for kind in KINDS]
    return [log_odds(evidence.tags), float(np.log(max(evidence.written, 1e-6))), 1.0, *kinds]


def fitted(edits: Sequence[Edit]) -> Scale:
    """The scale under which what happened is likeliest. Of an edit of several parts the weakest counts."""
    rows = [features(min(edit.parts, key=Scale().confidence)) for edit in edits]
    slope, written, offset, *kinds = (round(float(w), 3) for w in fit(rows, [edit.right for edit in edits]))
    return Scale(slope, written, offset=offset, **{f"{kind}_offset": k for kind, k in zip(KINDS, kinds, strict=True)})


def sure(edits: Sequence[Edit], scale: Scale) -> np.ndarray:
    return np.array([min(map(scale.confidence, edit.parts)) for edit in edits])


def elsewhere(edits: Sequence[Edit]) -> np.ndarray:
    """Confidence of each edit by a scale that was fitted on other sentences."""
    scales = [fitted([e for e in edits if e.sentence % PARTS != part]) for part in range(PARTS)]
    return np.array([min(map(scales[e.sentence % PARTS].confidence, e.parts)) for e in edits])


def gates(edits: Sequence[Edit], confidence: np.ndarray, least: float) -> np.ndarray:
    """How sure the edits of each sentence are together (confidence.combine), without those less sure than `least`."""
    sums = np.zeros(1 + max(edit.sentence for edit in edits))
    np.add.at(sums, [edit.sentence for edit in edits], np.where(confidence >= least, confidence, 0) ** POWER)
    return np.minimum(1, sums ** (1 / POWER))


def table(
    edits: Sequence[Edit], confidence: np.ndarray, wanted: int, alarms: Sequence[Edit], clean: np.ndarray, size: int
) -> list[str]:
    """For each of RATES: clean sentences changed, thresholds of an edit and of a sentence's edits, P, R, F0.5."""
    right = np.array([edit.right for edit in edits])
    sentence = [edit.sentence for edit in edits]
    together = {least: (gates(edits, confidence, least)[sentence], gates(alarms, clean, least)) for least in STEPS}
    best: dict[float, tuple[float, ...]] = {}
    for least, gate in product(STEPS, STEPS):
        if gate < least:
            continue
        ours, theirs = together[least]
        changed = 100 * float((theirs >= gate).sum()) / size
        kept = (confidence >= least) & (ours >= gate)
        hits = int((right & kept).sum())
        p, r = hits / max(1, int(kept.sum())), hits / wanted
        f = 1.25 * p * r / max(1e-9, 0.25 * p + r)
        for rate in RATES:
            if changed <= rate and (rate not in best or f > best[rate][-1]):
                best[rate] = (changed, least, gate, p, r, f)
    lines = ["clean %  at most   edit together      P      R   F0.5"]
    for rate in (rate for rate in RATES if rate in best):
        changed, least, gate, *prf = best[rate]
        p, r, f = (100 * value for value in prf)
        lines += [f"{changed:7.2f} {rate:8.1f} {least:6.2f} {gate:8.2f} {p:6.1f} {r:6.1f} {f:6.1f}"]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep-bias", type=float, nargs="+", default=[-1.1])
    parser.add_argument("--learners", default="wi-3k")
    parser.add_argument("--clean", default="clean")
    args = parser.parse_args()
    corrector = Corrector.load(args.model, min_confidence=0.0)
    corrector.workers = 1  # the recorder's list has one order
    test, clean_test = find(args.learners, args.data)[0], find(args.clean, args.data)[0]
    for bias in args.keep_bias:
        options = Recorder(keep_bias=bias)
        corrector.options = options
        edits, wanted = learners(corrector, options.seen, test)
        alarms = sentences(corrector, options.seen, clean_test)
        scale = fitted(edits)
        clean = sure(alarms, scale)
        lines = [f"keep_bias = {bias:g}", *(f"{name} = {value:g}" for name, value in asdict(scale).items())]
        lines += table(edits, sure(edits, scale), wanted, alarms, clean, len(clean_test.lines))
        lines += ["fitted on other sentences:"]
        lines += table(edits, elsewhere(edits), wanted, alarms, clean, len(clean_test.lines))
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
