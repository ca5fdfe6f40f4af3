"""Text among markup, as LanguageTool's clients send it in `data`: what to check, and the way back.

    [{"text": "She "}, {"markup": "<b>"}, {"text": "go"}, {"markup": "</b>"}, {"text": " home."}]

    document  "She <b>go</b> home."        positions in answers count the markup, too
    view      "She go home."               what is checked
    project   view[4:6] -> "goes"          document[7:9] -> "goes"

`interpretAs` puts characters in the view that the document has not. An edit that would swallow markup, or touch such
characters, projects to None: nothing that is outside an edit may change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.text.edits import Edit

NOWHERE = -1  # the offset of characters that stand for markup
_LONGEST_WORD = 60  # characters of a word that an insertion or a deletion is widened to
_WORD_BEFORE = re.compile(rf"[\w'’-]{{1,{_LONGEST_WORD}}}\Z|\S\Z")
_WORD_AFTER = re.compile(rf"[\w'’-]{{1,{_LONGEST_WORD}}}|\S")


@dataclass(frozen=True)
class Annotated:
    """A document and what of it is checked."""

    document: str
    view: str
    offsets: Sequence[int]  # document offset of each character of the view, or NOWHERE

    def project(self, start: int, end: int, replacement: str) -> tuple[int, int] | None:
        """The span of the document that view[start:end] stands for, None where markup is in the way."""
        places = self.offsets[start:end]
        if places:
            last = places[-1]
            whole = NOWHERE not in places and last - places[0] == end - 1 - start
            return (places[0], last + 1) if whole else None
        before = self.offsets[start - 1] + 1 if start and self.offsets[start - 1] != NOWHERE else None
        after = self.offsets[start] if start < len(self.view) and self.offsets[start] != NOWHERE else None
        first, second = (after, before) if replacement[-1:].isspace() else (before, after)
        at = second if first is None else first
        return None if at is None else (at, at)


class DocumentSpan(NamedTuple):
    """document[start:end] becomes `replacement`, or one of the `alternatives`. `edit` is the edit of the view that this
    shows."""

    start: int
    end: int
    replacement: str
    edit: Edit
    alternatives: tuple[str, ...]


def to_document_spans(
    text: Annotated, edits: Sequence[Edit], is_shown: Callable[[Edit], bool] = lambda _: True
) -> Iterator[DocumentSpan]:
    """The edits of the view that are shown and have a place in the document, in order.

    An edit that only inserts or only deletes is widened to the word next to it where that is possible: an editor can
    neither underline nothing nor offer an empty replacement.
    """
    low = 0
    for number, edit in enumerate(edits):
        if not is_shown(edit):
            continue
        high = edits[number + 1].start if number + 1 < len(edits) else len(text.view)
        for shown in (_widen_to_word(text.view, edit, low, high), edit):
            span = text.project(shown.start, shown.end, shown.replacement)
            if span is not None:
                yield DocumentSpan(*span, shown.replacement, edit, shown.alternatives)
                low = shown.end
                break


def _widen_to_word(view: str, edit: Edit, low: int, high: int) -> Edit:
    """The same change over at least one word, where there is one between `low` and `high`."""
    start, end = edit.span
    if edit.original.strip() and edit.replacement.strip():
        return edit
    before = _WORD_BEFORE.search(view, max(low, start - _LONGEST_WORD), start)
    after = _WORD_AFTER.match(view, end, min(high, end + _LONGEST_WORD))
    if before:
        start = before.start()
    elif after:
        end = after.end()
    before_edit = view[start : edit.start]
    behind = view[edit.end : end]
    return replace(
        edit,
        start=start,
        end=end,
        original=view[start:end],
        replacement=before_edit + edit.replacement + behind,
        alternatives=tuple(before_edit + each + behind for each in edit.alternatives),
    )


def plain(text: str) -> Annotated:
    """A text without markup."""
    return Annotated(text, text, range(len(text)))


def parse(data: Any) -> Annotated:
    """The value of `data`: {"text": ...} or {"annotation": [...]}. Raises InputError."""
    if not isinstance(data, dict):
        raise InputError("'data' must be a JSON object with 'text' or 'annotation'")
    if ("text" in data) == ("annotation" in data):
        raise InputError("'data' must have either 'text' or 'annotation'")
    if "text" in data:
        return plain(_string(data["text"], "text"))
    if not isinstance(data["annotation"], list):
        raise InputError("'annotation' must be a list")
    document: list[str] = []
    view: list[str] = []
    offsets: list[int] = []
    length = 0
    for part in data["annotation"]:
        text, markup, interpreted = _part(part)
        view += [text, interpreted]
        offsets += range(length, length + len(text))
        offsets += [NOWHERE] * len(interpreted)
        document += [text, markup]
        length += len(text) + len(markup)
    return Annotated("".join(document), "".join(view), offsets)


def _part(part: Any) -> tuple[str, str, str]:
    """(text, markup, interpretAs) of one annotation, the absent ones empty."""
    if not isinstance(part, dict) or ("text" in part) == ("markup" in part):
        raise InputError("each annotation must have either 'text' or 'markup'")
    if "text" in part and "interpretAs" in part:
        raise InputError("'interpretAs' belongs to 'markup', not to 'text'")
    names = ("text", "markup", "interpretAs")
    text, markup, interpreted = (_string(part.get(name, ""), name) for name in names)
    return text, markup, interpreted


def _string(value: Any, name: str) -> str:
    if value is None and name == "interpretAs":
        return ""
    if not isinstance(value, str):
        raise InputError(f"'{name}' must be a string")
    return value
