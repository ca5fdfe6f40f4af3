"""Tables for people: aligned columns, Markdown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edit_gec.text.tables import align_columns, to_markdown

CELLS = st.text(alphabet="ab1.5-", min_size=1, max_size=6)
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=2, max_size=5)
)


@given(ROWS)
def test_every_cell_stands_in_its_column(rows: list[list[str]]) -> None:
    lines = align_columns(rows)
    assert [line.split() for line in lines] == rows
    at = 0
    for column in zip(*rows, strict=True):
        width = max(map(len, column))
        assert [line[at : at + width].strip() for line in lines] == list(column)
        at += width + 2


def test_figures_stand_on_the_right() -> None:
    rows = [["system", "delta", "P"], ["none", "", "-"], ["harper", "+6.71 (p 0.001)", "23.33"]]
    assert align_columns(rows) == [
        "system            delta      P",
        "none                         -",
        "harper  +6.71 (p 0.001)  23.33",
    ]
    assert to_markdown([["system", "ms"], ["t5", "21.5"]]) == "| system | ms |\n| --- | ---: |\n| t5 | 21.5 |\n"
