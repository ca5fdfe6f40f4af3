"""What a document does throughout is no slip: its names, the words of its trade, what it writes as one word or two.

    "Each User can add a classpath. ..."     "classpath" and "User" stand there three times: they stay

A misspelling of a common word ("becuase"), and what a rule sees ("dont", "i"), is one however often it stands there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice

HABIT = 3  # times that make one
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_WIDE = re.compile(r"(?<=[^\W\d_])(?:[ \t]{2,}|[^\S\r\n\t ])(?=[^\W\d_])")
_GAPS = re.compile(r"[\s’'-]+")


@lru_cache(maxsize=8)  # the edits of a document come one after the other
def count_words(text: str) -> Mapping[str, int]:
    """How often each word stands in a document, by its exact form."""
    return Counter(_WORD.findall(text))


def is_habit(text: str, original: str, replacement: str, is_new: Callable[[str], bool]) -> bool:
    """Whether a document writes so throughout: words with a capital, a space or a hyphen less or more than in the
    replacement, wide or special spaces, or a word that `is_new`, which the list does not have.

    Small letters where a capital belongs are no habit, but a slip.
    """
    if not original.strip() or not replacement.strip():
        return original.isspace() and not replacement.strip() and has_wide_spaces(text)
    words = _WORD.findall(original)
    if not words or min(count_words(text)[word] for word in words) < HABIT:
        return False
    is_raised = original.casefold() == replacement.casefold() and original.islower()
    if _letters(original) == _letters(replacement) and not is_raised:
        return len(words) == 1 or text.count(original) >= HABIT
    return len(words) == 1 and is_new(words[0])


@lru_cache(maxsize=8)
def has_wide_spaces(text: str) -> bool:
    """Whether several gaps between words of a line are wider than a space, or other spaces than that."""
    return sum(1 for _ in islice(_WIDE.finditer(text), HABIT)) >= HABIT


def _letters(text: str) -> str:
    return _GAPS.sub("", text).casefold()
