"""What a language model thinks of variants of a text, one question at a time or several: for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from edit_gec.speculative.language_model import LanguageModel, Question


class Comparison(NamedTuple):
    """How much likelier is each of these variants than the source, after the text before it?"""

    before: str
    source: str
    variants: tuple[str, ...]


def find_gains(model: LanguageModel, asked: Sequence[Comparison]) -> list[list[float]]:
    """log p(variant) - log p(source) for each variant of each comparison; 0 for a variant that is the source."""
    gains = [[0.0] * len(each.variants) for each in asked]
    for reading in model.read([Question(each.before, each.source) for each in asked]):
        variants = [asked[source.number].variants for source in reading.sources]
        for source, found in zip(reading.sources, model.compare(reading, variants), strict=True):
            gains[source.number] = found
    return gains
