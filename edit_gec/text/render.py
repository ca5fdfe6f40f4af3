r"""How edits are shown: inline, unified diff, HTML, JSON, GitHub annotations, M2 (SARIF: sarif.py).

    >>> edits = [Edit(4, 6, "go", "goes", 0.97, kind="replacement")]
    >>> inline("She go.\n", edits)
    'She [-go-]{+goes+}.\n'
    >>> print(unified_diff("a.txt", "She go.\n", edits), end="")
    --- a/a.txt
    +++ b/a.txt
    @@ -1 +1 @@
    -She go.
    +She goes.
    >>> github("a.txt", "She go.\n", edits)
    '::warning file=a.txt,line=1,endLine=1,col=5,endColumn=7,title=edit-gec replacement::“go” → “goes” (97%25)\n'

Pure functions, linear in the text; the command line prints what they return. All raise ValueError for edits that do
not fit.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import PurePath
from typing import Any, NamedTuple

from edit_gec.errors import keep_on_one_line
from edit_gec.text.edits import Edit, Offset, Places, apply, check, count_shared_ends, spans
from edit_gec.text.kinds import NAMES, EditKind

JSON_SCHEMA = 1  # goes up when a field changes its meaning or goes away, not when one is added
CONTEXT = 3  # unchanged lines around a hunk: what patch and git apply expect


RED = "\x1b[31m"
GREEN = "\x1b[32m"
CYAN = "\x1b[36m"
BOLD = "\x1b[1m"
PLAIN = "\x1b[0m"


def inline(text: str, edits: Sequence[Edit], *, color: bool = False) -> str:
    """The text with each edit shown in its place with wdiff's marks, for a terminal in red and green as well."""
    red, green, plain = (RED, GREEN, PLAIN) if color else ("", "", "")
    shown = [
        (f"{red}[-{edit.original}-]{plain}" if edit.original else "")
        + (f"{green}{{+{edit.replacement}+}}{plain}" if edit.replacement else "")
        for edit in edits
    ]
    return apply(text, [replace(edit, replacement=marks) for edit, marks in zip(edits, shown, strict=True)])


def html(text: str, edits: Sequence[Edit]) -> str:
    """The text as HTML, each edit as <del> and <ins> with what it is as its title; nothing in it is markup but that."""
    check(text, edits)
    parts = []
    done = 0
    for edit in edits:
        title = escape(describe(edit))
        parts.append(escape(text[done : edit.start]))
        sides = (("del", edit.original), ("ins", edit.replacement))
        parts += [f'<{tag} title="{title}">{escape(side)}</{tag}>' for tag, side in sides if side]
        done = edit.end
    return f'<div style="white-space: pre-wrap">{"".join(parts)}{escape(text[done:])}</div>'


def _lines(text: str) -> list[str]:
    """Lines with their ends, cut after LF only: that is what diff and patch call a line."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


class _LineChange(NamedTuple):
    """Old lines [first, last) become `new`."""

    first: int
    last: int
    new: list[str]


def _changed_lines(text: str, lines: list[str], edits: Sequence[Edit]) -> list[_LineChange]:
    """The changes of lines that the edits make. Comparing the texts instead would be quadratic."""
    bounds = [0]
    for line in lines:
        bounds.append(bounds[-1] + len(line))
    groups: list[tuple[int, int, list[Edit]]] = []  # edits that touch the same or adjacent lines
    for edit in edits:
        first = max(0, min(bisect_right(bounds, edit.start), len(lines)) - 1)
        last = min(bisect_right(bounds, edit.end), len(lines))
        if groups and first <= groups[-1][1]:
            first, _, together = groups.pop()
            together.append(edit)
            groups.append((first, last, together))
        else:
            groups.append((first, last, [edit]))
    changes = []
    for first, last, together in groups:
        at = bounds[first]
        old = lines[first:last]
        new = _lines(apply(text[at : bounds[last]], [edit.moved(-at) for edit in together]))
        head, tail = count_shared_ends(old, new)
        if old != new:
            changes.append(_LineChange(first + head, last - tail, new[head : len(new) - tail]))
    return changes


def _range(first: int, count: int) -> str:
    """A hunk header's line range; an empty one names the line before it."""
    start = first + 1 if count else first
    return f"{start}" if count == 1 else f"{start},{count}"


def _marked(mark: str, lines: Iterable[str]) -> str:
    return "".join(
        mark + (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n") for line in lines
    )


def _diff_name(side: str, path: str) -> str:
    """a/path or b/path as git writes it: relative where it can be, quoted where patch would misread it."""
    absolute = os.path.abspath(path)
    here = os.path.join(os.getcwd(), "")
    name = f"{side}/" + PurePath(absolute.removeprefix(here)).as_posix().lstrip("/")
    if any(character in '"\\' or ord(character) < 32 for character in name):
        escapes = {'"': '\\"', "\\": "\\\\"}
        return '"' + "".join(escapes.get(c, c if ord(c) >= 32 else f"\\{ord(c):03o}") for c in name) + '"'
    return name + "\t" if " " in name else name


def unified_diff(path: str, text: str, edits: Sequence[Edit]) -> str:
    """A patch that `patch -p1` and `git apply` take, paths relative to the working folder; "" when nothing changes."""
    check(text, edits)
    lines = _lines(text)
    hunks: list[list[_LineChange]] = []
    for change in _changed_lines(text, lines, edits):
        if hunks and change.first - hunks[-1][-1].last <= 2 * CONTEXT:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    if not hunks:
        return ""
    out = [f"--- {_diff_name('a', path)}\n+++ {_diff_name('b', path)}\n"]
    shift = 0
    for hunk in hunks:
        begin = max(0, hunk[0].first - CONTEXT)
        end = min(len(lines), hunk[-1].last + CONTEXT)
        growth = sum(len(new) - (last - first) for first, last, new in hunk)
        out.append(f"@@ -{_range(begin, end - begin)} +{_range(begin + shift, end - begin + growth)} @@\n")
        at = begin
        for first, last, new in hunk:
            out += [_marked(" ", lines[at:first]), _marked("-", lines[first:last]), _marked("+", new)]
            at = last
        out.append(_marked(" ", lines[at:end]))
        shift += growth
    return "".join(out)


def color_diff(diff: str) -> str:
    """A unified diff with the colours that git gives it."""
    colors = {"---": BOLD, "+++": BOLD, "@@ ": CYAN, "-": RED, "+": GREEN}
    shown = []
    for line in diff.splitlines(keepends=True):
        color = colors.get(line[:3]) or colors.get(line[:1])
        text = line.rstrip("\r\n")
        shown.append(f"{color}{text}{PLAIN}{line[len(text) :]}" if color else line)
    return "".join(shown)


def as_json(
    path: str, text: str, edits: Sequence[Edit], refused: Sequence[Edit] = (), hints: Sequence[Edit] = ()
) -> dict[str, Any]:
    """One file's edits as plain JSON values; start and end in code points, UTF-8 bytes and UTF-16 code units.

    `refused` are edits that a verifying target did not make, `hints` those of what is shown or referred to.
    """
    return {
        "schema": JSON_SCHEMA,
        "path": path,
        "edits": json_edits(text, edits),
        **({"refused": json_edits(text, refused)} if refused else {}),
        **({"hints": json_edits(text, hints)} if hints else {}),
    }


def json_edits(text: str, edits: Sequence[Edit], places: Places | None = None) -> list[dict[str, Any]]:
    """Edits of the text with their places in all units; `places` as for `edits.spans`."""
    return [
        {
            "start": start.codepoint,
            "end": end.codepoint,
            "start_utf8": start.utf8,
            "end_utf8": end.utf8,
            "start_utf16": start.utf16,
            "end_utf16": end.utf16,
            "line": start.line,
            "column": start.column,
            "original": edit.original,
            "replacement": edit.replacement,
            "confidence": round(edit.confidence, 4),
            "provenance": str(edit.provenance),
            "type": edit.type,
            "message": edit.message,
            "reason": edit.reason,
            "kind": edit.kind and str(edit.kind),
            **({"alternatives": list(edit.alternatives)} if edit.alternatives else {}),
        }
        for edit, start, end in spans(text, edits, places)
    ]


class Finding(NamedTuple):
    """An edit with its place; a hint is not made: its error is shown on purpose, or something refers to its title."""

    edit: Edit
    start: Offset
    end: Offset
    is_hint: bool


def find_places(text: str, edits: Iterable[Edit], hints: Iterable[Edit] = ()) -> Iterator[Finding]:
    """The edits and the hints, in order. Raises ValueError for those that do not fit."""
    found = sorted(
        [*((each, False) for each in edits), *((each, True) for each in hints)], key=lambda each: each[0].span
    )
    for (_, is_hint), place in zip(found, spans(text, [edit for edit, _ in found]), strict=True):
        yield Finding(*place, is_hint)


def describe(edit: Edit) -> str:
    """The edit in a few words, for places that want a message."""
    if not edit.original:
        change = f"insert “{edit.replacement}”"
    elif not edit.replacement:
        change = f"delete “{edit.original}”"
    else:
        change = f"“{edit.original}” → “{edit.replacement}”"
    return f"{edit.message or change} ({edit.confidence:.0%})"


def rule_id(edit: Edit) -> str:
    """'R:VERB:SVA' -> 'EDIT_GEC_R_VERB_SVA'; for spelling the ending that makes editors offer "add to dictionary"."""
    name = edit.type or edit.kind or "R:OTHER"
    if name.endswith(":SPELL") or name == EditKind.SPELLING:
        return "EDIT_GEC_SPELLING_RULE"
    return "EDIT_GEC_" + re.sub(r"[: ]", "_", str(name)).upper()


def rule_name(edit: Edit) -> str:
    """The type or kind of an edit in a few words.

    >>> rule_name(Edit(0, 2, "go", "goes", 0.9, type="R:VERB:SVA", kind="replacement"))
    'subject-verb agreement'
    """
    category = (edit.type or "").partition(":")[2]
    return NAMES.get(category) or str(edit.kind or NAMES["OTHER"])


def notes(path: str, text: str, edits: Sequence[Edit], hints: Sequence[Edit] = (), *, color: bool = False) -> list[str]:
    """One line for each edit, as compilers write them: path:line:column: what [type or kind]."""
    bold, cyan, plain = (BOLD, CYAN, PLAIN) if color else ("", "", "")
    path = keep_on_one_line(path)
    named = ((*each, each.edit.type or each.edit.kind) for each in find_places(text, edits, hints))
    return [
        f"{bold}{path}:{start.line}:{start.column}:{plain} "
        + ("hint: " if is_hint else "")
        + keep_on_one_line(describe(edit))
        + (f" {cyan}[{name}]{plain}" if name else "")
        for edit, start, _, is_hint, name in named
    ]


def _escape(value: str, also: str = "") -> str:
    """Percent escapes of GitHub's workflow commands; properties need ':' and ',' as well."""
    return keep_on_one_line("".join(f"%{ord(c):02X}" if c in "%\r\n" + also else c for c in value))


def github(path: str, text: str, edits: Sequence[Edit], hints: Sequence[Edit] = ()) -> str:
    """Workflow commands that annotate a pull request, one line for each edit."""
    out = []
    for edit, start, end, is_hint in find_places(text, edits, hints):
        name = _escape(PurePath(path).as_posix(), ":,")
        place = f"file={name},line={start.line},endLine={end.line}"
        if start.line == end.line:  # GitHub refuses columns across lines
            place += f",col={start.column},endColumn={end.column}"
        title = _escape(" ".join(["edit-gec", *filter(None, [edit.type or edit.kind])]), ":,")
        out.append(f"::{'notice' if is_hint else 'warning'} {place},title={title}::{_escape(describe(edit))}\n")
    return "".join(out)
