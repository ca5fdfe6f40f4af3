"""Blocks: what a reader of a line-based format says of the lines, written as flags of characters.

A reader goes through the lines and says which begin a block of prose, which go on with it and which are left out. When
a block ends, its text is read again for inline markup, so that emphasis and links may span its lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import Any, ClassVar

from edit_gec.text.markup import ASIDE, BREAK, FOLD, FRAGMENT, LEFT_OUT, Flags, emphasis, mark
from edit_gec.text.parts import line_end, line_spans

BLANK = r"\n[ \t]*\n\s*"  # what ends a paragraph
_LINE_BREAK = re.compile(r"(?<=\S)[ \t]*\n")
_BRACKETS = re.compile(r"\\.|[\[\]]")
_END_MARKS = frozenset(".!?…:)\"'”’")


class Blocks:
    """The lines of a text, the flags of its characters, and the block that is open."""

    def __init__(self, text: str, inline: Callable[[str], bytearray]) -> None:
        """`inline` gives the flags for the text of one block."""
        self.text = text
        self.flags = bytearray(len(text))
        self.lines = line_spans(text)
        self._inline = inline
        self._span: tuple[int, int] | None = None
        self.is_fragment = False

    def open(self, start: int, end: int, *, fragment: bool = False) -> None:
        """Close the block that is open; begin another with text[start:end]."""
        self.close()
        if self.text[start - 1 : start] == "\n":
            mark(self.flags, start - 1, start, BREAK)
        self._span = (start, end)
        self.is_fragment = fragment

    def open_after(self, line: int, start: int, end: int, *, fragment: bool = False) -> None:
        """Leave out text[line:start], a mark; begin a block after it."""
        self.open(line, line)
        mark(self.flags, line, start, BREAK)
        self.open(start, end, fragment=fragment)

    def extend(self, end: int) -> bool:
        """Take text up to `end` into the open block. False where none is open."""
        if self._span is None:
            return False
        self._span = self._span[0], end
        return True

    def close(self) -> None:
        """Flag the inline markup of the open block."""
        if self._span is None:
            return
        start, end = self._span
        self._span = None
        for at, flag in enumerate(self._inline(self.text[start:end]), start):
            self.flags[at] |= flag
        if self.is_fragment:
            mark(self.flags, start, end, FRAGMENT)

    def leave_out(self, start: int, end: int) -> None:
        """Close the block that is open; text[start:end] is not prose."""
        self.close()
        mark(self.flags, start, end, LEFT_OUT)

    def leave_out_lines(self, first: int, end: int) -> None:
        """Close the block that is open; lines[first:end] are not prose."""
        if first < end:
            self.leave_out(self.lines[first][0], self.lines[end - 1][1])

    def cells(self, index: int, bar: re.Pattern[str]) -> None:
        """Read a line of a table: what is before the first bar belongs to the open block, each bar begins another."""
        start, end = self.lines[index]
        at: int | None = None
        for found in bar.finditer(self.text, start, end):
            if at is None:
                self.extend(found.start())
            else:
                self.open(at, found.start(), fragment=True)
            self.close()
            mark(self.flags, *found.span(), BREAK)
            at = found.end()
        if at is not None:
            self.open(at, end, fragment=True)


class LineReader:
    """Reads a text line after line; RULES are tried in order on each.

    A rule gets the number of a line and its text. It returns the number of the line to go on with, or the same number
    where it does not apply; the last rule always applies.
    """

    RULES: ClassVar[tuple[Callable[[Any, int, str], int], ...]] = ()

    def __init__(self, text: str, inline: Callable[[str], bytearray]) -> None:
        self.blocks = Blocks(text, inline)
        self.lines = [text[start:end].rstrip() for start, end in self.blocks.lines]

    def read(self, first: int = 0) -> bytearray:
        """The flags of all characters; the lines before `first` have theirs."""
        number = first
        while number < len(self.lines):
            number = next(after for rule in self.RULES if (after := rule(self, number, self.lines[number])) > number)
        self.blocks.close()
        return self.blocks.flags

    def blank(self, number: int, line: str) -> int:
        """A blank line, which ends a block."""
        if line:
            return number
        self.blocks.close()
        self.forget_block()
        return number + 1

    def leave_out(self, first: int, end: int) -> int:
        """Lines that are not prose; returns `end`."""
        self.blocks.leave_out_lines(first, end)
        self.forget_block()
        return end

    def forget_block(self) -> None:
        """Called when a block has ended: for what the reader of a format remembers of it."""


class TokenReader:
    """Reads a text token after token: each group of TOKEN has a method of its name, which flags what was found and
    returns where to continue.
    """

    TOKEN: ClassVar[re.Pattern[str]]

    def __init__(self, text: str) -> None:
        self.text = text
        self.flags = Flags(len(text))
        self.blanks = [found.start() for found in re.finditer(BLANK, text)]
        self.block = 0  # where the block of prose began that is being read
        self.fragment = False  # need it not be whole sentences?

    def read_tokens(self, at: int, stop: int) -> Flags:
        """Flag text[at:stop]; a line break in it ends no block."""
        for line_break in _LINE_BREAK.finditer(self.text):
            mark(self.flags, *line_break.span(), FOLD)
        while found := self.TOKEN.search(self.text, at, stop):
            at = max(getattr(self, found.lastgroup or "")(found), found.end())
        self.end_block(stop)
        return self.flags

    def blank(self, found: re.Match[str]) -> int:
        """A blank line ends a block."""
        self.end_block(found.start())
        self.block = found.end()
        return found.end()

    def hidden(self, found: re.Match[str]) -> int:
        """A mark that is left out."""
        mark(self.flags, *found.span(), LEFT_OUT)
        return found.end()

    def new_line(self, found: re.Match[str]) -> int:
        """A forced line break."""
        self.fragment = True
        return self.hidden(found)

    def end_block(self, end: int) -> None:
        """End the block that is being read."""
        if self.fragment:
            mark(self.flags, self.block, end, FRAGMENT)
        self.fragment = False
        self.block = end

    def break_block(self, start: int, end: int, *, fragment: bool = False) -> int:
        """Leave out text[start:end]; another block follows."""
        self.end_block(start)
        mark(self.flags, start, end, BREAK)
        self.fragment = fragment
        self.block = end
        return end

    def hide(self, start: int, end: int) -> int:
        """Leave out text[start:end] and, where a mark or a blank follows, the blank before it."""
        if self.text[end : end + 1] in " \n.,;:)!?]":
            while start > self.block and self.text[start - 1] in " \t~":
                start -= 1
        mark(self.flags, start, end, LEFT_OUT)
        return end

    def mark_aside(self, opening: int, closing: int) -> int:
        """text[opening:closing] is a text inside another one, up to the bracket that closes it."""
        mark(self.flags, opening, closing, ASIDE)
        mark(self.flags, opening, closing, FRAGMENT)
        mark(self.flags, closing, closing + 1, LEFT_OUT)
        return opening

    def find_blank(self, at: int) -> int:
        """The first blank line from `at` on, which ends its paragraph, or the end of the text."""
        index = bisect_left(self.blanks, at)
        return self.blanks[index] if index < len(self.blanks) else len(self.text)

    def is_alone(self, start: int) -> bool:
        """Is there nothing before text[start] on its line?"""
        return not self.text[self.text.rfind("\n", 0, start) + 1 : start].strip()

    def find_line_end(self, at: int) -> int:
        """The end of the line of text[at]."""
        return line_end(self.text, at)


class LineOffsets:
    """Where lines of each kind stand, to find the next one without a search."""

    def __init__(self) -> None:
        self._lines: dict[str, list[int]] = {}

    def add(self, kind: str, line: int) -> None:
        """Lines come in order."""
        self._lines.setdefault(kind, []).append(line)

    def next(self, kind: str, line: int) -> int | None:
        """The first line of this kind from `line` on."""
        lines = self._lines.get(kind, [])
        at = bisect_left(lines, line)
        return lines[at] if at < len(lines) else None


Token = Callable[[str, bytearray, "re.Match[str]", "dict[int, int]"], int]


def mark_inline(view: str, tokens: re.Pattern[str], read: Token, marks: re.Pattern[str]) -> bytearray:
    """Flags for the text of one block. `tokens` finds inline markup; what its group "hidden" matches is left out.

    `read` flags every other token, with the pairs of `matching_brackets`, and returns where to continue. `marks` are
    those of emphasis.
    """
    flags = bytearray(len(view))
    pairs = matching_brackets(view)
    at = 0
    while found := tokens.search(view, at):
        start, end = found.span()
        if flags[start]:
            at = start + 1  # closes what was opened before
        elif found["hidden"]:
            mark(flags, start, end, LEFT_OUT)
            at = end
        else:
            at = read(view, flags, found, pairs)
    emphasis(view, flags, marks)
    return flags


def matching_brackets(view: str) -> dict[int, int]:
    """The place of "]" for each "[" that has one; "\\[" and "\\]" are none."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for found in _BRACKETS.finditer(view):
        if found[0] == "[":
            opened.append(found.start())
        elif found[0] == "]" and opened:
            pairs[opened.pop()] = found.start()
    return pairs


def mark_footnote(view: str, flags: bytearray, start: int, body: int, end: int) -> None:
    """Flag the footnote view[start : end + 1] whose text is view[body:end].

    Behind the end of a sentence it is a paragraph of its own; inside one it is left out, so that the sentence is whole.
    """
    if view[start - 1 : start] in _END_MARKS:
        mark(flags, start, body, BREAK)
        mark(flags, end, end + 1, BREAK)
    else:
        mark(flags, start, end + 1, LEFT_OUT)
