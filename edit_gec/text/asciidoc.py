"""AsciiDoc: which characters are prose, line by line as Asciidoctor reads it.

.A title                     FRAGMENT
[source,ruby]                left out, and so is the block that it names
----
puts "x"
----
See xref:a.adoc[the guide].  "the guide" is shown, the target is left out
"""

from __future__ import annotations

import re
from enum import Enum

from edit_gec.text.blocks import LineOffsets, LineReader, mark_footnote, mark_inline
from edit_gec.text.markup import LEFT_OUT, PROTECTED, mark

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=[\w\"'#-]+[ \t]*:)")
_FRONT_MATTER_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"`{3,}(?=[^`]*\Z)")
_DELIMITER = re.compile(r"(?:={4,}|\*{4,}|_{4,}|-{4,}|\.{4,}|\+{4,}|/{4,}|--|[|,:!]={3,})\Z")
_PROSE_DELIMITERS = frozenset("=*_|") | {"--"}
_ATTRIBUTES = re.compile(r"\[.*\]\Z")
_STYLE = re.compile(r"\[(?P<quote>[\"']?)(?P<style>[^,\]#.%=\"']*)(?P<after>[,\]#.%=\"'])")
_PROSE_STYLES = frozenset(
    "NOTE TIP IMPORTANT WARNING CAUTION quote verse example sidebar open abstract partintro normal lead discrete float "
    "horizontal qanda glossary bibliography appendix preface dedication colophon acknowledgments index unordered "
    "ordered circle square disc none no-bullet unstyled arabic decimal loweralpha upperalpha lowerroman upperroman "
    "lowergreek upperlatin lowerlatin start reversed".split()
)
_OTHER_TABLE = re.compile(r"format=|separator=|cols=\"?[^\"]{0,200}[lm]|\bcsv\b|\bdsv\b")
_CODE_CELL = re.compile(r"(?:^|\s)[\d.*+<^>]{0,20}[lm]\|", re.MULTILINE)
_BAR = re.compile(r"(?:(?<!\S)(?:[\d.]{1,9}[*+])?[<^>.]{0,4}[a-z]?)?(?<!\\)\|")
_SILENT = re.compile(
    r"(?:\\?(?:ifn?def|ifeval|endif|include)::.*\]|//.*|[A-Za-z_][\w-]*::\S.*\]"
    r"|:!?\w[\w-]*!?:(?:[ \t].*)?|'{3,}|([-*_])(?: ?\1){2}|<<<+|[~^]{2,}|-- \S.*)\Z"
)
_CONTINUED = re.compile(r":!?\w[\w-]*!?:[ \t].*[ \t]\\\Z")
_HEADING = re.compile(r"(?P<mark>={1,6}|#{1,6})[ \t]+(?=\S)")
_TITLE = re.compile(r"\.(?=\.?[^\s.])")
_ITEM = re.compile(r"[ \t]*(?:-|\*{1,5}|•|\.{1,5}|\d{1,2}\.|<(?:\d{1,3}|\.)>)[ \t]+(?:\[[ xX*]\][ \t]+)?(?=\S)")
_LETTERED_ITEM = re.compile(r"[ \t]*(?:\d+\.|[a-zA-Z]\.|[ivxIVX]{1,6}\))[ \t]+(?=\S)")
_TERM = re.compile(r"[ \t]*(?!//)\S.*?(?P<separator>:{2,4}|;;)(?=[ \t]|\Z)[ \t]*")
_LEAD = re.compile(r"(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+|>[ \t]+")
_UNDERLINE = re.compile(r"([-=~^+])\1+\Z")


class _Within(Enum):
    """What the line before belongs to."""

    NOTHING = "nothing: a block may begin"
    PARAGRAPH = "a paragraph"
    ITEM = "a list item"
    LITERAL = "a paragraph that is no prose"
    HEADER = "the header of the document, behind its title"


def mark_asciidoc(text: str) -> bytearray:
    """Flags for every character of an AsciiDoc document, as markup.py defines them."""
    reader = _Reader(text)
    return reader.read(reader.leave_out_front_matter())


class _Reader(LineReader):
    """The lines of a document, and what those before say of the next one."""

    def __init__(self, text: str) -> None:
        super().__init__(text, _inline)
        self.index = LineOffsets()
        for number, line in enumerate(self.lines):
            if _DELIMITER.match(line) or _FENCE.match(line):
                self.index.add(line, number)
        self.within = _Within.NOTHING
        self.containers: list[str] = []  # the delimiters of blocks of prose that are open
        self.style = ""  # what the attributes above the next block say of it
        self.bare = True  # nothing but comments and attributes until here: a title begins the header

    def leave_out_front_matter(self) -> int:
        """Leave out what is between two lines of dashes at the beginning; returns the number of the next line."""
        text = self.blocks.text
        found = _FRONT_MATTER_END.search(text, 3) if _FRONT_MATTER.match(text) else None
        number = text.count("\n", 0, found.end()) + 1 if found else 0
        self.blocks.leave_out_lines(0, number)
        return number

    def delimiter(self, number: int, line: str) -> int:
        """The line that opens or closes a delimited block; what is not prose is left out as a whole."""
        if self._is_underline(number, line):
            self.blocks.is_fragment = True
            return self.leave_out(number, number + 1)
        fence = _FENCE.match(line)
        if not fence and not _DELIMITER.match(line):
            return number
        if line in self.containers:
            del self.containers[self.containers.index(line) :]
            self.style = ""
            return self.leave_out(number, number + 1)
        kind = line if line == "--" else line[0]
        closing = self.index.next(fence[0] if fence else line, number + 1)
        holds_prose = not fence and kind in _PROSE_DELIMITERS and self._style_is_prose()
        if kind == "|" and holds_prose:
            holds_prose = closing is not None and not self._has_code_cells(number, closing)
        self.style = ""
        if holds_prose:
            self.containers.append(line)
            return self.leave_out(number, number + 1)
        outer = (self.index.next(each, number + 1) for each in self.containers)
        ends = [at for at in outer if at is not None]
        if closing is not None:
            ends.append(closing + 1)
        return self.leave_out(number, min(ends, default=len(self.lines)))

    def _is_underline(self, number: int, line: str) -> bool:
        """Is it the second line of a title, as old documents have it?"""
        if not number or not _UNDERLINE.match(line) or self.containers or self.within is not _Within.PARAGRAPH:
            return False
        title = self.lines[number - 1]
        alone = number == 1 or not self.lines[number - 2] or _ATTRIBUTES.match(self.lines[number - 2]) is not None
        return alone and abs(len(title) - len(line)) < 2 and any(map(str.isalnum, title))

    def _has_code_cells(self, number: int, closing: int) -> bool:
        start = self.blocks.lines[number][1]
        end = self.blocks.lines[closing][0]
        return _CODE_CELL.search(self.blocks.text, start, end) is not None

    def _style_is_prose(self) -> bool:
        return not self.style or self.style in _PROSE_STYLES

    def attributes(self, number: int, line: str) -> int:
        """[source,ruby], [[anchor]], [NOTE]: about the next block."""
        if not _ATTRIBUTES.match(line):
            return number
        if line.startswith(("[,", "[{")):
            self.style = "source"
        elif _OTHER_TABLE.search(line):
            self.style = "a table of another kind"
        elif not line.startswith("[["):
            found = _STYLE.match(line)
            if found and found["style"].strip() and (found["quote"] or found["after"] != "="):
                self.style = found["style"].strip()
        return self.leave_out(number, number + 1)

    def literal(self, number: int, line: str) -> int:
        """A line of a paragraph that is not prose: it is indented, or its style says so, or it is in the header."""
        if line == "+":
            return number
        begins = self.within is _Within.NOTHING and not self._in_table_row(line)
        if begins and not _SILENT.match(line) and not _HEADING.match(line) and not _TITLE.match(line):
            indented = line[0] in " \t" and not self._item(line)
            if indented or not (self._style_is_prose() or (self.style.islower() and _ITEM.match(line))):
                self.within = _Within.LITERAL
        if self.within not in (_Within.LITERAL, _Within.HEADER):
            return number
        self.style = ""
        self.blocks.leave_out_lines(number, number + 1)
        return number + 1

    def row(self, number: int, line: str) -> int:
        if not self._in_table_row(line):
            return number
        self.blocks.cells(number, _BAR)
        self.within = _Within.PARAGRAPH
        return number + 1

    def _in_table_row(self, line: str) -> bool:
        return bool(self.containers) and self.containers[-1][0] == "|" and _BAR.search(line) is not None

    def silent(self, number: int, line: str) -> int:
        """Directives, comments, macros, attribute entries and rules; the "+" that joins a block to a list item."""
        if line != "+" and not _SILENT.match(line):
            return number
        after = number + 1
        while after < len(self.lines) and _CONTINUED.match(self.lines[number]) and self.lines[after - 1].endswith("\\"):
            after += 1
        bare = self.bare
        self.leave_out(number, after)
        self.bare = bare
        return after

    def heading(self, number: int, line: str) -> int:
        found = _HEADING.match(line)
        title = _TITLE.match(line) if self.within is _Within.NOTHING else None
        if not found and not title:
            return number
        start, end = self.blocks.lines[number]
        prefix = (found or title).end()  # type: ignore[union-attr]
        closing = found is not None and line.endswith(" " + found["mark"])
        shown = start + len(line) - (len(found["mark"]) + 1 if found and closing else 0)
        self.blocks.open_after(start, start + prefix, max(shown, start + prefix), fragment=True)
        self.blocks.leave_out(max(shown, start + prefix), end)
        self.within = _Within.NOTHING
        if found:
            self.style = ""
            if self.bare and len(found["mark"]) == 1:
                self.within = _Within.HEADER
        self.bare = False
        return number + 1

    def item(self, number: int, line: str) -> int:
        """A list item, or a term with the beginning of its definition."""
        start, end = self.blocks.lines[number]
        found = self._item(line)
        term = None if found or self.within is _Within.PARAGRAPH else _TERM.match(line)
        if term:
            separator = start + term.start("separator")
            self.blocks.open(start, separator, fragment=True)
            if term.end() < len(line):
                self.blocks.open_after(separator, start + term.end(), end, fragment=True)
            else:
                self.blocks.leave_out(separator, end)
        elif found:
            self.blocks.open_after(start, start + found.end(), end, fragment=True)
        else:
            return number
        self.within = _Within.ITEM
        self.style = ""
        self.bare = False
        return number + 1

    def _item(self, line: str) -> re.Match[str] | None:
        found = _ITEM.match(line)
        return found if found or self.within is _Within.PARAGRAPH else _LETTERED_ITEM.match(line)

    def prose(self, number: int, line: str) -> int:
        start, end = self.blocks.lines[number]
        lead = _LEAD.match(line) if self.within is _Within.NOTHING else None
        if lead:
            self.blocks.open_after(start, start + lead.end(), end)
        elif self.within is _Within.NOTHING or not self.blocks.extend(end):
            self.blocks.open(start, end, fragment=self.within is _Within.ITEM)
        if self.within is _Within.NOTHING:
            self.within = _Within.PARAGRAPH
        self.style = ""
        self.bare = False
        return number + 1

    def forget_block(self) -> None:
        self.within = _Within.NOTHING

    RULES = (LineReader.blank, delimiter, attributes, literal, row, silent, heading, item, prose)


# --- inside a block ----------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<hidden>[ \t]\+[ \t]*$|\[\.?line-through[^\[\]\n]{0,80}\](?P<struck>\#{1,2})[^#\n]{1,1000}(?P=struck)"
    r"|\[\[\[?[^\[\]]{1,200}\]\]\]?|\[[.#\w][^\[\]\n]{0,80}\](?=[#*_`])"
    r"|\(\(\([^()]{1,300}\)\)\))"
    r"|(?P<reference>\{\w[\w-]{0,60}\}[^\s\[\]]{0,300}\[)"
    r"|(?P<protected>\\[^\w\s]|\+\+\+[^+]+\+\+\+|\+\+[^+]+\+\+|(?<![\w+])\+(?![\s+])[^+\n]+(?<!\s)\+(?![\w+])"
    r"|\$\$[^$]+\$\$|\{\w[\w:!.-]{0,60}\}|~[^~\s]{1,80}~|\^[^\^\s]{1,80}\^|<\d{1,3}>)"
    r"|(?P<open>[\"']`)(?=[^`\s][^`]*`[\"'])"
    r"|``[^`]+(?:`[^`]+){0,20}``|``?[^`]+``?"
    r"|(?P<index>\(\()(?=[^()]{1,300}\)\))"
    r"|<<[^<>,]{1,200}(?P<shown>,[^<>]{1,300})?>>"
    r"|(?P<url>(?:https?|ftps?|irc)://[^\s\[\]<>\"`]*[^\s\[\]<>\"`.,;:!?'()])(?P<bracket>\[)?"
    r"|(?P<footnote>footnote(?:ref)?:\w{0,80}\[)"
    r"|(?<![\w:])(?P<macro>(?!\w{1,80}footnote:)[a-z][\w-]{1,30}):{1,2}[^\s\[\]]{0,300}\[",
    re.MULTILINE,
)
_LINKS = frozenset(("link", "xref", "mailto"))
_HIDDEN_MACROS = frozenset("image icon anchor indexterm audio video".split())
_LINK_TAIL = re.compile(r"\^|,[ \t]*\w+=.*", re.DOTALL)
_EMPHASIS = re.compile(r"(?<!\\)(?:\*{1,2}|_{1,2}|#{1,2})(?![*_#])")


def _inline(view: str) -> bytearray:
    """Flags for the text of one block."""
    return mark_inline(view, _TOKEN, _token, _EMPHASIS)


def _token(view: str, flags: bytearray, found: re.Match[str], pairs: dict[int, int]) -> int:
    """Flag one token; return where to continue."""
    start, end = found.span()
    if found["open"]:
        mark(flags, start + 1, end, LEFT_OUT)
        closing = view.index("`", end)
        mark(flags, closing, closing + 1, LEFT_OUT)
    elif found["index"]:
        mark(flags, start, end, LEFT_OUT)
        closing = view.index("))", end)
        mark(flags, closing, closing + 2, LEFT_OUT)
    elif found["shown"]:
        mark(flags, start, found.start("shown") + 1, LEFT_OUT)
        mark(flags, end - 2, end, LEFT_OUT)
        return found.start("shown") + 1
    elif found["bracket"] or found["reference"] or found["footnote"] or found["macro"]:
        return _macro(view, flags, found, pairs.get(end - 1))
    else:
        mark(flags, start, end, PROTECTED)
    return end


def _macro(view: str, flags: bytearray, found: re.Match[str], closing: int | None) -> int:
    """Flag the macro that begins with `found`; return where to continue."""
    start, end = found.span()
    name = found["macro"]
    if closing is None:
        mark(flags, start, end, PROTECTED)
        return end
    if found["footnote"]:
        mark_footnote(view, flags, start, end, closing)
        return end
    if (name is None or name in _LINKS) and view[end:closing].strip("^ "):
        tail = _LINK_TAIL.search(view, end, closing)
        mark(flags, start, end, LEFT_OUT)
        mark(flags, tail.start() if tail else closing, closing + 1, LEFT_OUT)
        return end
    mark(flags, start, closing + 1, LEFT_OUT if name in _HIDDEN_MACROS else PROTECTED)
    return closing + 1
