"""Which edits are wanted: words, kinds, patterns, and directives in the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_edits import edited

from edit_gec.text.directives import find_directives, find_left_out
from edit_gec.text.edit_filter import EditFilter
from edit_gec.text.edits import Edit
from edit_gec.text.kinds import EditKind, parse_names
from edit_gec.text.sentences import split


def _edit(text: str, old: str, new: str, type: str | None = None) -> Edit:
    at = text.index(old)
    return Edit(at, at + len(old), old, new, 0.9, type=type)


@given(edited())
def test_without_wishes_all_edits_are_wanted(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    assert all(map(EditFilter().on(text), edits))
    none = EditFilter(ignored=parse_names(kind.value for kind in EditKind)).on(text)
    assert not any(map(none, edits))


@given(edited(), st.sampled_from(["a", r"\s+", "", ".", "b*"]))
def test_an_edit_within_a_match_is_not_wanted(case: tuple[str, list[Edit]], pattern: str) -> None:
    text, edits = case
    is_wanted = EditFilter(patterns=(pattern,)).on(text)
    spans = [found.span() for found in re.finditer(pattern, text)]
    for edit in edits:
        touched = any(max(start, edit.start) < min(end, edit.end) or start < edit.start < end for start, end in spans)
        assert is_wanted(edit) != touched


def test_words_and_patterns() -> None:
    text = "Kubectl uses {{ teh }} and teh"
    is_wanted = EditFilter(frozenset(["kubectl"]), patterns=(r"\{\{.*?\}\}",)).on(text)
    assert not is_wanted(_edit(text, "Kubectl", "Kubernetes"))
    assert not is_wanted(_edit(text, "teh", "the"))
    assert is_wanted(Edit(27, 30, "teh", "the", 0.9))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I recieve", True),
        ("I recieve <!-- edit-gec: ignore spelling -->", False),
        ("I recieve <!-- edit-gec: ignore PUNCT, spell -->", False),
        ("I recieve <!-- edit-gec: ignore case -->", True),
        ("I recieve <!-- edit-gec: ignore-next-line spelling -->", False),
        ("% edit-gec: ignore-next-line spelling\r\nI recieve\r\n", False),
        ("% edit-gec: ignore-next-line spelling\r\n\r\nI recieve\r\n", True),
        ("edit-gec: off doubled word spelling\n\nI\n\nI recieve\nedit-gec: on", False),
        ("edit-gec: off spelling\nedit-gec: on\nI recieve", True),
        ("edit-gec: off spelling\nedit-gec: off case\nI recieve", False),
    ],
)
def test_directives_with_kinds(text: str, wanted: bool) -> None:
    assert EditFilter().on(text)(_edit(text, "recieve", "receive")) == wanted
    assert any("recieve" in sentence.text for sentence in split(text)), "the model still reads it"


@pytest.mark.parametrize("text", ["I recieve edit-gec: ignore", "edit-gec: off\nI recieve\nedit-gec: on\nok"])
def test_directives_without_kinds_hold_for_plain_text(text: str) -> None:
    assert not EditFilter().on(text)(_edit(text, "recieve", "receive"))
    assert EditFilter().on(f"{text}\nok, I beleive")(Edit(len(text) + 7, len(text) + 14, "beleive", "believe", 0.9))


def test_directives_with_types_need_types() -> None:
    text = "She go. <!-- edit-gec: ignore R:DET, VERB -->"
    assert EditFilter().needs_types(text) and not EditFilter().needs_types("edit-gec: off PUNCT")
    assert EditFilter(ignored=parse_names(["R:DET"])).needs_types("")
    assert not EditFilter().on(text)(_edit(text, "go", "goes", "R:VERB:SVA"))
    assert EditFilter().on(text)(_edit(text, "go", "goes", "R:NOUN"))


def test_the_words_of_a_directive_are_not_read() -> None:
    text = "edit-gec: off PUNCT\nIt rain."
    assert [text[slice(*span)] for span in find_left_out(text)] == ["edit-gec: off PUNCT"]
    assert [region.names for region in find_directives("x edit-gec: ignore these words")] == [None]
