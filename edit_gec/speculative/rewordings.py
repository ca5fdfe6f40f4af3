"""What a language model would write in another way: changes that an EdiT5 does not propose.

    source     The results was good.
    reads      at " was":  " were" -0.1, " are" -2.1, " was" -6.1        log p of what stands there, in its prompt
    tries      The results were good.   The results were was good.       instead of the token or the word, before it

A model that has learnt to correct reads the source as if it wrote it. Where another token is likelier than what stands
there, or nearly as likely, it is tried in each of these ways, and deletes what it skips. What comes of it is kept if it
is one word for another: a form of it, another function word, or another capital (`RewordingKind`). Other words are a
matter of taste, and misspelt ones, marks, and words that are missing or too many are EdiT5's (profiles/LOG.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from edit_gec.rules.words import FOLDER, column, read_table, word_set
from edit_gec.speculative.language_model import MOST_ROW, Question, Row, group_rows, lay_out
from edit_gec.text.edits import Change, Provenance, count_shared_ends, fit_to_words

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList
    from edit_gec.modeling.byte_pairs import BytePairs
    from edit_gec.speculative.language_model import LanguageModel

LEAST_RATIO = -2.0  # nats that a token may be less likely than the source's; 9 of 10 right rewordings pass (LOG.md)
LEAST_LIKELY = -3.2  # nats; what is less likely is no proposal
MOST_TRIED = 12  # tokens of a sentence, the best first
MOST_SKIPPED = 2  # tokens that a deletion skips
_PART = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\S")


class RewordingKind(str, Enum):
    """What a rewording changes: kinds are right with different frequencies. As a string, it is its value."""

    FORM = "form"  # another form of the same word: go, goes
    EXCHANGED = "exchanged"  # one function word for another
    CASE = "case"

    def __str__(self) -> str:
        return str(self.value)


class Likelier(NamedTuple):
    """A token that is likelier by `ratio` nats than what stands at a place of the source."""

    ratio: float
    place: int
    token: int


class Rewording(NamedTuple):
    """A change that a language model proposes; its confidence is 0."""

    change: Change
    kind: RewordingKind


def find_rewordings(
    model: LanguageModel, questions: Sequence[Question], words: WordList | None
) -> list[list[Rewording]]:
    """What the model would write in another way in each source; nothing in one that it cannot read as a whole."""
    found: list[list[Rewording]] = [[] for _ in questions]
    rows = [Source.encode(n, question, model) for n, question in enumerate(questions)]
    for batch in group_rows([row for row in rows if row.is_readable]):
        for row, likelier in zip(batch, find_likelier(model, batch), strict=True):
            found[row.question] = list(row.rewordings(likelier, model.tokens, words))
    return found


@dataclass
class Source(Row):
    """A row that holds a source alone."""

    text: str = ""
    first: int = 0  # the column of its first token
    ends: tuple[int, ...] = ()  # of its tokens, in characters

    @classmethod
    def encode(cls, number: int, question: Question, model: LanguageModel) -> Source:
        """The row of a question."""
        before, encoded = model.read_before(question), model.tokens.encode(question.source)
        return cls(number, (*before, *encoded.ids), [], question.source, len(before), encoded.ends)

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens of the source."""
        return self.prefix[self.first :]

    @property
    def is_readable(self) -> bool:
        """There is something to read, after something else, and not too much of it."""
        return 0 < self.first < self.length <= MOST_ROW

    def rewordings(
        self, likelier: Sequence[Likelier], tokens: BytePairs, words: WordList | None
    ) -> Iterator[Rewording]:
        """The small changes that come of writing these tokens."""
        seen = {self.text}
        for _, place, token in likelier:
            for ids in self.write(place, token):
                text = tokens.decode(ids)
                if text in seen or "\ufffd" in text:
                    continue
                seen.add(text)
                change = change_between(self.text, text)
                kind = name_rewording(self.text[change.start : change.end], change.replacement, words)
                if kind is not None:
                    yield Rewording(change, kind)

    def write(self, place: int, token: int) -> Iterator[list[int]]:
        """The ids of each text in which a token is written at a place."""
        before, after = list(self.ids[:place]), list(self.ids[place:])
        if token in after[1 : MOST_SKIPPED + 1]:
            yield before + after[after.index(token, 1) :]
        yield [*before, token, *after]
        yield [*before, token, *after[1:]]
        end = self.word_end(place)
        if end > 1:
            yield [*before, token, *after[end:]]

    def word_end(self, place: int) -> int:
        """How many tokens from a place on its word has."""
        starts = ((n, self.ends[n - 1]) for n in range(place + 1, len(self.ids)))
        return next((n for n, at in starts if not self.text[at : at + 1].isalnum()), len(self.ids)) - place


def find_likelier(model: LanguageModel, rows: Sequence[Source]) -> list[list[Likelier]]:
    """The tokens that are worth a try in each row of one pass, the best first."""
    asked = [(n, place) for n, row in enumerate(rows) for place in range(row.first - 1, row.length - 1)]
    written = np.array([token for row in rows for token in row.ids])
    given, tokens, values = model.network.likeliest(*lay_out(rows), np.array(asked), written)
    found: list[list[Likelier]] = [[] for _ in rows]
    good = (values > LEAST_LIKELY) & (values > given[:, None] + LEAST_RATIO) & (tokens != written[:, None])
    for at, k in zip(*np.nonzero(good), strict=True):
        n, place = asked[at]
        ratio = float(values[at, k] - given[at])
        found[n].append(Likelier(ratio, place + 1 - rows[n].first, int(tokens[at, k])))
    return [sorted(each, reverse=True)[:MOST_TRIED] for each in found]


def choose_apart(changes: Iterable[Change]) -> list[Change]:
    """The changes in order, without each that the judge proposed beside a surer one, or that stands beside such a one.

    >>> first = Change(0, 2, "is", 0.5, Provenance.JUDGE)
    >>> [change.replacement for change in choose_apart([first, Change(2, 2, "n't", 0.7), Change(6, 6, "a", 0.1)])]
    ["n't", 'a']
    """
    chosen: list[Change] = []
    for change in sorted(changes, key=lambda change: -change.confidence):
        beside = (each for each in chosen if touch(each, change))
        if all(Provenance.JUDGE not in (each.provenance, change.provenance) for each in beside):
            chosen.append(change)
    return sorted(chosen)


def touch(one: Change, other: Change) -> bool:
    """Whether two changes share a place, or stand side by side."""
    return one.start <= other.end and other.start <= one.end


def change_between(source: str, text: str) -> Change:
    """The one change that makes a text of the source."""
    head, tail = count_shared_ends(source, text)
    place = fit_to_words(source, head, len(source) - tail, text[head : len(text) - tail])
    return Change(*place, 0.0, Provenance.JUDGE)


def name_rewording(old: str, new: str, words: WordList | None) -> RewordingKind | None:
    """The kind of a change; None where it is no small one, or touches or makes a word that nobody knows."""
    before, after = _PART.findall(old), _PART.findall(new)
    head, tail = count_shared_ends(before, after)
    before, after = before[head : len(before) - tail], after[head : len(after) - tail]
    ours, theirs = [[part.lower() for part in parts if part[0].isalpha()] for parts in (before, after)]
    if words and not all(len(word) < 2 or words.knows(word) for word in (*ours, *theirs)):
        return None
    if before != after and [part.lower() for part in before] == [part.lower() for part in after]:
        return RewordingKind.CASE
    if len(before) != 1 or len(after) != 1 or not ours or not theirs or ours == theirs:
        return None
    if is_form(*ours, *theirs):
        return RewordingKind.FORM
    return RewordingKind.EXCHANGED if word_set("function") >= {*ours, *theirs} else None


def is_form(one: str, other: str) -> bool:
    """Whether these are forms of one word: a table has both, or they begin alike."""
    if not _families(one).isdisjoint(_families(other)):
        return True
    head, _ = count_shared_ends(one, other)
    longer = max(len(one), len(other))
    return (head >= 3 and head >= longer - 4) or (head == 2 and longer <= 4)


def _families(word: str) -> frozenset[int]:
    return _all_families().get(word, frozenset())


@cache
def _all_families() -> dict[str, frozenset[int]]:
    """For each irregular word the numbers of the words that it is a form of."""
    verbs = (row[:5] for row in read_table(FOLDER / "verb.tsv")[1:])
    families = [*(entry.split() for entry in column("family")), *verbs]
    found: dict[str, set[int]] = {}
    for number, family in enumerate(families):
        for word in family:
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
