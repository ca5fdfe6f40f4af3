"""Directives: instructions in a document to leave parts of it alone, in comments of its format or in plain text.

edit-gec: ignore               this line
edit-gec: ignore-next-line     the next line
edit-gec: off                  from here to "edit-gec: on", or to the end
edit-gec: ignore PUNCT, R:DET  only edits of these kinds and types (kinds.py); ignore-next-line and off alike

>>> [(text[region.start : region.end], region.names is None) for text in ["a\\nb edit-gec: ignore\\nc"]
...  for region in find_directives(text)]
[('b edit-gec: ignore', True)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from edit_gec.text.kinds import Names, find_name
from edit_gec.text.parts import line_end

_DIRECTIVE = re.compile(
    r"^.*?(?P<words>edit-gec:[ \t]*(?P<what>ignore-next-line|ignore|off|on)\b)(?P<rest>.*)", re.MULTILINE
)
_NAME = re.compile(r"[ \t]*,?[ \t]*(doubled[ -]word|[A-Za-z][A-Za-z:]*)", re.IGNORECASE)


class Region(NamedTuple):
    """text[start:end] is left alone: wholly, or by edits of these names. text[own_start:own_end] are its words."""

    start: int
    end: int
    names: Names | None
    own_start: int
    own_end: int


def find_directives(text: str) -> Iterator[Region]:
    """What the directives of a text leave alone; of several on a line the first counts."""
    if "edit-gec:" not in text:
        return
    text = text.replace("\r\n", " \n").replace("\r", "\n")  # same offsets, one kind of line break
    opened: list[Region] = []
    for found in _DIRECTIVE.finditer(text):
        start, end = found.span()
        names, length = _read_names(found["rest"])
        own = found.start("words"), found.end("words") + length
        if found["what"] == "off":
            opened.append(Region(start, len(text), names, *own))
        elif found["what"] == "on":
            yield from (region._replace(end=end if region.names is None else start) for region in opened)
            opened = []
            yield Region(start, end, None, *own)
        else:
            if found["what"] == "ignore-next-line":
                end = line_end(text, end + 1)
            yield Region(start, end, names, *own)
    yield from opened


def _read_names(rest: str) -> tuple[Names | None, int]:
    """The names at the beginning of what follows a directive, and how long they are; None where there are none."""
    names: Names | None = None
    length = 0
    while found := _NAME.match(rest, length):
        known = find_name(found[1])
        if known is None:
            break
        names = known if names is None else names.union(known)
        length = found.end()
    return names, length


def find_left_out(text: str) -> Iterator[tuple[int, int]]:
    """Spans that no corrector reads: what is left alone wholly, and the words of the other directives."""
    for region in find_directives(text):
        yield (region.start, region.end) if region.names is None else (region.own_start, region.own_end)
