"""The edit plan: which source pieces are kept, in which order, and what is inserted where.

A pair becomes a plan (alignment.py); a plan becomes text (`realize`) and edits of the source (`spans`). Training,
decoding and auditing share this file. Positions count the start sentinel S as piece 0:

    source   S  i  was  walking ... when  struck  by  bicycle
    target   I was walking ... when I was struck by a bicycle
    tags     K  R  R    K       ... I     K       I   K       (Keep, Replace, Insert after)
    order    S  walking ... when struck by bicycle
    stream   <extra_id_1> I was <extra_id_6> I was <extra_id_8> a </s>

Slot <extra_id_k> stands after k kept pieces of the re-ordered sentence, S included (EdiT5, section 3; the case study).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, Pieces, Tokens, Vocabulary
from edit_gec.text.words import Replacement


class PlannedChange(NamedTuple):
    """An edit of the source text: half-open characters start..end become `text`, between two pieces that stay."""

    start: int
    end: int
    text: str
    pieces: tuple[int, int]


@dataclass(frozen=True)
class Plan:
    """Kept pieces in output order (`order[0]` is the sentinel, 0) and insertions (k, ids) with increasing k.

    `length` counts the source pieces with the sentinel. An insertion with number k follows `order[k - 1]`.
    """

    length: int
    order: tuple[int, ...]
    insertions: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything is deleted, moved or inserted."""
        return bool(self.insertions) or self.order != tuple(range(self.length))

    @property
    def moves(self) -> bool:
        """Whether any kept piece leaves the source order."""
        return any(here > there for here, there in pairwise(self.order))

    def tags(self) -> list[int]:
        """One tag per piece [length]: KEEP, DELETE, INSERT or REPLACE."""
        kept = set(self.order)
        opened = {self.order[k - 1] for k, _ in self.insertions}
        tags: list[int] = []
        gap_open = False
        for i in range(self.length):
            if i in kept:
                gap_open = i in opened
                followed = i + 1 < self.length and i + 1 not in kept
                tags.append(INSERT if gap_open and not followed else KEEP)
            else:
                tags.append(REPLACE if gap_open else DELETE)
        return tags

    def ranks(self) -> list[int]:
        """Position of each piece in the output order [length]; -1 for deleted pieces."""
        ranks = [-1] * self.length
        for rank, i in enumerate(self.order):
            ranks[i] = rank
        return ranks

    def pointers(self) -> list[int]:
        """Successor of each piece [length + 1]: kept ones cycle through the end (`length`), deleted ones loop."""
        chain = [*self.order, self.length]
        successors = list(range(self.length + 1))
        for here, there in zip(chain, [*chain[1:], 0], strict=True):
            successors[here] = there
        return successors

    def anchors(self) -> list[int]:
        """Source piece at which each insertion attaches: the first piece it replaces, or the kept piece before it."""
        return [anchor(self.order[k - 1], self.tags()) for k, _ in self.insertions]

    def stream(self, tokens: Tokens) -> list[int]:
        """The insertion decoder's output: slot, pieces, slot, pieces, ..., </s>; empty when nothing is inserted."""
        if not self.insertions:
            return []
        return [i for k, ids in self.insertions for i in (tokens.slot(k), *ids)] + [EOS]


def anchor(kept: int, tags: Sequence[int]) -> int:
    """Source position where the gap after a kept piece attaches: its first deleted piece, else the piece itself."""
    following = kept + 1
    return following if following < len(tags) and tags[following] in (DELETE, REPLACE) else kept


def unchanged(length: int) -> Plan:
    """The plan that keeps everything; `length` counts the sentinel."""
    return Plan(length, tuple(range(length)))


# ---------------------------------------------------------------- plan -> text


def realize(plan: Plan, source: Pieces, tokens: Vocabulary) -> str:
    """Text of the plan. Kept pieces are copied from the source by offset, never re-decoded."""
    inserted = dict(plan.insertions)
    parts = []
    for k, i in enumerate(plan.order, start=1):
        if i:
            parts.append(source.text(i - 1, i))
        if k in inserted:
            parts.append(tokens.decode(inserted[k]))
    text = "".join(parts)
    return text[1:] if source.prefixed and text.startswith(" ") else text


def spans(plan: Plan, source: Pieces, tokens: Vocabulary) -> list[PlannedChange]:
    """Edits of the source text, disjoint and in order. Applying them gives `realize`'s text.

    Between two pieces that keep their place, the plan's text replaces the source text, moves included.
    """
    inserted = dict(plan.insertions)
    edits = []
    text = tokens.decode(inserted.get(1, ()))
    previous = 0
    fixed = _stay_in_place(plan.order, source)
    for k, i in [*enumerate(plan.order[1:], start=2), (0, plan.length)]:
        if k and not fixed[k - 1]:
            text += source.text(i - 1, i) + tokens.decode(inserted.get(k, ()))
            continue
        edit = _replace_between(source, previous, i, text)
        if edit:
            edits.append(PlannedChange(*edit, (previous, i)))
        text = tokens.decode(inserted.get(k, ()))
        previous = i
    return edits


def _stay_in_place(order: Sequence[int], source: Pieces) -> list[bool]:
    """Which kept pieces stay in place: all pieces before them in the output stand before them in the source.

    A piece without text of its own (the first bytes of a character) does not count: no edit can end there.
    """
    highest_before = list(accumulate(order, max))
    lowest_after = list(accumulate(reversed(order), min))[::-1]
    return [
        highest_before[n] == i == lowest_after[n] and (i == 0 or source.starts[i - 1] < source.ends[i - 1])
        for n, i in enumerate(order)
    ]


def _replace_between(source: Pieces, before: int, after: int, text: str) -> Replacement | None:
    """Edit that puts `text` between pieces `before` and `after` (both fixed), or None if it is there already."""
    if text == source.text(before, after - 1):
        return None
    start = source.ends[before - 1] if before else min(source.starts, default=0)
    end = source.starts[after - 1] if after <= len(source) else max(source.ends, default=0)
    if before or not source.prefixed:
        return Replacement(start, end, text)
    # The dummy prefix: the first piece has a space that the source has not, and the output gives up its first space.
    if after == 1 and len(source):
        return Replacement(start, end, text.removeprefix(" ") + " ")
    if not text and after <= len(source) and source.source.startswith(" ", end):
        return Replacement(start, end + 1, text)
    return Replacement(start, end, text.removeprefix(" "))
