"""Why an edit is right, in one sentence for writers: by the words themselves, else by their ERRANT type.

    >>> give_reason("R:CONTR", "its", "it's")
    '“Its” shows what belongs to it; “it’s” means “it is” or “it has”.'
    >>> give_reason("R:SPELL", "becuase", "because")
    'This word is spelt “because”.'

A reason states the rule. It does not claim that the model followed it.
"""

from __future__ import annotations

import re
from pathlib import Path

from edit_gec.text.rows import read_rows

_ROWS = tuple(read_rows(Path(__file__).with_name("reasons.rules")))


def _reasons_by(field: str) -> dict[str, str]:
    """The reasons of the rows that have a field, by its value."""
    return {row[field][0]: row["reason"][0] for row in _ROWS if field in row}


_SAME_GROUP = {
    (old, new): reason
    for words, reason in _reasons_by("words").items()
    for old in words.split()
    for new in words.split()
    if old != new
}
_BY_TYPE = _reasons_by("type")
_MISSING_MARKS = _reasons_by("mark")
_CAPITALS = _reasons_by("capitals")
_CONTRACTIONS = frozenset({"it's", "you're", "they're", "who's", "we're"})


def are_confused(old: str, new: str) -> bool:
    """Whether the words are often written for each other."""
    return (_fold(old), _fold(new)) in _SAME_GROUP


def is_contraction(old: str, new: str) -> bool:
    """Whether a contraction is written with its apostrophe ("lets"), or in place of what sounds like it ("your")."""
    before, after = _fold(old), _fold(new)
    return "'" in after and (_letters(before) == _letters(after) or (after in _CONTRACTIONS and are_confused(old, new)))


def _fold(words: str) -> str:
    return words.strip().lower().replace("’", "'")


def give_reason(kind: str, old: str, new: str) -> str | None:
    """One sentence about an edit of an ERRANT type, old words and new ones; None where there is nothing to say."""
    before, after = _fold(old), _fold(new)
    if (before, after) in _SAME_GROUP:
        return _SAME_GROUP[before, after]
    if before == after != "":
        return _about_capitals(old.strip(), new.strip())
    if before and _letters(before) == _letters(after):
        return _about_spaces(before, after)
    if kind.endswith(":PUNCT"):
        return _about_marks(kind, before, after)
    reason = _BY_TYPE.get(kind)
    return reason.format(new=new.strip()) if reason else None


def _letters(words: str) -> str:
    return re.sub(r"[\s'-]", "", words)


def _about_capitals(old: str, new: str) -> str | None:
    if old == new:
        return "The space does not belong here."
    if new == "I":
        return _CAPITALS["i"]
    return _CAPITALS["name" if sum(map(str.isupper, new)) > sum(map(str.isupper, old)) else "small"]


def _about_spaces(old: str, new: str) -> str | None:
    """Words that differ in spaces, hyphens or apostrophes."""
    if old.count("'") != new.count("'"):
        return _MISSING_MARKS["'"]
    if old.count("-") != new.count("-"):
        return "Words that act as one are joined by a hyphen." if "-" in new else "No hyphen is needed here."
    return "This is written as one word." if " " in old else "These are separate words."


def _about_marks(kind: str, old: str, new: str) -> str | None:
    if kind.startswith("U"):
        return "No punctuation mark is needed here."
    return _MISSING_MARKS.get(new[-1:]) or "Another mark is usual here."
