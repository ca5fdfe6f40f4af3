"""The column of edits: its fields, and how to restore the original text from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from edit_gec.text.edits import Edit

EDIT_FIELDS = {  # name -> Arrow type
    "offset": "int64",
    "length": "int64",
    "original": "string",
    "replacement": "string",
    "type": "string",
    "confidence": "float64",
    "provenance": "string",
}


def edit_to_dict(edit: Edit) -> dict[str, Any]:
    """The fields of one edit. `offset` and `length` count code points of the text."""
    return {
        "offset": edit.start,
        "length": edit.end - edit.start,
        "original": edit.original,
        "replacement": edit.replacement,
        "type": edit.type,
        "confidence": edit.confidence,
        "provenance": edit.provenance,
    }


def revert_edits(corrected: str, edits: Iterable[dict[str, Any]]) -> str:
    """The text before the edits, from the corrected text and the column of edits.

    >>> revert_edits("She goes home.", [{"offset": 4, "length": 2, "original": "go", "replacement": "goes"}])
    'She go home.'
    """
    pieces: list[str] = []
    done = 0
    shift = 0  # how much longer the corrected text is, up to here
    for edit in edits:
        start = edit["offset"] + shift
        pieces += [corrected[done:start], edit["original"]]
        done = start + len(edit["replacement"])
        shift += len(edit["replacement"]) - edit["length"]
    return "".join([*pieces, corrected[done:]])
