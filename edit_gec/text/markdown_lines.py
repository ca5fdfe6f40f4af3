"""Lines of Markdown that are not prose: those of its extensions, and indented code.

!!! note "Its title"          MkDocs; also `??? note`, `=== "A tab"`
> [!WARNING]                  GitHub, Obsidian
:::tip Its title              Docusaurus, Pandoc
import Tabs from './tabs'     a module of MDX in a file that is named .md
{: .wide }   [TOC]            attributes, a table of contents
*[HTML]: the text             an abbreviation: its text is prose
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(
    r"^[ \t>]*(?:"
    r":{3,}(?:[ \t]*[\w{[].*)?"
    r"|(?:!!!|\?\?\?\+?)[ \t]+[A-Za-z][\w-]*(?:[ \t]+[a-z][\w-]*)*(?:[ \t]+\".*\")?"
    r"|===[!+]?[ \t]+\".*\""
    r"|\[![\w-]{1,30}\](?:[-+]?(?:[ \t].*)?)"
    r"|\[{1,2}_?TOC_?\]{1,2}"
    r"|import[ \t](?:[\w{*][^'\"\n;]*[ \t]from[ \t]*)?(?:'[^'\n]+'|\"[^\"\n]+\");?"
    r"|export[ \t](?:default|const|let|function|async)\b.*"
    r"|\{:[^{}\n]*\}"
    r")[ \t]*$"
    r"|^[ \t]*\*\[[^\[\]\n]{1,60}\]:",
    re.MULTILINE,
)
_INDENTED = re.compile(r"(?:^(?: {4,}|\t).*\n?)+", re.MULTILINE)
_CODE_LINE = re.compile(
    r"\s*(?:\$ |>>> |#!|#include|@\w+|def |class \w+[(:]|import \w|from [\w.]+ import|return\b|(?:if|for|while) ?\(|"
    r"(?:const|let|var|function|public|private|static|sudo|pip|npm|git|cd|curl) |</?\w+)"
    r"|.*(?:[;{}]|\w\([^()]*\):?|=> ?\S*)\s*$|\s*[\w.\[\]]+ ?(?:[-+*/:]?=|->|<-) ?\S"
)
_HOLDS_BLOCKS = re.compile(  # what an indented line below may go on with: an item, a note, a definition, a footnote
    r"[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|!!!|\?\?\?|===|:|\[\^|<"
)
_SENTENCE = re.compile(r"\s*[\"'“‘(]*[A-Z](?=(?:\S*\s+){5})[^{}<>=]*[.!?][\"'”’)]*\s*\Z")


def find_extension_lines(text: str) -> Iterator[tuple[int, int]]:
    """The spans of lines, or of their marks, that extensions of Markdown read in their own way."""
    return (line.span() for line in _LINE.finditer(text))


def find_indented_code(text: str, *, is_markdown: bool) -> Iterator[tuple[int, int]]:
    """The spans of indented lines that look like code; in Markdown also of those that are code wherever they stand.

    An indented paragraph of whole sentences is none, nor is what goes on with an item.
    """
    line_above = ""
    was_code = False
    done = 0
    for chunk in _INDENTED.finditer(text):
        lines = chunk[0].splitlines()
        if not any(map(str.strip, lines)):
            continue
        between = text[done : chunk.start()].split("\n")[:-1]
        line_above = next(filter(str.strip, reversed(between)), line_above)
        done = chunk.end()
        if not is_markdown or not between or between[-1].strip():  # it begins the text, or goes on with a paragraph
            is_code = False
        elif line_above[:1].isspace():  # it goes on behind a blank line
            is_code = was_code
        else:
            is_code = not (_HOLDS_BLOCKS.match(line_above) or _SENTENCE.match(chunk[0][:2000]))
        is_html = bool(between) and between[-1].lstrip().startswith("<")  # a block of it
        code_lines = sum(_CODE_LINE.match(line[:200]) is not None for line in lines)
        looks_like_code = code_lines * 2 >= len(lines) and not is_html
        line_above = lines[-1]
        was_code = looks_like_code or is_code
        if was_code:
            yield chunk.span()
