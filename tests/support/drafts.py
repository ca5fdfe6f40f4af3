"""Drafts that no one should write, sentences to draft for, and how to tell two distributions apart."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

from edit_gec.modeling.tokenizer import Vocabulary
from edit_gec.speculative.drafters import Drafter, Proposal, Row

SENTENCES = [
    "She go home.", "My brother walk to the the station every day", "", "I", "They was late, again and again!",
    "the the the the", "In the park, in the rain, in the morning.", "He have a friend who walk", "😀 naïve",
    "We are here.",
]  # fmt: skip


class Script:
    """A drafter that says what it is told: a proposal by sentence and pass."""

    aligns = False

    def __init__(self, write: Callable[[Row], list[int]]) -> None:
        self.write = write

    def begin(self, rows: Sequence[Row]) -> None:
        return

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        return [Proposal(self.write(row)) for row in rows]


def scripts(outputs: list[list[int]], tokens: Vocabulary) -> dict[str, Drafter]:
    """Drafters that know the outputs, and some that know nothing."""
    chance = random.Random(0)
    garbage = [chance.randrange(tokens.size) for _ in range(400)]
    end = tokens.end

    def rest(row: Row) -> list[int]:
        return outputs[row.number][len(row.tokens) :]

    def nearly(row: Row) -> list[int]:
        right = rest(row)
        at = chance.randrange(len(right) + 1)
        return [*right[:at], chance.randrange(tokens.size), *right[at + 1 :], 5, 6]

    return {
        "oracle": Script(rest),
        "nearly": Script(nearly),
        "nothing": Script(lambda row: []),
        "garbage": Script(lambda row: garbage),
        "impossible ids": Script(lambda row: [*rest(row)[:2], -1, tokens.size, 10**9]),
        "specials": Script(lambda row: [0, 2, end, end, 0]),
        "early end": Script(lambda row: [end]),
        "too long": Script(lambda row: [t for t in rest(row) if t != end] + [7] * 300),
        "late end": Script(lambda row: [*rest(row), *rest(row)]),
        "repetition": Script(lambda row: row.tokens[-2:] * 20),
    }


def chi_square(observed: Counter[tuple[int, ...]], expected: Counter[tuple[int, ...]]) -> tuple[float, int]:
    """Two samples of the same size: statistic and degrees of freedom; rare outcomes count as one."""
    rare = {o for o in {*observed, *expected} if observed[o] + expected[o] < 20}
    bins = [(observed[o], expected[o]) for o in {*observed, *expected} - rare]
    bins.append((sum(observed[o] for o in rare), sum(expected[o] for o in rare)))
    return sum((a - b) ** 2 / (a + b) for a, b in bins if a + b), len(bins) - 1


def quantile(degrees: int) -> float:
    """Chi-square's 0.9999 quantile (Wilson and Hilferty)."""
    return float(degrees * (1 - 2 / (9 * degrees) + 3.719 * (2 / (9 * degrees)) ** 0.5) ** 3)
