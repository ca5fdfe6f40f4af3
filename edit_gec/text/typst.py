"""Typst: which characters are prose, and what is read in the place of what is printed but is none.

    = Results // old                     FRAGMENT "Results"; the comment is left out
    #set text(lang: "en")                code is left out, up to the end of its line and of its brackets
    We has *good* results @a on          "We has good results on n files."; marks and citations are left out
    $n$ files.#footnote[It is so.]       "It is so." by itself
    #figure(image("a.png"), caption: [A cat])        FRAGMENT "A cat"; the rest is left out

What is not closed leaves out what follows.
"""

from __future__ import annotations

import re

from edit_gec.text.blocks import BLANK, TokenReader
from edit_gec.text.markup import ASIDE, BREAK, FRAGMENT, LEFT_OUT, Flags, mark

_COMMENT = r"(?<![:/])//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)"
_RAW = r"(?P<ticks>`{3,})[\s\S]*?(?:(?P=ticks)(?!`)|\Z)|`[^`]*(?:`|\Z)"
_MATH = r"\$(?:[^$\\]|\\[\s\S])*(?:\$|\Z)"
_KEYWORD = r"#(?:let|set|show|import|include|if|for|while|return|context|break|continue)\b"
_TOKEN = re.compile(
    rf"(?P<blank>{BLANK})"
    rf"|(?P<comment>{_COMMENT})"
    rf"|(?P<raw>{_RAW})"
    rf"|(?P<math>{_MATH})"
    rf"|(?P<statement>{_KEYWORD})"
    r"|(?P<code>#(?=[\w({\[]))"
    r"|(?P<heading>^[ \t]*=+[ \t]+)"
    r"|(?P<item>^[ \t]*(?:[-+]|\d{1,4}\.)[ \t]+(?:\[[ x]\][ \t]+)?)"
    r"|(?P<term>^[ \t]*/[ \t]+)"
    r"|(?P<label><[A-Za-z_][\w:.-]*>)"
    r"|(?P<reference>@[A-Za-z_](?:[\w:.-]*\w)?(?:\[[^\[\]\n]{0,80}\])?)"
    r"|(?P<address>https?://[^\s\[\](){}<>\"]+)"
    r"|(?P<new_line>\\(?=\s|\Z))"
    r"|(?P<escaped>\\(?:u\{[^}\n]{0,10}\}|[^\w\s]))"
    r"|(?P<tie>~|-\?)"
    r"|(?P<dash>---?)"
    r"|(?P<emphasis>(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))"
    r"|(?P<bracket>\])",
    re.MULTILINE,
)
_IN_CODE = re.compile(rf'"(?:[^"\\]|\\[\s\S])*(?:"|\Z)|{_COMMENT}|{_RAW}|{_MATH}|[()\[\]{{}}]')
_IN_CONTENT = re.compile(
    rf"\\[\s\S]|{_COMMENT}|{_RAW}|{_MATH}|#[\w.-]*(?=[(\[{{])(?P<open>[(\[{{])?|[\[\]]|(?<=[)\]}}])\("
)
_END_OF_STATEMENT = re.compile(rf'"(?:[^"\\]|\\[\s\S])*(?:"|\Z)|{_COMMENT}|{_RAW}|{_MATH}|[()\[\]{{}}\n;]')
_LINE_END = re.compile(r"[ \t]*(?:\n|\Z)")
_NAME = re.compile(r"\w[\w-]*(?:\.[A-Za-z][\w-]*)*")
_METHOD = re.compile(r"\.[A-Za-z][\w-]*")
_CAPTION = re.compile(r"\b(?:caption|title|body|supplement)\s*:\s*\[")
_INLINE = frozenset("emph strong text link highlight smallcaps super sub underline overline box upper lower".split())
_NOTES = frozenset(("footnote", "margin-note", "note"))
_HEADINGS = frozenset(("heading", "title", "caption"))
_CODE = frozenset(
    "raw eval cite ref label image bibliography table grid metadata counter h v pagebreak outline".split()
)
_HOLDS_SENTENCE = re.compile(r"(?:[^\W\d_]+[ ,;\n]+){3,}[^\W\d_]+")
_FIRST_NAME = re.compile(r"[A-Za-z]+|\d+")
_RELATION = re.compile(r"[=<>]|\b(?:in|subset|approx|equiv|prop)\b")


def mark_typst(text: str) -> Flags:
    """Flags for every character of a Typst document, as markup.py defines them."""
    return _Reader(text).read_tokens(0, len(text))


class _Reader(TokenReader):
    TOKEN = _TOKEN

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.closed: dict[int, int | None] = {}  # a bracket -> the one that closes it
        self.contents: dict[int, bool] = {}  # brackets that close prose: do they end a block?

    # ------------------------------------------------------------------------------------------ blocks

    def heading(self, found: re.Match[str]) -> int:
        """A heading ends with its line."""
        self.break_block(*found.span())
        end = self.find_line_end(found.end())
        mark(self.flags, found.end(), end, FRAGMENT)
        mark(self.flags, end, end + 1, BREAK)
        self.block = end
        return found.end()

    def item(self, found: re.Match[str]) -> int:
        return self.break_block(*found.span(), fragment=True)

    def term(self, found: re.Match[str]) -> int:
        colon = self.text.find(":", found.end())
        self.break_block(*found.span(), fragment=True)
        if 0 <= colon < self.find_blank(found.end()) and "\n" not in self.text[found.end() : colon]:
            mark(self.flags, colon, colon + 1, BREAK)
        return found.end()

    # ------------------------------------------------------------------------------------------ code

    def statement(self, found: re.Match[str]) -> int:
        """#let, #set, #if: code up to the end of its line, or of the brackets that are open there."""
        at = found.end()
        while token := _END_OF_STATEMENT.search(self.text, at):
            at = token.end()
            if token[0] in ("\n", ";") or token[0] in tuple(")]}"):
                at -= token[0] != ";"
                break
            if token[0] in tuple("([{"):
                closing = self._close(token.start())
                at = len(self.text) if closing is None else closing + 1
        else:
            at = len(self.text)
        return self.break_block(found.start(), at)

    def code(self, found: re.Match[str]) -> int:
        """#name(arguments)[content], #(code), #[content]."""
        start = found.start()
        name = _NAME.match(self.text, found.end())
        at = name.end() if name else found.end()
        groups: list[tuple[int, int]] = []
        while True:
            if self.text[at : at + 1] in ("(", "[", "{") and (self.text[at] != "{" or not name):
                closing = self._close(at)
                if closing is None:
                    return self.break_block(start, len(self.text))
                groups.append((at, closing))
                at = closing + 1
            elif method := _METHOD.match(self.text, at):
                at = method.end()
            else:
                break
        return self._call(name[0] if name else "", start, at, groups)

    def _call(self, name: str, start: int, end: int, groups: list[tuple[int, int]]) -> int:
        """Read what a function is given by what it does with it."""
        alone = self.is_alone(start)
        content = next((group for group in reversed(groups) if self.text[group[0]] == "["), None)
        if name == "strike":
            mark(self.flags, start, end, LEFT_OUT)
            return end
        if content and name not in _CODE:
            opening = content[0] + 1
            closing = content[1]
            is_block = name in _HEADINGS or (alone and name not in _INLINE)
            if name in _NOTES and not self.flags[start] & ASIDE:
                return self._aside(start, opening, closing)
            if is_block:
                return self._content(start, opening, closing, closing + 1)
            if name in _INLINE or not name or _HOLDS_SENTENCE.search(self.text, opening, min(closing, opening + 500)):
                mark(self.flags, start, opening, LEFT_OUT)
                self.contents[closing] = False
                return opening
        captions = (_CAPTION.search(self.text, *group) for group in groups if self.text[group[0]] == "(")
        caption = next((found for found in captions if found), None)
        last = self._close(caption.end() - 1) if caption else None
        if caption and last is not None and last < end:
            return self._content(start, caption.end(), last, end)
        if alone and _LINE_END.match(self.text, end):
            return self.break_block(start, end)
        self.flags.stand_in(start, end, "X")
        return end

    def _aside(self, start: int, opening: int, closing: int) -> int:
        mark(self.flags, start, opening, LEFT_OUT)
        return self.mark_aside(opening, closing)

    def _content(self, start: int, opening: int, closing: int, end: int) -> int:
        """A block of its own, text[opening:closing], in code that goes from `start` to `end`."""
        self.break_block(start, opening, fragment=True)
        mark(self.flags, closing, end, BREAK)
        self.contents[closing] = True
        return opening

    def _close(self, at: int) -> int | None:
        """The place of the bracket that closes text[at], None where none does."""
        opened: list[int] = [] if at in self.closed else [at]
        place = at + 1
        while opened:
            found = (_IN_CONTENT if self.text[opened[-1]] == "[" else _IN_CODE).search(self.text, place)
            if found is None:
                self.closed |= dict.fromkeys(opened)
                break
            place = found.end()
            bracket = found[0][-1]
            if found["open"] if "open" in found.re.groupindex else len(found[0]) == 1 and bracket in "([{":
                opened.append(place - 1)
            elif len(found[0]) == 1 and bracket in "([":
                opened.append(place - 1)
            elif len(found[0]) == 1 and bracket in ")]}":
                self.closed[opened.pop()] = place - 1
        return self.closed[at]

    def bracket(self, found: re.Match[str]) -> int:
        if found.start() in self.contents:
            if self.contents[found.start()]:
                self.fragment = True
                return self.break_block(*found.span())
            mark(self.flags, *found.span(), LEFT_OUT)
        return found.end()

    # ------------------------------------------------------------------------------------------ inside a paragraph

    def label(self, found: re.Match[str]) -> int:
        return self.hide(*found.span())

    def reference(self, found: re.Match[str]) -> int:
        """A citation or "Figure 1": left out after a whole sentence, else read as a noun."""
        before = self.text[max(self.block, found.start() - 12) : found.start()].split()
        behind = self.text[found.end() : found.end() + 1]
        if behind in ("", ".", ",", ";", ")", "\n") and before and before[-1].strip("(").casefold() not in _TAKES_NOUN:
            return self.hide(*found.span())
        self.flags.stand_in(*found.span(), "Figure 1")
        return found.end()

    def raw(self, found: re.Match[str]) -> int:
        if found["ticks"] and "\n" in found[0]:
            self.fragment = self.fragment or bool(self.text[self.block : found.start()].strip())
            return self.break_block(*found.span())
        return self._show(found, "X")

    def math(self, found: re.Match[str]) -> int:
        if not found[0].endswith("$") or len(found[0]) < 3:
            mark(self.flags, *found.span(), LEFT_OUT)
            self.fragment = True
            return found.end()
        body = found[0][1:-1]
        if body[0].isspace() and body[-1].isspace():  # on lines of its own
            self.fragment = True
            return self._show(found, "X")
        name = _FIRST_NAME.search(body)
        symbol = "X" if name is None else "2" if name[0].isdigit() and name[0] != "1" else name[0]
        return self._show(found, symbol + " = x" if _RELATION.search(body) else symbol)

    def address(self, found: re.Match[str]) -> int:
        return self._show(found, "X")

    def escaped(self, found: re.Match[str]) -> int:
        return self._show(found, found[0][1] if len(found[0]) == 2 else "X")

    def tie(self, found: re.Match[str]) -> int:
        return self._show(found, " ") if found[0] == "~" else self.hidden(found)

    def dash(self, found: re.Match[str]) -> int:
        return self._show(found, "—" if len(found[0]) == 3 else "–")

    def _show(self, found: re.Match[str], shown: str) -> int:
        self.flags.stand_in(*found.span(), shown)
        return found.end()

    comment = emphasis = TokenReader.hidden


_TAKES_NOUN = frozenset("in by of from see and with as to also e.g. cf. like per on at or for".split())
