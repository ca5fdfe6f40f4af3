"""Habits: consistent usage in a document is not an error, such as names, technical terms, one word or two.

    "Each User can add a classpath. ..."     "classpath" and "User" occur three times: they stay

Misspellings of common words ("becuase") and errors that a rule finds ("dont", "i") are corrected however often they
occur.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from itertools import chain, islice
from typing import TypeVar

from edit_gec.text.words import HYPHENATED_WORD

HABIT = 3  # occurrences that make a habit
MOST_WORDS = 500_000  # whose numbers are kept; a long book has 30,000
LONG_TEXT = 200_000  # characters
_WIDE = re.compile(r"(?<=[^\W\d_])(?:[ \t]{2,}|[^\S\r\n\t ])(?=[^\W\d_])")
_IN_CODE = re.compile(r"(?<=[`/_@])[^\W\d_]{3,}(?!\w)|(?<!\w)[^\W\d_]{3,}(?=[`/_@])")
_CODE = re.compile(  # code of any format: in a line, in a block, indented
    r"(?<!`)(?P<ticks>`{1,3})(?!`)(?:[^`\n]|(?<!\n)\n(?!\n)){1,500}?(?<!`)(?P=ticks)(?!`)"
    r"|^[ \t>]*(?P<fence>`{3,}|~{3,}|-{4,}|\.{4,})[^\n]*\n(?s:.{0,20000}?)^[ \t>]*(?P=fence)[ \t]*$"
    r"|(?<![\w=~])(?P<org>[=~])(?=[^\s=~])[^=~\n]{1,200}(?<=\S)(?P=org)(?!\w)"
    r"|<(?P<tag>code|kbd|samp|tt|var|pre)\b[^<>]{0,200}>[^<]{0,5000}</(?P=tag)>"
    r"|\\(?:texttt|code|path|lstinline|cmd|file|verb)[*]?[{|!+][^{}|!+\n]{1,200}[}|!+]"
    r"|^(?:[ ]{4,}|\t)[^\n]*[=;{}()$<>\\|][^\n]*$",
    re.MULTILINE,
)
_NAME = re.compile(r"[^\W\d_]{3,}")
_GAPS = re.compile(r"[\s-]+")

T = TypeVar("T")


def _remembering(function: Callable[[str], T]) -> Callable[[str], T]:
    """The function with its values for the last documents: eight short ones, or one long one."""
    short = lru_cache(maxsize=8)(function)
    long = lru_cache(maxsize=1)(function)
    return wraps(function)(lambda text: (long if len(text) > LONG_TEXT else short)(text))


@_remembering  # the edits of a document come one after the other
def count_words(text: str) -> Mapping[str, int]:
    """How often each word stands in a document, by its exact form.

    With more than MOST_WORDS different ones, those that are no habit by then are counted anew.
    """
    words = (found[0] for found in HYPHENATED_WORD.finditer(text))
    counts: Counter[str] = Counter()
    while some := Counter(islice(words, MOST_WORDS)):
        counts.update(some)
        if len(counts) > MOST_WORDS:
            counts = Counter({word: number for word, number in counts.items() if number >= HABIT})
    return counts


def is_habit(text: str, original: str, replacement: str, is_new: Callable[[str], bool]) -> bool:
    """Whether a document consistently writes `original`: it differs from the replacement by a capital, a space or a
    hyphen, by wide or special spaces, or it is a word that `is_new`, which the list lacks.

    A small letter in place of a capital is always an error.
    """
    if not original.strip() or not replacement.strip():
        return original.isspace() and not replacement.strip() and has_wide_spaces(text)
    words = HYPHENATED_WORD.findall(original)
    if not words or min(count_words(text)[word] for word in words) < HABIT:
        return False
    is_raised = original.casefold() == replacement.casefold() and original.islower()
    if _letters(original) == _letters(replacement) and not is_raised:
        return len(words) == 1 or text.count(original) >= HABIT
    return len(words) == 1 and is_new(words[0])


@_remembering
def find_code_words(text: str) -> frozenset[str]:
    """The words that stand in code, paths or names ("pip install `thinc`", "explosion/thinc"), case folded."""
    code = (word for found in _CODE.finditer(text) for word in _NAME.findall(found[0]))
    return frozenset(map(str.casefold, chain(code, _IN_CODE.findall(text))))


@_remembering
def has_wide_spaces(text: str) -> bool:
    """Whether several gaps between words of a line are wider than a space, or other spaces than that."""
    return sum(1 for _ in islice(_WIDE.finditer(text), HABIT)) >= HABIT


def _letters(text: str) -> str:
    return _GAPS.sub("", text).casefold()
