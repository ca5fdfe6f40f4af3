"""Time against input: sizes, texts of a length, slopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from edit_gec.errors import InputError
from edit_gec.performance import scaling
from edit_gec.performance.peers import Run

if TYPE_CHECKING:
    from edit_gec.modeling.tokenizer import Tokens


def test_every_size_is_measured(tokens: Tokens, sentences: list[str]) -> None:
    firsts: set[str] = set()

    def one(given: Sequence[str]) -> list[str]:
        firsts.add(given[0])
        return [*given, ""]

    runs: dict[str, Run] = {"one": one, "none": lambda given: []}
    grid = scaling.Grid(counts=(1, 10), lengths=(5, 50), repeats=2)
    figures = scaling.measure_scaling(runs, sorted(sentences, key=len), tokens, grid)
    assert min(sentences, key=len) not in firsts, "the shortest first: in random order it is not, with this seed"
    assert [size for size, _ in figures["one"]["sentences"]] == [1, 10]
    assert [size for size, _ in figures["none"]["pieces"]] == [5, 50]
    assert set(figures["one"]["slope"]) == {"sentences", "pieces"}


def test_texts_have_a_length(tokens: Tokens, sentences: list[str]) -> None:
    for length in (1, 20, 60):
        made = scaling.text_of_length(sentences, length, tokens)
        before = made.rpartition(" ")[0]
        assert len(tokens.ids(before)) < length <= len(tokens.ids(made))
    with pytest.raises(InputError, match="less than the 500 pieces"):
        scaling.text_of_length(sentences, 500, tokens)


def test_the_slope_of_a_square_is_two() -> None:
    assert scaling.fit_slope([[1, 1.0], [10, 100.0]]) == pytest.approx(2.0)


def test_a_system_that_gets_too_slow_leaves(tokens: Tokens, sentences: list[str]) -> None:
    grid = scaling.Grid(counts=(1, 10, 100), lengths=(5, 6), longest_s=0.0)
    figures = scaling.measure_scaling({"one": lambda given: list(given)}, sentences, tokens, grid)
    assert [size for size, _ in figures["one"]["sentences"]] == [1]
