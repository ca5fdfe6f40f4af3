"""(source, target) -> one training example, examples -> one batch of tensors.

The source of an example has the sentinel <extra_id_0> before it and </s> after it; its plan comes from plan.align.
Every gap in which something is deleted or inserted is a slot of the insertion decoder: where a word is only deleted the
decoder learns to write nothing, so that it may overrule a tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from edit_gec.editing.alignment import align, word_ranges
from edit_gec.editing.plan import Plan, anchor
from edit_gec.lab.training.objective import Example
from edit_gec.modeling.edit5 import Batch
from edit_gec.modeling.padding import IGNORE, pad
from edit_gec.modeling.tagset import INSERT, KEEP
from edit_gec.modeling.tokenizer import EOS, PAD, Pieces, Tokens


@dataclass(frozen=True)
class EdiT5Example(Example):
    """Wrapped source ids [S], their plan, and their words as half-open ranges of [S].

    `judged`: the pieces whose tags are known to be right, or None for all.
    """

    plan: Plan
    words: list[tuple[int, int]]
    judged: frozenset[int] | None = None


@dataclass(frozen=True)
class SlotStream:
    """What the insertion decoder reads and writes for one sentence [T], and what the states show it [S]."""

    inputs: list[int]
    targets: list[int]
    anchors: list[int]
    slot_numbers: list[int]
    tags: list[int]
    ranks: list[int]


def make_example(
    source: str, target: str, tokens: Tokens, judged: Sequence[tuple[int, int]] | None = None
) -> EdiT5Example | None:
    """The training example of a pair, or None if the source is empty, or has so many pieces that the slots do not
    suffice for them, the sentinel and </s>.

    Not only the plan must fit: the tags that a model predicts may keep every piece. `judged` are half-open spans of the
    source; the words that they touch teach tags, and all do without them.
    """
    ids = tokens.ids(source)
    if not ids or len(ids) + 1 >= tokens.slots:  # the sentinel and </s> have ranks, too
        return None
    plan = align(ids, tokens.ids(target), tokens)
    words = [(start + 1, end + 1) for start, end in word_ranges(ids, tokens)]
    known = None if judged is None else find_pieces(tokens.encode(source), words, judged)
    return EdiT5Example(tokens.wrap(ids), plan, words, known)


def find_pieces(pieces: Pieces, words: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> frozenset[int]:
    """The pieces, counted from the sentinel on, of the words that spans of the source touch, or a space beside them.

    The sentinel is touched where a span begins the source: what belongs before the first word is inserted there.
    """
    found = {0} if any(start == 0 for start, _ in spans) else set()
    for first, last in words:
        here, there = pieces.starts[first - 1], pieces.ends[last - 2]
        if any(start <= there + 1 and here <= end + 1 for start, end in spans):
            found |= {*range(first, last)}
    return frozenset(found)


def write_stream(plan: Plan, tags: Sequence[int], ranks: Sequence[int], tokens: Tokens) -> SlotStream:
    """The stream of a plan whose pieces are shown with `tags` and `ranks` [S - 1]; </s> is kept and comes last.

    A slot is named after the kept pieces that are shown before it.
    """
    inserted = {plan.order[k - 1]: ids for k, ids in plan.insertions}
    own = plan.tags()
    inputs: list[int] = []
    targets: list[int] = []
    anchors: list[int] = []
    slot_numbers: list[int] = []
    for number, (k, piece) in enumerate(find_slots(own, plan.order)):
        ids = inserted.get(piece, ())
        shown = ranks[piece] + 1 if ranks[piece] >= 0 else k
        inputs += [tokens.slot(shown), *ids]
        targets += [*ids, EOS]
        anchors += [anchor(piece, own)] * (len(ids) + 1)
        slot_numbers += [number] * (len(ids) + 1)
    return SlotStream(inputs, targets, anchors, slot_numbers, [*tags, KEEP], [*ranks, max(ranks) + 1])


def find_slots(tags: Sequence[int], order: Sequence[int]) -> list[tuple[int, int]]:
    """The gaps where something is deleted or inserted, in output order: (k, kept piece before the gap).

    >>> from edit_gec.modeling.tagset import DELETE, REPLACE
    >>> find_slots([KEEP, REPLACE, KEEP, INSERT, KEEP, DELETE], [0, 2, 3, 4])
    [(1, 0), (3, 3), (4, 4)]
    """
    changed = set()
    kept = 0
    for i, tag in enumerate(tags):
        if tag in (KEEP, INSERT):
            kept = i
        if tag != KEEP:
            changed.add(kept)
    return [(k, piece) for k, piece in enumerate(order, start=1) if piece in changed]


def collate(examples: Sequence[EdiT5Example], tokens: Tokens) -> Batch:
    """Pad examples to one batch, with the streams of their own plans."""
    plans = [e.plan for e in examples]
    tags = [plan.tags() for plan in plans]
    ids = pad([e.ids for e in examples], PAD)  # [B, S]
    lengths = torch.tensor([len(e.ids) for e in examples])
    streams = [write_stream(plan, own, plan.ranks(), tokens) for plan, own in zip(plans, tags, strict=True)]
    return Batch(
        ids=ids,
        mask=torch.arange(ids.shape[1])[None, :] < lengths[:, None],
        tags=pad([[*own, KEEP] for own in tags], KEEP),
        judged=pad([[e.judged is None or n in e.judged for n in range(len(e.ids))] for e in examples], False),
        successors=pad([plan.pointers() for plan in plans], 0),
        moved=torch.tensor([plan.moves for plan in plans]),
        **collate_streams(streams, ids.shape[1]),
    )


def collate_streams(streams: Sequence[SlotStream], length: int) -> dict[str, Tensor]:
    """The fields of a Batch that belong to the R sentences with slots; `length` is that of the padded sources.

    There is always at least one row, so that every parameter gets a gradient.
    """
    rows = [n for n, stream in enumerate(streams) if stream.inputs] or [0]
    chosen = [streams[n] for n in rows]
    return {
        "rows": torch.tensor(rows),
        "stream": pad([s.inputs or [PAD] for s in chosen], PAD),
        "stream_target": pad([s.targets or [IGNORE] for s in chosen], IGNORE),
        "anchors": pad([s.anchors or [0] for s in chosen], 0),
        "slot_numbers": pad([s.slot_numbers or [0] for s in chosen], -1),
        "shown_tags": pad([s.tags for s in chosen], KEEP, length),
        "shown_ranks": pad([s.ranks for s in chosen], -1, length),
    }
