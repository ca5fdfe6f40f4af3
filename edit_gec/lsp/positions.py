r"""Offsets of a text <-> lines and characters, which the protocol counts from 0 in the units agreed on.

    >>> index = LineIndex("a\r\n🏠 go", "utf-16")
    >>> index.position(5), index.offset(1, 3)
    ((1, 3), 5)

Lines end with LF, CRLF or CR only; str.splitlines would also cut at form feeds and U+2028.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

_LINE_END = re.compile(r"\r\n|\n|\r")
_WIDE = {  # characters that count more than one unit
    "utf-8": re.compile(r"[^\x00-\x7f]"),
    "utf-16": re.compile(r"[^\x00-\uffff]"),
    "utf-32": re.compile(r"(?!)"),
}


class LineIndex:
    """Where the lines of one text begin and end. `encoding` (utf-8, utf-16 or utf-32) says what a character counts."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.encoding = encoding
        breaks = list(_LINE_END.finditer(text))
        self.starts = [0, *(found.end() for found in breaks)]
        self.ends = [*(found.start() for found in breaks), len(text)]  # without the line end
        self.wide: dict[int, tuple[list[int], list[int]]] = {}  # by line: where, and units more so far

    def position(self, offset: int) -> tuple[int, int]:
        """(line, character) of an offset in code points."""
        line = bisect_right(self.starts, offset) - 1
        return line, self._count_units(line, offset)

    def offset(self, line: int, character: int) -> int:
        """The offset in code points.

        A character after the end of its line means that end, a line after the last one the end of the text.
        """
        if line >= len(self.starts):
            return len(self.text)
        low = self.starts[line]
        high = self.ends[line]
        while low < high:  # the first place with so many units before it
            middle = (low + high) // 2
            if self._count_units(line, middle) < character:
                low = middle + 1
            else:
                high = middle
        return low

    def _count_units(self, line: int, offset: int) -> int:
        """The units from the beginning of a line to an offset in it."""
        if line not in self.wide:
            self.wide[line] = self._find_wide(line)
        places, more = self.wide[line]
        return offset - self.starts[line] + more[bisect_left(places, offset)]

    def _find_wide(self, line: int) -> tuple[list[int], list[int]]:
        found = list(_WIDE[self.encoding].finditer(self.text, self.starts[line], self.ends[line]))
        unit, codec = (1, self.encoding) if self.encoding == "utf-8" else (2, "utf-16-le")
        more = (len(each[0].encode(codec, "surrogatepass")) // unit - 1 for each in found)
        return [each.start() for each in found], [*accumulate(more, initial=0)]
