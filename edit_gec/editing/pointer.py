"""The pointer: in which order the kept pieces stand in the output.

Where the best successor of every kept piece is the next kept piece, the order is that of the source and nothing is
walked: that holds for nearly all sentences. Elsewhere a greedy walk from the sentinel takes each piece once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from edit_gec.editing.tags import MAX_KEEP_BIAS, softmax
from edit_gec.modeling.config import NEGATIVE
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


def follow_points(scores: Sequence[np.ndarray], tag_lists: Sequence[Sequence[int]], keep_bias: float) -> list[Order]:
    """The output order of each sentence; its scores [S, S] or more (Network.point), and its tags without </s>.

    The next kept piece gets `keep_bias`, like the tag KEEP.
    """
    return [_follow(*each, keep_bias) for each in zip(scores, tag_lists, strict=True)]


def _follow(scores: np.ndarray, tags: Sequence[int], keep_bias: float) -> Order:
    order = keep_order(tags)
    kept = np.array(order.pieces)
    following = np.array([*order.pieces[1:], len(tags)])
    scores = scores[: len(tags) + 1, : len(tags) + 1].copy()
    scores[:, 0] = NEGATIVE  # nothing comes before the sentinel
    scores[kept, following] += min(keep_bias, MAX_KEEP_BIAS)
    if (scores[kept].argmax(-1) == following).all():
        return order
    return _walk_links(scores, order.pieces, dict(zip(order.pieces, following.tolist(), strict=True)))


def _walk_links(scores: np.ndarray, kept: list[int], chain: dict[int, int]) -> Order:
    """The greedy order of one sentence and its links; scores [S, S], `chain` the successors in source order."""
    pieces = walk(scores.tolist(), kept)
    probabilities = softmax(scores)
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
