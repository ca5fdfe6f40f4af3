"""Slots, and the loop in which the insertion decoder writes into them.

All slots of all sentences are written at once, a row of the batch for each; `sequential` fills one after the other
instead, as in the paper: the reference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import torch
from torch import Tensor

from edit_gec.editing.confidence import UNKNOWN
from edit_gec.editing.plan import anchor
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.padding import pad
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, PAD, UNK, Tokens
from edit_gec.tracing import Stage, span

MAX_INSERTION = 32  # pieces in one slot; a slot that goes on longer is given up


@dataclass
class Slot:
    """One insertion to be written: behind the kept piece `kept` of sentence `sentence`."""

    sentence: int
    k: int
    kept: int
    anchor: int
    pieces: list[int] = field(default_factory=list)
    log_probability: float = 0.0
    finished: bool = False  # with </s>, and with whole characters
    kind: str = ""  # of the edit that it makes (confidence.py)
    stays: float = UNKNOWN  # probability of writing what stands there now
    unchanged: bool = False  # what was written stands there already

    @property
    def probability(self) -> float:
        """Of what was written; 0 where that is not finished, or no edit."""
        return math.exp(self.log_probability) if self.finished and not self.unchanged else 0.0


def open_slots(tag_lists: list[list[int]], orders: list[list[int]], *, empty: bool = False) -> list[Slot]:
    """The slots that the tags open: behind INSERT, and behind the kept piece before a REPLACE.

    `empty`: behind the kept piece before a DELETE, too; the decoder may leave a slot empty (EdiT5Config.empty_slots).
    """
    opening = (INSERT, REPLACE, DELETE) if empty else (INSERT, REPLACE)
    slots = []
    for n, (tags, order) in enumerate(zip(tag_lists, orders, strict=True)):
        opened, kept = set(), 0
        for i, tag in enumerate(tags):
            if tag in (KEEP, INSERT):
                kept = i
            if tag in opening:
                opened.add(kept)
        slots += [Slot(n, k, i, anchor(i, tags)) for k, i in enumerate(order, start=1) if i in opened]
    return slots


def fill(
    model: EdiT5, tokens: Tokens, memory: Tensor, mask: Tensor, slots: list[Slot], *, sequential: bool = False
) -> int:
    """Write into every slot, greedily; returns the number of decoder steps.

    A row of the batch is a queue of slots: one slot each (parallel), or all slots of a sentence (sequential, where a
    slot sees what was written into those before it).
    """
    queues: dict[int, list[Slot]] = {}
    for number, slot in enumerate(slots):
        queues.setdefault(slot.sentence if sequential else number, []).append(slot)
    device = memory.device
    with span(Stage.INSERT_SETUP):
        rows = list(queues.values())
        first = [0, *accumulate(map(len, rows))][:-1]  # of each row, among the slots in the order of the rows
        ordered = [slot for queue in rows for slot in queue]
        of_slot = torch.tensor([slot.sentence for slot in ordered], device=device)  # [N] slots
        anchors = torch.tensor([slot.anchor for slot in ordered], device=device)  # [N]
        anchored = model.anchor(memory[of_slot, anchors])  # [N, d]: as model.embed_slots has it, once for all steps
        near = model.cross_bias(anchors[:, None], mask[of_slot])  # [N, H, 1, S]
        sentence = of_slot[first]  # [R]
        keys = [(k[sentence], v[sentence]) for k, v in model.decoder.memory(memory)]
        caches = model.decoder.new_caches()
        at = [0] * len(rows)
        inputs = [tokens.slot(queue[0].k) for queue in rows]
        banned = torch.zeros(tokens.size, dtype=torch.bool, device=device)
        banned[[PAD, UNK]] = banned[tokens.pieces :] = True
    empty = model.config.empty_slots
    steps = 0
    while rows:
        with span(Stage.INSERT_STEP):
            numbers = [n + a for n, a in zip(first, at, strict=True)]  # [R] the slot of each row
            now, stream = torch.tensor(numbers, device=device), torch.tensor(inputs, device=device)[:, None]
            embedded = model.embedding(stream) + anchored[now, None]
            hidden = model.decoder(embedded, keys, near[now], caches)
            # a slot is open because something belongs there, unless the model knows empty ones
            opening = torch.tensor([not (empty or ordered[n].pieces) for n in numbers], device=device)
            found = model.likeliest(hidden[:, 0], banned, opening)
            values, choices = (t.tolist() for t in found)
            inputs = [advance(q, at, r, choices[r], values[r], tokens) for r, q in enumerate(rows)]
            alive = [r for r, given in enumerate(inputs) if given != PAD]
            if len(alive) < len(rows):
                rows = [rows[r] for r in alive]
                first, at, inputs = ([of_row[r] for r in alive] for of_row in (first, at, inputs))
                left = torch.tensor(alive, dtype=torch.long, device=device)
                keys = [(k[left], v[left]) for k, v in keys]
                for cache in caches:
                    cache.select(left)
        steps += 1
    return steps


def weigh_source(
    model: EdiT5, tokens: Tokens, memory: Tensor, mask: Tensor, slots: Sequence[tuple[Slot, list[int]]]
) -> None:
    """Note in each slot how probable it is that its source pieces stay, and whether they were written again.

    The second thoughts of a decoder that has learnt on predicted tags (predicted_tags.py).
    """
    scores = score_candidates(model, tokens, memory, mask, slots).exp().tolist()
    for (slot, source), probability in zip(slots, scores, strict=True):
        slot.stays, slot.unchanged = probability, slot.pieces == source


def advance(queue: list[Slot], at: list[int], row: int, choice: int, log_probability: float, tokens: Tokens) -> int:
    """Record what a row wrote; returns its next input, PAD when it is done."""
    slot = queue[at[row]]
    slot.log_probability += log_probability
    if choice != EOS:
        slot.pieces.append(choice)
        if len(slot.pieces) < MAX_INSERTION:
            return choice
    slot.finished = choice == EOS and "\ufffd" not in tokens.decode(slot.pieces)
    at[row] += 1
    return tokens.slot(queue[at[row]].k) if at[row] < len(queue) else PAD


def score_candidates(
    model: EdiT5, tokens: Tokens, memory: Tensor, mask: Tensor, rows: Sequence[tuple[Slot, list[int]]]
) -> Tensor:
    """Log-probability [R] of writing these pieces, and nothing else, into these slots; one pass for all.

    memory [B, S, d] and mask [B, S] as for `fill`.
    """
    device = memory.device
    sentence = torch.tensor([slot.sentence for slot, _ in rows], device=device)  # [R]
    anchors = torch.tensor([slot.anchor for slot, _ in rows], device=device)  # [R]
    stream = pad([[tokens.slot(slot.k), *ids] for slot, ids in rows], PAD).to(device)  # [R, T]
    embedded = model.embedding(stream) + model.anchor(memory[sentence, anchors])[:, None]  # as model.embed_slots
    keys = [(k[sentence], v[sentence]) for k, v in model.decoder.memory(memory)]
    hidden = model.decoder(embedded, keys, model.cross_bias(anchors[:, None], mask[sentence]))
    # candidates of a slot begin alike: what comes after the same pieces is computed once
    beginnings: dict[tuple[int, ...], tuple[int, int, int]] = {}  # -> its number, and a place [R, T] where it stands
    wanted: list[tuple[int, int, int]] = []  # number of the beginning, piece behind it, row
    for row, (slot, ids) in enumerate(rows):
        for n, piece in enumerate([*ids, EOS]):
            found = beginnings.setdefault((id(slot), *ids[:n]), (len(beginnings), row, n))
            wanted.append((found[0], piece, row))
    _, at_row, at = torch.tensor(list(beginnings.values()), device=device).unbind(-1)  # [C]
    said = model.output(hidden[at_row, at]).float().log_softmax(-1)  # [C, V]
    number, piece_ids, of_row = torch.tensor(wanted, device=device).unbind(-1)  # [N]
    heard = said.new_zeros(len(rows)).index_add(0, of_row, said[number, piece_ids])
    unsayable = torch.tensor([UNK in ids for _, ids in rows], device=device)
    return heard.masked_fill(unsayable, -1e4)  # no vocabulary without bytes can say everything
