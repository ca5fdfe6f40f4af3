"""Batches: each sentence once, no more than allowed, at the least cost there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from edit_gec.backends.torch_network import CPU_BATCH_OVERHEAD, GPU_BATCH_OVERHEAD
from edit_gec.editing.batching import ATTENTION_KNEE, plan_batches

lengths = st.lists(st.integers(1, 200), max_size=60)


def cost(batches: Sequence[Sequence[int]]) -> float:
    """Of batches of lengths."""
    return sum(CPU_BATCH_OVERHEAD + len(batch) * max(batch) * (1 + max(batch) / ATTENTION_KNEE) for batch in batches)


def every_way(ordered: list[int], most: int) -> Iterator[list[list[int]]]:
    """All ways to cut a list into pieces of at most so many."""
    if not ordered:
        yield []
    for size in range(1, min(most, len(ordered)) + 1):
        for rest in every_way(ordered[size:], most):
            yield [ordered[:size], *rest]


@given(lengths, st.integers(1, 40))
def test_each_once_the_longest_first(given_lengths: list[int], most: int) -> None:
    batches = plan_batches(given_lengths, most, CPU_BATCH_OVERHEAD)
    assert sorted(n for batch in batches for n in batch) == list(range(len(given_lengths)))
    assert all(0 < len(batch) <= most for batch in batches)
    ordered = [given_lengths[n] for batch in batches for n in batch]
    assert ordered == sorted(given_lengths, reverse=True)


@given(st.lists(st.integers(1, 200), max_size=9), st.integers(1, 9))
def test_no_way_is_cheaper(given_lengths: list[int], most: int) -> None:
    found = cost([[given_lengths[n] for n in batch] for batch in plan_batches(given_lengths, most, CPU_BATCH_OVERHEAD)])
    least = min(cost(way) for way in every_way(sorted(given_lengths, reverse=True), most))
    assert abs(found - least) <= 1e-9 * least


def test_one_long_sentence_does_not_fill_up_the_others() -> None:
    assert plan_batches([190, *[10] * 31], 32, CPU_BATCH_OVERHEAD) == [[0], list(range(1, 32))]
    assert len(plan_batches([20] * 64, 32, CPU_BATCH_OVERHEAD)) == 2
    assert [len(batch) for batch in plan_batches([190, *[10] * 40], 32, GPU_BATCH_OVERHEAD)] == [9, 32]
