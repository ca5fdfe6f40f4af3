r"""Regular expressions that users write: Python's syntax, but under a bound of time and size.

Python's own engine cannot be stopped, and `a*a*a*b` takes hours over one long line. So the package `regex` searches: it
ends when its time is up.

>>> [list(zip(*each)) for each in find_matches([r"{{.*?}}", "x*"], "{{ a }} {{ b }}")]
[[(0, 7), (8, 15)], []]
"""

from __future__ import annotations

import re
import time
import warnings
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from edit_gec.errors import InputError

MOST_CHARACTERS = 10_000  # of all expressions together
SECONDS, SECONDS_A_CHARACTER = 2.0, 1e-6  # processor time of all expressions over one text
# What only the package reads: x{e} are its approximate matches. In Python such braces stand for themselves.
_BRACE = re.compile(r"(?P<kept>\\N\{[^}]*\}|\\.|\{(?:\d+(?:,\d*)?|,\d*)\})|\{", re.DOTALL)


class Matches(NamedTuple):
    """Where the matches of an expression start and end, in order; empty ones are left out, they share no character."""

    starts: array[int]
    ends: array[int]


def check_expressions(patterns: Sequence[str]) -> None:
    """Raises InputError for what is no regular expression, and for more of them than may be searched for."""
    for pattern in patterns:
        try:
            _compile(pattern)
        except (ValueError, ArithmeticError, RuntimeError, MemoryError, re.error) as error:
            raise InputError(f"{pattern[:60]!r} is not a regular expression: {str(error)[:200]}") from None
    if (length := sum(map(len, patterns))) > MOST_CHARACTERS:
        raise InputError(f"has {length:,} characters; expected {MOST_CHARACTERS:,} at most")


def find_matches(patterns: Sequence[str], text: str) -> list[Matches]:
    """The matches of each expression. Raises InputError where they take too long."""
    until = time.process_time() + SECONDS + SECONDS_A_CHARACTER * len(text)
    found = []
    for pattern in patterns:
        matches = Matches(array("q"), array("q"))
        try:
            for match in _compile(pattern).finditer(text, timeout=max(0.01, until - time.process_time())):
                if match.start() < match.end():
                    matches.starts.append(match.start())
                    matches.ends.append(match.end())
        except TimeoutError:
            shown = f"ignore-regex {pattern[:60]!r} takes too long for a text of {len(text):,} characters"
            raise InputError(f"{shown}; repeat less in it, such as a+b for a*a*b") from None
        found.append(matches)
    return found


@lru_cache(maxsize=256)
def _compile(pattern: str) -> Any:
    """Compiled by the package; Python's own module says what is an expression."""
    import regex

    with warnings.catch_warnings():  # about what another version may read otherwise
        warnings.simplefilter("ignore")
        if len(pattern) <= MOST_CHARACTERS:
            re.compile(pattern, re.MULTILINE)
        try:
            return regex.compile(_BRACE.sub(lambda found: found["kept"] or r"\{", pattern), regex.MULTILINE)
        except regex.error as error:
            raise ValueError(str(error)) from None
