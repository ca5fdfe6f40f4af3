"""Coarse kinds of edits, told from their characters alone: no parser, no model, any system.

    "done" -> "done."       end mark          "monday" -> "Monday"    capital
    "teh" -> "the"          spelling          "a" -> ""               word
    "::" -> "." before a code block           structure

ERRANT names what an edit does to a sentence. In a document the first questions are whether the edit breaks the file and
whether it only adds a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple

from edit_gec.text.kinds import bare, is_possessive, is_spelling

_PIECE = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\n|[^\S\n]+|[^\w\s]|_+")
_MARKUP = {
    "markdown": "`*_[]<>|#~\\$",
    "rst": "`*|_\\",
    "asciidoc": "`*_[]<>|#+{}",
    "org": "[]=~*/|",
    "latex": "\\{}$&%~^_",
    "html": "<>&",
    "mdx": "`*_[]<>|#~\\${}",
    "typst": "`*_[]<>#$@\\",
}
_INDENTED = ("markdown", "mdx", "rst", "asciidoc", "org", "typst")  # spaces at the start of a line are syntax
_CLOSES = re.compile(r"[\s*_`|)\]}\"'”’~+=/\\]*(?:</?\w[^>]*>|\]\([^)]*\)|\s)*(?:\n|\Z)")


class AlarmKind(str, Enum):
    """What an edit changes. STRUCTURE comes first: code, markup or lines that must not change."""

    STRUCTURE = "structure"
    END_MARK = "end mark"
    COMMA = "comma"
    OTHER_MARK = "other mark"
    CAPITAL = "capital"
    APOSTROPHE = "apostrophe"
    SPELLING = "spelling"
    SPACING = "spacing"
    WORD = "word"


class TextEdit(NamedTuple):
    """Characters [start, end) of a text become `replacement`."""

    start: int
    end: int
    replacement: str


def find_edits(old: str, new: str) -> Iterator[TextEdit]:
    """The edits between two texts, in order: first by lines, then by words, marks and spaces."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in a:
        starts.append(starts[-1] + len(line))
    for operation, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if operation == "equal":
            continue
        if j - i == m - k:  # the number of lines is kept: line by line
            for place, before, after in zip(starts[i:j], a[i:j], b[k:m], strict=True):
                yield from _find_in_line(place, before, after)
        else:
            yield from _find_in_line(starts[i], "".join(a[i:j]), "".join(b[k:m]))


def _find_in_line(place: int, old: str, new: str) -> Iterator[TextEdit]:
    before, after = _PIECE.findall(old), _PIECE.findall(new)
    starts = [place]
    for piece in before:
        starts.append(starts[-1] + len(piece))
    for operation, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if operation != "equal":
            yield from _split_mark(starts[i], before[i:j], after[k:m])


def _split_mark(start: int, old: list[str], new: list[str]) -> Iterator[TextEdit]:
    """A changed run as one edit, or as two if both a word and the mark after it change."""
    ends = [bool(side) and _is_mark(side[-1]) for side in (old, new)]
    words = [side[:-1] if end else side for side, end in zip((old, new), ends, strict=True)]
    if not any(ends) or not all(words):
        yield TextEdit(start, start + len("".join(old)), "".join(new))
        return
    middle = start + len("".join(words[0]))
    yield TextEdit(start, middle, "".join(words[1]))
    yield TextEdit(middle, middle + (len(old[-1]) if ends[0] else 0), new[-1] if ends[1] else "")


def _is_mark(piece: str) -> bool:
    return not piece.isspace() and not any(map(str.isalnum, piece))


def classify_edit(text: str, mask: bytearray, name: str, edit: TextEdit) -> AlarmKind:
    """The kind of an edit of a document in the named format; `mask` is that of `mask_markup`."""
    if damages_structure(text, mask, name, edit):
        return AlarmKind.STRUCTURE
    old = text[edit.start : edit.end].strip()
    new = edit.replacement.strip()
    if old == new:
        return AlarmKind.SPACING
    if not any(map(str.isalnum, old + new)):
        return _kind_of_mark(old, new, text[edit.end :])
    if old.lower() == new.lower():
        return AlarmKind.CAPITAL
    if bare(old) == bare(new) or is_possessive(old, new):
        return AlarmKind.APOSTROPHE
    if is_spelling(old.lower(), new.lower()):
        return AlarmKind.SPELLING
    return AlarmKind.WORD


def damages_structure(text: str, mask: bytearray, name: str, edit: TextEdit) -> bool:
    """Whether an edit changes code, markup, math, an address, the indentation or the lines of a document."""
    start, end, new = edit
    old = text[start:end]
    if old.count("\n") != new.count("\n"):
        return True
    if any(mask[i] and not text[i].isspace() for i in range(start, end)):
        return True
    if start == end and 0 < start < len(text) and mask[start - 1] and mask[start] and text[start - 1] != "\n":
        return not (_is_end_mark(new) and (text[start].isspace() or text[start] == "|"))
    if any((old.count(mark) != new.count(mark)) for mark in _MARKUP.get(name, "")):
        return True
    if (old.isspace() and old != new) or (new.isspace() and not old):
        before = text[text.rfind("\n", 0, start) + 1 : start]
        columns = len(old) > 2 or "\t" in old
        return columns if before.strip() else name in _INDENTED
    return False


def _kind_of_mark(old: str, new: str, rest: str) -> AlarmKind:
    marks = set(old + new)
    if marks <= set("'’‘\"“”`´"):
        return AlarmKind.APOSTROPHE
    if marks & set(".!?:;…") and _CLOSES.match(rest):
        return AlarmKind.END_MARK
    if marks == {"-"}:
        return AlarmKind.SPELLING
    return AlarmKind.COMMA if marks == {","} else AlarmKind.OTHER_MARK


def _is_end_mark(text: str) -> bool:
    return re.fullmatch(r"[.!?,;:]", text) is not None
