r"""One edit over several words -> one edit for each error in it.

    >>> [(e.original, e.replacement) for e in split_edit(Edit(0, 18, "becuase its monday", "because it's Monday", 0.6))]
    [('becuase', 'because'), ('its', "it's"), ('monday', 'Monday')]
    >>> [(e.original, e.replacement) for e in split_edit(Edit(0, 7, "make do", "have a go", 0.6))]
    [('make do', 'have a go')]

A model replaces everything between two kept pieces, so neighbouring errors come as one edit. Here the words of both
sides are aligned, and the edit is split where a word is kept or only spelt differently. Some changes stay together:
words that are joined or split ("alot", "a lot"), a verb and its auxiliary, the end of a sentence and the capital after
it, words that swap places.

Law (tests/text/test_word_edits.py): all parts together do what the edit does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from edit_gec.text.edits import UNIT, Change, Edit, fit_to_words, trim
from edit_gec.text.paragraphs import LINE_BREAK

ALIKE = 0.6  # share of letters that two forms of one word have in common
MOST_TOKENS = 60  # of both sides; longer edits stay whole
# Costs of the alignment:
_LEFT_OUT = 1.0  # a token on one side only
_APART = 1.1  # two tokens that differ
_EQUAL = 0.0  # the same token
_PLAIN = re.compile(r"[\w\s!-/:-@\[-`{-~‘’“”–—…]*")  # no combining characters, no emoji
_ARTICLES = frozenset({"a", "an", "the"})
_ENDS = frozenset(".!?;:")  # marks with which a sentence begins or ends


class _Token(NamedTuple):
    """A word or a mark, and where it stands."""

    text: str
    start: int
    end: int


class _Column(NamedTuple):
    """A token of the old text beside the one that it becomes; None where one side has none."""

    old: _Token | None
    new: _Token | None

    @property
    def is_equal(self) -> bool:
        """Whether the token is kept."""
        return bool(self.old and self.new and self.old.text == self.new.text)

    @property
    def is_rewritten(self) -> bool:
        """Whether it is one word in two forms."""
        return bool(self.old and self.new and _alike(self.old.text, self.new.text))

    @property
    def keeps_letters(self) -> bool:
        """Whether at most capitals, apostrophes and hyphens of a word change."""
        return bool(self.old and self.new and _letters(self.old.text) == _letters(self.new.text) != "")

    @property
    def texts(self) -> tuple[str, ...]:
        """The tokens in it."""
        return tuple(token.text for token in (self.old, self.new) if token)


def split_edit(edit: Edit) -> list[Edit]:
    """The parts of an edit, in order, with its confidence; the edit itself where it is one error."""
    old, new = _tokens(edit.original), _tokens(edit.replacement)
    if not (old or new) or not 2 < len(old) + len(new) <= MOST_TOKENS:
        return [edit]
    if not (_PLAIN.fullmatch(edit.original) and _PLAIN.fullmatch(edit.replacement)):
        return [edit]
    columns = _align(old, new)
    if _moves(columns):
        return [edit]
    parts: list[Edit] = []
    ends = (len(edit.original), len(edit.replacement))
    for (start, new_start), (end, new_end) in pairwise([(0, 0), *_cuts(columns), ends]):
        start, end, written = trim(edit.original, start, end, edit.replacement[new_start:new_end])
        if start == end and not written:
            continue
        if LINE_BREAK.findall(edit.original[start:end]) != LINE_BREAK.findall(written):
            return [edit]  # the line break moves to another word
        if parts and parts[-1].start == parts[-1].end == edit.start + start:  # two cannot begin at the same place
            start = parts[-1].start - edit.start
            written = parts.pop().replacement + written
        place = edit.start + start, edit.start + end
        parts.append(
            replace(edit, start=place[0], end=place[1], original=edit.original[start:end], replacement=written)
        )
    return parts


def split_change(sentence: str, change: Change) -> list[Change]:
    """The same for a change of a sentence, which is first expanded to whole words."""
    start, end, new = fit_to_words(sentence, *change[:3])
    parts = split_edit(Edit(start, end, sentence[start:end], new, change.confidence))
    return [change._replace(start=part.start, end=part.end, replacement=part.replacement) for part in parts]


def _tokens(text: str) -> list[_Token]:
    return [_Token(m[0], *m.span()) for m in UNIT.finditer(text) if not m[0].isspace()]


def _alike(old: str, new: str) -> bool:
    if not (old[0].isalpha() and new[0].isalpha()):
        return old == new
    return _letters(old) == _letters(new) or SequenceMatcher(None, old.lower(), new.lower()).ratio() >= ALIKE


def _letters(*words: str) -> str:
    return "".join(c for word in words for c in word.lower() if c.isalnum())


def _align(old: Sequence[_Token], new: Sequence[_Token]) -> list[_Column]:
    """The cheapest alignment that keeps the order."""
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old), -1, -1):
        for j in range(len(new), -1, -1):
            best[i][j] = min((cost + best[a][b] for cost, a, b in _steps(old, new, i, j)), default=0.0)
    columns = []
    i = 0
    j = 0
    while (i, j) != (len(old), len(new)):
        _, a, b = min(_steps(old, new, i, j), key=lambda step: step[0] + best[step[1]][step[2]])
        columns.append(_Column(old[i] if a > i else None, new[j] if b > j else None))
        i = a
        j = b
    return columns


def _steps(old: Sequence[_Token], new: Sequence[_Token], i: int, j: int) -> Iterator[tuple[float, int, int]]:
    """What an alignment may do next: its cost, and how many tokens of both sides it has passed then."""
    if i < len(old) and j < len(new):
        a = old[i].text
        b = new[j].text
        if a[0].isalnum() == b[0].isalnum():
            yield (_EQUAL if a == b else 0.4 if _alike(a, b) else _APART), i + 1, j + 1
    if i < len(old):
        yield _LEFT_OUT, i + 1, j
    if j < len(new):
        yield _LEFT_OUT, i, j + 1


def _moves(columns: Sequence[_Column]) -> bool:
    """Whether a word goes away here and comes there."""
    changed = [column for column in columns if not column.is_equal]
    gone = Counter(column.old.text.lower() for column in changed if column.old and not column.is_rewritten)
    come = Counter(column.new.text.lower() for column in changed if column.new and not column.is_rewritten)
    return bool(gone & come)


def _cuts(columns: Sequence[_Column]) -> Iterator[tuple[int, int]]:
    """The places, old and new, where one part ends and the next one begins."""
    for left, right in pairwise(columns):
        if not _is_apart(left, right):
            continue
        if left.old and left.new:
            yield left.old.end, left.new.end
        if right.old and right.new:
            yield right.old.start, right.new.start


def _is_apart(left: _Column, right: _Column) -> bool:
    """Whether what happens in two neighbouring columns are two errors."""
    if left.is_equal or right.is_equal:
        return True
    if right.keeps_letters and _ENDS.intersection(left.texts):
        return False  # the end of a sentence and the capital after it
    for pair, other in ((left, right), (right, left)):
        if pair.is_rewritten:
            if other.old and other.new:
                return True
            (added,) = other.texts
            is_small = not added[0].isalnum() or added.lower() in _ARTICLES
            if is_small or pair.keeps_letters:
                return not _joins(left, right)
    return False


def _joins(left: _Column, right: _Column) -> bool:
    """Whether both sides have the same letters, so that only a space comes or goes."""
    old = [column.old.text for column in (left, right) if column.old]
    new = [column.new.text for column in (left, right) if column.new]
    return _letters(*old) == _letters(*new) and len(old) != len(new) and all(map(_letters, [*old, *new]))
