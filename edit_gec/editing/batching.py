"""Which sentences are computed together: the batches that cost least in all.

A batch is padded to its longest sentence, and padding costs time. Each batch also has an overhead of its own, however
small it is. So sentences are sorted by length and cut into batches whose total cost is least:

    lengths    190 42 41 40 12 12 11 10 9
    batches    [190] [42 41 40] [12 12 11 10 9]
"""

from __future__ import annotations

from collections.abc import Sequence

ATTENTION_KNEE = 300  # pieces in a sentence at which attention doubles the cost of a piece


def plan_batches(lengths: Sequence[int], most: int, overhead: float) -> list[list[int]]:
    """Indices of the sentences of each batch, the longest sentences first, at most `most` in a batch.

    lengths and overhead (Network.batch_overhead) are in pieces.
    Dynamic programming over the sentences in the order of length; 20 us for each.

    >>> plan_batches([12, 190, 11, 42, 9, 41, 12, 40, 10], most=32, overhead=64)
    [[1], [3, 5, 7], [0, 6, 2, 8, 4]]
    """
    order = sorted(range(len(lengths)), key=lambda n: -lengths[n])
    cost = [0.0]  # of the first n sentences
    begins = [0]  # of their last batch
    for end in range(1, len(order) + 1):
        found = []
        for begin in range(max(0, end - most), end):
            longest = lengths[order[begin]]
            found.append((cost[begin] + overhead + (end - begin) * longest * (1 + longest / ATTENTION_KNEE), begin))
        least, begin = min(found)
        cost.append(least)
        begins.append(begin)
    batches = []
    end = len(order)
    while end:
        batches.append(order[begins[end] : end])
        end = begins[end]
    return batches[::-1]
