"""Text among markup, as LanguageTool's clients send it in `data`: what to check, and the way back.

    [{"text": "She "}, {"markup": "<b>"}, {"text": "go"}, {"markup": "</b>"}, {"text": " home."}]

    document  "She <b>go</b> home."        positions in answers count the markup, too
    view      "She go home."               what is checked
    project   view[4:6] -> "goes"          document[7:9] -> "goes"

`interpretAs` puts characters in the view that the document has not. An edit that would swallow markup, or touch such
characters, projects to None: nothing that is outside an edit may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from edit_gec.errors import InputError

NOWHERE = -1  # the offset of characters that stand for markup


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
