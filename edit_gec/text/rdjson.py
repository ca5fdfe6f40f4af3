"""Reviewdog's format, a diagnostic with its suggestion in each line: `reviewdog -f=rdjsonl`.

Columns count bytes of UTF-8 from 1, and the end of a range is not part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from edit_gec.text.edits import Edit, Offset
from edit_gec.text.render import describe, find_places, rule_id


def rdjson(path: str, text: str, edits: Sequence[Edit], hints: Sequence[Edit] = ()) -> Iterator[dict[str, Any]]:
    """A diagnostic for each edit of one file, and for each hint, which has no suggestion."""
    for edit, start, end, is_hint in find_places(text, edits, hints):
        place = {"start": _position(start), "end": _position(end)}
        yield {
            "message": describe(edit),
            "location": {"path": PurePath(path).as_posix(), "range": place},
            "severity": "INFO" if is_hint else "WARNING",
            "source": {"name": "edit-gec"},
            "code": {"value": rule_id(edit)},
            **({} if is_hint else {"suggestions": [{"range": place, "text": edit.replacement}]}),
        }


def _position(at: Offset) -> dict[str, int]:
    return {"line": at.line, "column": at.byte_column}
