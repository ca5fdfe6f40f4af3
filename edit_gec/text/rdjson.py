"""Reviewdog's format, a diagnostic with its suggestion in each line: `reviewdog -f=rdjsonl`.

Columns count bytes of UTF-8 from 1, and the end of a range is not part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from edit_gec.text.edits import Edit, Offset, spans
from edit_gec.text.render import describe, rule_id


def rdjson(path: str, text: str, edits: Sequence[Edit]) -> Iterator[dict[str, Any]]:
    """A diagnostic for each edit of one file."""
    for edit, start, end in spans(text, edits):
        place = {"start": _position(text, start), "end": _position(text, end)}
        yield {
            "message": describe(edit),
            "location": {"path": PurePath(path).as_posix(), "range": place},
            "severity": "WARNING",
            "source": {"name": "edit-gec"},
            "code": {"value": rule_id(edit)},
            "suggestions": [{"range": place, "text": edit.replacement}],
        }


def _position(text: str, at: Offset) -> dict[str, int]:
    before = text[at.codepoint - at.column + 1 : at.codepoint]
    return {"line": at.line, "column": len(before.encode("utf-8", "surrogatepass")) + 1}
