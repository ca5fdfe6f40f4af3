"""What a comma is for: learners lose the one after an opening phrase more often than the one in a list.

>>> purpose(["however", ",", "he", "left"], 1), purpose(["tea", ",", "milk", ",", "and", "bread"], 3)
('introductory', 'serial, before and')
"""

from __future__ import annotations

from collections.abc import Sequence

from edit_gec.lab.training.synthetic import confusions as c

_BEFORE_CLAUSE = c.word_set("but so because which as like while although though where who whereas")
_OPENERS = (
    c.PREPOSITIONS
    | c.ADVERBS
    | c.word_set(
        "however therefore moreover furthermore besides nowadays firstly secondly thirdly first second third lastly "
        "when if although though because since as while once unless whenever despite instead unfortunately "
        "fortunately personally generally anyway otherwise another one yes no well so consequently thus"
    )
)
_LONGEST_OPENER = 3  # words before a comma that open a sentence, whatever they are

INTRODUCTORY = "introductory"
BEFORE_CLAUSE = "before but, so, because, which"
BEFORE_AND = "before and, or"
SERIAL = "serial, before and"
OTHER = "other"


def purpose(words: Sequence[str], i: int) -> str:
    """Of the comma at i between words in lower case."""
    after = words[i + 1] if i + 1 < len(words) else ""
    if after in _BEFORE_CLAUSE:
        return BEFORE_CLAUSE
    start = i
    while start and words[start - 1] not in '.!?;:"“':
        start -= 1
    clause = words[start:i]
    if after in ("and", "or"):
        return SERIAL if "," in clause[-6:] else BEFORE_AND
    if "," not in clause and clause and (clause[0] in _OPENERS or i - start <= _LONGEST_OPENER):
        return INTRODUCTORY
    return OTHER
