"""Which sentences are computed together: as many as pay for themselves, and no more padding than that.

A batch is filled up to its longest sentence, and what is filled up is computed in vain. A batch has a price of its own,
too, however little there is in it. So sentences stand in the order of their length, and are cut into batches where all
of them together cost least:

    lengths    190 42 41 40 12 12 11 10 9
    batches    [190] [42 41 40] [12 12 11 10 9]
"""

from __future__ import annotations

from collections.abc import Sequence

CPU_BATCH_OVERHEAD = (
    64  # of a batch, in pieces: on a core edit5-mini takes 7 ms for one, however short, and 0.13 ms for a piece
)
GPU_BATCH_OVERHEAD = 1e6  # the price on a GPU, where a batch takes as long whatever is in it: their number comes first
ATTENTION_KNEE = 300  # pieces in a sentence at which attention makes each of them cost twice as much


def plan_batches(lengths: Sequence[int], most: int, price: float = CPU_BATCH_OVERHEAD) -> list[list[int]]:
    """Batches of these lengths, the longest first, none of more than `most`: the indices of each.

    Dynamic programming over the first n in the order of length: with the last batch that makes them cheapest. It takes
    20 us for each.

    >>> plan_batches([12, 190, 11, 42, 9, 41, 12, 40, 10], most=32)
    [[1], [3, 5, 7], [0, 6, 2, 8, 4]]
    """
    order = sorted(range(len(lengths)), key=lambda n: -lengths[n])
    cost, begins = [0.0], [0]  # of the first n: what they cost, and where their last batch begins
    for end in range(1, len(order) + 1):
        found = []
        for begin in range(max(0, end - most), end):
            longest = lengths[order[begin]]
            found.append((cost[begin] + price + (end - begin) * longest * (1 + longest / ATTENTION_KNEE), begin))
        least, begin = min(found)
        cost.append(least)
        begins.append(begin)
    batches, end = [], len(order)
    while end:
        batches.append(order[begins[end] : end])
        end = begins[end]
    return batches[::-1]
