"""Kinds of edits, and the names that users write for kinds and types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_edits import edited

from edit_gec.errors import InputError
from edit_gec.text.edits import Edit
from edit_gec.text.kinds import NAMES, Kind, name_kind, parse_names


@pytest.mark.parametrize(
    ("text", "old", "new", "kind"),
    [
        ("I recieve it", "recieve", "receive", Kind.SPELLING),
        ("teh end", "teh", "the", Kind.SPELLING),
        ("alot of it", "alot", "a lot", Kind.SPELLING),
        ("I dont", "dont", "don't", Kind.SPELLING),
        ("an every day word", "every day", "everyday", Kind.SPELLING),
        ("on monday", "monday", "Monday", Kind.CASE),
        ("i am", "i", "I", Kind.CASE),
        ("the the cat", "the ", "", Kind.DOUBLED),
        ("The the cat", " the", "", Kind.DOUBLED),
        ("the the cat", "the the", "the", Kind.DOUBLED),
        ("breathe the air", "the air", "", Kind.DELETION),
        ("home .", " ", "", Kind.SPACING),
        ("a  b", "  ", " ", Kind.SPACING),
        ("So ,we", " ,", ", ", Kind.SPACING),
        ("However I", "However", "However,", Kind.PUNCTUATION),
        ("Done;", ";", ".", Kind.PUNCTUATION),
        ("She go", "go", "goes", Kind.REPLACEMENT),
        ("of him", "him", "them", Kind.REPLACEMENT),
        ("I am cat", "", "a ", Kind.INSERTION),
        ("very nice", "very ", "", Kind.DELETION),
    ],
)
def test_kinds(text: str, old: str, new: str, kind: Kind) -> None:
    start = text.index(old) if old else 5
    assert name_kind(text, start, start + len(old), new) == kind


@given(edited())
def test_every_edit_has_one(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    for edit in edits:
        kind = name_kind(text, *edit.span, edit.replacement)
        assert (kind == Kind.INSERTION) <= (not edit.original.strip())
        assert (kind == Kind.DELETION) <= (not edit.replacement.strip())


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


@given(st.lists(st.sampled_from([*(kind.value for kind in Kind), *NAMES, *(f"R:{name}" for name in NAMES)])))
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
