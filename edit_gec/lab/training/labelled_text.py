"""Soft labels: sentences that `edit-gec label` wrote, drawn with each edit made as often as it is right.

A draw makes an edit with the probability that is its confidence, so that the mean over many draws is the loss of the
soft label. Only the words at proposed edits teach tags: what nobody proposed may be an error that nobody saw.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

from edit_gec.errors import InputError

FILE = "edits.tsv"  # as label.py writes it


class TrainingPair(NamedTuple):
    """A source, its target, and the half-open spans of the source that the target speaks of (None: all of it)."""

    source: str
    target: str
    judged: tuple[tuple[int, int], ...] | None = None

    def reverse(self) -> TrainingPair:
        """The pair that teaches to make what this one corrects."""
        return TrainingPair(self.target, self.source)


class LabelledText:
    """The sentences of a folder that `edit-gec label` wrote, all in memory: 200 bytes each."""

    def __init__(self, folder: Path) -> None:
        """Raises InputError for a folder without sentences."""
        path = folder / FILE
        try:
            self._lines = path.read_bytes().splitlines()
        except OSError as error:
            raise InputError(f"{path}: not readable ({error.strerror}); `edit-gec label` writes it") from None
        if not self._lines:
            raise InputError(f"{path}: empty; expected the output of `edit-gec label`")

    def draw(self, rng: random.Random) -> TrainingPair:
        """A sentence with some of its edits. Raises InputError for a line of another form."""
        line = rng.choice(self._lines).decode()
        try:
            _, edits, source = line.split("\t")
            target, judged, last = "", [], 0
            for start, end, replacement, confidence in json.loads(edits):
                judged.append((start, end))
                if rng.random() < confidence:
                    target += source[last:start] + replacement
                    last = end
        except (ValueError, TypeError):
            raise InputError(f"{FILE}: {line[:80]!r}; expected file, edits and sentence, tabs between them") from None
        return TrainingPair(source, target + source[last:], tuple(judged))
