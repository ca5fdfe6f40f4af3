r"""Commit messages: the subject, and the paragraphs below it.

    >>> for part in read_commit("fix(io): Read al lines\n\nIt go on.\n\nSigned-off-by: Al <al@x.org>\n# On branch a\n"):
    ...     print(repr(part.text), part.offsets[0], part.fragment)
    'Read al lines' 9 True
    'It go on.\n' 24 False

git's comments, what stands below its scissors, trailers, subjects of other commits, and quoted output are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from edit_gec.text.parts import Part, line_spans, take

_SCISSORS = re.compile(r"[#;] -+ >8 -+|diff --(?:git|cc|combined) ")
_COMMENT = re.compile(r"[#;]")
_PREFIX = re.compile(
    r"(?:\[[^\[\]]{1,60}\][ \t]*)*(?:[\w./*+{}-]{1,60}(?:, ?[\w./*+{}-]{1,60}){0,5}(?:\([^()]{1,80}\))?!?:[ \t]+)*"
)
_OTHERS_SUBJECT = re.compile(
    r"(?:fixup|squash|amend)! |Merge (?:branch|tag|remote|pull|commit|\w+ into )|Re(?:vert|apply) \""
    r"|v?\d+(?:\.\d+)+\s*\Z"
)
_QUOTED = re.compile(r" {4,}|\t|[>|$]")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
_TRAILER = re.compile(
    r"(?:[A-Z][\w-]*-by|[A-Z]\w*(?:-\w+)+|Cc|CC|Link|Fixes|Closes|Bug|Issue|Refs?|See|BREAKING[ -]CHANGE|Co-[aA]uth\S*)"
    r"(?::[ \t]|[ \t]#\d)|\(cherry picked from commit "
    r"|(?:[Cc]lose[sd]?|[Ff]ix(?:es|ed)?|[Rr]efs?|[Rr]esolve[sd]?):? +\S*#\d"
)
_ANY_TRAILER = re.compile(r"[A-Za-z][\w-]*: \S")


def read_commit(text: str) -> Iterator[Part]:
    """The parts of a commit message that are prose."""
    paragraphs: list[list[tuple[int, int]]] = [[]]
    for start, end in line_spans(text):
        line = text[start:end]
        if _SCISSORS.match(line):
            break
        if not line.strip():
            paragraphs.append([])
        elif not _COMMENT.match(line):
            paragraphs[-1].append((start, end))
    filled = [lines for lines in paragraphs if lines]
    for number, lines in enumerate(filled):
        if not number:
            subject = lines[0]
            lines = lines[1:]
            yield from _read_subject(text, *subject)
        is_last = 0 < number == len(filled) - 1
        if is_last and all(_ANY_TRAILER.match(text, *line) for line in lines):
            return
        yield from _read_paragraph(text, lines)


def _read_subject(text: str, start: int, end: int) -> Iterator[Part]:
    if not _OTHERS_SUBJECT.match(text, start, end):
        prefix = _PREFIX.match(text, start, end)
        yield take(text, [(prefix.end() if prefix else start, end)], "text", fragment=True)


def _read_paragraph(text: str, lines: list[tuple[int, int]]) -> Iterator[Part]:
    """The lines of a paragraph as one text; quoted ones and trailers part it."""
    kept: list[tuple[int, int]] = []
    is_listed = bool(lines and _ITEM.match(text, *lines[0]))
    for start, end in lines:
        is_quoted = _QUOTED.match(text, start, end) and not is_listed and not _ITEM.match(text, start, end)
        if not is_quoted and not _TRAILER.match(text, start, end):
            kept.append((start, min(end + 1, len(text))))
        elif kept:
            yield take(text, kept, "text")
            kept = []
    if kept:
        yield take(text, kept, "text")
