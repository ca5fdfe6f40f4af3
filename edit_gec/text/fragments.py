"""Rules for the ends of a block: no full stop after a heading, no other mark for the colon before a list.

    "local buid"         -> "Local build."         in a list item "local build"
    "Add the folowing:"  -> "Add the following."   at the end of a paragraph "Add the following:"
    "Name it; move it"   -> "Name it, move it"     in a list item nothing

A corrector expects sentences; list items, headings, table cells, captions, comments and subjects need not be sentences.
Nor need the blocks of a document with several that lack a full stop or begin with a small letter: that is its style.
"""

from __future__ import annotations

import re
from functools import lru_cache

SEVERAL = 3  # blocks that make a style
_LETTERS = re.compile(r"[^\W\d_]+")
_GOES_ON = re.compile("[:,]")  # a block that ends with one goes on in the next: a list, a name
_SENTENCE_MARKS = frozenset(".!?…")
_MARKS = frozenset(",;:.!?…")


def keep_end(text: str, start: int, end: int, replacement: str, fragment: bool) -> str:
    """What may replace text[start:end] in the last sentence of a block.

    The colon or comma at its end ("See you soon,") stays, and a fragment, which need not be a whole sentence, gets no
    mark there.
    """
    tail, colon, has_mark = _read_end(text)
    if start > colon >= 0:
        return text[start:end]  # nothing comes after that
    open_ended = fragment and not has_mark
    if end < tail or not (open_ended or colon >= 0):
        return replacement
    return replacement[: _words_end(replacement)] + text[max(start, tail) : end]


def keep_case(text: str, start: int, replacement: str) -> str:
    """What may be written at text[start] in the first sentence of a fragment: a small letter before it stays small.

    "I" and names with capitals inside, such as "GitHub", may come.
    """
    first = _first_letter(text)
    new = _LETTERS.search(replacement)
    if first < 0 or new is None or start > first:
        return replacement
    word = new[0]
    if not text[first].islower() or word == "I" or word[1:] != word[1:].lower():
        return replacement
    return replacement[: new.start()] + word.lower() + replacement[new.end() :]


def changes_only_marks(old: str, new: str) -> bool:
    """Is a change nothing but other marks: a comma that comes, a semicolon that becomes one?

    Spaces around the same marks may change.
    """
    marks = ["".join(each.split()) for each in (old, new)]
    return marks[0] != marks[1] and all(set(each) <= _MARKS for each in marks)


def is_open_ended(text: str) -> bool:
    """Is there no mark of the end of a sentence after the last word?"""
    return not _read_end(text)[2]


def ends_open(text: str) -> bool:
    """Whether there is no mark at the end of a block, neither that of a sentence nor a colon.

    >>> [ends_open(text) for text in ("local build", "It is (local).", "Add this:")]
    [True, False, False]
    """
    return is_open_ended(text) and _read_end(text)[1] < 0


def starts_small(text: str) -> bool:
    """Whether the first letter of a block is a small one."""
    first = _first_letter(text)
    return first >= 0 and text[first].islower()


@lru_cache(maxsize=16)  # of a long sentence, for each of its changes
def _read_end(text: str) -> tuple[int, int, bool]:
    """Where the last word ends, the place of a colon or comma after it or -1, and whether a full stop is there."""
    end = _words_end(text)
    found = _GOES_ON.search(text, end)
    return end, found.start() if found else -1, not _SENTENCE_MARKS.isdisjoint(text[end:])


@lru_cache(maxsize=16)
def _first_letter(text: str) -> int:
    """The place of the first letter, -1 where there is none."""
    found = _LETTERS.search(text)
    return found.start() if found else -1


def _words_end(text: str) -> int:
    """Where the last word ends and the marks begin."""
    end = len(text)
    while end and not text[end - 1].isalnum():
        end -= 1
    return end
