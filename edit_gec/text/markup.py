"""Markup: which characters of a document are prose, which are left out, which are shown but must stay.

Every character gets a byte of flags. `regions` looks at the whole document (fences, comments, display math,
`edit-gec: ignore`), `paragraphs` at lines (prefixes, tables, hard wraps), `inline` inside one paragraph:

    # Our <b>new</b> tool        LEFT_OUT "# ", "<b>", "</b>";  prose "Our new tool"
    > see [the docs](d.md) or    LEFT_OUT "> ", "[", "](d.md)";  two lines, one paragraph:
    > run `make`.                FOLD for the line break with "> ";  PROTECTED "`make`"

This is not a Markdown renderer: it only has to be right about what is prose, and where it is in doubt (an unclosed
comment, a lone asterisk) the text stays visible. Everything is linear in the size of the document: a search for a
closing mark that failed is not repeated (`_Closer`), and no pattern starts twice inside one run of characters.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import defaultdict

from edit_gec.text.directives import find_left_out
from edit_gec.text.markdown_lines import find_extension_lines, find_indented_code
from edit_gec.text.protected import STARTERS
from edit_gec.text.references import normalize

# Bits. BREAK is left out too, and another paragraph follows. FRAGMENT is prose that need not be whole sentences. ASIDE
# is a text inside another one, a footnote: it is read by itself, and what is around it as if it were not there.
LEFT_OUT = 1
PROTECTED = 2
FOLD = 4
BREAK = 8
FRAGMENT = 16
ASIDE = 32

_RAW = "script|style|pre|textarea|svg|math"
_SHOWN = "code|kbd|samp|tt|var"
_ENVIRONMENTS = "equation|align|alignat|gather|multline|eqnarray|displaymath|verbatim|lstlisting|minted|tikzpicture"
_OPENER = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}(?=[^~\n]*$))"
    r"|(?P<comment><!--)"
    r"|(?P<declaration><(?:!DOCTYPE\b|\?xml\b)[^<>]*>)"
    r"|(?P<program><\?(?:php\b|=|(?=\w))|<%)"
    rf"|<(?P<raw>{_RAW}|{_SHOWN})\b[^<>]*>"
    r"|(?P<dollars>\$\$)"
    r"|^[ \t>]*(?P<bracket>\\\[)"
    rf"|\\begin\{{(?P<environment>(?:{_ENVIRONMENTS})\*?)\}}"
    r"|\{%-?[ \t]*(?P<liquid>highlight|raw|codeblock|verbatim|comment)\b"
    r"|\{\{[<%][ \t]*(?P<shortcode>highlight|mermaid|math|katex)\b"
    r"|(?P<template>\{\{[<%#/]|\{%|\{#(?=[ \t]))"
    r"|\\[^\w\s]"  # an escaped character opens nothing
    r"|(?P<ticks>`+)",
    re.MULTILINE | re.IGNORECASE,
)
_FRONT_MATTER = re.compile(r"(?:---[ \t]*\n(?=[\w\"'#-]+[ \t]*:|#)|\+\+\+[ \t]*\n)")
_MATH = re.compile(r"[\\^_={}<>+]")
_ENDS = {  # of regions, where NAME is what its opener names
    "comment": "-->",
    "raw": r"</NAME\s*>",
    "bracket": r"\\\]",
    "environment": r"\\end\{NAME\}",
    "liquid": r"\{%-?[ \t]*endNAME[ \t]*-?%\}",
    "shortcode": r"\{\{[<%][ \t]*/[ \t]*NAME[ \t]*[>%]\}\}",
}
_TEMPLATE_ENDS = {"{{<": r">\}\}", "{{%": r"%\}\}", "{{#": r"\}\}", "{{/": r"\}\}", "{%": r"%\}", "{#": r"#\}"}
_SILENT = re.compile(  # template code that writes nothing
    r"<%(?![=-])|\{\{[#/]|\{#"
    r"|\{%-?[ \t]*(?:if|els\w+|elif|end\w+|unless|for|case|when|set|assign|block|with|load|extends|capture)\b"
)
_BEFORE_SENTENCE = re.compile(rf"[ \t]+(?:{'|'.join(sorted(STARTERS))})\b")


def mark(flags: bytearray, start: int, end: int, bit: int) -> None:
    """Set `bit` on flags[start:end], leaving other bits alone."""
    flags[start:end] = flags[start:end].translate(_OR[bit])


_OR = {bit: bytes(value | bit for value in range(256)) for bit in (LEFT_OUT, PROTECTED, FOLD, BREAK, FRAGMENT, ASIDE)}


class Flags(bytearray):
    """Flags of the characters of a text, and what is read in the place of some of them, which are flagged FOLD, too.

    A line break that is flagged FOLD ends no paragraph, even where its line has no prose.
    """

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.stand_ins: dict[int, tuple[int, str]] = {}  # start -> end and what is read there

    def stand_in(self, start: int, end: int, shown: str) -> None:
        """Let text[start:end] be read as `shown`, or as the part of it that is not longer, and stay as it is.

        A space may be an edge of an edit, anything else may not.
        """
        shown = shown[: end - start]
        self.stand_ins[start] = end, shown
        self[start:end] = bytes([FOLD]) * (end - start)
        if not shown.isspace():
            mark(self, start, end, PROTECTED)


# --- the whole document ------------------------------------------------------------------------------------------


class _Closer:
    """Finds closing marks; remembers stretches already searched in vain, so that openers alone cost nothing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.searched: dict[str, int] = {}
        self.blank = array("q", (m.start() for m in re.finditer(r"\n(?=[ \t>]*\n)", text)))  # ends of paragraphs
        self.ticks: defaultdict[int, array[int]] = defaultdict(lambda: array("q"))
        for run in re.finditer("`+", text):
            self.ticks[len(run[0])].append(run.start())

    def paragraph_end(self, pos: int) -> int:
        index = bisect_left(self.blank, pos)
        return self.blank[index] if index < len(self.blank) else len(self.text)

    def find(self, mark: str, pos: int, limit: int) -> int:
        """End of the first `mark` in text[pos:limit], or -1."""
        if pos < self.searched.get(mark, 0):
            return -1
        found = re.compile(mark, re.IGNORECASE | re.MULTILINE).search(self.text, pos, limit)
        if found is None:
            self.searched[mark] = limit
            return -1
        return found.end()

    def find_ticks(self, length: int, pos: int) -> int:
        """End of the next run of exactly `length` backticks in this paragraph, or -1."""
        runs = self.ticks[length]  # none: "\\```" escapes the first of three
        index = bisect_left(runs, pos)
        return runs[index] + length if index < len(runs) and runs[index] < self.paragraph_end(pos) else -1


def regions(text: str, *, indented_code: bool = True, is_markdown: bool = False) -> bytearray:
    """Flags for every character of `text`, with the regions that span lines, and inline code, filled in.

    `text` must have "\\n" for line breaks (" \\n" where there was "\\r\\n", to keep offsets).
    """
    flags = bytearray(len(text))
    mark_ignored(text, flags)
    for start, end in find_indented_code(text, is_markdown=is_markdown) if indented_code else ():
        mark(flags, start, end, LEFT_OUT)
    closer = _Closer(text)
    pos = 0
    if front := _FRONT_MATTER.match(text):
        fence = re.escape(text[:3])
        end = closer.find(rf"^(?:{fence}|\.\.\.)[ \t]*$", front.end(), len(text))
        if end > 0:
            mark(flags, 0, end, LEFT_OUT)
            pos = end
    while opener := _OPENER.search(text, pos):
        pos = max(_region(opener, closer, flags), opener.end())
    _leave_elements(text, flags)
    for start, end in find_extension_lines(text):
        if not flags[start]:
            mark(flags, start, end, BREAK)
    return flags


def _leave_elements(text: str, flags: bytearray) -> None:
    """Leave out elements that are struck out, and those in other languages; of the latter, words in a line stay."""
    if not _LEFT_ALONE.search(text):
        return
    opened: defaultdict[str, list[re.Match[str]]] = defaultdict(list)
    for tag in _TAG.finditer(text):
        name = tag[1].lower()
        if flags[tag.start()]:
            continue
        if not tag[0].startswith("</"):
            opened[name].append(tag)
        elif opened[name] and _LEFT_ALONE.search((opening := opened[name].pop())[0]):
            is_word = name not in _STRUCK_TAGS and name in _INLINE_TAGS
            mark(flags, opening.start(), tag.end(), PROTECTED if is_word else LEFT_OUT)


def _region(opener: re.Match[str], closer: _Closer, flags: bytearray) -> int:
    """Flag the region that `opener` begins; return its end, or -1 where nothing begins."""
    text = closer.text
    kind = opener.lastgroup
    if kind is None or (kind == "fence" and _is_underline(text, opener.start(), opener[kind])):
        return -1
    end = _end_of_region(kind, opener[kind], closer, opener.end())
    if end > 0:
        may_stay = kind in ("ticks", "template", "program") or (
            kind == "raw" and opener[kind].lower() in _SHOWN.split("|")
        )
        is_shown = may_stay and (
            kind == "ticks" or ("\n" not in text[opener.start() : end] and not _is_apart(text, opener, end))
        )
        mark(flags, opener.start(), end, PROTECTED if is_shown else LEFT_OUT)
    return end


def _is_apart(text: str, opener: re.Match[str], end: int) -> bool:
    """Whether template code is no part of a sentence: it writes nothing, or stands right before one in a block."""
    start = opener.start()
    if opener.lastgroup not in ("template", "program"):
        return False
    is_first = text[text.rfind("\n", 0, start) + 1 : start].rstrip()[-1:] in ("", ">")
    return _SILENT.match(text, start) is not None or (is_first and _BEFORE_SENTENCE.match(text, end) is not None)


def _is_underline(text: str, start: int, marks: str) -> bool:
    """Whether tildes stand under a title of their length."""
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)].strip()
    return len(marks) > 3 and marks[0] == "~" and 0 <= len(marks) - len(above) + 1 <= 2


def _end_of_region(kind: str, value: str, closer: _Closer, pos: int) -> int:
    """Where a region ends whose opener ends at `pos`, or -1."""
    everything = len(closer.text)
    if kind == "fence":  # unclosed: to the end of the document, as CommonMark has it
        end = closer.find(rf"^[ \t>]*{value[0]}{{{len(value)},}}[ \t]*$", pos, everything)
        return everything if end < 0 else end
    if kind == "declaration":
        return pos
    if kind == "dollars":
        return _end_of_display_math(closer, pos, closer.paragraph_end(pos))
    if kind == "ticks":
        return closer.find_ticks(len(value), pos)
    if kind == "program":  # PHP may stay open to the end
        end = closer.find(rf"{re.escape(value[1])}>", pos, everything)
        return everything if end < 0 and value.lower() == "<?php" else end
    if kind == "template":
        return closer.find(_TEMPLATE_ENDS[value], pos, closer.paragraph_end(pos))
    limit = closer.paragraph_end(pos) if kind == "bracket" else everything
    return closer.find(_ENDS[kind].replace("NAME", re.escape(value)), pos, limit)


def _end_of_display_math(closer: _Closer, pos: int, paragraph: int) -> int:
    """The end of $$ ... $$, or -1 where it is not closed in its paragraph or holds no mathematics."""
    end = closer.find(r"\$\$", pos, paragraph)
    first, line_break, rest = closer.text[pos : max(pos, end - 2)].partition("\n")
    last = rest.rpartition("\n")[2]  # between a quotation's mark or an indent and the $$
    is_alone = bool(line_break) and not first.strip() and not last.strip(" \t>")
    return end if end > 0 and (is_alone or _MATH.search(closer.text, pos, end - 2)) else -1


def mark_ignored(text: str, flags: bytearray) -> None:
    """Leave out what directives say, and their own words."""
    for start, end in find_left_out(text):
        mark(flags, start, end, LEFT_OUT)


# --- inside a paragraph ------------------------------------------------------------------------------------------

_ANY_INLINE = re.compile(r"[<\[*_~$\\{]")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?:\s(?:[^<>]|<%[^<>]*%>|<\?[^<>]*\?>)*)?/?>")
_LEFT_ALONE = re.compile(  # elements that are no English prose of their writer, or no longer
    r"<(?:del|s|strike)\b|\s(?:translate=[\"']?no\b|class=[\"']?[^<>\"']*\bnotranslate\b"
    r"|(?:xml:)?lang=[\"']?(?!en)[a-z])",
    re.IGNORECASE,
)
_STRUCK_TAGS = frozenset(("del", "s", "strike"))
_BLOCK_TAGS = frozenset(
    "address article aside blockquote body br button caption center dd details div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol option p section select summary table "
    "tbody td tfoot th thead title tr ul".split()
)
_FRAGMENT_TAG = re.compile(
    r".*<(?:(?:button|caption|d[dt]|figcaption|h[1-6]|legend|li|option|summary|t[dh]|title)"
    r"(?:\s[^<>]*)?>(?:\s|<(?:b|i|em|strong)>)*"
    r"|(?-i:[A-Z][\w.]*)(?:\s[^<>]*)?>)\Z",  # below the tag of a component stands prose
    re.DOTALL | re.IGNORECASE,
)
_INLINE_TAGS = frozenset(
    "a abbr acronym b bdi bdo big cite del dfn em font i img input ins kbd label link mark meta q s samp small source "
    "span strike strong sub sup time tt u var video audio wbr".split()
)
_INLINE_MATH = re.compile(
    r"(?<![\\$\w])\$(?![\s$])[^$]{1,200}(?<![\s\\])\$(?![\d$])"
    r"|\\\([^\\]{1,200}(?:\\(?!\))[^\\]{1,200}){0,20}\\\)"
)
_WIKI = re.compile(r"\[\[[^\[\]|\n]{1,120}(?:(?P<bar>\|)[^\[\]|\n]{1,200})?\]\]")
_BRACKET = re.compile(r"(?<!\\)(?:(?P<footnote>\[\^[^\]\[\s]{1,40}\])|(?P<open>!?\[)|\])")
_TARGET = re.compile(
    r"\(\s{0,3}(?:<[^<>]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)(?:\s{1,3}(?:\"[^\"]*\"|'[^']*'))?\s{0,3}\)"
    r"|\[[^\[\]]{0,200}\]"
)
_EMPHASIS = re.compile(r"(?<!\\)(?:\*{1,3}|_{1,3})(?![*_])")
_STRUCK = re.compile(  # what is no longer meant: CriticMarkup {--old--}, {~~old~>new~~}, and what is said about a text
    r"(?<![~\\])~~(?=[^\s~])(?:[^~]|~(?!~)){1,2000}?(?<=\S)~~(?!~)|\{--(?:[^-]|-(?!-)){1,2000}--\}"
    r"|\{~~(?:[^~]|~(?![~>])){0,2000}~>|\{>>[^<>]{0,2000}<<\}|\{\+\+|\+\+\}|\{==|==\}|~~\}"
)
_ATTRIBUTES = re.compile(r"\{\s?(?:[.#:]|[\w:-]+=)[^{}\n]{0,300}\}")
_DUNDER = re.compile(r"__[a-z0-9]+(?:_[a-z0-9]+)*__")


def inline(view: str, flags: bytearray, labels: frozenset[str] = frozenset()) -> None:
    """Flag tags, links, footnote marks, struck-out text, emphasis marks and inline math in one paragraph.

    `labels` are those of the definitions in its document (references.py).
    """
    if not _ANY_INLINE.search(view):
        return
    for tag in _TAG.finditer(view):
        if not flags[tag.start()] & ~FOLD:
            name = tag[1].lower()
            bit = BREAK if name in _BLOCK_TAGS else LEFT_OUT if name in _INLINE_TAGS else PROTECTED
            mark(flags, *tag.span(), bit)
    for math in _INLINE_MATH.finditer(view):
        if not flags[math.start()]:
            mark(flags, *math.span(), PROTECTED)
    _mark_pages(view, flags)
    for struck in _STRUCK.finditer(view):
        if not flags[struck.start()] & ~FOLD:
            mark(flags, *struck.span(), LEFT_OUT)
    _links(view, flags, labels)
    for name in _DUNDER.finditer(view):
        mark(flags, *name.span(), PROTECTED)
    emphasis(view, flags, _EMPHASIS)


def is_fragment(text: str, start: int) -> bool:
    """Does a tag before text[start] say that what follows need not be a whole sentence: a list item, a heading?

    Tags of bold and the like may stand between.
    """
    before = text[max(0, start - 300) : start]
    return before.rstrip().endswith(">") and _FRAGMENT_TAG.match(before) is not None


def _mark_pages(view: str, flags: bytearray) -> None:
    """ "[[page|text]]" shows text; "[[page]]" is shown and stays."""
    for page in _WIKI.finditer(view):
        if flags[page.start()]:
            continue
        if page["bar"]:
            mark(flags, page.start(), page.end("bar"), LEFT_OUT)
            mark(flags, page.end() - 2, page.end(), LEFT_OUT)
        else:
            mark(flags, *page.span(), PROTECTED)


def _links(view: str, flags: bytearray, labels: frozenset[str]) -> None:
    """ "[text](target)" and "[text][name]" show text; that of "[name][]" and "[name]" is a label and stays. Images,
    footnote marks and attributes in braces show nothing."""
    stack: list[re.Match[str]] = []
    for bracket in _BRACKET.finditer(view):
        if flags[bracket.start()]:
            continue
        if bracket["footnote"]:
            mark(flags, *bracket.span(), LEFT_OUT)
        elif bracket["open"]:
            stack.append(bracket)
        elif stack:
            opening = stack.pop()
            target = _TARGET.match(view, bracket.end())
            end = target.end() if target else bracket.end()
            attributes = _ATTRIBUTES.match(view, end)
            is_label = target[0] == "[]" if target else normalize(view[opening.end() : bracket.start()]) in labels
            if not (target or attributes or is_label):
                continue
            if opening["open"] == "![":
                mark(flags, opening.start(), end, LEFT_OUT)
            else:
                mark(flags, *opening.span(), LEFT_OUT)
                mark(flags, bracket.start(), end, LEFT_OUT)
            if is_label:
                mark(flags, opening.end(), bracket.start(), PROTECTED)
            if attributes:
                mark(flags, *attributes.span(), LEFT_OUT)


def emphasis(view: str, flags: bytearray, marks: re.Pattern[str]) -> None:
    """Leave out pairs of the same mark around something; "2 * 3 * 4" and snake_case are none."""
    opened: dict[str, int] = {}
    for found in marks.finditer(view):
        start, end = found.span()
        if flags[start]:
            continue
        before = view[start - 1 : start]
        after = view[end : end + 1]
        opener = bool(after) and not after.isspace() and not before.isalnum()
        closer = bool(before) and not before.isspace() and (not after.isalnum() or found[0] == "**")
        if closer and found[0] in opened and opened[found[0]] < start - 1:
            begin = opened.pop(found[0])
            mark(flags, begin - len(found[0]) + 1, begin + 1, LEFT_OUT)
            mark(flags, start, end, LEFT_OUT)
        elif opener:
            opened[found[0]] = end - 1
