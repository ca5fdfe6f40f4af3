r"""Offsets of a text <-> lines and characters, which the protocol counts from 0 in the units agreed on.

    >>> index = LineIndex("a\r\n🏠 go", "utf-16")
    >>> index.position(5), index.offset(1, 3)
    ((1, 3), 5)

Lines end with LF, CRLF or CR only; str.splitlines would also cut at form feeds and U+2028.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|\n|\r")
_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


class LineIndex:
    """Where the lines of one text begin and end. `encoding` (utf-8, utf-16 or utf-32) says what a character counts."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.unit_bytes = _UNIT_BYTES[encoding]
        self.codec = encoding if self.unit_bytes == 1 else f"{encoding}-le"
        breaks = list(_LINE_END.finditer(text))
        self.starts = [0, *(found.end() for found in breaks)]
        self.ends = [*(found.start() for found in breaks), len(text)]  # without the line end

    def position(self, offset: int) -> tuple[int, int]:
        """(line, character) of an offset in code points."""
        line = bisect_right(self.starts, offset) - 1
        return line, self._count_units(self.text[self.starts[line] : offset])

    def offset(self, line: int, character: int) -> int:
        """The offset in code points.

        A character after the end of its line means that end, a line after the last one the end of the text.
        """
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.ends[line]
        if self.unit_bytes == 4 or self.text[start:end].isascii():
            return min(start + character, end)
        low = start
        high = end
        while low < high:  # the first place with so many units before it
            middle = (low + high) // 2
            if self._count_units(self.text[start:middle]) < character:
                low = middle + 1
            else:
                high = middle
        return low

    def _count_units(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode(self.codec, "surrogatepass")) // self.unit_bytes
