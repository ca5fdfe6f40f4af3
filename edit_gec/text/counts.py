"""Numbers with their nouns, as messages say them."""

from __future__ import annotations


def format_count(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one.

    >>> format_count(1, "edit"), format_count(2000, "edit")
    ('1 edit', '2,000 edits')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
