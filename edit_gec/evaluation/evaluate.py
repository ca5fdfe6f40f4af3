"""One system on one test set: hypotheses, the metric, its interval, and the signature that makes it repeatable.

    judge(test, from_system(test, "node harper.mjs {in} {out}", options), options)
        ->  Result(scores={"P": 23.33, "R": 4.64, "F0.5": 12.93, ...}, signature="ERRANT:F0.5|mode:cs|ref:gold|...")

Systems see raw text; what they changed is brought back on the tokens of the set before it is scored.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from edit_gec.annotation import m2
from edit_gec.annotation.errant_edits import Extractor
from edit_gec.annotation.m2 import M2Sentence, read_lines
from edit_gec.errors import InputError
from edit_gec.evaluation import calibration, errant_score, gleu, projection, significance, systems
from edit_gec.evaluation.datasets import TestSet
from edit_gec.evaluation.systems import Output

THRESHOLDS = [i / 20 for i in range(20)]


@dataclass(frozen=True)
class Options:
    """What changes a number, and so stands in the signature."""

    mode: str = "cs"
    beta: float = 0.5
    reference: str = "gold"  # or "auto": spans extracted again by ERRANT
    spacy_model: str | None = None
    resamples: int = 1000
    seed: int = 12345
    tokens: bool = False  # systems get the tokens as they are
    model: str | None = None
    min_confidence: float | None = None
    curve: bool = False


@dataclass
class Hypothesis:
    """A system's answer in the tokens of the test set, and, where it ran here, its raw outputs."""

    system: str
    lines: list[str]
    edits: list[M2Sentence] | None = None
    raws: list[projection.Raw] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    seconds: float | None = None


@dataclass
class Result:
    """Scores of one system on one set; `stats` are the per-sentence statistics that tests resample."""

    test: str
    system: str
    metric: str
    sentences: int
    scores: dict[str, float]
    interval: tuple[float, float]
    signature: str
    stats: np.ndarray[Any, Any]
    score: significance.Score
    errant: errant_score.ErrantScore | None = None
    calibration: calibration.Calibration | None = None
    curve: list[tuple[float, float, float, float]] = field(default_factory=list)
    seconds: float | None = None


@cache
def extractor(spacy_model: str | None) -> Extractor:
    """ERRANT, loaded once; it keeps every parse."""
    return Extractor(spacy_model)


def from_file(test: TestSet, path: str) -> Hypothesis:
    """A hypothesis file: plain lines in the tokens of the set, or M2. Raises InputError where it does not fit."""
    lines = read_lines(path)
    if not path.endswith(".m2") and not (len(lines) > 1 and re.match(r"A -?\d+ -?\d+\|\|\|", lines[1])):
        _same_length(path, len(lines), test)
        return Hypothesis(path, [line if test.raw else line.strip() for line in lines])
    sentences = m2.read(path)
    _same_length(path, len(sentences), test)
    for i, (sentence, line) in enumerate(zip(sentences, test.lines, strict=True), start=1):
        if sentence.tokens != line.split():
            raise InputError(f"{path}, sentence {i}: other tokens than in the reference; same set, same tokenisation?")
        for k, edits in sentence.annotators.items():
            m2.check_overlap(edits, f"{path}, sentence {i}, annotator {k}")
    first = [" ".join(m2.apply(s.tokens, next(iter(s.annotators.values())))) for s in sentences]
    return Hypothesis(path, first, edits=sentences)


def _same_length(path: str, found: int, test: TestSet) -> None:
    if found != len(test.lines):
        raise InputError(f"{path}: {found} sentences, {test.name} has {len(test.lines)}; same set, same order?")


def from_system(test: TestSet, system: str, options: Options) -> Hypothesis:
    """Run a system on the raw text of the set and bring its changes back on the tokens of the set."""
    started = time.perf_counter()
    if test.raw or options.tokens:
        outputs = systems.run(system, test.lines, options.model, options.min_confidence)
        return Hypothesis(system, [o.text for o in outputs], outputs=outputs, seconds=time.perf_counter() - started)
    tokens = [line.split() for line in test.lines]
    split = projection.hyphens_split(tokens)
    raws = [projection.detokenise(t, split) for t in tokens]
    outputs = systems.run(system, [r.text for r in raws], options.model, options.min_confidence)
    seconds = time.perf_counter() - started
    lines = [" ".join(projection.project(r, o.text, split)) for r, o in zip(raws, outputs, strict=True)]
    return Hypothesis(system, lines, raws=raws, outputs=outputs, seconds=seconds)


def judge(test: TestSet, hypothesis: Hypothesis, options: Options) -> Result:
    """Score one hypothesis with the metric of the set. Raises InputError where the pipeline or ERRANT is missing."""
    run = {"errant": _errant, "gleu": _gleu, "false-alarms": _false_alarms}[test.metric]
    result = run(test, hypothesis, options)
    result.interval = significance.bootstrap(result.stats, result.score, options.resamples, options.seed)
    result.seconds = hypothesis.seconds
    return result


def gold(test: TestSet, options: Options) -> list[M2Sentence]:
    """The reference edits: as annotated, or extracted where there are only corrected lines or `auto` is asked for."""
    if not test.m2:
        columns = [[line.split() for line in ref] for ref in test.references]
        return extractor(options.spacy_model).to_m2([line.split() for line in test.lines], columns)
    return extractor(options.spacy_model).re_extract(test.m2) if options.reference == "auto" else test.m2


def _errant(test: TestSet, hypothesis: Hypothesis, options: Options) -> Result:
    reference = gold(test, options)
    score = _compare(test, hypothesis.lines, hypothesis.edits, reference, options)
    p, r, f = (round(100 * x, 2) for x in score.prf)
    total = score.total
    result = Result(
        test.name,
        hypothesis.system,
        f"F{options.beta:g}",
        len(test.lines),
        {"P": p, "R": r, f"F{options.beta:g}": f, "TP": total.tp, "FP": total.fp, "FN": total.fn},
        (0.0, 0.0),
        signature(test, hypothesis, options),
        np.array([(c.tp, c.fp, c.fn) for c in score.per_sentence]),
        significance.f_score(options.beta),
        errant=score,
    )
    if hypothesis.raws and any(o.changes for o in hypothesis.outputs):
        _confidence(test, hypothesis, reference, options, result)
    return result


def _compare(
    test: TestSet,
    lines: Sequence[str],
    edits: list[M2Sentence] | None,
    reference: list[M2Sentence],
    options: Options,
) -> errant_score.ErrantScore:
    if edits is None:
        sources, targets = [line.split() for line in test.lines], [line.split() for line in lines]
        edits = extractor(options.spacy_model).to_m2(sources, [targets])
    # errant_parallel leaves empty sources out.
    kept = [i for i, line in enumerate(test.lines) if line.strip()]
    return errant_score.compare([edits[i] for i in kept], [reference[i] for i in kept], options.mode, options.beta)


def _confidence(
    test: TestSet, hypothesis: Hypothesis, reference: list[M2Sentence], options: Options, result: Result
) -> None:
    """Add the calibration, and P, R, F at each threshold where a curve is asked for."""
    sources, targets = [line.split() for line in test.lines], [line.split() for line in hypothesis.lines]
    found = extractor(options.spacy_model).extract(sources, targets)
    if result.errant is None:
        return
    pairs = []
    for i, annotator in enumerate(result.errant.annotator):
        edits = reference[i].annotators[annotator]
        pairs += calibration.outcomes(hypothesis.raws[i], hypothesis.outputs[i].changes, found[i], edits)
    result.calibration = calibration.calibrate(pairs)
    if options.curve:
        split = projection.hyphens_split(sources)
        for threshold in THRESHOLDS:
            texts = [
                systems.above(r.text, o, threshold) for r, o in zip(hypothesis.raws, hypothesis.outputs, strict=True)
            ]
            lines = [" ".join(projection.project(r, t, split)) for r, t in zip(hypothesis.raws, texts, strict=True)]
            p, r, f = _compare(test, lines, None, reference, options).prf
            result.curve.append((threshold, p, r, f))


def _gleu(test: TestSet, hypothesis: Hypothesis, options: Options) -> Result:
    references = test.references or _targets(test)
    stats = gleu.statistics(test.lines, hypothesis.lines, references)
    return Result(
        test.name,
        hypothesis.system,
        "GLEU",
        len(test.lines),
        {"GLEU": round(gleu.gleu_of(stats), 2)},
        (0.0, 0.0),
        signature(test, hypothesis, options),
        stats.mean(axis=1),  # the expected counts of a drawn reference
        gleu.score,
    )


def _targets(test: TestSet) -> list[list[str]]:
    """The annotators' corrected sentences of an M2 set; an annotator absent from a sentence left it alone."""
    names = sorted({k for s in test.m2 for k in s.annotators})
    return [[" ".join(m2.apply(s.tokens, s.annotators.get(k, []))) for s in test.m2] for k in names]


def _false_alarms(test: TestSet, hypothesis: Hypothesis, options: Options) -> Result:
    changed = [a != b for a, b in zip(test.lines, hypothesis.lines, strict=True) if a.strip()]
    if not changed:
        raise InputError(f"{test.name}: no sentences in it")
    return Result(
        test.name,
        hypothesis.system,
        "false alarms",
        len(changed),
        {"changed per 100": round(100 * sum(changed) / len(changed), 2), "changed": sum(changed)},
        (0.0, 0.0),
        signature(test, hypothesis, options),
        np.array([(int(c), 1) for c in changed]),
        significance.rate,
    )


def signature(test: TestSet, hypothesis: Hypothesis, options: Options) -> str:
    """Everything that must be equal for two scores to be comparable, sacrebleu style."""
    from importlib.metadata import version

    from edit_gec.annotation import syntax
    from edit_gec.version import version as own_version

    hyp = hashlib.sha256("\n".join(hypothesis.lines).encode()).hexdigest()[:8]
    ran = bool(hypothesis.outputs)
    parts = {"set": f"{test.name}:{test.digest}", "hyp": hyp, "sys": _named(hypothesis, options)}
    if ran:
        parts["in"] = "raw" if test.raw else "tokens" if options.tokens else "detokenised"
    if test.metric == "errant":
        own = "gold" if test.m2 and options.reference == "gold" else "auto"
        head = {"ERRANT": f"F{options.beta:g}", "mode": options.mode, "ref": own}
        tools = {
            "errant": version("errant"),
            "spacy": version("spacy"),
            "nlp": syntax.identity(extractor(options.spacy_model).nlp),
        }
        parts = {**head, **tools, **parts}
    elif test.metric == "gleu":
        refs = len(test.references) or len(_targets(test))
        parts = {"GLEU": "n1-4", "refs": str(refs), "draws": str(gleu.DRAWS if refs > 1 else 1), **parts}
    else:
        parts = {"FALSE-ALARMS": "per 100", **parts}
    parts["bs"] = f"{options.resamples}:{options.seed}"
    return "|".join(f"{k}:{v}" for k, v in parts.items()) + f"|edit-gec:{own_version()}"


def _named(hypothesis: Hypothesis, options: Options) -> str:
    if hypothesis.outputs and hypothesis.system == "edit-gec":
        return f"edit-gec+{systems.identity(options.model, options.min_confidence)}"
    return hypothesis.system if hypothesis.outputs else Path(hypothesis.system).name
