r"""Offsets of a text <-> lines and characters, as the protocol counts them: from 0, in the units that were agreed on.

    >>> lines = Lines("a\r\n🏠 go", "utf-16")
    >>> lines.position(5), lines.offset(1, 3)
    ((1, 3), 5)

Lines end with LF, CRLF or CR and with nothing else; str.splitlines would also cut at form feeds and U+2028.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|\n|\r")
_WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}  # bytes of a unit


class Lines:
    """One text, ready to convert many places. `encoding` is utf-8, utf-16 or utf-32."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text, self.width = text, _WIDTHS[encoding]
        self.codec = encoding if self.width == 1 else f"{encoding}-le"
        breaks = list(_LINE_END.finditer(text))
        self.starts = [0, *(found.end() for found in breaks)]
        self.ends = [*(found.start() for found in breaks), len(text)]  # before the line's end

    def position(self, offset: int) -> tuple[int, int]:
        """(line, character) of an offset in code points."""
        line = bisect_right(self.starts, offset) - 1
        return line, self._units(self.text[self.starts[line] : offset])

    def offset(self, line: int, character: int) -> int:
        """The offset in code points; behind a line's end is its end, behind the last line the end of the text."""
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.ends[line]
        if self.width == 4 or self.text[start:end].isascii():
            return min(start + character, end)
        low, high = start, end
        while low < high:  # the first place with so many units before it
            middle = (low + high) // 2
            if self._units(self.text[start:middle]) < character:
                low = middle + 1
            else:
                high = middle
        return low

    def _units(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode(self.codec, "surrogatepass")) // self.width
