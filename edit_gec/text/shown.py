"""Shown errors: words that are quoted, talked about or given as a bad example stay as they are.

He recieve [sic] it.                    the sentence
The word "recieve" is misspelt.         what is in the quotation marks
**Bad:** He have a car.                 the block, and the one below a block that is only "Bad:"
The test says "They was late."          a quoted sentence, in a document with markup
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SIC = re.compile(r"[\[(]\s?sic!?\s?[\])]", re.IGNORECASE)
_BAD = (
    r"bad|wrong|incorrect|not recommended|don['’]?ts?|do not(?: write| say| use)?|never|avoid|not this|not|instead of|"
    r"ungrammatical|faulty|poor|worse|misspel(?:led|t)|before|original|with errors?"
)
_LABEL = re.compile(
    rf"\W{{0,4}}(?:(?:{_BAD})(?:\s(?:example|usage|style|form|sentence|way|text|code|version|practice))?s?\W{{0,3}}?"
    r"(?P<colon>\s?[:：→]|\s[–—-]\s|\Z)|(?P<sign>[❌✗✘✖🚫👎⛔]))",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"(?<!\w)(?:\"(?P<plain>[^\"\n]{1,300})\"|“(?P<double>[^“”\n]{1,300})”|‘(?P<single>[^‘’\n]{1,40})’"
    r"|'(?P<straight>[^'\n]{1,40})'|«(?P<french>[^«»\n]{1,300})»)(?!\w)"
)
_MENTIONED_BEFORE = re.compile(  # "the word ...", "not ...", "instead of ...", "write ..."
    r"\b(?:words?|terms?|spellings?|spel(?:led|t|l)(?: (?:it|as|wrongly))?|misspel(?:led|t|lings?)(?: as)?|typos?"
    r"|phrases?|expressions?|forms?|verbs?|nouns?|adjectives?|adverbs?|plurals?|letters?|strings?|typ(?:es?|ed|ing)"
    r"|wr(?:ites?|ote|itten|iting)|say(?:s|ing)?|not|never|instead of|rather than|than|or|and|of|as|with|by|from|to|for"
    r"|between|like)\W*\Z",
    re.IGNORECASE,
)
_MENTIONED_BEHIND = re.compile(
    r"\W*(?:(?:is|are|was|were|should be|must be)\s+)?(?:a\s+(?:common\s+)?)?(?:misspel|wrong|incorrect|mistake|typo"
    r"|spel(?:led|t)\b|not a word|no word|ungrammatical|instead of|should be|means?\b|does not exist|doesn['’]t exist"
    r"|→|->|=>)",
    re.IGNORECASE,
)
_WORDS_ABOUT = re.compile(
    r"\b(?:words?|terms?|spel(?:l\w*|t)|misspel\w*|typos?|phrases?|forms?|verbs?|nouns?|adjectives?|adverbs?|plurals?|"
    r"write|writes|wrote|written|typed|say|mistakes?|wrong|incorrect|instead)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?:\S+\s+){2,}\S*[.!?…]\Z")


_GOOD = re.compile(
    r"\W{0,4}(?:good|right|correct(?:ed)?|better|best|recommended|do|use|write|say|yes|after|fixed|instead|preferred"
    r"|[✅✓✔👍⭕])"
    r"(?!\w)",
    re.IGNORECASE,
)


class Examples:
    """What the labels of the blocks until here say of the next ones."""

    def __init__(self) -> None:
        self._is_below = False  # a label of bad examples
        self._columns: set[int] = set()  # of bad examples in the table that is open

    def is_bad(self, view: str, fragment: bool) -> bool:
        """Whether a block is a bad example: one below a label, and the list items that follow it."""
        is_label = is_bad_label(view)
        is_example = self._is_below and not is_label and not _GOOD.match(view)
        self._is_below = is_label or (is_example and fragment)
        return is_example

    def is_bad_cell(self, view: str, column: int) -> bool:
        """Whether a cell of a table stands below such a label."""
        if is_bad_label(view):
            self._columns.add(column)
            return False
        return column in self._columns

    def end_table(self) -> None:
        """The next cell begins another table."""
        self._columns.clear()


def is_bad_label(view: str) -> bool:
    """Whether a block is nothing but the label of a bad example: "Wrong:", "### Don't"."""
    found = _LABEL.match(view)
    return found is not None and not any(map(str.isalnum, view[found.end() :]))


def find_shown(view: str, *, is_marked: bool) -> Iterator[tuple[int, int]]:
    """The spans of a block that show errors; `is_marked`: its document has markup, its writer knows to quote."""
    label = _LABEL.match(view)
    if label is not None:
        yield label.end(), len(view)
    for sic in _SIC.finditer(view):
        yield _sentence_around(view, *sic.span())
    is_about = _WORDS_ABOUT.search(view) is not None
    for quoted in _QUOTED.finditer(view):
        words = str(quoted[str(quoted.lastgroup)])
        before, behind = view[max(0, quoted.start() - 40) : quoted.start()], view[quoted.end() : quoted.end() + 40]
        is_mentioned = is_about and (_MENTIONED_BEFORE.search(before) or _MENTIONED_BEHIND.match(behind))
        if is_mentioned or (is_marked and _WHOLE.match(words)):
            yield quoted.span()


def _sentence_around(view: str, start: int, end: int) -> tuple[int, int]:
    """The sentence that view[start:end] stands in, roughly: from the last stop to the next one."""
    before = max(view.rfind(mark, 0, start) for mark in (". ", "! ", "? "))
    behind = [at for mark in ".!?" if (at := view.find(mark, end)) >= 0]
    return before + 2 if before >= 0 else 0, min(behind, default=len(view) - 1) + 1
