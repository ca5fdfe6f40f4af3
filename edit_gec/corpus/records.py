"""What a job works on: units, chunks of their rows, rows that are set aside, and the result of a unit.

unit     bytes 0 to 2,000,000 of a.jsonl   ->   a-000000.jsonl      written as a whole or not at all
chunk    rows 0 to 4095 of the unit                                 held in memory
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, TypedDict

CHUNK_ROWS = 4096  # that are corrected together, or as many as hold so many bytes
CHUNK_BYTES = 500_000
MAX_ROW_BYTES = 16 * 2**20  # a file without line ends must not fill the memory


class Format(str, Enum):
    """How the rows of a unit are stored."""

    TEXT = "text"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    SAVED = "saved"  # a folder of datasets.save_to_disk
    HUB = "hub"  # a data set of the Hugging Face hub, or what `datasets` loads like one

    @property
    def is_table(self) -> bool:
        """Rows of this format are Arrow tables; the others are bytes."""
        return self in (Format.PARQUET, Format.SAVED, Format.HUB)


@dataclass(frozen=True)
class Unit:
    """Some rows of one file, and the part of the output that they become.

    `start` and `stop` count bytes (text, JSONL, CSV), rows of the row group `group` (Parquet) or rows of the data set
    (saved). For the hub they are the number of the shard and the number of all shards. `stop` None means to the end.
    `size` is the approximate number of bytes.
    """

    number: int
    format: Format
    path: str
    part: str  # relative to the output folder
    start: int = 0
    stop: int | None = None
    group: int = 0
    size: int = 0


class Cut(NamedTuple):
    """What of a file becomes a unit: bytes or rows `start` to `stop`, as Unit has them, and about how many bytes."""

    start: int
    stop: int | None
    size: int
    group: int = 0


class Columns(NamedTuple):
    """Names of the column to correct and of the two that are added."""

    text: str = "text"
    corrected: str = "corrected"
    edits: str = "edits"


class BadRow(NamedTuple):
    """A row that is set aside: its place in the unit from 0, the reason, and its content."""

    row: int
    reason: str
    data: str


@dataclass
class Chunk:
    """Some rows of a unit: those to correct, as their format stores them, and the bad ones."""

    rows: Any  # list of bytes, or an Arrow table
    texts: list[str | None]
    numbers: list[int]  # place of each row in the unit, from 0
    bad: list[BadRow] = field(default_factory=list)

    def set_aside(self, reasons: Sequence[str | None]) -> Chunk:
        """This chunk with each row that has a reason among the bad ones."""
        kept = [place for place, reason in enumerate(reasons) if reason is None]
        rows = [self.rows[place] for place in kept] if isinstance(self.rows, list) else self.rows.take(kept)
        bad = [
            BadRow(number, reason, text or "")
            for number, text, reason in zip(self.numbers, self.texts, reasons, strict=True)
            if reason is not None
        ]
        texts = [self.texts[place] for place in kept]
        return Chunk(rows, texts, [self.numbers[place] for place in kept], self.bad + bad)


class UnitResult(TypedDict):
    """The result of a unit: a line of the journal.

    `broken` is the reason why the unit ends early, or None. `seconds` is the busy time of the worker.
    `reasons` counts the rows set aside by reason, `counts` everything else. `workers` is how many worked side by side.
    """

    unit: int
    broken: str | None
    seconds: float
    reasons: dict[str, int]
    counts: dict[str, float]
    workers: int


class BrokenFileError(Exception):
    """A file that cannot be read, or not to its end. The rows read before are good."""
