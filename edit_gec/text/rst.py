"""reStructuredText: which characters are prose, by docutils' rules and Sphinx's directives.

    .. note:: Call `the office        LEFT_OUT ".. note:: ", "`", " <x.html>`_";  FRAGMENT nothing
       <x.html>`_ first::             PROTECTED the first colon, LEFT_OUT the second

           $ call                     LEFT_OUT: a literal block

Everything is left out until a block is known to be prose. Blocks are found line by line: a list mark is taken off its
line and the rest is read as a block again; directives with prose in them only lose their first lines, the others are
skipped as a whole. Tables are left out, because a longer word breaks the columns.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from edit_gec.text.markup import BREAK, FRAGMENT, LEFT_OUT, PROTECTED, mark
from edit_gec.text.paragraphs import spans_between_breaks


class _Head(Enum):
    """What stands in the first lines of a directive whose content is prose."""

    TEXT = "the beginning of the content"
    TITLE = "a title"
    VERSION = "a version, then the content"
    ARGUMENT = "names or files"


_DIRECTIVES = {
    _Head.TEXT: "note warning tip important hint caution danger attention error seealso todo header footer compound "
    "highlights epigraph pull-quote impl-detail",
    _Head.TITLE: "admonition topic sidebar rubric centered table list-table",
    _Head.VERSION: "versionadded versionchanged versionremoved deprecated deprecated-removed",
    _Head.ARGUMENT: "figure container only class rst-class cssclass ifconfig hlist glossary module "
    "function method classmethod staticmethod decorator decoratormethod exception attribute data property coroutine "
    "option cmdoption envvar describe object confval setting directive role macro type struct member var "
    "coroutinefunction coroutinemethod abstractmethod awaitablefunction awaitablemethod pdbcommand opcode",
}
_HEADS = {name: head for head, names in _DIRECTIVES.items() for name in names.split()}
_DOMAIN = re.compile(r"(?:py|c|cpp|js|rst|std):")
_NO_PROSE = frozenset(  # fields whose bodies are types and data
    "type rtype vartype kwtype orphan tocdepth nocomments nosearch author authors date version revision copyright "
    "contact address organization status license source url keywords".split()
)

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\Z")
_EXPLICIT = re.compile(r"\.\.(?:[ \t]+|\Z)")
_FOOTNOTE = re.compile(r"\[(?:\d+|\*|#?[\w.+:-]*)\](?:[ \t]+|\Z)")
_DIRECTIVE = re.compile(r"(?P<name>\w[\w.+:-]*?)[ \t]?::(?:[ \t]+|\Z)")
_FIELD = r":(?![: ])(?P<name>(?:[^:\\]|\\.|:(?![ \t`]|\Z))*)(?<! ):(?:[ \t]+|\Z)"
_IS_FIELD = re.compile(_FIELD)
_OPTION = (
    r"(?:-[A-Za-z0-9](?: ?(?:[A-Za-z][\w-]*|<[^<>]+>))?|(?:--|/)[A-Za-z0-9][\w-]*(?:[ =](?:[A-Za-z][\w-]*|<[^<>]+>))?)"
)
_MARK = re.compile(
    r"(?P<bullet>[-*+•‣⁃](?:[ \t]+|\Z))"
    r"|(?P<enumerator>\(?(?P<number>\d{1,9}|[A-Za-z]|[ivxlcdm]{1,9}|[IVXLCDM]{1,9}|\#)[.)](?:[ \t]+|\Z))"
    r"|(?P<bar>\|(?:[ \t]+|\Z))"
    rf"|(?P<field>{_FIELD})"
    rf"|(?P<option>{_OPTION}(?:, {_OPTION})*(?:[ \t]{{2,}}|[ \t]*\Z))"
    r"|(?P<attribution>(?:---?|—)[ \t]+)"
)
_CODE_LINE = re.compile(  # what is not prose as a whole, and ends a paragraph even where docutils would go on
    r"(?:>>>(?:[ \t]|\Z)|__(?:[ \t]|\Z)|\{[%#].*[%#]\}\Z|\.\.\S*::|=+[ =]*\Z|(?!::\Z)([!-/:-@\[-`{-~])\1+\Z)"
)
_GRID_TOP = re.compile(r"\+[-=+]{2,}\+\Z")
_TABLE_TOP = re.compile(r"=+(?: +=+)+\Z")
_TABLE_BORDER = re.compile(r"=+[ =]*\Z")
_CLASSIFIER = re.compile(r"[ \t]:[ \t]")


class _Line(NamedTuple):
    """The characters of a line without outer white space, and the column where they begin. A blank line has none."""

    start: int
    end: int
    column: int


class _Hanging(NamedTuple):
    """Text after a mark, with the lines after it that are indented more than the mark."""

    at: int = -1  # index of its first line
    mark: int = 0  # column of the mark
    code: int = 0  # column that a literal block after it goes beyond
    fragment: bool = False


def mark_rst(text: str) -> bytearray:
    """Flags (markup.py) for every character of a reStructuredText document."""
    reader = _Reader(text)
    at = 0
    while at < len(reader.lines):
        at = reader.block(at)
    return reader.flags


def _column(text: str, start: int, end: int, column: int) -> int:
    """The column of text[end] if that of text[start] is `column`; tabs go to the next multiple of 8."""
    if text.find("\t", start, end) < 0:
        return column + end - start
    for character in text[start:end]:
        column = column // 8 * 8 + 8 if character == "\t" else column + 1
    return column


def _read_lines(text: str) -> list[_Line]:
    lines = []
    for start, end in spans_between_breaks(text):
        line = text[start:end].rstrip()
        indent = len(line) - len(line.lstrip())
        lines.append(_Line(start + indent, start + len(line), _column(text, start, start + indent, 0)))
    return lines


class _Reader:
    """Reads the blocks of a document; each method gets the index of a line and returns where to continue."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flags = bytearray([LEFT_OUT]) * len(text)
        self.lines = _read_lines(text)
        self.hanging = _Hanging()
        self.caption: int | None = None  # the next text is a fragment if it is indented more than this
        self.glossary: tuple[int, int | None] | None = None  # columns of the directive and of its terms

    # --- blocks ---------------------------------------------------------------------------------------------------

    def block(self, at: int) -> int:
        """Read the block that begins in a line, or the mark before it."""
        line = self.lines[at]
        if line.start >= line.end:
            return at + 1
        if self._match(_EXPLICIT, at):
            return self._explicit(at)
        if self._is_term(at):
            return at + 1
        if self._match(_GRID_TOP, at):
            return self._run(at, "+|")
        if self._match(_TABLE_TOP, at):
            return self._simple_table(at)
        if self._match(_CODE_LINE, at):
            return self._code_line(at)
        found = self._match(_MARK, at)
        if found and (found.lastgroup != "enumerator" or self._is_enumerated(at)):
            return self._marked(at, found)
        if self.hanging.at != at and self._is_adorned(at + 1, line):
            self._prose([line], fragment=True)
            return at + 2
        if self._match(_ADORNMENT, at) and not self.text.startswith("::", line.start):
            return at + 1
        return self._paragraph(at)

    def _match(self, pattern: re.Pattern[str], at: int) -> re.Match[str] | None:
        return pattern.match(self.text, self.lines[at].start, self.lines[at].end)

    def _is_blank(self, at: int) -> bool:
        return self.lines[at].start >= self.lines[at].end

    def _is_within(self, at: int, column: int) -> bool:
        """Is there a line with text that is indented more than `column`?"""
        return at < len(self.lines) and not self._is_blank(at) and self.lines[at].column > column

    def _skip(self, at: int, column: int) -> int:
        """The line after those that are blank or indented more than `column`."""
        while at < len(self.lines) and (self._is_blank(at) or self.lines[at].column > column):
            at += 1
        return at

    def _run(self, at: int, beginnings: str = "") -> int:
        """The line after those that follow each other without a blank one and begin with one of the characters."""
        while at < len(self.lines) and not self._is_blank(at):
            if beginnings and self.text[self.lines[at].start] not in beginnings:
                break
            at += 1
        return at

    def _hang(self, at: int, start: int, code: int | None, fragment: bool) -> int:
        """Take what stands before `start` off a line; what is left is text that hangs on it."""
        line = self.lines[at]
        column = _column(self.text, line.start, start, line.column)
        self.lines[at] = _Line(start, line.end, column)
        if start < line.end:
            self.hanging = _Hanging(at, line.column, column if code is None else code, fragment)
        elif fragment:
            self.caption = line.column
        return at

    def _code_line(self, at: int) -> int:
        line = self.lines[at]
        if self.text.startswith(">>>", line.start):
            return self._run(at)
        if self.text[line.start] in "_.":  # a target, or a directive without its blank
            return self._skip(at + 1, line.column)
        return self._overlined(at)

    def _overlined(self, at: int) -> int:
        """The title between two lines like this one; where there is none, this line alone."""
        over = self.lines[at]
        if at + 2 < len(self.lines) and not self._is_blank(at + 1):
            under = self.lines[at + 2]
            length = over.end - over.start
            if self._match(_ADORNMENT, at + 2) and (under.end - under.start, under.column) == (length, over.column):
                if self.text[under.start] == self.text[over.start] and not self._match(_ADORNMENT, at + 1):
                    self._prose([self.lines[at + 1]], fragment=True)
                    return at + 3
        return at + 1

    def _is_adorned(self, at: int, title: _Line) -> bool:
        """Does a line underline the title above it?"""
        if at >= len(self.lines) or self._is_blank(at) or not self._match(_ADORNMENT, at):
            return False
        line = self.lines[at]
        length = line.end - line.start
        return line.column == title.column and length >= min(4, title.end - title.start) and length > 1

    def _simple_table(self, at: int) -> int:
        """The line after a table: after its third rule, or the second with a blank line after it."""
        column = self.lines[at].column
        rules = 0
        for end in range(at + 1, len(self.lines)):
            if self._is_blank(end):
                continue
            if self.lines[end].column < column:
                break
            if self.lines[end].column == column and self._match(_TABLE_BORDER, end):
                rules += 1
                if rules == 2 or end + 1 == len(self.lines) or self._is_blank(end + 1):
                    return end + 1
        return self._run(at)

    def _is_enumerated(self, at: int) -> bool:
        """An item's next line is indented, blank or the next item; "1986. It was" / "cold." is a paragraph."""
        if at + 1 >= len(self.lines) or self._is_blank(at + 1):
            return True
        line = self.lines[at]
        after = self.lines[at + 1]
        column = self.hanging.mark if self.hanging.at == at else line.column
        if after.column != column:
            return True
        found = self._match(_MARK, at + 1)
        return found is not None and found.lastgroup == "enumerator"

    def _marked(self, at: int, found: re.Match[str]) -> int:
        """Take a mark off a line: of a list, a field, an option, an attribution, a line of verse."""
        line = self.lines[at]
        kind = found.lastgroup
        if kind == "bar" and self.text[line.end - 1] == "|":
            return at + 1
        if kind == "field" and found["name"].partition(" ")[0].lower() in _NO_PROSE:
            return self._skip(at + 1, line.column)
        listed = kind in ("bullet", "enumerator")
        return self._hang(at, found.end(), None if listed else line.column, fragment=True)

    # --- explicit markup ------------------------------------------------------------------------------------------

    def _explicit(self, at: int) -> int:
        """Footnotes, directives; targets, substitutions and comments are skipped."""
        line = self.lines[at]
        found = self._match(_EXPLICIT, at)
        start = found.end() if found else line.end
        if footnote := _FOOTNOTE.match(self.text, start, line.end):
            return self._hang(at, footnote.end(), line.column, fragment=False)
        if directive := _DIRECTIVE.match(self.text, start, line.end):
            return self._directive(at, directive["name"].lower(), directive.end())
        return self._skip(at + 1, line.column)

    def _directive(self, at: int, name: str, start: int) -> int:
        """Go on with the content of a directive where it is prose."""
        head = _HEADS.get(_DOMAIN.sub("", name, 1))
        line = self.lines[at]
        if head is None:
            return self._skip(at + 1, line.column)
        options = False
        following = at + 1
        while self._is_within(following, line.column):
            options = options or head is _Head.ARGUMENT or self._match(_IS_FIELD, following) is not None
            if options:
                self.lines[following] = _Line(self.lines[following].end, self.lines[following].end, 0)
            following += 1
        if head is _Head.ARGUMENT:
            if name == "figure":
                self.caption = line.column
            elif name == "glossary":
                self.glossary = line.column, None
            return following
        for _ in range(0 if head is not _Head.VERSION else 2 if name == "deprecated-removed" else 1):
            version = re.compile(r"\S*[ \t]*").match(self.text, start, line.end)
            start = version.end() if version else start
        if start >= line.end:
            return at + 1
        return self._hang(at, start, line.column, fragment=head is _Head.TITLE)

    def _is_term(self, at: int) -> bool:
        """Is a line a term of a glossary? Roles refer to it, so it must stay."""
        if self.glossary is None or self.hanging.at == at:
            return False
        directive, terms = self.glossary
        column = self.lines[at].column
        if column <= directive:
            self.glossary = None
            return False
        self.glossary = directive, column if terms is None else terms
        return column == self.glossary[1]

    # --- paragraphs -----------------------------------------------------------------------------------------------

    def _paragraph(self, at: int) -> int:
        """The lines of a paragraph, of a term or of an item's text, and the literal block after it."""
        first = self.lines[at]
        hanging = self.hanging if self.hanging.at == at else None
        end = at + 1
        ticks = self._count_ticks(at)
        while end < len(self.lines) and self._goes_on(end, first.column, hanging, in_literal=ticks % 2 == 1):
            ticks += self._count_ticks(end)
            end += 1
        rows = self.lines[at:end]
        fragment = hanging.fragment if hanging else False
        if self.caption is not None:
            fragment = fragment or first.column > self.caption
            self.caption = None
        literal = self.text.endswith("::", first.start, rows[-1].end)
        if not literal and self._is_swallowed(end, first.column, hanging):
            literal = True
            end += 1
        if not literal and not hanging and len(rows) == 1 and self._is_within(end, first.column):
            fragment = True
            if found := _CLASSIFIER.search(self.text, first.start, first.end):
                rows = [first._replace(end=found.start())]
        self._prose(rows, fragment)
        return self._literal(end, hanging.code if hanging else first.column) if literal else end

    def _is_in_column(self, at: int, column: int, hanging: _Hanging | None) -> bool:
        """Does a line stand where the paragraph before it goes on?"""
        line = self.lines[at]
        return not self._is_blank(at) and (line.column > hanging.mark if hanging else line.column == column)

    def _is_swallowed(self, at: int, column: int, hanging: _Hanging | None) -> bool:
        """Is it a directive without a blank line before it? Its "::" makes a literal block of what follows."""
        if at == len(self.lines) or not self._is_in_column(at, column, hanging) or not self._match(_EXPLICIT, at):
            return False
        return self.text.endswith("::", self.lines[at].start, self.lines[at].end)

    def _count_ticks(self, at: int) -> int:
        return self.text.count("``", self.lines[at].start, self.lines[at].end)

    def _goes_on(self, at: int, column: int, hanging: _Hanging | None, *, in_literal: bool) -> bool:
        """Does a line belong to the paragraph before it? In an open literal no mark ends it, as docutils has it."""
        if not self._is_in_column(at, column, hanging):
            return False
        if in_literal:
            return True
        if any(self._match(pattern, at) for pattern in (_EXPLICIT, _CODE_LINE, _GRID_TOP)):
            return False
        found = self._match(_MARK, at)
        if found is None or found.lastgroup in ("option", "attribution"):
            return True
        if found.lastgroup != "enumerator":
            return False
        ended = found["number"] == "1" or self.text[self.lines[at - 1].end - 1] in ".!?:;"
        return not (ended and self._is_enumerated(at))

    def _literal(self, at: int, column: int) -> int:
        """The line after a literal block: indented, or lines that begin with the same mark."""
        begin = at
        while at < len(self.lines) and self._is_blank(at):
            at += 1
        if at == len(self.lines) or self.lines[at].column > column:
            return self._skip(at, column)
        character = self.text[self.lines[at].start]
        quoted = character.isascii() and not character.isalnum() and at > begin
        if not quoted or self.lines[at].column != column:
            return at
        end = self._run(at, character)
        return self._skip(end, column) if self._match(_EXPLICIT, at) else end  # what its writer meant for a directive

    def _prose(self, rows: list[_Line], fragment: bool) -> None:
        """Show the text of these lines as one paragraph."""
        first = rows[0]
        start, end, column = rows[-1]
        if self.text.endswith("::", start, end):
            end -= 1
            if end - 1 == start or self.text[end - 2].isspace():  # "text ::" shows no colon
                end = start + len(self.text[start : end - 1].rstrip())
                fragment = True
            rows = [*rows[:-1], _Line(end if end < start else start, end, column)]
        for row in rows:
            self.flags[row.start : row.end] = bytes([FRAGMENT if fragment else 0]) * (row.end - row.start)
        if first.start:
            self.flags[first.start - 1] |= BREAK | LEFT_OUT
        _Inline(self.text, self.flags, first.start, end).read()
        if self.text.startswith("::", end - 1):
            mark(self.flags, end - 1, end, PROTECTED)


# --- inside a paragraph ------------------------------------------------------------------------------------------

_ROLE = r":[A-Za-z0-9][\w.+:-]{0,60}:"
_INLINE = re.compile(
    r"(?P<escape>\\(?s:.))"
    r"|(?P<literal>``+)"
    rf"|(?:(?<![:\w])(?P<role>{_ROLE}))?(?P<tick>_?`)"
    r"|(?P<strong>\*\*)|(?P<emphasis>\*)"
    r"|(?P<substitution>\|(?=[^\s|])[^|\n]{0,120}(?<!\s)\|_{0,2})"
    r"|(?P<footnote>\[(?:\d{1,9}|\*|#?[\w.+:-]{0,80})\]_)"
    r"|(?P<template>\{\{[^{}]{0,200}\}\}|\{%[^{}%]{0,200}%\})"
)
_BEFORE = re.compile(r"[\s'\"(\[{<\-/:‘“«‐-—¿¡]")
_END = r"(?=\Z|[\s'\")\]}>\-/\\:.,;!?‐-—’”»…])"
_CLOSERS = {
    "literal": re.compile(rf"(?<=\S)``{_END}"),
    "loose": re.compile(r"(?<=\S)``(?!`)"),  # not closed by docutils' rules: code all the same
    "tick": re.compile(rf"(?<![\s\\`])`(?P<suffix>{_ROLE}|__?)?{_END}"),
    "strong": re.compile(rf"(?<![\s\\])\*\*{_END}"),
    "emphasis": re.compile(rf"(?<![\s\\*])\*{_END}"),
}


class _Inline:
    """Flags the inline markup of text[start:end], one paragraph."""

    def __init__(self, text: str, flags: bytearray, start: int, end: int) -> None:
        self.text = text
        self.flags = flags
        self.start = start
        self.end = end
        self.unclosed: set[str] = set()  # kinds of which there is no closing mark any more

    def read(self) -> None:
        at = self.start
        while found := _INLINE.search(self.text, at, self.end):
            at = found.end()
            if self.flags[found.start()] & (LEFT_OUT | PROTECTED):
                continue  # closes what was opened before
            at = max(at, self._markup(found, found.lastgroup or ""))

    def _markup(self, found: re.Match[str], kind: str) -> int:
        """Flag what begins here; returns its end, or -1 to read on inside."""
        start, end = found.span()
        if kind == "escape":
            space = found[0][1].isspace()
            mark(self.flags, start, end, LEFT_OUT if space else PROTECTED)
        elif kind in ("strong", "emphasis"):
            self._emphasis(kind, start, end)
        elif kind == "literal":
            closer = self._close("literal", start + 2) or self._close("loose", start + 2)
            end = closer.end() if closer else end
            mark(self.flags, start, end, PROTECTED)
        elif kind == "tick":
            closer = self._close("tick", end)
            if closer is None:
                mark(self.flags, start, end, PROTECTED)
            else:
                end = closer.end()
                self._interpreted(found, closer)
        else:
            mark(self.flags, start, end, PROTECTED)
        return end

    def _close(self, kind: str, start: int) -> re.Match[str] | None:
        """The closing mark, after at least one character that is no white space."""
        if kind in self.unclosed or start >= self.end or self.text[start].isspace():
            return None
        closer = _CLOSERS[kind].search(self.text, start + 1, self.end)
        if closer is None:
            self.unclosed.add(kind)
        return closer

    def _emphasis(self, kind: str, start: int, end: int) -> None:
        """Leave the asterisks out where they are a pair; others stay, as symbols."""
        if start > self.start and not _BEFORE.match(self.text, start - 1):
            return
        if closer := self._close(kind, end):
            mark(self.flags, start, end, LEFT_OUT)
            mark(self.flags, *closer.span(), LEFT_OUT)

    def _interpreted(self, found: re.Match[str], closer: re.Match[str]) -> None:
        """`text <target>`_ shows words; roles and names keep their backticks, so that nothing is written into them."""
        start = found.start("tick")
        tick = found.end()
        end = closer.start()
        target = self.text.rfind("<", tick, end) if self.text[end - 1] == ">" else -1
        shown = target if target < 0 else tick + len(self.text[tick:target].rstrip())
        link = closer["suffix"] in ("_", "__") and found["role"] is None and found["tick"] == "`"
        if link and shown > tick and self.text.find("\\", tick, shown) < 0:
            mark(self.flags, start, tick, LEFT_OUT)
            mark(self.flags, tick, shown, PROTECTED)  # another place may refer to it by these words
            mark(self.flags, shown, closer.end(), LEFT_OUT)
            return
        mark(self.flags, found.start(), closer.end(), PROTECTED)
        if shown > tick:
            mark(self.flags, shown, end, LEFT_OUT)
        if found["role"] and self._is_inside(found.start()):
            mark(self.flags, found.start(), start, LEFT_OUT)

    def _is_inside(self, at: int) -> bool:
        """Is a place surely inside a sentence, after white space? At its beginning a role must show."""
        before = at - 1
        while before > self.start and self.text[before].isspace():
            before -= 1
        return self.start < before < at - 1 and (self.text[before].isalnum() or self.text[before] in ",;`")
