"""Hypotheses: the output of a system on a test set, read from a file or produced by running the system.

Systems see raw text. What they changed is projected to the tokens of the set before it is scored.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from edit_gec.annotation import m2
from edit_gec.annotation.m2 import M2Sentence, read_lines
from edit_gec.errors import InputError
from edit_gec.lab.evaluation import projection
from edit_gec.lab.evaluation.datasets import TestSet
from edit_gec.lab.evaluation.systems import ScoredSystem, SystemOutput
from edit_gec.text.detokenize import RawSentence, detokenize, splits_hyphens


@dataclass
class Hypothesis:
    """The output of a system, or of a file, in the tokens of the test set. What ran here also has its raw outputs.

    `identity` is what the signature says of a system; of a file it says the name.
    """

    system: str
    lines: list[str]
    identity: str = ""
    edits: list[M2Sentence] | None = None
    raws: list[RawSentence] = field(default_factory=list)
    outputs: list[SystemOutput] = field(default_factory=list)
    seconds: float | None = None
    is_detokenised: bool = False  # a file of running text, which was tokenised as the set is


def is_detokenised(sources: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether lines are running text where the sources are tokens: most of what was not changed has other spaces.

    >>> is_detokenised(["Well , go .", "No !", "I go ."], ["Well, go.", "No!", "I went."])
    True
    """
    pairs = [(a.split(), b.split()) for a, b in zip(sources, lines, strict=True)]
    unchanged = [(a, b) for a, b in pairs if a and "".join(a) == "".join(b)]
    return sum(a != b for a, b in unchanged) > len(unchanged) / 2


def tokenise_as(test: TestSet, lines: Sequence[str]) -> list[str]:
    """Corrected running text in the tokens of the set; unchanged text keeps those of its source."""
    tokens = [line.split() for line in test.lines]
    split = splits_hyphens(tokens)
    return [
        " ".join(projection.project_to_tokens(detokenize(source, split), line.strip(), split))
        for source, line in zip(tokens, lines, strict=True)
    ]


def read_hypothesis(test: TestSet, path: str) -> Hypothesis:
    """A hypothesis file: lines in the tokens of the set, or M2. Raises InputError where it does not fit the set."""
    lines = read_lines(path)
    if not path.endswith(".m2") and not (len(lines) > 1 and re.match(r"A -?\d+ -?\d+\|\|\|", lines[1])):
        _same_length(path, len(lines), test)
        if not test.raw and is_detokenised(test.lines, lines):
            return Hypothesis(path, tokenise_as(test, lines), is_detokenised=True)
        return Hypothesis(path, [line if test.raw else line.strip() for line in lines])
    sentences = m2.read_m2(path)
    _same_length(path, len(sentences), test)
    for i, (sentence, line) in enumerate(zip(sentences, test.lines, strict=True), start=1):
        if sentence.tokens != line.split():
            raise InputError(f"{path}, sentence {i}: other tokens than in the reference; same set, same tokenisation?")
        for k, edits in sentence.annotators.items():
            m2.check_overlap(edits, f"{path}, sentence {i}, annotator {k}")
    first = [" ".join(m2.apply_edits(s.tokens, next(iter(s.annotators.values())))) for s in sentences]
    return Hypothesis(path, first, edits=sentences)


def _same_length(path: str, found: int, test: TestSet) -> None:
    if found != len(test.lines):
        raise InputError(f"{path}: {found} sentences, {test.name} has {len(test.lines)}; same set, same order?")


def make_hypothesis(test: TestSet, system: ScoredSystem) -> Hypothesis:
    """Run a system on the raw text of the set and project its changes to the tokens of the set."""
    started = time.perf_counter()
    if test.raw:
        outputs = system.correct(test.lines)
        seconds = time.perf_counter() - started
        return Hypothesis(system.name, [o.text for o in outputs], str(system), outputs=outputs, seconds=seconds)
    tokens = [line.split() for line in test.lines]
    split = splits_hyphens(tokens)
    raws = [detokenize(t, split) for t in tokens]
    outputs = system.correct([r.text for r in raws])
    seconds = time.perf_counter() - started
    lines = [" ".join(projection.project_to_tokens(r, o.text, split)) for r, o in zip(raws, outputs, strict=True)]
    return Hypothesis(system.name, lines, str(system), raws=raws, outputs=outputs, seconds=seconds)
