"""The options that change a score."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreOptions:
    """Options that change a score; they are part of the signature."""

    mode: str = "cs"
    beta: float = 0.5
    reference: str = "gold"  # or "auto": ERRANT extracts the spans again
    spacy_model: str | None = None
    resamples: int = 1000
    seed: int = 12345
    model: str | None = None
    min_confidence: float | None = None
    curve: bool = False
