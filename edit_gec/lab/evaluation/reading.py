"""Precision and recall of a corrector on texts that somebody has read: every edit is judged, and what it missed.

A file of judgements has a JSON object a line: the words of a text, an edit with its judgement, or an error without one.

    {"text": "notes.md", "words": 320}
    {"text": "notes.md", "original": "go", "replacement": "goes", "read": "right"}
    {"text": "notes.md", "original": "its", "read": "missed"}

right: an error is repaired. harmless: as good as before. half: an error became another one. wrong: worse than before.
damage: the meaning is another one, or markup is broken. missed: an error that no edit touches.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.errors import InputError

EDITS = ("right", "harmless", "half", "wrong", "damage")
JUDGEMENTS = (*EDITS, "missed")
_Z = 1.96  # of a 95 % interval


class Rate(NamedTuple):
    """A share with its Wilson interval."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share, None of nothing."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Low and high end of the share at 95 %."""
        if not self.of:
            return None
        share = self.hits / self.of
        middle = share + _Z**2 / (2 * self.of)
        spread = _Z * sqrt(share * (1 - share) / self.of + _Z**2 / (4 * self.of**2))
        low, high = ((middle + sign * spread) / (1 + _Z**2 / self.of) for sign in (-1, 1))
        return max(0.0, low), min(1.0, high)


@dataclass(frozen=True)
class Judgements:
    """How many edits and errors have each judgement, in how many words."""

    counts: Counter[str]
    words: int

    @property
    def rates(self) -> dict[str, Rate]:
        """The shares by their names; the last four are those of CLEME2.0."""
        counts = self.counts
        edits = sum(counts[each] for each in EDITS)
        errors = counts["right"] + counts["half"] + counts["missed"]
        return {
            "right": Rate(counts["right"], edits),
            "right or harmless": Rate(counts["right"] + counts["harmless"], edits),
            "hit correction": Rate(counts["right"], errors),
            "wrong correction": Rate(counts["half"], errors),
            "under-correction": Rate(counts["missed"], errors),
            "over-correction": Rate(counts["harmless"] + counts["wrong"] + counts["damage"], edits),
        }

    @property
    def per_thousand(self) -> float | None:
        """Edits in 1,000 words, None where no words are counted."""
        return 1000 * sum(self.counts[each] for each in EDITS) / self.words if self.words else None


def read_judgements(path: str | Path) -> Judgements:
    """The judgements of a file. Raises InputError for a line that is none, and for a file that cannot be read."""
    counts: Counter[str] = Counter()
    words = 0
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _read_row(f"{path}:{number}", line)
        if "read" in row:
            counts[row["read"]] += 1
        else:
            words += row["words"]
    return Judgements(counts, words)


def _read_row(place: str, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {error}") from None
    if isinstance(row, dict):
        is_count = "read" not in row and type(row.get("words")) is int and row["words"] >= 0
        if is_count or row.get("read") in JUDGEMENTS:
            return row
    raise InputError(f'{place}: expected an object with "words": a number, or "read": one of {", ".join(JUDGEMENTS)}')


def to_data(reading: Judgements) -> dict[str, Any]:
    """The reading as JSON."""
    rates = {
        name: {"count": rate.hits, "of": rate.of, "share": rate.value, "interval": rate.interval}
        for name, rate in reading.rates.items()
    }
    counts = {name: reading.counts[name] for name in JUDGEMENTS}
    return {"counts": counts, "words": reading.words, "edits_per_1000_words": reading.per_thousand, "rates": rates}


def format_table(reading: Judgements) -> str:
    """The reading as a table of its shares, with a line of counts."""
    lines = [", ".join(f"{reading.counts[name]} {name}" for name in JUDGEMENTS)]
    if reading.per_thousand is not None:
        lines.append(f"{reading.words:,} words, {reading.per_thousand:.2f} edits per 1,000")
    lines.append("")
    for name, rate in reading.rates.items():
        shown = "-" if rate.value is None or rate.interval is None else (
            f"{100 * rate.value:5.1f} %  ({100 * rate.interval[0]:.1f} - {100 * rate.interval[1]:.1f})"
        )  # fmt: skip
        lines.append(f"{name:<18} {rate.hits:>6} of {rate.of:<6} {shown}")
    return "\n".join(lines)
