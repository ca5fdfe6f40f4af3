"""Reviewdog's format: its suggestions, made by lines and bytes as reviewdog makes them, give the corrected text."""

from __future__ import annotations

import json

from hypothesis import given
from test_edits import edited

from edit_gec.text.edits import Edit, apply
from edit_gec.text.rdjson import rdjson


def offset(text: str, place: dict[str, int]) -> int:
    """Where in the bytes of a text a line and a column are."""
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    return sum(len(line) + 1 for line in lines[: place["line"] - 1]) + place["column"] - 1


@given(edited())
def test_the_suggestions_give_the_corrected_text(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    data = text.encode("utf-8", "surrogatepass")
    for diagnostic in reversed(list(rdjson("a.txt", text, edits))):
        (suggestion,) = json.loads(json.dumps(diagnostic))["suggestions"]
        start, end = (offset(text, suggestion["range"][side]) for side in ("start", "end"))
        data = data[:start] + suggestion["text"].encode("utf-8", "surrogatepass") + data[end:]
    assert data == apply(text, edits).encode("utf-8", "surrogatepass")


def test_a_diagnostic_has_the_fields_of_the_schema() -> None:
    (diagnostic,) = rdjson("docs/a.md", "So.\n𐐀 go", [Edit(6, 8, "go", "goes", 0.9, type="R:VERB:SVA")])
    place = {"start": {"line": 2, "column": 6}, "end": {"line": 2, "column": 8}}
    assert diagnostic == {
        "message": "“go” → “goes” (90%)",
        "location": {"path": "docs/a.md", "range": place},
        "severity": "WARNING",
        "source": {"name": "edit-gec"},
        "code": {"value": "EDIT_GEC_R_VERB_SVA"},
        "suggestions": [{"range": place, "text": "goes"}],
    }
