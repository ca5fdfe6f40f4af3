"""The options that change a score."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreOptions:
    """Options that change a score; they are part of the signature."""

    mode: str = "cs"
    spacy_model: str | None = None
    model: str | None = None
    min_confidence: float | None = None
    curve: bool = False
