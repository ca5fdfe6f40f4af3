"""What goes through a job: units of work, chunks of their rows, and rows that are set aside.

unit     bytes 0 to 2,000,000 of a.jsonl   ->   a-000000.jsonl      what is written whole or not at all
chunk    its rows 0 to 4095                                         what is in memory
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CHUNK_ROWS = 4096
CHUNK_BYTES = 500_000
LONGEST_ROW = 16 * 2**20  # bytes; a file without line ends must not fill the memory


@dataclass(frozen=True)
class Unit:
    """Some rows of one file, and the part of the output that they become.

    start, stop: bytes (text, jsonl, csv) or rows (parquet: of the row group `group`; saved: of the data set; hub: the
    number of the shard and of all shards). stop None: all there is. size: bytes, about.
    """

    number: int
    kind: str
    path: str
    part: str  # relative to the output folder
    start: int = 0
    stop: int | None = None
    group: int = 0
    size: int = 0


@dataclass(frozen=True)
class Columns:
    """Names of the column to correct and of the two that are added."""

    text: str = "text"
    corrected: str = "corrected"
    edits: str = "edits"


class Bad(NamedTuple):
    """A row that is set aside: its place in the unit from 0, why, and what it was."""

    row: int
    reason: str
    data: str


@dataclass
class Chunk:
    """Some rows of a unit: those that can be corrected as their format keeps them, and those that cannot."""

    rows: Any  # list of bytes, or an Arrow table
    texts: list[str | None]
    numbers: list[int]  # place of each row in the unit, from 0
    bad: list[Bad] = field(default_factory=list)

    def without(self, reasons: Sequence[str | None]) -> Chunk:
        """This chunk with those rows set aside that have a reason."""
        keep = [n for n, reason in enumerate(reasons) if reason is None]
        rows = [self.rows[n] for n in keep] if isinstance(self.rows, list) else self.rows.take(keep)
        bad = [
            Bad(number, reason, text or "")
            for number, text, reason in zip(self.numbers, self.texts, reasons, strict=True)
            if reason is not None
        ]
        return Chunk(rows, [self.texts[n] for n in keep], [self.numbers[n] for n in keep], self.bad + bad)


class BrokenError(Exception):
    """A file that cannot be read, or not to its end. What was read before is good."""
