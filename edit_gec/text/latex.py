r"""LaTeX: which characters are prose, and what is read in the place of what is printed but is none.

    \section{Results} % old              FRAGMENT "Results", a text of its own; the comment is left out
    We has \emph{good} results~\cite{a}  "We has good results", the command and the citation are left out
    on 50\% of $n$ files\footnote{It
    is so.}, see Table~\ref{t}.          "on 50% of n files, see Table 1.", and "It is so." by itself

No TeX runs here. The output of a user-defined command is unknown: arguments that read like prose are prose, others stay
as they are. After an unclosed group or environment the rest is left out.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from edit_gec.text import latex_names as names
from edit_gec.text.blocks import BLANK, TokenReader
from edit_gec.text.latex_groups import ENVIRONMENT, VERB, Groups
from edit_gec.text.markup import ASIDE, LEFT_OUT, PROTECTED, Flags, mark

_PREAMBLE = re.compile(r"(?:\s|%[^\n]*\n|\\RequirePackage\b[^\n]*)*\\document(?:class|style)\b")

_ACCENTED = (
    r"\\(?:[`'^\"~=.](?:\{\\?[A-Za-z]\}|\\[ij](?![A-Za-z])|[A-Za-z])|[cvuHkdbr]\{[A-Za-z]\}|[cvuHkdbr] [A-Za-z])"
)
_LETTER = rf"\\(?:{'|'.join(names.LETTERS)})(?![A-Za-z])(?:\{{\}}|[ \t](?![ \t]*[\r\n]))?"
_TOKEN = re.compile(
    rf"(?P<blank>{BLANK})"
    r"|(?P<comment>%[^\n]*)"
    r"|(?P<math>\$\$?|\\[(\[])"
    rf"|(?P<verb>{VERB})"
    rf"|(?P<environment>{ENVIRONMENT})"
    rf"|(?P<letter>(?:\{{(?={_ACCENTED}|{_LETTER}))?(?:{_ACCENTED}|{_LETTER})(?:(?<=[A-Za-z])\}})?)"
    r"|(?P<command>\\(?P<name>[A-Za-z@]+)\*?)"
    r"|(?P<new_line>\\\\\*?(?:\[[^\]\n]{0,30}\])?)"
    r"|(?P<tie>~|\\[ ,;:>]|\\(?=\n))"
    r"|(?P<escaped>\\[%&$#_{}])"
    r"|(?P<mark>``|''|---?|[?!]?`|\"[`'])"
    r"|(?P<own>[!|@^+]{1,3}\w?(?=\{\w[^{}\n]{0,60}\}))"
    r"|(?P<brace>[{}])"
    r"|(?P<code>[&^_]|\#\d|(?<!\\)\\(?=\Z))"
    r"|(?P<other>\\[^A-Za-z])"
)
_MARKS = {"``": "“", "''": "”", "`": "‘", "---": "—", "--": "–", "?`": "¿", "!`": "¡", '"`': "„", "\"'": "“"}
_GAP = re.compile(r"[ \t]*(?:%[^\n]*\n[ \t]*)?")
_COMMENT = re.compile(r"(?:[ \t]*%[^\n]*\n[ \t]*)?")
_OVERLAY = re.compile(r"<[\d,+\-|.@\w:]{0,30}>")
_LENGTH = re.compile(
    r"[ \t]*(?:=[ \t]*\S+|-?\.?\d[\d.]*[ \t]*(?:pt|em|ex|[cm]m|in|bp|sp|dd|pc|mu|fil+|\\\w+)\b"
    r"(?:[ \t]+(?:plus|minus)[ \t]+\S+){0,2})"
)
_DEFINED = re.compile(r"[ \t]*\\[A-Za-z@]+[^{}\n]{0,60}(?=\{)")  # \def\name#1{
_IN_MATH = re.compile(r"\\(?:.|\n)|[{$]|\n[ \t]*\n|\}")
_SYMBOL = re.compile(
    r"\\(?:label|tag|color|[vh]space|text\w*|mbox)\*?\{[^{}]*\}|\\[A-Za-z]+\*?|[A-Za-z]+|\d[\d.,]*\d|\d"
)
_FONTS = re.compile(
    r"\\(?:math\w+|operator\w+|text\w*|hat|bar|tilde|vec|dot|over\w+|under\w+|wide\w+|b?[bf]m|bold\w*|left|right"
    r"|[bB]ig\w*"
    r"|frac|dfrac|sqrt|tuple|begin|end|label|tag|color|[hv]space|set|rm|bf|cal|it|quad|qquad)\*?(?:\{[^{}]*\})?\Z"
)
_RELATION = re.compile(
    r"[=<>]|\\(?:n?leq?|n?geq?|neq|ne|not|in|notin|ni|sub\w+|sup[sp]\w*|n?sim\w*|n?cong|equiv|ident|approx\w*|propto"
    r"|[lg]ll?"
    r"|mid|models|vdash|vDash|prec\w*|succ\w*|perp|parallel|coloneqq?|triangleq)(?![A-Za-z])"
)
_ENDS_SENTENCE = re.compile(r"[.?!](?:\s|\\\]|\$|\}|\\end\{[^{}]*\}|\\label\{[^{}]*\}|\\q?quad)*\Z")
_NEXT = re.compile(r"(?:[ \t]|%[^\n]*)*\n?(?:[ \t]*%[^\n]*\n)*[ \t]*(?P<letter>[^\s])?")
_WORD = re.compile(r"(?<![\\\w@{])[A-Za-z]{2,}(?![\w@])")
_HOLDS_SENTENCE = frozenset("the an to of and or are was were be by you we it this that for is in with not if".split())
_ARTICLE = re.compile(r"(?<!\w)[Aa]n?(?=[ \t~\n]{1,3}\Z)")
_NEEDS_NOUN = re.compile(
    r"(?:\b(?:in|by|of|from|see|and|with|as|to|also|e\.g\.,?|cf\.|i\.e\.,?|than|like|following|per|on|at|or|for|both)"
    r"|[.?!:]|\A|\n[ \t]*\n|[(])[ \t~\n]*\Z",
    re.IGNORECASE,
)
_KEY = re.compile(r"[A-Za-z]{2,}")
_WORD_BEFORE = re.compile(r"[\w'’-]*\Z")
_WORD_BEHIND = re.compile(rf"(?:\w|['’-](?=\w)|\{{?(?:{_ACCENTED}|{_LETTER})\}}?)+")


def mark_latex(text: str) -> Flags:
    """Flags for every character of a LaTeX document, or of a part of one, as markup.py defines them."""
    reader = _Reader(text)
    return reader.read_tokens(*reader.find_body())


class _Arguments(NamedTuple):
    """What stands after a command: spans of its groups with their brackets, and where they end."""

    groups: list[tuple[int, int]]
    end: int
    closed: bool


class _Reader(TokenReader):
    TOKEN = _TOKEN

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.groups = Groups(text)
        self.closing: set[int] = set()  # braces that end a block

    def find_body(self) -> tuple[int, int]:
        """The span of what is printed: not the preamble, not what is after the end."""
        length = len(self.text)
        begin = self.groups.document
        if begin is None:
            if not _PREAMBLE.match(self.text):
                return 0, length
            mark(self.flags, 0, length, LEFT_OUT)
            return length, length
        start = self.text.index("}", begin) + 1
        stop = self.groups.environments.get(begin, length)
        self.break_block(0, start)
        mark(self.flags, stop, length, LEFT_OUT)
        return start, stop

    # ------------------------------------------------------------------------------------------ blocks

    def _part(self, start: int, end: int) -> None:
        """Leave out text[start:end], which stands between texts; a sentence may go on before and after it."""
        self.fragment = self.fragment or bool(self.text[self.block : start].strip())
        self.break_block(start, end)
        following = _NEXT.match(self.text, end)
        self.fragment = following is not None and (following["letter"] or "").islower()

    def _leave_rest(self, start: int) -> int:
        """Something is not closed: leave out what follows, up to the end of the paragraph."""
        end = self.find_blank(start)
        self.flags[start:end] = bytes([LEFT_OUT]) * (end - start)
        self.fragment = True
        return end

    def _stand_in(self, start: int, end: int, shown: str) -> int:
        self.flags.stand_in(start, end, shown)
        if not shown.isspace() and (article := _ARTICLE.search(self.text, max(0, start - 6), start)):
            mark(self.flags, *article.span(), PROTECTED)  # nobody knows how it is pronounced
        return end

    # ------------------------------------------------------------------------------------------ environments, math

    def environment(self, found: re.Match[str]) -> int:
        start, end = found.span()
        name = found["env_name"]
        if found["edge"] == "end":
            self._part(start, end)
            return end
        stop = self.groups.environments.get(start)
        if names.MATH.fullmatch(name) or not self._holds_prose(name, end, stop):
            last = len(self.text) if stop is None else self.text.index("}", stop) + 1
            if names.MATH.fullmatch(name):
                return self._display(start, last)
            self._part(start, last)
            return last
        arguments = self._arguments(end, on_one_line=True)
        title = next((g for g in arguments.groups if self.text[g[0]] == "{"), None)
        if title and names.TITLED.fullmatch(name):
            self._part(start, title[0] + 1)
            return self._heading(title)
        self._part(start, arguments.end)
        return arguments.end

    def _holds_prose(self, name: str, start: int, stop: int | None) -> bool:
        if names.VERBATIM.fullmatch(name) or names.CODE.fullmatch(name):
            return False
        if names.PROSE.fullmatch(name):
            return True
        return stop is not None and _reads_like_prose(self.text[start : min(stop, start + 1000)])

    def math(self, found: re.Match[str]) -> int:
        start = found.start()
        opener = found[0]
        end = self._math_end(found.end(), {"\\(": "\\)", "\\[": "\\]"}.get(opener, opener))
        if end is None:
            return self._leave_rest(start)
        if opener in ("$$", "\\["):
            return self._display(start, end)
        if self.text[end : end + 1] in (",", ";", ":"):
            mark(self.flags, end, end + 1, PROTECTED)  # it parts what a model does not see
        return self._stand_in(start, end, _symbol(self.text[found.end() : end]))

    def _math_end(self, at: int, closer: str) -> int | None:
        while found := _IN_MATH.search(self.text, at):
            at = found.end()
            if found[0] == closer or self.text.startswith(closer, found.start()):
                return found.start() + len(closer)
            if found[0] == "{":
                at = self.groups.pairs.get(found.start(), found.start()) + 1
            elif found[0][0] in "\n}$":
                return None
        return None

    def _display(self, start: int, end: int) -> int:
        """Math on lines of its own: a part of the sentence around it."""
        self._stand_in(start, end, "X")
        self.fragment = True  # a mark at its end would come after the environment
        following = _NEXT.match(self.text, end)
        assert following is not None
        ended = _ENDS_SENTENCE.search(self.text, max(start, end - 200), end) is not None
        if ended or (following["letter"] or "").isupper():
            self.break_block(end, following.start("letter") if following["letter"] else following.end())
        return end

    # ------------------------------------------------------------------------------------------ commands

    def command(self, found: re.Match[str]) -> int:
        name = found["name"]
        start = found.start()
        if name in names.SKIPPED:
            closer = self.text.find(names.SKIPPED[name], found.end())
            end = len(self.text) if closer < 0 else closer + len(names.SKIPPED[name])
            self._part(start, end)
            return end
        if name in names.SYMBOLS or name in names.SPACES:
            end = found.end() + 2 * self.text.startswith("{}", found.end())
            return self._stand_in(start, end, names.SYMBOLS.get(name, " "))
        if name in names.SWITCHES:
            return self.hidden(found)
        if name == "par":
            return self.break_block(start, found.end())
        arguments = self._arguments(found.end(), spaced=name in names.SILENT)
        if not arguments.closed:
            return self._leave_rest(start)
        if name == "item":
            overlay = _OVERLAY.match(self.text, found.end())
            end = overlay.end() if overlay else found.end()
            self.break_block(start, arguments.groups[0][1] if self._is_optional(arguments) else end)
            self.fragment = True
            return self.block
        return self._with_arguments(found, arguments)

    def _is_optional(self, arguments: _Arguments) -> bool:
        return bool(arguments.groups) and self.text[arguments.groups[0][0]] == "["

    def _with_arguments(self, found: re.Match[str], arguments: _Arguments) -> int:
        """Read a command by what it does with its arguments."""
        name = found["name"]
        start = found.start()
        end = arguments.end
        given = [group for group in arguments.groups if self.text[group[0]] == "{"]
        if name in names.SILENT:
            return self.hide(start, self._silent_end(found, arguments))
        if names.TEXT.get(name, len(given)) < len(given):
            if name == "replaced":  # {by this}{text}
                mark(self.flags, given[0][1], end, LEFT_OUT)
            return self._text(start, given[names.TEXT[name]])
        if names.CITE.fullmatch(name) and given:
            return self._cite(found, given, end)
        if names.REF.fullmatch(name) and given:
            return self._stand_in(start, end, "Figure 1" if names.NAMED_REF.fullmatch(name) else "1")
        if names.HEADING.fullmatch(name) and given:
            group = given[-1 if "of" in name else 0]
            self._part(start, group[0] + 1)
            return self._heading(group)
        if name in names.NOTES and given:
            return self._aside(start, given[-1])
        if name in names.CODE_LIKE:
            return self._code(found, given, end)
        return self._unknown(found, arguments, given)

    def _heading(self, group: tuple[int, int]) -> int:
        """A block of its own, up to the brace that closes it."""
        self.fragment = True
        self.closing.add(group[1] - 1)
        return group[0] + 1

    def _aside(self, start: int, group: tuple[int, int]) -> int:
        opening = group[0] + 1
        closing = group[1] - 1
        if self.flags[start] & ASIDE:
            return self.hide(start, group[1])
        self.hide(start, opening)
        if self.text[closing + 1 : closing + 2] in " \n.,;:)!?]":
            self.hide(start, start)
        return self.mark_aside(opening, closing)

    def _text(self, start: int, group: tuple[int, int]) -> int:
        """The text of one argument is read as if the command were not there."""
        mark(self.flags, start, group[0] + 1, LEFT_OUT)
        mark(self.flags, group[1] - 1, group[1], LEFT_OUT)
        return group[0] + 1

    def _cite(self, found: re.Match[str], given: list[tuple[int, int]], end: int) -> int:
        """A citation is left out unless the sentence needs it."""
        name = found["name"]
        start = found.start()
        if name[:2] != "no":
            if names.TEXTUAL_CITE.fullmatch(name):
                key = _KEY.search(self.text, given[-1][0])
                return self._stand_in(start, end, f"{key[0].capitalize()} et al" if key else "X")
            if name[:4].casefold() == "cite" and _NEEDS_NOUN.search(self.text, max(0, start - 20), start):
                return self._stand_in(start, end, "X")
        return self.hide(start, end)

    def _code(self, found: re.Match[str], given: list[tuple[int, int]], end: int) -> int:
        start = found.start()
        if given:
            body = self.text[given[0][0] + 1 : given[0][1] - 1]
            return self._stand_in(start, end, body if re.fullmatch(r"[\w.-]+", body) else "X")
        opening = start - 1
        while opening >= 0 and self.text[opening] in " \t":
            opening -= 1
        if found["name"] in ("tt", "ttfamily") and opening in self.groups.pairs:
            return self._stand_in(opening, self.groups.pairs[opening] + 1, "X")
        return self.hide(start, found.end())

    def _silent_end(self, found: re.Match[str], arguments: _Arguments) -> int:
        """The end of a command and of what it is given without braces: a length, a name to define."""
        end = arguments.end
        if end == found.end():
            given = _LENGTH.match(self.text, end)
            defined = _DEFINED.match(self.text, end) if found["name"].endswith(("def", "command", "let")) else None
            if given:
                end = given.end()
            elif defined:
                body = self._arguments(defined.end())
                end = body.end if body.closed else self._leave_rest(found.start())
            elif found["name"] == "let":
                end = self.find_line_end(end)
        return end

    def _unknown(self, found: re.Match[str], arguments: _Arguments, given: list[tuple[int, int]]) -> int:
        """A user-defined command."""
        start = found.start()
        end = arguments.end
        if length := _LENGTH.match(self.text, end):  # \parindent=0pt
            return self.hide(start, length.end())
        alone = self._has_own_lines(start, end)
        prose = [group for group in given if _reads_like_prose(self.text[group[0] + 1 : group[1] - 1])]
        if prose:
            return self._own_prose(start, end, prose, alone)
        if alone:
            return self.hide(start, end)
        following = self.text[end : end + 2].lstrip(" ")[:1]
        if not given and following.isupper() and not self.text[self.block : start].strip():
            return self.hide(start, end)  # a switch before a paragraph
        body = self.text[given[0][0] + 1 : given[0][1] - 1] if given else ""
        body = body or found["name"]
        return self._stand_in(start, end, body if re.fullmatch(r"\w[\w -]*", body) else "X")

    def _own_prose(self, start: int, end: int, prose: list[tuple[int, int]], alone: bool) -> int:
        """Arguments that read like prose: blocks, a part of the sentence, or notes in it."""
        if alone:
            self._part(start, prose[0][0] + 1)
            return self._heading(prose[0])
        if self.text[: prose[0][1] - 1].rstrip()[-1:] in tuple(".!?"):
            return self._aside(start, prose[0])
        return self._text(start, prose[0])

    def _has_own_lines(self, start: int, end: int) -> bool:
        """Is there nothing else on its lines?"""
        return self.is_alone(start) and not self.text[end : self.find_line_end(end)].partition("%")[0].strip()

    def _arguments(self, at: int, *, on_one_line: bool = False, spaced: bool = False) -> _Arguments:
        """The groups after a command; `spaced`: blanks between them are none."""
        groups: list[tuple[int, int]] = []
        overlay = _OVERLAY.match(self.text, at)
        end = overlay.end() if overlay else at
        while True:
            gap = (_COMMENT if groups and not spaced else _GAP).match(self.text, end)
            at = gap.end() if gap else end
            opener = self.text[at : at + 1]
            closing = self.groups.pairs.get(at)
            if opener == "{" and closing is None:
                return _Arguments(groups, end, False)
            if opener not in ("{", "[") or closing is None:
                break
            if (opener == "[" and self.find_blank(at) < closing) or (on_one_line and "\n" in self.text[at:closing]):
                break
            end = closing + 1
            groups.append((at, end))
        return _Arguments(groups, end, True)

    # ------------------------------------------------------------------------------------------ the rest

    def verb(self, found: re.Match[str]) -> int:
        return self._stand_in(*found.span(), "X")

    def letter(self, found: re.Match[str]) -> int:
        """An accented letter: the word that it is in stays."""
        first = _WORD_BEFORE.search(self.text, max(self.block, found.start() - 60), found.start())
        word = _WORD_BEHIND.match(self.text, found.start())
        start = first.start() if first else found.start()
        end = word.end() if word else found.end()
        at = found.start()
        shown = [self.text[start:at]]
        for each in re.finditer(rf"\{{?(?:{_ACCENTED}|{_LETTER})\}}?", self.text[at:end]):
            shown += [self.text[at : found.start() + each.start()], _accented(each[0])]
            at = found.start() + each.end()
        return self._stand_in(start, end, "".join([*shown, self.text[at:end]]))

    def tie(self, found: re.Match[str]) -> int:
        return self._stand_in(*found.span(), " ")

    def escaped(self, found: re.Match[str]) -> int:
        return self._stand_in(*found.span(), found[0][1])

    def mark(self, found: re.Match[str]) -> int:
        return self._stand_in(*found.span(), _MARKS.get(found[0], "“"))

    def own(self, found: re.Match[str]) -> int:
        """!!{formula}s: a group that belongs to a word in a user-defined notation."""
        closing = self.groups.pairs.get(found.end())
        if closing is None:
            return self._leave_rest(found.start())
        end = closing + 1
        while self.text[end : end + 1].isalnum():
            end += 1
        article = "a " if found[0][-1] in "aA" else ""
        return self._stand_in(
            found.start(), end, article + self.text[found.end() + 1 : closing] + self.text[closing + 1 : end]
        )

    def brace(self, found: re.Match[str]) -> int:
        start, end = found.span()
        if start in self.closing:
            self.fragment = True
            self.break_block(start, end)
        elif found[0] == "{" and start not in self.groups.pairs:
            return self._leave_rest(start)
        else:
            mark(self.flags, start, end, LEFT_OUT)
        return end

    def code(self, found: re.Match[str]) -> int:
        """A character that has no place in prose: the line is none."""
        start = self.text.rfind("\n", 0, found.start()) + 1
        end = self.find_line_end(found.end())
        mark(self.flags, max(start, self.block), end, LEFT_OUT)
        self.fragment = True
        return end

    comment = other = TokenReader.hidden


def _symbol(math: str) -> str:
    """How a formula is read: its first name, and that it is a statement."""
    relation = _RELATION.search(math)
    if relation and relation[0] == math.strip():
        return "X"
    says = " = x" if relation else ""
    for found in _SYMBOL.finditer(math[:200]):
        symbol = found[0]
        if symbol[0].isdigit():
            return (symbol if symbol == "1" else "2") + says
        if not _FONTS.match(symbol):
            return symbol.lstrip("\\") + says
    return "X" + says


def _reads_like_prose(text: str) -> bool:
    """Is it a text of some words, rather than a name, a key or code?"""
    words = _WORD.findall(text[:1000])
    if len(words) < 4 or _HOLDS_SENTENCE.isdisjoint(words):
        return False
    return sum(map(len, words)) * 2 > len(re.sub(r"\s", "", text[:1000]))


def _accented(code: str) -> str:
    r"""The letter that is printed for \"o, \c{c} or \o."""
    code = code.strip("{} \t")
    name = code[1:2]
    letter = code[2:].strip("{} \t\\")
    if name in names.ACCENTS and letter:
        return unicodedata.normalize("NFC", letter + names.ACCENTS[name])
    return names.LETTERS.get(code.strip("{} \t\\"), "X")
