"""MDX: Markdown among the modules, tags and expressions of JavaScript, which are left out or stay.

import Tabs from "./tabs"            left out, up to the next blank line
<Tabs items={[1, 2]}>                a block's tag: left out, what is inside is read
We use <Version of="x" /> now.       inside a line it prints something: it is shown and stays
It has {items.length} parts.         shown, and stays; left out where it is a line of its own
"""

from __future__ import annotations

import re
from bisect import bisect_left

from edit_gec.text.markup import BREAK, LEFT_OUT, PROTECTED, mark, regions

_BLANK = re.compile(r"\n[ \t]*(?=\n)")
_MODULE = re.compile(r"^(?:import\b(?=[ \t]*[\w{*\"'])|export\b(?=[ \t]+[\w{*]))", re.MULTILINE)
_TOKEN = re.compile(r"\\[\s\S]|(?P<tag></?(?:[A-Za-z][\w.:-]*(?=[\s>/{])|(?=>)))|(?P<brace>\{)")
_BRACE = re.compile(r"\\[\s\S]|[{}]")
_BEFORE_BLOCK = frozenset(" \t>*+-0123456789.")  # what marks an item or a quotation
_BEHIND = re.compile(r"[^\S\n]*")
_ATTRIBUTES = re.compile(r"\s*(?:[\w:.@-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|(?=\{)))?|(?P<end>/?>)|(?P<brace>(?=\{)))")


def mark_mdx_regions(text: str) -> bytearray:
    """The flags of markup.regions for MDX: its modules, tags and expressions are flagged, too."""
    return _Reader(text, regions(text, indented_code=False)).read()


class _Reader:
    def __init__(self, text: str, flags: bytearray) -> None:
        self.text = text
        self.flags = flags
        self.blanks = [found.start() for found in _BLANK.finditer(text)]
        self.pairs: dict[int, int] = {}  # a brace -> the one that closes it
        opened: list[int] = []
        for found in _BRACE.finditer(text):
            if flags[found.start()]:
                continue
            if found[0] == "{":
                opened.append(found.start())
            elif found[0] == "}" and opened:
                self.pairs[opened.pop()] = found.start()

    def read(self) -> bytearray:
        self._mark_modules()
        at = 0
        while found := _TOKEN.search(self.text, at):
            at = found.end()
            if self.flags[found.start()]:
                continue
            if found["tag"]:
                at = self._tag(found.start(), found.end())
            elif found["brace"]:
                at = self._expression(found.start())
        return self.flags

    def _mark_modules(self) -> None:
        """Statements at the beginning of a block, which ends with a blank line."""
        before = -1  # the end of the last statement
        for found in _MODULE.finditer(self.text):
            start = found.start()
            above = self.text.rfind("\n", 0, max(start - 1, 0)) + 1 if start else 0
            opens = not self.text[above:start].strip() or self.flags[above] & (LEFT_OUT | BREAK)
            if start > before and opens and not self.flags[start] & LEFT_OUT:
                before = self._end_of_block(start)
                mark(self.flags, start, before, BREAK)

    def _end_of_block(self, at: int) -> int:
        index = bisect_left(self.blanks, at)
        return self.blanks[index] if index < len(self.blanks) else len(self.text)

    def _tag(self, start: int, at: int) -> int:
        """Flag a tag; return where to continue. What only looks like one, "a < b", is left to Markdown."""
        while found := _ATTRIBUTES.match(self.text, at):
            at = found.end()
            if found["end"]:
                self._mark(start, at, shown=found["end"] == "/>")
                return at
            if self.text[at : at + 1] == "{":
                if at not in self.pairs:
                    return self._leave_rest(start)
                at = self.pairs[at] + 1
        return start + 1

    def _expression(self, start: int) -> int:
        if start not in self.pairs:
            return self._leave_rest(start)
        end = self.pairs[start] + 1
        self._mark(start, end, shown=True)
        return end

    def _leave_rest(self, start: int) -> int:
        """Something is not closed: leave out the block that it is in."""
        end = self._end_of_block(start)
        index = bisect_left(self.blanks, start)
        mark(self.flags, self.blanks[index - 1] if index else 0, end, BREAK)
        return end

    def _mark(self, start: int, end: int, *, shown: bool) -> None:
        """A tag or expression: BREAK where a line begins or ends with it, else what it prints stays, if it is shown."""
        text = self.text
        begin = start
        while begin and text[begin - 1] in _BEFORE_BLOCK:
            begin -= 1
        before = begin > 0 and text[begin - 1] != "\n"
        found = _BEHIND.match(text, end)
        behind = found is not None and found.end() < len(text) and text[found.end()] != "\n"
        if "\n" in text[start:end] or not (before or behind) or (not shown and not (before and behind)):
            opens = start == 0 or text[start - 1] == "\n"
            mark(self.flags, max(start - 1, 0) if opens else start, end if behind else end + 1, BREAK)
        else:
            mark(self.flags, start, end, PROTECTED if shown else LEFT_OUT)
