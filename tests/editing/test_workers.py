"""Batches on the cores: results in order, and the network's threads as they were afterwards."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from edit_gec.backends.network import is_small
from edit_gec.editing.workers import map_batches, use_threads
from edit_gec.modeling.config import EdiT5Config

SMALL = EdiT5Config(vocab_size=100, d_model=32, slots=8)
LARGE = EdiT5Config(vocab_size=32128, d_model=1024, slots=128)


class Threads(SimpleNamespace):
    """What map_batches knows of a network: its size, and its number of threads."""

    config: Any
    threads: int

    def get_threads(self) -> int:
        return self.threads

    def set_threads(self, count: int) -> None:
        self.threads = count


def network(config: EdiT5Config) -> Any:
    return Threads(config=config, threads=4)


def test_the_sizes_of_these_tests() -> None:
    assert is_small(SMALL) and not is_small(LARGE)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_results_are_in_order(workers: int) -> None:
    given = network(SMALL)
    assert list(map_batches(lambda n: n * n, range(20), workers, given)) == [n * n for n in range(20)]
    assert given.threads == 4


def test_several_batches_run_side_by_side_on_one_thread_each() -> None:
    given = network(LARGE)
    together = threading.Barrier(2, timeout=30)

    def work(_: int) -> int:
        together.wait()  # breaks unless two batches run at once
        return int(given.get_threads())

    assert list(map_batches(work, range(2), 2, given)) == [1, 1]
    assert given.threads == 4


@pytest.mark.parametrize(("config", "threads"), [(SMALL, 1), (LARGE, 4)])
def test_a_single_batch_of_a_large_model_has_all_threads(config: EdiT5Config, threads: int) -> None:
    given = network(config)
    found = map_batches(lambda _: given.get_threads(), ["only"], 2, given)
    assert next(found) == threads
    assert given.threads == 4, "the caller's own work between results has all threads"
    assert list(found) == []


def test_threads_come_back_after_an_error() -> None:
    given = network(LARGE)
    with pytest.raises(ZeroDivisionError), use_threads(given, 2):
        assert given.threads == 2
        raise ZeroDivisionError
    assert given.threads == 4
    for batches in ([0], [1, 0]):
        with pytest.raises(ZeroDivisionError):
            list(map_batches(lambda n: 1 / n, batches, 2, given))
        assert given.threads == 4
