"""Org: which characters are prose, line by line as Org's syntax has it.

* TODO A heading :tag:       FRAGMENT "A heading"; the keyword and the tags are left out
#+begin_src sh               left out up to #+end_src
- term :: See [[x][this]].   FRAGMENT "term" and "See this."
"""

from __future__ import annotations

import re

from edit_gec.text.blocks import LineOffsets, LineReader, mark_footnote, mark_inline
from edit_gec.text.markup import LEFT_OUT, PROTECTED, mark

_HEADING = re.compile(r"(?P<stars>\*+)[ \t]+(?=\S)")
_KEYWORDS = "TODO DONE NEXT WAIT WAITING HOLD STARTED STRT CANCELLED CANCELED KILL PROJ LOOP IDEA DEFERRED".split()
_OWN_KEYWORDS = re.compile(r"^[ \t]*#\+(?:seq_|typ_)?todo:(.*)", re.MULTILINE | re.IGNORECASE)
_PRIORITY = re.compile(r"[ \t]*(?:\[#\w{1,2}\][ \t]*)?")
_COMMENTED = re.compile(r"[ \t]*COMMENT(?=[ \t]|\Z)")
_TAGS = re.compile(r"(?<=[ \t]):[\w@#%:]+:\Z")
_BLOCK = re.compile(r"[ \t]*#\+begin(?:_(?P<name>\S+)|(?P<dynamic>:))", re.IGNORECASE)
_BLOCK_END = re.compile(r"[ \t]*#\+end(?:_(?P<name>\S+)|(?P<dynamic>:))", re.IGNORECASE)
_CODE_BLOCK = re.compile(
    r"(?:src|example|export|comment|html|latex|ascii|verbatim|ditaa|dot|plantuml|mermaid|math|equation|align|gather"
    r"|multline|eqnarray|table|tabular|figure|tikz\w*|jupyter\S*|ai|query|custom|script|style|listing|lstlisting|minted"
    r"|code|pre|diff|shell|console|terminal|output|prompt|algorithm\w*)\*?\Z",
    re.IGNORECASE,
)
_KEYWORD = re.compile(r"[ \t]*#\+(?P<name>[^\s:\[]+)(?:\[(?P<short>[^\]]*)\])?:[ \t]*")
_SHOWN_KEYWORDS = frozenset(("title", "subtitle", "caption"))
_DRAWER = re.compile(r"[ \t]*:(?:properties|logbook|clock|results):\Z", re.IGNORECASE)  # the others hold prose
_DRAWER_END = re.compile(r"[ \t]*:end:\Z", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"[ \t]*\\begin\{(?P<name>[A-Za-z0-9]+\*?)\}")
_ENVIRONMENT_END = re.compile(r"\\end\{(?P<name>[A-Za-z0-9]+\*?)\}")
_SILENT = re.compile(
    r"[ \t]*(?:#(?:[ \t]|\+|\Z)|:(?:[ \t]|\Z)|:[\w+-]+:(?:[ \t]|\Z)|(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):"
    r"|-{5,}\Z|\+[-=+]+\+\Z|%%\(|\\(?:begin|end)\{|\|[-+])"
)
_ROW = re.compile(r"[ \t]*\|")
_BAR = re.compile(r"\|(?:[ \t]*(?:<[lcr]?\d{0,3}>|:?=[^|]*|[#*!^_$/])(?=[ \t]*\|))?")
_ITEM = re.compile(r"(?:[ \t]*(?:[-+]|\d+[.)])|[ \t]+\*)(?:[ \t]+|\Z)(?:\[@\d+\][ \t]*)?(?:\[[ xX-]\](?:[ \t]+|\Z))?")
_TERM = re.compile(r"(?P<term>\S.*?)(?P<separator>[ \t]+::)(?:[ \t]+|\Z)")
_DEFINED = re.compile(
    r"(?:Key|Command|Function|User Option|Option|Variable|Macro|Hook|Face|Constant|Special Form|Type|Keybinding"
    r"|Prefix Command|Transient|Method|Class|Slot)s?:? +\S"
)  # as the exporter to Texinfo knows them
_DEFINITION = re.compile(r"\[fn:[\w-]+\][ \t]*")


def mark_org(text: str) -> bytearray:
    """Flags for every character of an Org document, as markup.py defines them."""
    return _Reader(text).read()


class _Reader(LineReader):
    """The lines of a document, and what those before say of the next one."""

    def __init__(self, text: str) -> None:
        super().__init__(text, _inline)
        keywords = {word.partition("(")[0] for found in _OWN_KEYWORDS.findall(text) for word in found.split()}
        self.keywords = keywords.union(_KEYWORDS) - {"|"}
        self.ends = LineOffsets()  # of blocks, drawers and environments, and the headings
        for number, line in enumerate(self.lines):
            if _HEADING.match(line):
                self.ends.add("*", number)
            elif found := _BLOCK_END.match(line):
                self.ends.add("+" + (found["name"] or ":").casefold(), number)
            elif _DRAWER_END.match(line):
                self.ends.add("drawer", number)
            for end in _ENVIRONMENT_END.finditer(line):
                self.ends.add("\\" + end["name"], number)
        self.fragment = False  # does what goes on with no block open belong to a list item?
        self.commented = 0  # the level of the heading of a COMMENT subtree

    def heading(self, number: int, line: str) -> int:
        found = _HEADING.match(line)
        if found and self.commented and len(found["stars"]) <= self.commented:
            self.commented = 0
        if self.commented:
            return self.leave_out(number, number + 1)
        if not found:
            return number
        start, end = self.blocks.lines[number]
        at = found.end()
        if line[at:].partition(" ")[0] in self.keywords:
            at += len(line[at:].partition(" ")[0])
        at = _match_end(_PRIORITY, line, at)
        if _COMMENTED.match(line, at):
            self.commented = len(found["stars"])
            return self.leave_out(number, number + 1)
        tags = _TAGS.search(line, at)
        shown = max(at, tags.start() if tags else len(line))
        self.blocks.open_after(start, start + at, start + shown, fragment=True)
        self._leave_out_rest(start + shown, end)
        return number + 1

    def block(self, number: int, line: str) -> int:
        """#+begin_NAME with what it holds, where that is not prose; LaTeX's environments, drawers."""
        found = _BLOCK.match(line)
        environment = _ENVIRONMENT.match(line)
        if found:
            name = (found["name"] or ":").casefold()
            if not found["dynamic"] and not _CODE_BLOCK.match(name):
                return self.leave_out(number, number + 1)
            last = self.ends.next("+" + name, number + 1)
            if last is None:  # unclosed: a heading ends it, as it ends everything
                return self.leave_out(number, self._section_end(number))
        elif environment:
            last = self.ends.next("\\" + environment["name"], number)
        elif _DRAWER.match(line):
            last = self.ends.next("drawer", number)
        else:
            return number
        if last is None or (not found and last >= self._section_end(number)):
            last = number
        return self.leave_out(number, last + 1)

    def _section_end(self, number: int) -> int:
        heading = self.ends.next("*", number + 1)
        return len(self.lines) if heading is None else heading

    def keyword(self, number: int, line: str) -> int:
        """#+title: and #+caption: are shown."""
        found = _KEYWORD.match(line)
        if not found or found["name"].casefold() not in _SHOWN_KEYWORDS or found.end() == len(line):
            return number
        start, end = self.blocks.lines[number]
        self.blocks.open_after(start, start + found.end(), end, fragment=True)
        self.blocks.close()
        self.fragment = False
        return number + 1

    def silent(self, number: int, line: str) -> int:
        return self.leave_out(number, number + 1) if _SILENT.match(line) else number

    def row(self, number: int, line: str) -> int:
        if not _ROW.match(line):
            return number
        self.blocks.close()
        self.blocks.cells(number, _BAR)
        self.blocks.close()
        return number + 1

    def item(self, number: int, line: str) -> int:
        """A list item, perhaps a term with the beginning of its description; the definition of a footnote."""
        start, end = self.blocks.lines[number]
        note = _DEFINITION.match(line)
        found = note or _ITEM.match(line)
        if not found:
            return number
        at = found.end()
        term = _TERM.match(line, at) if not note else None
        if term:
            if _DEFINED.match(line, at):
                self._leave_out_rest(start, start + at)
                self.blocks.leave_out(start + at, start + term.end())
            else:
                self.blocks.open_after(start, start + at, start + term.end("term"), fragment=True)
            at = term.end()
            self.blocks.open_after(start + term.end("term"), start + at, end, fragment=True)
        else:
            self.blocks.open_after(start, start + at, end, fragment=not note)
        self.fragment = not note
        return number + 1

    def prose(self, number: int, line: str) -> int:
        start, end = self.blocks.lines[number]
        if not self.blocks.extend(end):
            self.blocks.open(start, end, fragment=self.fragment)
        return number + 1

    def forget_block(self) -> None:
        self.fragment = False

    def _leave_out_rest(self, start: int, end: int) -> None:
        self.blocks.leave_out(start, end)
        self.fragment = False

    RULES = (LineReader.blank, block, heading, keyword, silent, row, item, prose)


def _match_end(pattern: re.Pattern[str], line: str, at: int) -> int:
    found = pattern.match(line, at)
    return found.end() if found else at


# --- inside a block ----------------------------------------------------------------------------------------------

_STAMP = r"[<\[]\d{4}-\d\d-\d\d[^<>\[\]\n]{0,60}[>\]]"
_TOKEN = re.compile(
    rf"(?P<protected>{_STAMP}(?:--{_STAMP})?|\{{\{{\{{[^{{}}]{{1,300}}\}}\}}\}}"
    r"|(?<![\w=~])(?P<code>[=~])(?=\S)(?s:.{1,300}?)(?<=\S)(?P=code)(?!\w)"
    r"|\$\$[^$]{1,500}\$\$|(?<![\\$\w])\$(?![\s$])[^$]{1,200}(?<![\s\\])\$(?![\d$])"
    r"|\\\((?:[^\\]|\\(?!\)|\()){1,300}\\\)|\\\[(?:[^\\]|\\(?![\[\]])){1,500}\\\]"
    r"|(?<!\w)(?:src_|call_)\w[\w-]*(?:\[[^\[\]\n]{0,100}\])?[{(][^{}()\n]{0,200}[})]|\[cite[^\[\]]{1,300}\]"
    r"|`[^`'\s][^`'\n]{0,80}[`']|[_^]\{[^{}\n]{0,100}\}|<<<[^<>\n]{1,200}>>>|<[a-z][\w+-]*:[^<>\n]{1,300}>)"
    r"|(?P<hidden>@@[\w-]{1,30}:[^@]{0,300}@@|<<[^<>\n]{1,200}>>|\[fn:[\w-]{1,80}\]|\\\\[ \t]*$"
    r"|\[(?:\d{0,6}/\d{0,6}|\d{0,3}%)\]|(?<![\w*/+])\+(?=[^\s+])(?:[^+\n]|\n(?!\n)){1,500}(?<=\S)\+(?![\w+]))"
    r"|\[\[(?P<target>(?:[^\[\]\\]|\\.){1,1000})\](?P<end>[\]\[])"
    r"|(?P<footnote>\[fn:[\w-]{0,80}:[ \t]*)",
    re.MULTILINE,
)
_NAMES = re.compile(r"(?:kbd|var|fn|face|cmd|option):")  # their text is not prose
_EMPHASIS = re.compile(r"(?<![\w*/])[*/_](?=[^\s*/_])|(?<=[^\s])[*/_](?![\w*/])")


def _inline(view: str) -> bytearray:
    """Flags for the text of one block."""
    return mark_inline(view, _TOKEN, _token, _EMPHASIS)


def _token(view: str, flags: bytearray, found: re.Match[str], pairs: dict[int, int]) -> int:
    """Flag one token; return where to continue."""
    start, end = found.span()
    closing = pairs.get(start)
    if found["footnote"]:
        if closing is not None:
            mark_footnote(view, flags, start, end, closing)
    elif found["end"] == "[":
        _link(view, flags, found, closing)
    else:
        mark(flags, start, end, PROTECTED)
    return end


def _link(view: str, flags: bytearray, found: re.Match[str], closing: int | None) -> None:
    """[[target][text]]: the text is shown."""
    start, end = found.span()
    if closing is None or view[closing - 1] != "]" or closing <= end:
        mark(flags, start, end, PROTECTED)
        return
    if _NAMES.match(found["target"]):
        mark(flags, start, closing + 1, PROTECTED)
        return
    mark(flags, start, end, LEFT_OUT)
    mark(flags, closing - 1, closing + 1, LEFT_OUT)
