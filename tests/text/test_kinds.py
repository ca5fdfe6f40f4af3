"""Kinds of edits, and the names that users write for kinds and types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_edits import edited

from edit_gec.errors import InputError
from edit_gec.text.edits import Edit
from edit_gec.text.kinds import NAMES, EditKind, name_kind, parse_names


@pytest.mark.parametrize(
    ("text", "old", "new", "kind"),
    [
        ("I recieve it", "recieve", "receive", EditKind.SPELLING),
        ("teh end", "teh", "the", EditKind.SPELLING),
        ("alot of it", "alot", "a lot", EditKind.SPELLING),
        ("I dont", "dont", "don't", EditKind.SPELLING),
        ("an every day word", "every day", "everyday", EditKind.SPELLING),
        ("on monday", "monday", "Monday", EditKind.CASE),
        ("i am", "i", "I", EditKind.CASE),
        ("the the cat", "the ", "", EditKind.DOUBLED),
        ("The the cat", " the", "", EditKind.DOUBLED),
        ("the the cat", "the the", "the", EditKind.DOUBLED),
        ("breathe the air", "the air", "", EditKind.DELETION),
        ("home .", " ", "", EditKind.SPACING),
        ("a  b", "  ", " ", EditKind.SPACING),
        ("So ,we", " ,", ", ", EditKind.SPACING),
        ("However I", "However", "However,", EditKind.PUNCTUATION),
        ("Done;", ";", ".", EditKind.PUNCTUATION),
        ("She go", "go", "goes", EditKind.REPLACEMENT),
        ("of him", "him", "them", EditKind.REPLACEMENT),
        ("I am cat", "", "a ", EditKind.INSERTION),
        ("very nice", "very ", "", EditKind.DELETION),
    ],
)
def test_kinds(text: str, old: str, new: str, kind: EditKind) -> None:
    start = text.index(old) if old else 5
    assert name_kind(text, start, start + len(old), new) == kind


@given(edited())
def test_every_edit_has_one(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    for edit in edits:
        kind = name_kind(text, *edit.span, edit.replacement)
        assert (kind == EditKind.INSERTION) <= (not edit.original.strip())
        assert (kind == EditKind.DELETION) <= (not edit.replacement.strip())


@pytest.mark.parametrize(
    ("name", "kind", "type", "included"),
    [
        ("spelling", "spelling", None, True),
        ("Doubled-Word", "doubled word", None, True),
        ("PUNCT", "punctuation", None, True),
        ("PUNCT", "insertion", "M:DET", False),
        ("spell", "spelling", "R:SPELL", True),
        ("orth", "case", None, True),
        ("DET", "insertion", "M:DET", True),
        ("R:DET", "insertion", "M:DET", False),
        ("r:det", "replacement", "R:DET", True),
        ("VERB", "replacement", "R:VERB:SVA", True),
        ("R:VERB:SVA", "replacement", "R:VERB:TENSE", False),
        ("DET", "insertion", None, False),
    ],
)
def test_names_include(name: str, kind: str, type: str | None, included: bool) -> None:
    assert parse_names([name]).include(kind, type) == included


@given(st.lists(st.sampled_from([*(kind.value for kind in EditKind), *NAMES, *(f"R:{name}" for name in NAMES)])))
def test_names_are_known_in_any_case_and_add_up(names: list[str]) -> None:
    found = parse_names(names)
    assert found == parse_names(name.lower() for name in names) == parse_names(name.upper() for name in names)
    for name in names:
        alone = parse_names([name])
        assert alone.kinds <= found.kinds and alone.types <= found.types


@pytest.mark.parametrize("name", ["", "PUNKT", "R:", "X:DET", "R:R:DET", "this"])
def test_an_unknown_name_is_one_line_that_names_some(name: str) -> None:
    with pytest.raises(InputError, match=r"expected a kind \(spelling, case, .*\) or a type of ERRANT"):
        parse_names([name])
