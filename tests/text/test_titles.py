"""Marks grow with their titles, and only where they must."""

from __future__ import annotations

import pytest

from edit_gec.text.edits import Change, apply
from edit_gec.text.sentences import split
from edit_gec.text.titles import keep_marks


@pytest.mark.parametrize(
    ("format", "text", "expected"),
    [
        ("rst", "He go\n=====\n", "He goes\n=======\n"),
        ("rst", "He go\r\n=====\r\n", "He goes\r\n=======\r\n"),
        ("rst", "=====\nHe go\n=====\n\nText.\n", "=======\nHe goes\n=======\n\nText.\n"),
        ("rst", "He go\n==========\n", "He goes\n==========\n"),
        ("rst", "Text.\n\n- He go\n- you\n", "Text.\n\n- He goes\n- you\n"),
        ("asciidoc", "Text.\n\nHe go\n-----\n\nText.\n", "Text.\n\nHe goes\n-------\n\nText.\n"),
        ("asciidoc", "Text.\n\nHe go\n------\n\nText.\n", "Text.\n\nHe goes\n--------\n\nText.\n"),
        ("asciidoc", "== He go\n\nText.\n", "== He goes\n\nText.\n"),
        ("markdown", "He go\n=====\n", "He goes\n=====\n"),
        ("text", "He go\n=====\n", "He goes\n=====\n"),
    ],
)
def test_marks_are_as_long_as_they_must_be(format: str, text: str, expected: str) -> None:
    edits = []
    for sentence in split(text, format=format):
        at = sentence.text.find("go")
        made = sentence.project(text, Change(at, at + 2, "goes", 0.9)) if at >= 0 else None
        edits += keep_marks(text, sentence, [made] if made else [])
    assert apply(text, edits) == expected
    assert len(edits) == 1, "title and marks are one edit: nobody can accept a half of it"
