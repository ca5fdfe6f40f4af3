"""`edit-gec score`: how good is a corrector, in the field's own metrics, offline, signed so that others can repeat it.

    edit-gec score --m2 dev.m2 --hyp out.txt                       ERRANT P, R, F0.5 of a file
    edit-gec score --benchmark wi jfleg --data corpora --system edit-gec --system 'my-tool {in} > {out}'
    edit-gec score --clean clean.txt --system edit-gec             false alarms
    edit-gec score --cases tests/robustness/*.jsonl --system edit-gec      single texts: left alone, or rightly changed
    python -m edit_gec.cli.score ...                                   the same, without the rest of edit-gec

The work is done in `edit_gec.evaluation`. From Python:

    score_hypothesis(read_m2_set("dev.m2"), Hypothesis("mine", lines), ScoreOptions()).scores
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.errors import EditGecError, InputError

if TYPE_CHECKING:
    from edit_gec.evaluation.datasets import TestSet
    from edit_gec.evaluation.evaluate import Result
    from edit_gec.evaluation.options import ScoreOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `edit-gec score`."""
    what = parser.add_argument_group("test set, one of")
    what.add_argument("--m2", metavar="FILE", help="gold edits in M2 format")
    what.add_argument("--source", metavar="FILE", help="tokenised sentences, with --ref")
    what.add_argument("--clean", metavar="FILE", help="raw sentences without errors: any change is a false alarm")
    what.add_argument(
        "--benchmark", nargs="+", metavar="NAME", help="published sets: jfleg wi bea-dev conll14 cweb ..."
    )
    what.add_argument("--cases", nargs="+", metavar="FILE", help="texts with what is right for each, as JSON lines")
    what.add_argument("--again", metavar="FILE", help="any text: how many lines change when corrected once and twice")
    what.add_argument("--ref", nargs="+", metavar="FILE", default=[], help="reference lines, one file per annotator")
    what.add_argument("--data", metavar="DIR", help="folder of the benchmarks (default: $EDIT_GEC_DATA)")
    who = parser.add_argument_group("systems, one or more")
    who.add_argument("--hyp", nargs="+", metavar="FILE", default=[], help="outputs: tokenised lines, or M2")
    who.add_argument(
        "--system", action="append", metavar="S", default=[], help="edit-gec, none, or a command with {in} and {out}"
    )
    who.add_argument("--model", metavar="DIR", help="model folder for --system edit-gec (default: the shipped one)")
    who.add_argument("--min-confidence", type=float, metavar="P", help="threshold of edit-gec (default: the model's)")
    who.add_argument("--tokens", action="store_true", help="give systems the tokens as they are, not raw text")
    how = parser.add_argument_group("metric")
    how.add_argument("--metric", choices=["errant", "gleu"], help="default: the one the set is published with")
    how.add_argument(
        "--mode",
        choices=["cs", "cse", "ds", "dt"],
        default="cs",
        help="correction by span (default), with type, detection by span, by token",
    )
    how.add_argument("--beta", type=float, default=0.5, help="weight of recall (default 0.5)")
    how.add_argument(
        "--reference", choices=["gold", "auto"], default="gold", help="M2 spans as given, or extracted again"
    )
    how.add_argument(
        "--types",
        type=int,
        choices=[1, 2, 3],
        metavar="LEVEL",
        help="table per error type: 1 (M), 2 (NOUN), 3 (M:NOUN)",
    )
    how.add_argument("--spacy-model", metavar="NAME", help="pipeline for ERRANT, e.g. en_core_web_sm (default: ours)")
    how.add_argument("--curve", action="store_true", help="P, R, F at confidence thresholds (edit-gec only)")
    how.add_argument("--resamples", type=int, default=1000, help="bootstrap samples (default 1000)")
    how.add_argument("--seed", type=int, default=12345, help=argparse.SUPPRESS)
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=["table", "json"], default="table")
    out.add_argument("--plot", metavar="FILE", help="precision-recall plot, .png or .svg")
    out.add_argument("--write-hyp", metavar="DIR", help="keep each system's output, in the tokens of the set")


def run(args: argparse.Namespace) -> int:
    """Score and print; 0. Raises InputError where an input does not fit."""
    from edit_gec.evaluation import report

    _check(args)
    if args.cases or args.again:
        return _cases(args)
    options = _options(args)
    results = [result for test in _tests(args) for result in _judge(test, args, options)]
    if args.plot:
        report.plot_precision_recall(results, Path(args.plot))
    if args.format == "json":
        sys.stdout.write(json.dumps(report.to_data(results, options), indent=1) + "\n")
    else:
        sys.stdout.write(report.format_table(results, options, args.types))
    return 0


def _check(args: argparse.Namespace) -> None:
    """Raises InputError unless there is one test set and at least one system."""
    given = [name for name in ("m2", "source", "clean", "benchmark", "cases", "again") if getattr(args, name)]
    if len(given) != 1:
        raise InputError("give one test set: --m2, --source with --ref, --clean, --benchmark, --cases or --again")
    if not args.hyp and not args.system:
        raise InputError("give a system: --hyp FILE or --system edit-gec | none | 'COMMAND {in} {out}'")


def _cases(args: argparse.Namespace) -> int:
    from edit_gec.evaluation import checklist

    if args.hyp:
        raise InputError("--cases and --again need a system that runs here: --system, not --hyp")
    judged = [
        checklist.run_checklist(path, system, args.model, args.min_confidence, plain=bool(args.again))
        for path in args.cases or [args.again]
        for system in args.system
    ]
    data = json.dumps(checklist.to_data(judged), indent=1, ensure_ascii=False) + "\n"
    sys.stdout.write(data if args.format == "json" else checklist.format_table(judged))
    return 0


def _options(args: argparse.Namespace) -> ScoreOptions:
    from edit_gec.evaluation.options import ScoreOptions

    if args.beta <= 0 or args.resamples < 1:
        raise InputError("--beta and --resamples must be above zero")
    names = ("mode", "beta", "reference", "spacy_model", "resamples", "seed", "tokens", "model", "min_confidence")
    return ScoreOptions(**{name: getattr(args, name) for name in names}, curve=args.curve or bool(args.plot))


def _tests(args: argparse.Namespace) -> list[TestSet]:
    from dataclasses import replace

    from edit_gec.evaluation import datasets

    if args.m2:
        tests = [datasets.read_m2_set(args.m2)]
    elif args.clean:
        tests = [datasets.read_clean_set(args.clean)]
    elif args.source:
        if not args.ref:
            raise InputError("--source needs --ref, one file per annotator (or --clean for error-free text)")
        tests = [datasets.read_parallel_set(args.source, args.ref, "errant")]
    else:
        folder = args.data or os.environ.get("EDIT_GEC_DATA")
        tests = [t for name in args.benchmark for t in datasets.find_test_sets(name, Path(folder) if folder else None)]
    return [replace(t, metric=args.metric) if args.metric and not t.raw else t for t in tests]


def _judge(test: TestSet, args: argparse.Namespace, options: ScoreOptions) -> list[Result]:
    from edit_gec.evaluation import evaluate, hypotheses

    given = [hypotheses.read_hypothesis(test, path) for path in args.hyp]
    given += [hypotheses.make_hypothesis(test, system, options) for system in args.system]
    if args.write_hyp:
        folder = Path(args.write_hyp)
        folder.mkdir(parents=True, exist_ok=True)
        for i, hypothesis in enumerate(given):
            text = "".join(line + "\n" for line in hypothesis.lines)
            (folder / f"{test.name}.{i}.txt").write_text(text, encoding="utf-8", newline="\n")
    return [evaluate.score_hypothesis(test, hypothesis, options) for hypothesis in given]


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m edit_gec.cli.score`: one line on standard error and status 1 where an input does not fit."""
    parser = argparse.ArgumentParser(prog="python -m edit_gec.cli.score", description="Measure corrections.")
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except EditGecError as error:
        sys.stderr.write(f"edit-gec: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
