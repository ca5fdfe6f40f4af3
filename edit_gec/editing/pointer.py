"""The pointer: in which order the kept pieces stand in the output.

Where the best successor of every kept piece is the next kept piece, the order is that of the source and nothing is
walked: that holds for nearly all sentences. Elsewhere a greedy walk from the sentinel takes each piece once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from torch import Tensor

from edit_gec.editing.tags import MAX_KEEP_BIAS
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.padding import pad
from edit_gec.modeling.tagset import INSERT, KEEP


class Order(NamedTuple):
    """Kept pieces in output order; where that leaves the source order, the probability of each link.

    A link belongs to the piece that it leaves.
    """

    pieces: list[int]
    links: dict[int, float]


def keep_order(tags: Sequence[int]) -> Order:
    """The kept pieces as they stand in the source."""
    return Order([i for i, tag in enumerate(tags) if tag in (KEEP, INSERT)], {})


def follow_points(
    model: EdiT5, encoded: Tensor, tag_ids: Tensor, mask: Tensor, tag_lists: Sequence[Sequence[int]], keep_bias: float
) -> list[Order]:
    """The output order of each sentence; encoded [B, S, d], tag_ids and mask [B, S], `tag_lists` the tags without </s>.

    The next kept piece gets `keep_bias`, like the tag KEEP.
    """
    scores = model.point(encoded, tag_ids, mask)  # [B, S, S]
    scores[:, :, 0] = -1e9  # nothing comes before the sentinel
    orders = [keep_order(tags) for tags in tag_lists]
    chains = [dict(pairwise([*order.pieces, len(t)])) for order, t in zip(orders, tag_lists, strict=True)]
    following = pad([[chain.get(i, 0) for i in range(tag_ids.shape[1])] for chain in chains], 0)  # [B, S]
    following = following.to(tag_ids.device)
    monotone = following[:, :, None]
    scores = scores.scatter(2, monotone, scores.gather(2, monotone) + min(keep_bias, MAX_KEEP_BIAS))
    leaves = ((scores.argmax(-1) != following) & (following > 0)).any(1).tolist()
    for n, moves in enumerate(leaves):
        if moves:
            orders[n] = _walk_links(scores[n], orders[n].pieces, chains[n])
    return orders


def _walk_links(scores: Tensor, kept: list[int], chain: dict[int, int]) -> Order:
    """The greedy order of one sentence and its links; scores [S, S], `chain` the successors in source order."""
    pieces = walk(scores.tolist(), kept)
    probabilities = scores.softmax(-1)
    end = chain[kept[-1]]
    moved = [(here, there) for here, there in pairwise([*pieces, end]) if chain[here] != there]
    return Order(pieces, {here: float(probabilities[here, there]) for here, there in moved})


def walk(scores: list[list[float]], kept: list[int]) -> list[int]:
    """Greedy walk from the sentinel over all kept pieces, each once; the end comes last."""
    left = set(kept[1:])
    order = [kept[0]]
    while left:
        row = scores[order[-1]]
        order.append(max(left, key=row.__getitem__))
        left.remove(order[-1])
    return order
