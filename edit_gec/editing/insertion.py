"""Slots, and the loop in which the insertion decoder writes into them.

    decoder = InsertionDecoder(memory, tokens)              over one batch
    decode_insertions(decoder, slots)                       writes greedily, step by step
    score_candidates(decoder, [(slot, ids), ...])           log-probability of given texts

The slots of all sentences are written together, each in a row of its own, MAX_ROWS at a time: each row has its own copy
of what it attends to, so memory would grow with what the words are. `sequential` writes the slots of a sentence one
after the other instead, as in the paper: the reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeVar

import numpy as np

from edit_gec.backends.network import Memory, ScoringRequest, Writing
from edit_gec.editing.confidence import NOT_ASKED, EvidenceKind
from edit_gec.editing.plan import anchor
from edit_gec.modeling.tagset import INSERT, KEEP
from edit_gec.modeling.tokenizer import EOS, PAD, UNK, Tokens
from edit_gec.tracing import Stage, span

MAX_ROWS = 64  # of the decoder at once: 25 MB of edit5-mini; more are slower (profiles/LOG.md)
MAX_INSERTION = 32  # pieces in one slot; a longer slot is given up
IMPOSSIBLE = -1e4  # log-probability of a text that the vocabulary cannot express
Row = TypeVar("Row")


def cut_rows(rows: Sequence[Row], most: int = MAX_ROWS) -> Iterator[Sequence[Row]]:
    """Parts of so many rows at most, in order."""
    return (rows[begin : begin + most] for begin in range(0, len(rows), most))


@dataclass
class Slot:
    """One place where something may be written."""

    sentence: int  # row of the batch
    index: int  # kept pieces before it in the output: the slot is <extra_id_index>
    after_piece: int  # the kept piece before it
    anchor: int  # source position where it attaches
    pieces: list[int] = field(default_factory=list)
    log_probability: float = 0.0
    finished: bool = False  # with </s>, and with whole characters
    kind: EvidenceKind | None = None  # of the edit, once it is written
    stays: float = NOT_ASKED  # probability of writing what is there now
    unchanged: bool = False  # what was written is there already

    @property
    def probability(self) -> float:
        """Of what was written; 0 where that is not finished, or no edit."""
        return math.exp(self.log_probability) if self.finished and not self.unchanged else 0.0


def open_slots(tags: Sequence[int], order: Sequence[int], sentence: int = 0) -> list[Slot]:
    """The slots that the tags of a sentence open: after INSERT, and after the kept piece before what is replaced or
    deleted. The decoder may leave any of them empty.

    `order` are the kept pieces in output order.
    """
    opened: set[int] = set()
    kept = 0
    for i, tag in enumerate(tags):
        if tag in (KEEP, INSERT):
            kept = i
        if tag != KEEP:
            opened.add(kept)
    return [Slot(sentence, k, i, anchor(i, tags)) for k, i in enumerate(order, start=1) if i in opened]


@dataclass(frozen=True)
class InsertionDecoder:
    """The insertion decoder of a network over one batch of sentences."""

    memory: Memory
    tokens: Tokens

    def attach(self, slots: Sequence[Slot]) -> Writing:
        """What the decoder reads of each slot, once for all steps."""
        return self.memory.attach([slot.sentence for slot in slots], [slot.anchor for slot in slots])


@dataclass
class SlotQueue:
    """A row of the decoder's batch: slots that are written one after the other; one alone where all go at once."""

    slots: list[Slot]
    first: int = 0  # number of its first slot among all slots
    done: int = 0  # slots that are written

    @property
    def slot(self) -> Slot:
        """The slot that is being written."""
        return self.slots[self.done]

    @property
    def number(self) -> int:
        """The number of that slot among all slots."""
        return self.first + self.done

    def advance(self, choice: int, log_probability: float, tokens: Tokens) -> int:
        """Record what the decoder wrote; returns the next input of the row, PAD when it is done."""
        slot = self.slot
        slot.log_probability += log_probability
        if choice != EOS:
            slot.pieces.append(choice)
            if len(slot.pieces) < MAX_INSERTION:
                return choice
        slot.finished = choice == EOS and "\ufffd" not in tokens.decode(slot.pieces)
        self.done += 1
        return tokens.slot(self.slot.index) if self.done < len(self.slots) else PAD


def decode_insertions(decoder: InsertionDecoder, slots: Sequence[Slot], *, sequential: bool = False) -> int:
    """Write into every slot, greedily; returns the number of decoder steps."""
    queues: dict[int, list[Slot]] = {}
    for number, slot in enumerate(slots):
        queues.setdefault(slot.sentence if sequential else number, []).append(slot)
    return sum(_write_together(decoder, part) for part in cut_rows(list(queues.values())))


def _write_together(decoder: InsertionDecoder, queues: Sequence[list[Slot]]) -> int:
    """Write into the slots of each queue, one after the other; returns the number of decoder steps."""
    with span(Stage.INSERT_SETUP):
        firsts = accumulate(map(len, queues[:-1]), initial=0)
        rows = [SlotQueue(queue, first) for queue, first in zip(queues, firsts, strict=True)]
        writing = decoder.attach([slot for row in rows for slot in row.slots])
        writing.begin([row.first for row in rows])
        inputs = [decoder.tokens.slot(row.slot.index) for row in rows]
    steps = 0
    while rows:
        with span(Stage.INSERT_STEP):
            values, choices = writing.step([row.number for row in rows], inputs)
            decided = zip(rows, choices, values, strict=True)
            inputs = [row.advance(choice, value, decoder.tokens) for row, choice, value in decided]
            alive = [n for n, given in enumerate(inputs) if given != PAD]
            if len(alive) < len(rows):
                rows = [rows[n] for n in alive]
                inputs = [inputs[n] for n in alive]
                writing.keep(alive)
        steps += 1
    return steps


def mark_unchanged(sources: Sequence[tuple[Slot, list[int]]]) -> None:
    """Record in each slot whether its source pieces were written again."""
    for slot, source in sources:
        slot.unchanged = slot.pieces == source


def score_sources(decoder: InsertionDecoder, sources: Sequence[tuple[Slot, list[int]]]) -> None:
    """Record in each slot how probable it is that its source pieces stay.

    The decoder has learnt to answer that (lab/training/predicted_tags.py).
    """
    scores = np.exp(score_candidates(decoder, sources)).tolist()
    for (slot, _), probability in zip(sources, scores, strict=True):
        slot.stays = probability


def score_candidates(decoder: InsertionDecoder, rows: Sequence[tuple[Slot, list[int]]]) -> np.ndarray:
    """Log-probability [R] of writing these pieces, and nothing else, into these slots."""
    return np.concatenate([np.zeros(0, np.float32), *(_score_together(decoder, part) for part in cut_rows(rows))])


def _score_together(decoder: InsertionDecoder, rows: Sequence[tuple[Slot, list[int]]]) -> np.ndarray:
    """`score_candidates` in one pass."""
    stream = [[decoder.tokens.slot(slot.index), *ids] for slot, ids in rows]
    # candidates of a slot begin alike: what follows the same pieces is computed once
    prefixes: dict[tuple[int, ...], int] = {}  # -> its number
    places: list[tuple[int, int]] = []  # where each of them stands: row, position
    written: list[tuple[int, int]] = []  # number of the prefix, and the piece after it
    of_row: list[int] = []
    for row, (slot, ids) in enumerate(rows):
        for n, piece in enumerate([*ids, EOS]):
            number = prefixes.setdefault((id(slot), *ids[:n]), len(prefixes))
            if number == len(places):
                places.append((row, n))
            written.append((number, piece))
            of_row.append(row)
    of_pieces = decoder.attach([slot for slot, _ in rows]).score(ScoringRequest(stream, places, written))
    scores = np.zeros(len(rows), np.float32)
    np.add.at(scores, of_row, of_pieces)
    scores[[UNK in ids for _, ids in rows]] = IMPOSSIBLE
    return scores
