"""How a document uses its words: how often each stands, which stand in code, and whether its gaps are wide."""

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
    r"|^[ \t>]*(?P<fence>`{3,}(?!`)|~{3,}(?!~)|-{4,}(?!-)|\.{4,}(?!\.))[^\n]*\n"
    r"(?s:.{0,20000}?)^[ \t>]*(?P=fence)[ \t]*$"
    r"|(?<![\w=~])(?P<org>[=~])(?=[^\s=~])[^=~\n]{1,200}(?<=\S)(?P=org)(?!\w)"
    r"|<(?P<tag>code|kbd|samp|tt|var|pre)\b[^<>]{0,200}>[^<]{0,5000}</(?P=tag)>"
    r"|\\(?:texttt|code|path|lstinline|cmd|file|verb)[*]?[{|!+][^{}|!+\n]{1,200}[}|!+]"
    r"|^(?:[ ]{4,}|\t)[^\n]*[=;{}()$<>\\|][^\n]*$",
    re.MULTILINE,
)
_NAME = re.compile(r"[^\W\d_]{3,}")

T = TypeVar("T")


class Excerpt(str):
    """A part of a document after edits, that uses words as its document does."""

    document: str
    source: str  # the part before the edits

    @classmethod
    def of(cls, document: str, source: str, text: str) -> Excerpt:
        """A text that has taken the place of this part of the document."""
        excerpt = cls(text)
        excerpt.document, excerpt.source = document, source
        return excerpt


def _whole(text: str) -> str:
    return text.document if isinstance(text, Excerpt) else text


def _remembering(function: Callable[[str], T]) -> Callable[[str], T]:
    """The function of whole documents, with its values for the last ones: eight short ones, or one long one."""
    short = lru_cache(maxsize=8)(function)
    long = lru_cache(maxsize=1)(function)
    return wraps(function)(lambda text: (long if len(_whole(text)) > LONG_TEXT else short)(_whole(text)))


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


def count_word(word: str, text: str) -> int:
    """How often a word stands in a document, by its exact form."""
    count = count_words(text)[word]
    if isinstance(text, Excerpt):
        count += HYPHENATED_WORD.findall(text).count(word) - HYPHENATED_WORD.findall(text.source).count(word)
    return count


def is_habit(phrase: str, text: str) -> bool:
    """Whether a document has a phrase so often that it is meant so."""
    return _whole(text).count(phrase) >= HABIT


@_remembering
def find_code_words(text: str) -> frozenset[str]:
    """The words that stand in code, paths or names ("pip install `thinc`", "explosion/thinc"), case folded."""
    code = (word for found in _CODE.finditer(text) for word in _NAME.findall(found[0]))
    return frozenset(map(str.casefold, chain(code, _IN_CODE.findall(text))))


@_remembering
def has_wide_spaces(text: str) -> bool:
    """Whether several gaps between words of a line are wider than a space, or other spaces than that."""
    return sum(1 for _ in islice(_WIDE.finditer(text), HABIT)) >= HABIT
