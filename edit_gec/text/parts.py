"""Parts: texts inside a document that are read separately, as documents of their own format.

    # She go home,        the part "She go home,\\nshe do." of a Python file, read as Markdown
    # she do.

The body of a mail is a part of it, and so is each comment of a program. A reader of such a format gives its parts; the
sentences of a part know where they stand in the document (sentences.py).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, starmap
from typing import NamedTuple

Span = tuple[int, int]


class Part(NamedTuple):
    """A text, and the offset of each of its characters in the document that it is a part of; offsets increase."""

    text: str
    offsets: Sequence[int]
    format: str = "markdown"
    fragment: bool = False  # its blocks need not hold whole sentences
    widths: Mapping[int, int] = {}  # how long in the document those characters are that are escaped there


def take(document: str, spans: Iterable[Span], format: str = "markdown", *, fragment: bool = False) -> Part:
    """The part that these spans of a document are together; they are in order and share nothing."""
    kept = [*spans]
    text = "".join(document[start:end] for start, end in kept)
    return Part(text, array("q", chain.from_iterable(starmap(range, kept))), format, fragment)


def line_end(text: str, at: int) -> int:
    """The end of the line of text[at]."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def line_spans(text: str) -> list[Span]:
    """The lines of a text, without their ends."""
    spans: list[Span] = []
    start = 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans
