"""A rule of errors: it yields the places where a sentence may get its error, each with a weight, and makes one of them.

@rule()
def drop_and(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    for i, low in enumerate(s.lows):
        if low == "and":
            yield 1.0, Edit(i, i + 1, "")
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import wraps

from edit_gec.lab.training.synthetic.inflections import Lexicon
from edit_gec.lab.training.synthetic.sentence import Edit, Rewrite

Sites = Iterator[tuple[float, Edit]]
Rule = Callable[[Rewrite, Lexicon, random.Random], "Edit | None"]  # None where the sentence has no place for the error


def rule(idle: float = 0.0) -> Callable[[Callable[[Rewrite, Lexicon, random.Random], Sites]], Rule]:
    """The rule that chooses among these places; `idle` as in `pick`."""

    def choosing(find: Callable[[Rewrite, Lexicon, random.Random], Sites]) -> Rule:
        @wraps(find)
        def choose(s: Rewrite, lex: Lexicon, rng: random.Random) -> Edit | None:
            return pick(rng, find(s, lex, rng), idle)

        return choose

    return choosing


def pick(rng: random.Random, found: Iterable[tuple[float, Edit]], idle: float = 0.0) -> Edit | None:
    """One of the weighted edits, or None of none.

    `idle` is the weight of making none: with it a sentence that has only unlikely places for an error seldom gets one.
    """
    sites = [*found]
    if not sites:
        return None
    point = rng.random() * (sum([weight for weight, _ in sites]) + idle)
    for weight, edit in sites:
        point -= weight
        if point < 0:
            return edit
    return None if idle else sites[-1][1]


def from_table(
    table: Mapping[str, tuple[str, ...]], s: Rewrite, rng: random.Random, faint: Container[str] = frozenset()
) -> Edit | None:
    """A word, or up to four, replaced by one of the wrong forms in the table; the `faint` are chosen more rarely."""
    chosen = pick(rng, _find_in_table(table, s, faint))
    return chosen and chosen._replace(text=rng.choice(table[chosen.text]))


def _find_in_table(table: Mapping[str, tuple[str, ...]], s: Rewrite, faint: Container[str]) -> Sites:
    """What stands in the table, as edits by its key."""
    for i, low in enumerate(s.lows):
        if not s.free[i]:
            continue
        if low in table:
            yield 0.3 if low in faint else 1.0, Edit(i, i + 1, low)
        for n in (2, 3, 4):
            key = " ".join(s.lows[i : i + n])
            if i + n <= len(s) and key in table and all(s.free[i : i + n]):
                yield 2.0, Edit(i, i + n, key)
