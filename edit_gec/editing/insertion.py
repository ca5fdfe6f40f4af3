"""Slots, and the loop in which the insertion decoder writes into them.

    decoder = InsertionDecoder(model, tokens, states, mask)     over one batch
    decode_insertions(decoder, slots)                           writes greedily, step by step
    score_candidates(decoder, [(slot, ids), ...])               log-probability of given texts, in one pass

All slots of all sentences are written at once, each in a row of its own. `sequential` writes the slots of a sentence
one after the other instead, as in the paper: the reference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from edit_gec.editing.confidence import NOT_ASKED, Kind
from edit_gec.editing.plan import anchor
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.padding import pad
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, PAD, UNK, Tokens
from edit_gec.tracing import Stage, span

MAX_INSERTION = 32  # pieces in one slot; a longer slot is given up
IMPOSSIBLE = -1e4  # log-probability of a text that the vocabulary cannot express


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
    kind: Kind | None = None  # of the edit, once it is written
    stays: float = NOT_ASKED  # probability of writing what stands there now
    unchanged: bool = False  # what was written stands there already

    @property
    def probability(self) -> float:
        """Of what was written; 0 where that is not finished, or no edit."""
        return math.exp(self.log_probability) if self.finished and not self.unchanged else 0.0


def open_slots(tags: Sequence[int], order: Sequence[int], sentence: int = 0, *, empty: bool = False) -> list[Slot]:
    """The slots that the tags of a sentence open: behind INSERT, and behind the kept piece before a REPLACE.

    `order` are the kept pieces in output order. `empty`: a DELETE opens a slot too, which the decoder may leave empty
    (EdiT5Config.empty_slots).
    """
    opening = (INSERT, REPLACE, DELETE) if empty else (INSERT, REPLACE)
    opened: set[int] = set()
    kept = 0
    for i, tag in enumerate(tags):
        if tag in (KEEP, INSERT):
            kept = i
        if tag in opening:
            opened.add(kept)
    return [Slot(sentence, k, i, anchor(i, tags)) for k, i in enumerate(order, start=1) if i in opened]


class Attached(NamedTuple):
    """N slots as the decoder sees them."""

    embedding: Tensor  # [N, d] of the anchor, added to each input
    cross_bias: Tensor  # [N, H, 1, S]
    sentence: Tensor  # [N] row of the batch


class InsertionDecoder:
    """The insertion decoder of a model over one batch of B sentences.

    states [B, S, d] is what it attends to (EdiT5.encode_plan), mask [B, S] is true where there is a piece.
    """

    def __init__(self, model: EdiT5, tokens: Tokens, states: Tensor, mask: Tensor) -> None:
        self.model, self.tokens = model, tokens
        self.states, self.mask = states, mask
        self.device = states.device
        self.cross_keys = model.decoder.cross_keys(states)

    def attach(self, slots: Sequence[Slot]) -> Attached:
        """What the decoder reads of each slot, once for all steps."""
        sentence = torch.tensor([slot.sentence for slot in slots], device=self.device)  # [N]
        anchors = torch.tensor([slot.anchor for slot in slots], device=self.device)  # [N]
        embedding = self.model.anchor(self.states[sentence, anchors])  # as in EdiT5.embed_slots
        return Attached(embedding, self.model.cross_bias(anchors[:, None], self.mask[sentence]), sentence)

    def cross_keys_of(self, sentence: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Cross-attention keys and values of every layer for R rows, each of the sentence [R]."""
        return [(k[sentence], v[sentence]) for k, v in self.cross_keys]

    def banned(self) -> Tensor:
        """Pieces [V] that are never written."""
        banned = torch.zeros(self.tokens.size, dtype=torch.bool, device=self.device)
        banned[[PAD, UNK]] = banned[self.tokens.pieces :] = True
        return banned


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


def queue_slots(slots: Sequence[Slot], *, sequential: bool = False) -> list[SlotQueue]:
    """A row for each slot; with `sequential` a row for each sentence, where a slot sees what was written before it."""
    queues: dict[int, list[Slot]] = {}
    for number, slot in enumerate(slots):
        queues.setdefault(slot.sentence if sequential else number, []).append(slot)
    firsts = [0, *accumulate(map(len, queues.values()))]
    return [SlotQueue(queue, first) for queue, first in zip(queues.values(), firsts, strict=False)]


def decode_insertions(decoder: InsertionDecoder, slots: Sequence[Slot], *, sequential: bool = False) -> int:
    """Write into every slot, greedily; returns the number of decoder steps."""
    model, device = decoder.model, decoder.device
    with span(Stage.INSERT_SETUP):
        rows = queue_slots(slots, sequential=sequential)
        attached = decoder.attach([slot for row in rows for slot in row.slots])
        cross_keys = decoder.cross_keys_of(attached.sentence[[row.first for row in rows]])
        caches = model.decoder.new_caches()
        inputs = [decoder.tokens.slot(row.slot.index) for row in rows]
        banned = decoder.banned()
    may_be_empty = model.config.empty_slots
    steps = 0
    while rows:
        with span(Stage.INSERT_STEP):
            numbers = torch.tensor([row.number for row in rows], device=device)  # [R]
            stream = torch.tensor(inputs, device=device)[:, None]  # [R, 1]
            embedded = model.embedding(stream) + attached.embedding[numbers, None]  # [R, 1, d]
            hidden = model.decoder(embedded, cross_keys, attached.cross_bias[numbers], caches)
            # a slot is open because something belongs there, unless the model knows empty slots
            opening = torch.tensor([not (may_be_empty or row.slot.pieces) for row in rows], device=device)
            values, choices = (found.tolist() for found in model.likeliest(hidden[:, 0], banned, opening))
            decided = zip(rows, choices, values, strict=True)
            inputs = [row.advance(choice, value, decoder.tokens) for row, choice, value in decided]
            alive = [n for n, given in enumerate(inputs) if given != PAD]
            if len(alive) < len(rows):
                rows = [rows[n] for n in alive]
                inputs = [inputs[n] for n in alive]
                left = torch.tensor(alive, dtype=torch.long, device=device)
                cross_keys = [(k[left], v[left]) for k, v in cross_keys]
                for cache in caches:
                    cache.select(left)
        steps += 1
    return steps


def score_sources(decoder: InsertionDecoder, sources: Sequence[tuple[Slot, list[int]]]) -> None:
    """Record in each slot how probable it is that its source pieces stay, and whether they were written again.

    The decoder of a model with empty slots has learnt to answer that (training/predicted_tags.py).
    """
    scores = score_candidates(decoder, sources).exp().tolist()
    for (slot, source), probability in zip(sources, scores, strict=True):
        slot.stays = probability
        slot.unchanged = slot.pieces == source


def score_candidates(decoder: InsertionDecoder, rows: Sequence[tuple[Slot, list[int]]]) -> Tensor:
    """Log-probability [R] of writing these pieces, and nothing else, into these slots; one pass for all."""
    model, device = decoder.model, decoder.device
    attached = decoder.attach([slot for slot, _ in rows])
    stream = pad([[decoder.tokens.slot(slot.index), *ids] for slot, ids in rows], PAD).to(device)  # [R, T]
    embedded = model.embedding(stream) + attached.embedding[:, None]  # [R, T, d]
    hidden = model.decoder(embedded, decoder.cross_keys_of(attached.sentence), attached.cross_bias)
    # candidates of a slot begin alike: what follows the same pieces is computed once
    prefixes: dict[tuple[int, ...], tuple[int, int, int]] = {}  # -> its number, and a place [R, T] where it stands
    written: list[tuple[int, int, int]] = []  # number of the prefix, the piece behind it, row
    for row, (slot, ids) in enumerate(rows):
        for n, piece in enumerate([*ids, EOS]):
            prefix = prefixes.setdefault((id(slot), *ids[:n]), (len(prefixes), row, n))
            written.append((prefix[0], piece, row))
    _, at_row, at = torch.tensor(list(prefixes.values()), device=device).unbind(-1)  # [C]
    log_probabilities = model.output(hidden[at_row, at]).float().log_softmax(-1)  # [C, V]
    number, piece_ids, of_row = torch.tensor(written, device=device).unbind(-1)  # [N]
    of_pieces = log_probabilities[number, piece_ids]  # [N]
    scores = of_pieces.new_zeros(len(rows)).index_add(0, of_row, of_pieces)
    inexpressible = torch.tensor([UNK in ids for _, ids in rows], device=device)
    return scores.masked_fill(inexpressible, IMPOSSIBLE)
