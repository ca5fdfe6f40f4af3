"""Lines and paragraphs: where prose stands in a document, and which line breaks are only the margin's.

    Dear John,                   one paragraph of one line: a capital that would have fitted above starts a new thing

    the meeting that we had      one paragraph of two lines: the break is a hard wrap, because the text goes on
    planned is moved to Monday

    > - bring your badge         prefixes ("> - ") are not prose; each list item is a paragraph

Lines are half-open [start, end) character offsets of the document, white space and prefixes trimmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from itertools import chain, pairwise
from typing import NamedTuple

from edit_gec.text.markup import BREAK, FOLD, LEFT_OUT, PROTECTED

LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # what str.splitlines takes for one


LONGEST = 1_000_000  # characters of a paragraph; what goes on after them is another one


class Line(NamedTuple):
    """The prose of one line: text[start:end] without prefix and outer white space."""

    start: int
    end: int
    lead: str  # quote, comment or heading prefix: lines of one paragraph share it
    opens: bool  # a list item, table row, ...: never continues the line before
    closes: bool  # never continued by the next line
    fragment: bool  # a list item, heading, table row or caption: need not be a whole sentence
    width: int  # columns from the margin to the end: tells a hard wrap from a deliberate break


_LEAD = re.compile(r"(?:>[ \t]?)*(?:(?:#{1,6}|//+!?|;;+|%+)[ \t]+)?[ \t]*")
_ITEM = re.compile(
    r"(?:(?P<number>\d{1,3})\.|[-*+•◦▪‣·–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{2,4})\)|(?:[a-z]|[ivx]{2,4})\.|\\item\b)"
    r"[ \t]+(?:\[[ xX]\][ \t]+)?"
    r"|\[\^[^\]\s]{1,40}\]:[ \t]*|:[ \t]+(?=\S)"
)
_DEFINITION = re.compile(r"[ \t>]*:[ \t]+\S")
_CAPTION = re.compile(r"(?:Figure|Fig\.|Table|Listing|Image|Photo)[ \t]+\d+[a-z]?[.:]")
_UNDERLINE = re.compile(r"[ \t>]*(?:={2,}|-{2,}|~{2,})[ \t]*\Z")
_RULE = re.compile(r"([-*_=~+#])(?:[ \t]*\1)+[ \t]*\Z")
_REFERENCE = re.compile(r"\[(?!\^)[^\]\n]{1,200}\]:[ \t]*(?:<[^<>]*>|\S+)(?:[ \t]+[\"'(].*)?\Z")
_COMMAND_LINE = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\{[^{}]*\}\s*\Z")
_HIDDEN = re.compile(rb"[\x01\x03\x08-\x0b\x11\x13\x18-\x1b]+")
_IS_BREAK = re.compile(rb"[\x08-\x0f\x18-\x1f]")
_FIRST_WORD = re.compile(r"[\"'“‘«(\[]*([^\W\d_])?\S{0,60}")
_LINK = re.compile(r"\[[^\[\]]*\]\(\S*")  # at the start of a line: nobody breaks it
_TARGET = re.compile(r"\]\([^()\s]*\)|https?://\S+")  # it sticks out of the margin
_MIN_WRAP = 40  # nobody wraps prose narrower than this: verse, addresses, a title above its text


class _Reading(Enum):
    """How a line is read."""

    PLAIN = "plain text"
    MARKUP = "Markdown or HTML"
    TABLE_ROW = "a row of a Markdown table"


def paragraphs(text: str, flags: bytearray, markup: bool, *, flows: bool = False) -> Iterator[list[Line]]:
    """Groups of lines that are one paragraph each. Bars of table rows get BREAK in `flags`.

    `flows`: a line break is no more than a space, as in HTML.
    """
    group: list[Line] = []
    table = False
    for (start, end), after in pairwise(chain(spans_between_breaks(text), [(len(text), len(text))])):
        bars = markup and "|" in text[start:end]
        following = text[slice(*after)] if bars else ""
        table = bars and (table or text[start:end].lstrip(" \t>")[:1] == "|" or _is_separator(following))
        reading = _Reading.TABLE_ROW if table else _Reading.MARKUP if markup else _Reading.PLAIN
        line = _read_line(text, flags, start, end, group[-1] if group else None, reading)
        is_below = line is None and _UNDERLINE.match(text[start:end])
        if len(group) == 1 and (is_below or (markup and line and _DEFINITION.match(text, start, end))):
            group = [group[0]._replace(fragment=True)]  # a title, a term
        if group and (line is None or line.opens or not _goes_on(group, line)):
            yield from [group] if flows else _unwrap(text, group)
            group = []
        if line is not None:
            group.append(line)
    if group:
        yield from [group] if flows else _unwrap(text, group)


def _goes_on(group: list[Line], line: Line) -> bool:
    """Whether a line continues the paragraph of these."""
    last = group[-1]
    return not last.closes and line.lead == last.lead and line.end - group[0].start <= LONGEST


def flagged_paragraphs(text: str, flags: bytearray) -> Iterator[list[Line]]:
    """Groups of lines that are one paragraph each, where a reader of the format has flagged all that is not prose.

    A line without prose ends a paragraph, unless its line break is flagged FOLD; BREAK between the prose of two lines
    (a list's mark, say) parts them, too.
    """
    group: list[Line] = []
    for margin, stop in _joined_spans(text, flags):
        start, end = _trim(text, flags, margin, stop)
        goes_on = stop < len(flags) and flags[stop] & FOLD
        parted = _IS_BREAK.search(flags, group[-1].end, start) if group and start < end else not goes_on
        if group and (parted or end - group[0].start > LONGEST):
            yield group
            group = []
        if start < end:
            start, end = _with_marks(text, margin, start, end, stop)
            group.append(Line(start, end, "", False, False, False, end - margin))
    if group:
        yield group


def _with_marks(text: str, margin: int, start: int, end: int, stop: int) -> tuple[int, int]:
    """The span and the left-out marks that touch it: they belong to the words, not to the line break."""
    while start > margin and not text[start - 1].isspace():
        start -= 1
    while end < stop and not text[end].isspace():
        end += 1
    return start, end


def _joined_spans(text: str, flags: bytearray) -> Iterator[tuple[int, int]]:
    """The spans of lines; breaks in what is read as something else are none."""
    begin = None
    for start, end in spans_between_breaks(text):
        begin = start if begin is None else begin
        if end == len(text) or flags[end] & (FOLD | PROTECTED) != FOLD | PROTECTED:
            yield begin, end
            begin = None


def spans_between_breaks(text: str) -> Iterator[tuple[int, int]]:
    """The lines of a text, without their ends: what LINE_BREAK parts."""
    start = 0
    for found in LINE_BREAK.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _is_separator(line: str) -> bool:
    return "|" in line and "-" in line and not line.strip("|-:+> \t")


def _read_line(
    text: str, flags: bytearray, start: int, end: int, before: Line | None, reading: _Reading
) -> Line | None:
    """The prose of text[start:end]; None if there is none."""
    margin = start
    start, end = _trim(text, flags, start, end)
    if start == end:
        return None
    lead = _LEAD.match(text, start, end)
    assert lead is not None
    begin = lead.end()
    content = text[begin:end]
    item = _list_item(text, begin, end, before)
    markup = reading is not _Reading.PLAIN
    table = reading is _Reading.TABLE_ROW
    if markup and (_RULE.match(content) or _REFERENCE.match(content) or (table and _is_separator(content))):
        return None
    closes = table or _COMMAND_LINE.match(content) is not None
    opens = closes or item is not None
    if markup:
        start, end = _without_marks(text, item.end() if item else begin, end, heading="#" in lead[0])
        if table:
            _flag_bars(text, flags, start, end)
        start, end = _trim(text, flags, start, end)
        if start >= end:
            return None
    fragment = opens or "#" in lead[0] or _CAPTION.match(text, start, end) is not None
    return Line(start, end, lead[0].strip() if markup else "", opens, closes, fragment, end - margin)


def _list_item(text: str, begin: int, end: int, before: Line | None) -> re.Match[str] | None:
    """The mark of a list item; None if there is none."""
    item = _ITEM.match(text, begin, end)
    if item and item["number"] and item["number"] != "1" and before and not before.opens:
        if text[before.end - 1] not in ".!?:;":
            return None  # "... in the year\n1986. It was": CommonMark too lets only "1." interrupt a paragraph
    return item


def _without_marks(text: str, start: int, end: int, *, heading: bool) -> tuple[int, int]:
    """The span without the #s that close a heading, and without the backslash of a hard line break."""
    if heading and text[start:end].endswith(" #"):
        end = start + len(text[start:end].rstrip("#").rstrip())
    if end > start and text[end - 1] == "\\" and text[end - 2 : end - 1] != "\\":
        end -= 1
    return start, end


def _flag_bars(text: str, flags: bytearray, start: int, end: int) -> None:
    """Each bar of a table row ends a cell."""
    for bar in re.finditer(r"(?<!\\)\|", text[start:end]):
        if not flags[start + bar.start()]:
            flags[start + bar.start()] = BREAK


def _trim(text: str, flags: bytearray, start: int, end: int) -> tuple[int, int]:
    """Narrow [start, end) past white space and left-out characters at both ends."""
    while start < end:
        if hidden := _HIDDEN.match(flags, start, end):
            start = hidden.end()
        elif text[start].isspace():
            start += 1
        else:
            break
    while end > start and (flags[end - 1] & (LEFT_OUT | BREAK) or text[end - 1].isspace()):
        end -= 1
    return start, end


def _is_list(text: str, group: list[Line]) -> bool:
    """Whether lines are titles or names, one in each: all begin with a capital, and none ends a sentence."""
    return len(group) > 2 and all(text[line.start].isupper() and text[line.end - 1].isalnum() for line in group)


def _unwrap(text: str, group: list[Line]) -> Iterator[list[Line]]:
    """Cut a run of lines where the writer, not the margin, broke the line.

    A hard wrap comes where the next word no longer fits; a capitalised word that would have fitted starts a new thing.
    """
    width = max(line.width - sum(map(len, _TARGET.findall(text, line.start, line.end))) for line in group)
    is_list = width < _MIN_WRAP or _is_list(text, group)
    if group[0].fragment:  # an item goes on, wherever its lines are cut
        group = [line._replace(fragment=True) for line in group]
    paragraph = [group[0]]
    for line in group[1:]:
        last = paragraph[-1]
        word = _FIRST_WORD.match(text, line.start, line.end)
        assert word is not None
        first = _LINK.match(text, line.start, line.end) or word
        fits = is_list or last.width + 1 + len(first[0]) <= width
        starts = (word[1] or "").isupper() and word[0] not in ("I", "I'm", "I’m", "I've", "I’ve", "I'll", "I’ll")
        if fits and starts and text[last.end - 1] not in ",;-–—(&/":
            yield paragraph
            paragraph = []
        paragraph.append(line)
    yield paragraph
