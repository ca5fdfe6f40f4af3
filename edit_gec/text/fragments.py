"""What a block asks of the ends of its text: no full stop for a heading, no other mark for the colon before a list.

    "local buid"         -> "Local build."         in a list item "local build"
    "Add the folowing:"  -> "Add the following."   at the end of a paragraph "Add the following:"

A corrector knows sentences; list items, headings, table cells and captions need not be any.
"""

from __future__ import annotations

import re

_LETTERS = re.compile(r"[^\W\d_]+")
_SENTENCE_MARKS = frozenset(".!?…")


def keep_end(text: str, start: int, end: int, replacement: str, fragment: bool) -> str:
    """What may replace text[start:end] in the last sentence of a block.

    The colon at its end stays, and a fragment, which need not be a whole sentence, gets no mark there.
    """
    tail = _words_end(text)
    if start > text.find(":", tail) >= 0:
        return text[start:end]  # nothing comes behind the colon
    open_ended = fragment and _SENTENCE_MARKS.isdisjoint(text[tail:])
    if end < tail or not (open_ended or ":" in text[tail:]):
        return replacement
    return replacement[: _words_end(replacement)] + text[max(start, tail) : end]


def keep_case(text: str, start: int, replacement: str) -> str:
    """What may be written at text[start] in the first sentence of a fragment: a small letter before it stays small.

    "I" and names with capitals inside, such as "GitHub", may come.
    """
    first, new = _LETTERS.search(text), _LETTERS.search(replacement)
    if first is None or new is None or start > first.start():
        return replacement
    word = new[0]
    if not first[0][0].islower() or word == "I" or word[1:] != word[1:].lower():
        return replacement
    return replacement[: new.start()] + word.lower() + replacement[new.end() :]


def _words_end(text: str) -> int:
    """Where the last word ends and the marks begin."""
    end = len(text)
    while end and not text[end - 1].isalnum():
        end -= 1
    return end
