"""Files of data: tables (*.tsv), and rows (*.rules) with a line "field value" for each value of a field.

An empty line parts rows. A line that begins with spaces goes on with the one before; lines that begin with "#" are
comments. Rows are not TOML because that took three times as long to read (profiles/LOG.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def read_table(path: Path) -> tuple[tuple[str, ...], ...]:
    """The rows of a TSV file, the header first; lines that begin with "#" say where it comes from."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line and not line.startswith("#"))


def read_rows(path: Path) -> Iterator[dict[str, list[str]]]:
    """The rows of a file, the values of each field in order."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        row: dict[str, list[str]] = {}
        values: list[str] = []
        for line in block.splitlines():
            field, _, value = line.partition(" ")
            if not field and values:
                values[-1] += ("" if values[-1].endswith("|") else " ") + value.strip()
            elif field and not field.startswith("#"):
                values = row.setdefault(field, [])
                values.append(value.strip())
        if row:
            yield row


def read_row(path: Path) -> dict[str, str]:
    """The only row of a file, in which each field has one value."""
    (row,) = read_rows(path)
    return {field: value for field, (value,) in row.items()}
