"""edit-gec with fixed rules in the model's place, so that tests can say exactly what must come out.

    python tests/support/fake_model.py correct FILE

Everything but edit_gec.corrector.Corrector is the real thing. Tests with a real model are in test_cli.py too.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edit_gec import corrector
from edit_gec.cli import console
from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.text.edits import Change, Edit, apply
from edit_gec.text.kinds import name_kind
from edit_gec.text.sentences import Sentence, split

STEP_S = 0.1
RULES = {"go": ("goes", 0.97), "dont": ("don't", 0.9), "becuase": ("because", 0.99), "teh": ("the", 0.6)}


@dataclass(frozen=True)
class Correction:
    text: str
    corrected: str
    edits: tuple[Edit, ...]
    refused: tuple[Edit, ...] = ()
    hints: tuple[Edit, ...] = ()


class Predictor:
    def summary(self) -> dict[str, Any]:
        return {}


class Corrector:
    predictor = Predictor()

    def __init__(self, min_confidence: float, left_alone: frozenset[str]) -> None:
        self.min_confidence, self.left_alone = min_confidence, left_alone

    def with_settings(self, threshold: float | str | None, dialect: str | None) -> Corrector:
        return Corrector(threshold, self.left_alone) if isinstance(threshold, float) else self

    @classmethod
    def load(
        cls, model: str, *, min_confidence: float | None = None, dictionary: Iterable[str] = (), **_: Any
    ) -> Corrector:
        if model != "edit5-mini":
            raise InputError(f"model {model}: no such model or folder")
        return cls(min_confidence or 0.0, frozenset(dictionary))

    def correct_batch(
        self,
        texts: list[str],
        *,
        lines: bool = False,
        formats: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Correction]:
        corrections = []
        for text, format in zip(texts, formats or ["markdown"] * len(texts), strict=True):
            steps = 3 if "SLOW" in text else 600 if "ENDLESS" in text else 0
            for step in range(steps):
                time.sleep(STEP_S)
                if progress is not None:
                    progress(step + 1, steps)
            sentences = split(text, lines=lines, format=format)
            edits = tuple(edit for sentence in sentences for edit in self._edits(text, sentence))
            opened = (each.opened() for each in sentences)
            hints = (edit for each in opened if each for edit in self._edits(text, each) if edit not in edits)
            corrections.append(Correction(text, apply(text, edits), edits, hints=tuple(hints)))
        return corrections

    def correct_in_stretches(self, text: str, *, lines: bool, format: str) -> Iterator[Correction]:
        for part in re.findall(r"(?s).{1,200000}(?:\n|\Z)|[^\n]+\n?", text):
            yield from self.correct_batch([part], lines=lines, formats=[format])

    def _edits(self, text: str, sentence: Sentence) -> Iterator[Edit]:
        for match in re.finditer(r"[A-Za-z]+", sentence.text):
            new, confidence = RULES.get(match[0], (match[0], 0.0))
            if new != match[0] and match[0] not in self.left_alone and confidence >= self.min_confidence:
                edit = sentence.project(text, Change(*match.span(), new, confidence))
                if edit is not None:
                    yield replace(edit, kind=name_kind(text, *edit.span, edit.replacement))


def run(argv: Sequence[str] | None = None) -> int:
    """`main` with this Corrector."""
    real = corrector.Corrector
    corrector.Corrector = Corrector  # type: ignore[assignment,misc]
    try:
        return main(argv)
    finally:
        corrector.Corrector = real  # type: ignore[misc]


if __name__ == "__main__":
    console.PATIENCE_S = 2.5 * STEP_S  # three steps are longer
    sys.exit(run())
