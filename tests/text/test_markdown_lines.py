"""Lines of Markdown that are not prose: which they are, that spans are in order, and that the search is linear."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from support.strategies import law, nasty
from support.timing import is_linear, repeat

from edit_gec.text.markdown_lines import find_extension_lines, find_indented_code


@pytest.mark.parametrize(
    "line",
    [
        *(
            ":::",
            ":::note[A title]",
            '!!! note "A title"',
            "??? tip",
            "???+ tip inline end",
            '=== "A tab"',
            "> [!NOTE]",
        ),
        *("[TOC]", "[[_TOC_]]", "import A from './a'", 'import "a.css";', "export default A", "{: .wide }"),
    ],
)
def test_a_whole_line_is_left_out(line: str) -> None:
    assert list(find_extension_lines(f"So\n{line}\nit is\n")) == [(3, 3 + len(line))]


@pytest.mark.parametrize("line", ["!!! We are late.", ":: it", "import it from there", "export it", "[!] it", "{it}"])
def test_prose_is_none(line: str) -> None:
    assert list(find_extension_lines(f"So\n{line}, and so\nit is\n")) == []


@law
@given(nasty)
def test_indented_code_is_whole_lines_in_order(text: str) -> None:
    spans = list(find_indented_code(text, is_markdown=True))
    assert all(start < end and (start == 0 or text[start - 1] == "\n") for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert set(find_indented_code(text, is_markdown=False)) <= set(spans)


@pytest.mark.parametrize("unit", ["    a\n\n", "a\n\n    b c\n", "    \n\n", '!!! a "', "[!a] ", "import a "])
def test_no_input_takes_quadratic_time(unit: str) -> None:
    def find(text: str) -> list[tuple[int, int]]:
        return [*find_extension_lines(text), *find_indented_code(text, is_markdown=True)]

    assert is_linear(find, repeat(unit))
