"""`edit-gec score`: the quality of a corrector in the field's metrics, offline, with a signature to reproduce it.

    edit-gec score --m2 dev.m2 --hyp out.txt                       ERRANT P, R, F0.5 of a file
    edit-gec score --benchmark wi jfleg --data corpora --system edit-gec --system 'my-tool {in} > {out}'
    edit-gec score --clean clean.txt --system edit-gec             false alarms
    edit-gec score --cases tests/robustness/*.jsonl --system edit-gec      single texts: left alone, or rightly changed
    edit-gec score --cases notes.txt --system edit-gec             any lines: those that change, and that change again
    edit-gec score --documents docs/ --system edit-gec             whole files: false alarms by kind, damaged markup
    edit-gec score --read judgements.jsonl                         texts whose edits somebody has read and judged
    edit-gec score --rules dev.m2                                  matches and hits of each rule, without a model

The work is done in `edit_gec.lab.evaluation`. From Python:

    score_hypothesis(read_m2_set("dev.m2"), Hypothesis("mine", lines), ScoreOptions()).scores
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.cli.arguments import UsageError, confidence, option
from edit_gec.cli.console import say

if TYPE_CHECKING:
    from edit_gec.lab.evaluation.datasets import TestSet
    from edit_gec.lab.evaluation.evaluate import Result
    from edit_gec.lab.evaluation.systems import ScoredSystem


SETS = ("m2", "source", "clean", "benchmark", "cases", "documents", "rules", "read")
MODES = {  # of ERRANT's score: what must agree
    "cs": "span and correction",
    "cse": "the type, too",
    "ds": "the span",
    "dt": "the token",
}


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The arguments of `edit-gec score`."""

    m2: str | None = option("--m2", group="test set, one of", metavar="FILE", help="gold edits in M2 format")
    source: str | None = option("--source", metavar="FILE", help="tokenised sentences, with --ref")
    clean: str | None = option(
        "--clean", metavar="FILE", help="raw sentences without errors: any change is a false alarm"
    )
    benchmark: Sequence[str] | None = option(
        "--benchmark", nargs="+", metavar="NAME", help="published sets: jfleg wi bea-dev conll14 cweb ..."
    )
    cases: Sequence[str] | None = option(
        "--cases", nargs="+", metavar="FILE",
        help="texts with accepted corrections, .jsonl; of any other file the lines that change, and that change again",
    )  # fmt: skip
    documents: str | None = option(
        "--documents", metavar="DIR", help="well-edited files: count false alarms by kind, and damaged markup"
    )
    rules: str | None = option(
        "--rules", metavar="FILE", help="gold edits in M2 format: what each rule finds, without a system"
    )
    read: str | None = option(
        "--read", metavar="FILE", help="judgements of edits that somebody has read, as JSON lines"
    )
    ref: Sequence[str] = option(
        "--ref", nargs="+", metavar="FILE", default=[], help="reference lines, one file per annotator"
    )
    data: str | None = option("--data", metavar="DIR", help="folder of the benchmarks (default: $EDIT_GEC_DATA)")
    hyp: Sequence[str] = option(
        "--hyp", group="systems, one or more", nargs="+", metavar="FILE", default=[],
        help="outputs: tokenised lines or M2; for --documents a folder of corrected copies",
    )  # fmt: skip
    system: Sequence[str] = option(
        "--system", action="append", metavar="S", default=[],
        help="edit-gec, edit-gec+smollm2 (any judge), languagetool, harper, quire (if they are installed), none, or a "
        "command with {in} and {out}",
    )  # fmt: skip
    model: str | None = option(
        "--model", metavar="DIR", help="model folder for --system edit-gec (default: the shipped one)"
    )
    min_confidence: float | None = option(
        "--min-confidence", type=confidence, metavar="P", help="threshold (default: the model's own)"
    )
    metric: str | None = option(
        "--metric", group="metric", choices=[*MODES, "gleu"],
        help=f"ERRANT's F0.5 by what must agree, {', '.join(f'{mode}: {what}' for mode, what in MODES.items())}; or "
        "GLEU (default: that of the set's publication, cs)",
    )  # fmt: skip
    types: int | None = option(
        "--types", type=int, choices=[1, 2, 3], metavar="LEVEL",
        help="add a table of error types: 1 (M), 2 (NOUN) or 3 (M:NOUN)",
    )  # fmt: skip
    spacy_model: str | None = option(
        "--spacy-model", metavar="NAME", help="pipeline for ERRANT, e.g. en_core_web_sm (default: ours)"
    )
    curve: bool = option(
        "--curve", action="store_true", help="precision, recall and F at each confidence threshold (edit-gec only)"
    )
    format: str = option("--format", group="output", choices=["table", "json"], default="table")
    write_hyp: str | None = option(
        "--write-hyp", metavar="DIR", help="keep each system's output, in the tokens of the set"
    )


Report = tuple[object, str]  # as plain data for JSON, and as a table


def run(arguments: Arguments) -> int:
    """Score and print; 0. Raises UsageError, and InputError where an input does not fit."""
    check_arguments(arguments)
    special = {
        "cases": report_cases, "rules": report_rules, "read": report_judgements, "documents": report_documents,
    }  # fmt: skip
    make = next((special[name] for name in special if getattr(arguments, name)), report_scores)
    data, table = make(arguments)
    sys.stdout.write(json.dumps(data, indent=1, ensure_ascii=False) + "\n" if arguments.format == "json" else table)
    return 0


def check_arguments(arguments: Arguments) -> None:
    """Raises UsageError unless there is one test set and at least one system."""
    if sum(bool(getattr(arguments, name)) for name in SETS) != 1:
        raise UsageError(f"give one test set: {', '.join(f'--{name}' for name in SETS)}; --source needs --ref")
    if not (arguments.hyp or arguments.system or arguments.rules or arguments.read):
        raise UsageError("give a system: --hyp FILE or --system edit-gec | none | 'COMMAND {in} {out}'")


def report_scores(arguments: Arguments) -> Report:
    """The scores of each system on each test set."""
    from edit_gec.lab.evaluation import report

    results = [result for test in find_test_sets(arguments) for result in judge_systems(test, arguments)]
    return report.to_data(results), report.format_table(results, arguments.types)


def report_cases(arguments: Arguments) -> Report:
    """What became of the texts of --cases in each system."""
    from edit_gec.lab.evaluation import checklist

    if arguments.hyp:
        raise UsageError("--cases needs a system that runs here: --system, not --hyp")
    judged = [
        checklist.run_checklist(path, system) for path in arguments.cases or () for system in list_systems(arguments)
    ]
    return checklist.to_data(judged), checklist.format_table(judged)


def report_rules(arguments: Arguments) -> Report:
    """What each rule finds in an M2 file."""
    from edit_gec.lab.evaluation import rule_hits

    counts = rule_hits.count_hits(str(arguments.rules))
    return rule_hits.to_data(counts), rule_hits.format_table(counts)


def report_judgements(arguments: Arguments) -> Report:
    """What a reader has judged."""
    from edit_gec.lab.evaluation import reading

    found = reading.read_judgements(str(arguments.read))
    return reading.to_data(found), reading.format_table(found) + "\n"


def report_documents(arguments: Arguments) -> Report:
    """What each system changes in the documents of a folder."""
    from edit_gec.lab.evaluation import documents

    folder = str(arguments.documents)
    scores = [documents.compare_folders(folder, corrected) for corrected in arguments.hyp]
    scores += [documents.score_documents(folder, system) for system in list_systems(arguments)]
    return documents.to_data(scores), documents.format_table(scores)


def list_systems(arguments: Arguments) -> list[ScoredSystem]:
    """The systems that run here."""
    from edit_gec.lab.evaluation.systems import ScoredSystem

    return [ScoredSystem(name, arguments.model, arguments.min_confidence) for name in arguments.system]


def find_test_sets(arguments: Arguments) -> list[TestSet]:
    """The requested sets. Raises UsageError, and InputError for missing files."""
    from edit_gec.lab.evaluation import datasets

    if arguments.m2:
        tests = [datasets.read_m2_set(arguments.m2)]
    elif arguments.clean:
        tests = [datasets.read_clean_set(arguments.clean)]
    elif arguments.source:
        if not arguments.ref:
            raise UsageError("--source needs --ref, one file per annotator (or --clean for error-free text)")
        tests = [datasets.read_parallel_set(arguments.source, arguments.ref, "errant")]
    else:
        folder = arguments.data or os.environ.get("EDIT_GEC_DATA")
        tests = [
            t
            for name in arguments.benchmark or []
            for t in datasets.find_test_sets(name, Path(folder) if folder else None)
        ]
    metric = "errant" if arguments.metric in MODES else arguments.metric
    return [replace(t, metric=metric) if metric and not t.raw else t for t in tests]


def judge_systems(test: TestSet, arguments: Arguments) -> list[Result]:
    """A result for each system on one set; with --write-hyp their outputs are kept."""
    from edit_gec.lab.evaluation import evaluate, hypotheses
    from edit_gec.lab.evaluation.signature import ScoreOptions

    given = [hypotheses.read_hypothesis(test, path) for path in arguments.hyp]
    for each in given:
        if each.is_detokenised:
            say(f"edit-gec: {each.system}: running text, the set has tokens; it is scored in tokens of the set")
    given += [hypotheses.make_hypothesis(test, system) for system in list_systems(arguments)]
    if arguments.write_hyp:
        folder = Path(arguments.write_hyp)
        folder.mkdir(parents=True, exist_ok=True)
        for i, hypothesis in enumerate(given):
            text = "".join(line + "\n" for line in hypothesis.lines)
            (folder / f"{test.name}.{i}.txt").write_text(text, encoding="utf-8", newline="\n")
    mode = arguments.metric if arguments.metric in MODES else next(iter(MODES))
    options = ScoreOptions(mode, arguments.spacy_model, arguments.curve)
    return [evaluate.score_hypothesis(test, hypothesis, options) for hypothesis in given]
