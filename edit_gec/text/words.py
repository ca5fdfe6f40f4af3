r"""Where words and characters begin and end, and which changes would break a character.

"cafe\u0301 is"   (4, 5, "")    the accent is a part of the e: refused
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")  # letters with inner apostrophes
HYPHENATED_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # the same, and "well-known" is one word
ZERO_WIDTH_JOINER = "\u200d"
_VIRAMA = 9  # combining class of the mark that joins two letters of an Indic script
_HANGUL = re.compile("[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]")
_EXTENDS = re.compile(
    "[\u0e33\u0eb3\u200c\u200d\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7ff]"
)
_PREPENDS = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3"
    "\U0001193f\U00011941\U00011a84-\U00011a89\U00011d46]"
)
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")  # two of these letters are one flag


class Replacement(NamedTuple):
    """Replace text[start:end] by `replacement`: a change that has no confidence yet.

    start, end: code points, half-open; start == end is an insertion.
    """

    start: int
    end: int
    replacement: str


def is_word_character(character: str) -> bool:
    """Whether a character is a letter, a digit, or a mark on one; also a joiner of letters. "" is none."""
    return character.isalnum() or _is_mark(character) or character in ("\u200c", ZERO_WIDTH_JOINER)


def word_start(text: str, end: int) -> int:
    """Where the word that ends at `end` begins; `end` where none does."""
    start = end
    while start and is_word_character(text[start - 1]):
        start -= 1
    while start < end and not text[start].isalnum():  # the mark of a symbol before the word
        start += 1
    return start


def word_end(text: str, start: int) -> int:
    """Where the word that begins at `start`, or goes on there, ends; `start` where none does."""
    end = start
    while end < len(text) and is_word_character(text[end]):
        end += 1
    return end


def is_one_character(left: str, right: str) -> bool:
    """Whether a reader takes these two code points side by side for one character; "" stands for an end of the text.

    The rules of UAX 29, on the safe side: it may also be true between two flags, or two Hangul syllables.
    """
    if not left or not right or (left.isascii() and right.isascii()):
        return left == "\r" and right == "\n"
    if _is_mark(right) or _EXTENDS.match(right) or left == ZERO_WIDTH_JOINER or _PREPENDS.match(left):
        return True
    if "Cn" in (unicodedata.category(left), unicodedata.category(right)):
        return True  # of a newer Unicode than Python's: perhaps a mark
    if unicodedata.combining(left) == _VIRAMA:
        return right.isalpha()
    return bool((_FLAG.match(left) and _FLAG.match(right)) or (_HANGUL.match(left) and _HANGUL.match(right)))


def breaks_character(text: str, start: int, end: int, replacement: str) -> bool:
    """Whether the change text[start:end] -> replacement cuts a character of the text, or of what comes out."""
    before = text[start - 1 : start]
    after = text[end : end + 1]
    old = text[start:end]
    new = replacement or after
    return (
        is_one_character(before, old[:1] or after)
        or is_one_character(old[-1:] or before, after)
        or is_one_character(before, new[:1])
        or is_one_character((before + replacement)[-1:], after)
    )


def _is_mark(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character)[0] == "M"
