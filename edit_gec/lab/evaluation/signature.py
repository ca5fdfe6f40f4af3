"""The signature of a score: everything that must be equal for two scores to be comparable, as in sacreBLEU.

ERRANT:F0.5|mode:cs|ref:gold|errant:3.0.0|spacy:3.8.2|nlp:...|set:wi-3k:1a2b3c4d|hyp:...|sys:...|bs:1000:12345|...
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path

from edit_gec.annotation import syntax
from edit_gec.annotation.errant_edits import load_extractor
from edit_gec.lab.evaluation import gleu, significance
from edit_gec.lab.evaluation.datasets import TestSet
from edit_gec.lab.evaluation.hypotheses import Hypothesis
from edit_gec.version import version


@dataclass(frozen=True)
class ScoreOptions:
    """Options that change a score, or add a curve to it."""

    mode: str = "cs"
    spacy_model: str | None = None
    curve: bool = False


def build_signature(test: TestSet, hypothesis: Hypothesis, options: ScoreOptions) -> str:
    """The signature of one score. Raises InputError where an ERRANT score lacks ERRANT."""
    parts = _metric_parts(test, options)
    parts["set"] = f"{test.name}:{test.digest}"
    parts["hyp"] = hashlib.sha256("\n".join(hypothesis.lines).encode()).hexdigest()[:8]
    parts["sys"] = hypothesis.identity or Path(hypothesis.system).name
    if hypothesis.is_detokenised:
        parts["in"] = "retokenised"
    elif hypothesis.outputs:
        parts["in"] = "raw" if test.raw else "detokenised"
    parts["bs"] = f"{significance.RESAMPLES}:{significance.SEED}"
    parts["edit-gec"] = version()
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def _metric_parts(test: TestSet, options: ScoreOptions) -> dict[str, str]:
    """The metric with its settings and its tools."""
    if test.metric == "errant":
        return {
            "ERRANT": "F0.5",
            "mode": options.mode,
            "ref": "gold" if test.m2 else "auto",
            "errant": installed("errant"),
            "spacy": installed("spacy"),
            "nlp": syntax.identify_pipeline(load_extractor(options.spacy_model).nlp),
        }
    if test.metric == "gleu":
        count = len(test.corrected)
        return {"GLEU": "n1-4", "refs": str(count), "draws": str(gleu.DRAWS if count > 1 else 1)}
    return {"FALSE-ALARMS": "per 100"}
