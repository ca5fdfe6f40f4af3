"""What a language model would write in another way: changes that an EdiT5 does not propose.

    source     The results was good.
    reading    at " was":  " were" -0.1, " are" -2.1, " was" -6.1        log p of what stands there, in its prompt
    tries      The results were good.   The results were was good.       instead of the token or the word, before it

A model that has learnt to correct reads the source as if it wrote it. Where another token is likelier than what stands
there, or nearly as likely, it is tried in each of these ways, and deletes what it skips. What comes of it is kept if it
is one word for another: a form of it, another function word, or another capital (`RewordingKind`). Other words are a
matter of taste, and misspelt ones, marks, and words that are missing or too many are EdiT5's (profiles/LOG.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from edit_gec.rules.words import FOLDER, column, word_set
from edit_gec.text.edits import Change, Provenance, count_shared_ends, fit_to_words, narrow
from edit_gec.text.rows import read_table

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList
    from edit_gec.modeling.byte_pairs import BytePairs
    from edit_gec.speculative.language_model import Likelihoods, ReadSources, Source

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


def find_rewordings(reading: ReadSources, tokens: BytePairs, words: WordList | None) -> list[list[Rewording]]:
    """What the model would write in another way in each source of a reading; nothing in one that was cut."""
    pairs = zip(reading.sources, reading.likelihoods, strict=True)
    return [list(reword(source, likely, tokens, words)) if source.is_whole else [] for source, likely in pairs]


def reword(source: Source, likelihoods: Likelihoods, tokens: BytePairs, words: WordList | None) -> Iterator[Rewording]:
    """The small changes that come of writing likelier tokens in a source."""
    seen = {source.text}
    for _, place, token in find_likelier(source, likelihoods):
        for ids in write(source, place, token):
            text = tokens.decode(ids)
            if text in seen or "\ufffd" in text:
                continue
            seen.add(text)
            change = change_between(source.text, text)
            kind = name_rewording(source.text[change.start : change.end], change.replacement, words)
            if kind is not None:
                yield Rewording(change, kind)


def find_likelier(source: Source, likelihoods: Likelihoods) -> list[Likelier]:
    """The tokens that are worth a try in a source, the best first."""
    given, tokens, values = likelihoods
    skipped = source.first - len(source.before)  # tokens that nothing is before
    written = np.array(source.ids[skipped:], np.int64)
    good = (values > LEAST_LIKELY) & (values > given[:, None] + LEAST_RATIO) & (tokens != written[:, None])
    found = [
        Likelier(float(values[at, k] - given[at]), int(at) + skipped, int(tokens[at, k]))
        for at, k in zip(*np.nonzero(good), strict=True)
    ]
    return sorted(found, reverse=True)[:MOST_TRIED]


def write(source: Source, place: int, token: int) -> Iterator[list[int]]:
    """The ids of each text in which a token is written at a place of a source."""
    before, after = list(source.ids[:place]), list(source.ids[place:])
    if token in after[1 : MOST_SKIPPED + 1]:
        yield before + after[after.index(token, 1) :]
    yield [*before, token, *after]
    yield [*before, token, *after[1:]]
    end = count_word(source, place)
    if end > 1:
        yield [*before, token, *after[end:]]


def count_word(source: Source, place: int) -> int:
    """How many tokens from a place on its word has."""
    starts = ((n, source.ends[n - 1]) for n in range(place + 1, len(source.ids)))
    return next((n for n, at in starts if not source.text[at : at + 1].isalnum()), len(source.ids)) - place


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
    place = fit_to_words(source, *narrow(source, 0, len(source), text))
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
    if not _families().get(one, frozenset()).isdisjoint(_families().get(other, ())):
        return True
    head, _ = count_shared_ends(one, other)
    longer = max(len(one), len(other))
    return (head >= 3 and head >= longer - 4) or (head == 2 and longer <= 4)


@cache
def _families() -> dict[str, frozenset[int]]:
    """For each irregular word the numbers of the words that it is a form of."""
    verbs = (row[:5] for row in read_table(FOLDER / "verb.tsv")[1:])
    families = [*(entry.split() for entry in column("family")), *verbs]
    found: dict[str, set[int]] = {}
    for number, family in enumerate(families):
        for word in family:
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
