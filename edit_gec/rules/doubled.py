"""Words that stand twice, and which of them may.

>>> [word for _, _, word in find_doubled("It is in in the box that that man had had.")]
['in']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

DOUBLE = frozenset(  # words that may stand twice
    "had that is so very no bye ha blah long many much really never again hear there now more far too knock tut boo "
    "pop well please ok okay yes hi la na one two do can log foo bar night half ever deep "
    "her you it what who did does was are were chop hush win true false".split()
)
_PARTICLES = frozenset("in on by up out off over down through".split())
_WITH_PARTICLE = re.compile(  # verbs that end in a particle, which a preposition may follow: "log in in the morning"
    r"\b(?:(?:log|sign|check|turn|mov|carr|pass|sit|stay|look|liv|hand|fill|plug|jump|join|step|call|bring|break"
    r"|pull|push|"
    r"pick|drop|kick|cut|set|put|let|go|com|get|giv|tak|hold|keep|run|stand|hang)"
    r"(?:e|s|es|ed|ing|y|ies|ied|[gnpt](?:ed|ing))?|went|came|got|gave|given|took|taken|held|kept|ran|stood|hung|sat|"
    r"brought|broke|broken|him|her|it|me|you|us|them) $"
)
_TWICE = re.compile(r"(?<![\w'’-])(?P<word>[a-z]{2,}) (?P=word)(?![\w'’-])")


def may_stand_twice(word: str, text: str, start: int) -> bool:
    """Whether a word in lower case, which begins at text[start], can stand twice there in correct English.

    >>> may_stand_twice("her", "her her", 0), may_stand_twice("in", "log in in", 4)
    (True, True)
    >>> may_stand_twice("in", "is in in", 3), may_stand_twice("all", "all in all all", 7)
    (False, True)
    """
    is_phrase = word == "all" and text[max(0, start - 7) : start].lower() == "all in "
    is_particle = word in _PARTICLES and _WITH_PARTICLE.search(text, max(0, start - 20), start) is not None
    return word in DOUBLE or is_phrase or is_particle


def find_doubled(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a word of a sentence stands twice and should not, and the word."""
    for found in _TWICE.finditer(text):
        if not may_stand_twice(found["word"], text, found.start()):
            yield *found.span(), found["word"]
