"""Words that rules choose among: lists in words.rules, and tables (*.tsv) with a column for each form.

    >>> look_up("verb", "past", "base", "went"), column("verb.ing")[:2], fragment("end") is not None
    ('go', ('going', 'coming'), True)

A list of pairs ("alot=a_lot") is a table with the columns `wrong` and `right`, and `other` for a third word;
"_" stands for a space, "-" for no word.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from edit_gec.text.rows import read_row, read_table

FOLDER = Path(__file__).parent


def column(name: str) -> tuple[str, ...]:
    """The words of a list, or of a column of a table, "verb.past". Raises KeyError for an unknown one."""
    table, _, wanted = name.partition(".")
    if wanted:
        return tuple(word for word in _table(table)[wanted] if word != "-")
    return tuple(word.replace("_", " ") for word in _lists("words")[table].split())


@cache
def word_set(name: str) -> frozenset[str]:
    """The words of a list, to look words up in."""
    return frozenset(column(name))


def fragment(name: str) -> str | None:
    """A pattern by its name; None where there is none."""
    return _lists("patterns").get(name)


def look_up(table: str, given: str, wanted: str, word: str) -> str:
    """The word in one column of the row that has a word in another one; "" where there is none.

    Raises KeyError where no row has the word.
    """
    found = _rows(table, given)[word][_header(table).index(wanted)]
    return "" if found == "-" else found


@cache
def _lists(name: str) -> dict[str, str]:
    return read_row(FOLDER / f"{name}.rules")


@cache
def _read(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table, the header first."""
    if name not in _lists("words"):
        return read_table(FOLDER / f"{name}.tsv")
    rows = (tuple(entry.replace("_", " ").split("=")) for entry in _lists("words")[name].split())
    return (("wrong", "right", "other"), *((*row, "-")[:3] for row in rows))


def _header(name: str) -> tuple[str, ...]:
    return _read(name)[0]


@cache
def _table(name: str) -> dict[str, tuple[str, ...]]:
    return dict(zip(_header(name), zip(*_read(name)[1:], strict=True), strict=True))


@cache
def _rows(name: str, given: str) -> dict[str, tuple[str, ...]]:
    at = _header(name).index(given)
    return {row[at]: row for row in reversed(_read(name)[1:])}
