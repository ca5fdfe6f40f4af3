"""Rows of cells as text: columns of equal width for a terminal, or Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIGURE = re.compile(r"[+-]?\d")


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns of equal width; what looks like text on the left, figures on the right.

    >>> align_columns([["system", "ms"], ["t5", "21.5"], ["edit5", "3"]])
    ['system    ms', 't5      21.5', 'edit5      3']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = [not any(map(_FIGURE.match, column)) for column in zip(*rows[1:], strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(row, widths, words, strict=True)
        ).rstrip()
        for row in rows
    ]


def to_markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its head, the first column text, the others figures.

    >>> print(to_markdown([["system", "ms"], ["t5", "21.5"]]), end="")
    | system | ms |
    | --- | ---: |
    | t5 | 21.5 |
    """
    head, *others = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *others]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
