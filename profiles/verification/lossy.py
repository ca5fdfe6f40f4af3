"""What the lossy gears cost in quality and save in time: `auto` at several doubts, `lenience` at several shares.

    python profiles/verification/lossy.py wi-3k DEV profiles/verification/lossy.json --every 3

Each gear corrects the same set with the same models, loaded once; the order is gone through twice, once backwards, and
the shorter time counts. Prints a table: P, R, F0.5, sentences that are not what the target alone would have written
(none in the first row), sentences that were verified, target passes for each sentence of the set, time against the
first row. A doubt above 1 verifies only what EdiT5 edits.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from edit_gec import Corrector
from edit_gec.evaluation import evaluate, projection
from edit_gec.evaluation.datasets import TestSet, find_test_sets
from edit_gec.evaluation.hypotheses import Hypothesis
from edit_gec.evaluation.options import ScoreOptions
from edit_gec.performance import machine, results
from edit_gec.speculative.verifier import Verifier
from edit_gec.text.detokenize import detokenize, splits_hyphens

GEARS: dict[str, dict[str, Any]] = {
    "always": {},
    **{f"auto, doubt {doubt}": {"auto": True, "doubt": doubt} for doubt in (0.1, 0.3, 0.5, 0.7, 1.1)},
    **{f"lenience {lenience}": {"lenience": lenience} for lenience in (0.5, 0.2, 0.05)},
}


def run(corrector: Corrector, test: TestSet, gear: dict[str, Any]) -> tuple[list[str], float, dict[str, Any]]:
    """The set's corrected token lines, seconds, and what verification did."""
    assert corrector.verifier is not None
    tokens = [line.split() for line in test.lines]
    split = splits_hyphens(tokens)
    raws = [detokenize(t, split) for t in tokens]
    verifier = Verifier(corrector.verifier.target, corrector.verifier.profile, **gear)
    corrector = replace(corrector, verifier=verifier)
    begun = perf_counter()
    found = corrector.correct_batch([raw.text for raw in raws], lines=True, markup=False)
    seconds = perf_counter() - begun
    lines = [
        " ".join(projection.project_to_tokens(raw, c.corrected, split)) for raw, c in zip(raws, found, strict=True)
    ]
    return lines, seconds, corrector.verifier.summary()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("data", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every nth sentence of the set")
    parser.add_argument("--model", default="edit5-mini")
    parser.add_argument("--target", default="t5-mini")
    args = parser.parse_args()
    test, options = find_test_sets(args.set, args.data)[0], ScoreOptions()
    test = TestSet(test.name, test.lines[:: args.every], test.metric, test.m2[:: args.every])
    corrector = Corrector.load(args.model, target=args.target, verify="exact")
    run(corrector, TestSet(test.name, test.lines[:64], test.metric), {})  # warm-up
    rows: dict[str, dict[str, Any]] = {}
    for name in (*GEARS, *reversed(GEARS)):
        lines, seconds, summary = run(corrector, test, GEARS[name])
        if name in rows:
            rows[name]["seconds"] = min(seconds, rows[name]["seconds"])
            continue
        score = evaluate.score_hypothesis(test, Hypothesis(name, lines), options).scores
        rows[name] = {"lines": lines, "seconds": seconds, "scores": score, "statistics": summary}
    exact = rows["always"]
    table = [
        "| gear | P | R | F0.5 | other text | verified | passes | time |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        row["different"] = sum(a != b for a, b in zip(row["lines"], exact["lines"], strict=True))
        row["time"] = row["seconds"] / exact["seconds"]
        s, p = row["statistics"], row["scores"]
        table += [
            f"| {name} | {p['P']:.1f} | {p['R']:.1f} | {p['F0.5']:.1f} | {row['different']} | {s['sentences']} "
            f"| {s['passes'] / len(test.lines):.2f} | {row['time']:.2f} |"
        ]
    for row in rows.values():
        del row["lines"]
    results.write_result(
        args.result, {"machine": machine.describe(), "set": test.name, "sentences": len(test.lines), "rows": rows}
    )
    sys.stdout.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
