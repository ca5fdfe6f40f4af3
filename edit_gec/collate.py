"""(source, target) -> one training example, examples -> one batch of tensors, and what a batch taught.

The source of an example has the sentinel <extra_id_0> before it and </s> behind it; its plan comes from plan.align.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from edit_gec.edit5 import Batch, Losses
from edit_gec.plan import DELETE, KEEP, REPLACE, Plan, align, anchor
from edit_gec.tokens import EOS, PAD, Tokens

IGNORE = -100


@dataclass(frozen=True)
class Example:
    """A pair as the model sees it; lists over source positions [S], and over the decoder's positions [T]."""

    ids: list[int]
    tags: list[int]
    ranks: list[int]
    successors: list[int]
    stream: list[int]
    stream_target: list[int]
    anchors: list[int]
    slot_numbers: list[int]


def wrap(ids: Sequence[int], tokens: Tokens) -> list[int]:
    """Source ids as the encoder reads them: sentinel, pieces, </s>."""
    return [tokens.slot(0), *ids, EOS]


def example(source: str, target: str, tokens: Tokens) -> Example | None:
    """The training example of a pair, or None if the source is empty or the plan needs more slots than there are."""
    ids = tokens.ids(source)
    plan = align(ids, tokens.ids(target), tokens)
    if not ids or len(plan.order) >= tokens.slots:
        return None
    return from_plan(wrap(ids, tokens), plan, tokens)


def from_plan(ids: list[int], plan: Plan, tokens: Tokens) -> Example:
    """Example of wrapped source ids and their plan; </s> is kept and comes last."""
    tags = plan.tags()
    stream: list[int] = []
    stream_target: list[int] = []
    anchors: list[int] = []
    slot_numbers: list[int] = []
    for number, (k, inserted) in enumerate(plan.insertions):
        stream += [tokens.slot(k), *inserted]
        stream_target += [*inserted, EOS]
        anchors += [anchor(plan.order[k - 1], tags)] * (len(inserted) + 1)
        slot_numbers += [number] * (len(inserted) + 1)
    ranks = [*plan.ranks(), len(plan.order)]
    return Example(ids, [*tags, KEEP], ranks, plan.pointers(), stream, stream_target, anchors, slot_numbers)


def collate(examples: Sequence[Example]) -> Batch:
    """Pad examples to one batch. There is always at least one stream row, so that every parameter gets a gradient."""
    rows = [n for n, e in enumerate(examples) if e.stream] or [0]
    streams = [examples[n] for n in rows]
    ids = pad([e.ids for e in examples], PAD)
    lengths = torch.tensor([len(e.ids) for e in examples])
    return Batch(
        ids=ids,
        mask=torch.arange(ids.shape[1])[None, :] < lengths[:, None],
        tags=pad([e.tags for e in examples], KEEP),
        ranks=pad([e.ranks for e in examples], -1),
        successors=pad([e.successors for e in examples], 0),
        rows=torch.tensor(rows),
        stream=pad([e.stream or [PAD] for e in streams], PAD),
        stream_target=pad([e.stream_target or [IGNORE] for e in streams], IGNORE),
        anchors=pad([e.anchors or [0] for e in streams], 0),
        slot_numbers=pad([e.slot_numbers or [0] for e in streams], -1),
    )


def pad(lists: Sequence[Sequence[int]], value: int) -> Tensor:
    """Lists of whole numbers -> one tensor [N, longest]."""
    longest = max(map(len, lists))
    return torch.tensor([[*numbers, *[value] * (longest - len(numbers))] for numbers in lists])


class Counts:
    """Running counts between two log lines: losses per unit, deletion precision and recall, insertion accuracy."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}

    def add(self, batch: Batch, losses: Losses, tag_logits: Tensor, insertion_logits: Tensor) -> None:
        """Count one batch; padding is left out."""
        with torch.no_grad():
            predicted, tags = tag_logits.argmax(-1)[batch.mask], batch.tags[batch.mask]
            deleted = (predicted == DELETE) | (predicted == REPLACE)
            wanted = (tags == DELETE) | (tags == REPLACE)
            targets = batch.stream_target[batch.stream_target >= 0]
            new = {
                "tag": losses.tag, "point": losses.point, "insertion": losses.insertion,
                "pieces": losses.pieces, "inserted": losses.inserted, "pairs": torch.tensor(len(batch.ids)),
                "deleted": deleted.sum(), "wanted": wanted.sum(), "hit": (deleted & wanted).sum(),
                "right": (insertion_logits.argmax(-1) == targets).sum(), "exact": (predicted == tags).sum(),
            }  # fmt: skip
            for name, value in new.items():
                self.sums[name] = self.sums.get(name, 0.0) + float(value)

    def take(self) -> dict[str, float]:
        """Figures since the last call, which starts the next count."""
        s, self.sums = self.sums, {}
        if not s:
            return {}
        return {
            "pairs": s["pairs"],
            "pieces": s["pieces"],
            "tag_loss": s["tag"] / s["pieces"],
            "point_loss": s["point"] / s["pieces"],
            "insertion_loss": s["insertion"] / max(1, s["inserted"]),
            "insertion_accuracy": s["right"] / max(1, s["inserted"]),
            "delete_precision": s["hit"] / max(1, s["deleted"]),
            "delete_recall": s["hit"] / max(1, s["wanted"]),
        }
