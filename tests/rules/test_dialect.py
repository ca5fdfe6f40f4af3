"""British and American spelling: what counts as one word, and what a dialect asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.rules.dialect import DIALECTS, find_other_side, keep_side, keep_spelling
from edit_gec.text.edits import Edit, apply_changes

KNOWN = frozenset(["organize", "organizing", "realize", "advertize", "summarize"]).__contains__
PAIRS = [
    *(
        "colour color, favourites favorites, behavioural behavioral, neighbourhood neighborhood, centre center".split(
            ", "
        )
    ),
    *("theatres theaters, travelled traveled, modelling modeling, analysed analyzed, catalyst catalyst".split(", ")),
    *("defence defense, grey gray, anaemia anemia, paediatric pediatric, moulds molds, fulfil fulfill".split(", ")),
    *("labour's labor's, manoeuvring maneuvering, sceptical skeptical, kilometres kilometers".split(", ")),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_both_sides(pair: str) -> None:
    british, american = pair.split()
    for old, new in ((british, american), (american, british)):
        assert keep_spelling(old, new, None) == old
        assert keep_spelling(old.capitalize(), new.capitalize(), None) == old.capitalize()
    for dialect, right in zip(DIALECTS, (british, american), strict=True):
        for word in (british, american):
            assert apply_changes(word, find_other_side(word, dialect, KNOWN)) == right
            assert keep_spelling("x", word, dialect) == right


@pytest.mark.parametrize(
    ("old", "new", "dialect", "kept"),
    [
        ("the colour are", "the color is", None, "the colour is"),
        ("colur", "color", None, "color"),
        ("colur", "color", "en-GB", "colour"),
        ("Colur", "Color", "en-GB", "Colour"),
        ("colour", "color", "en-US", "color"),
        ("color", "colour", "en-US", "color"),
        ("organise", "organize", None, "organise"),
        ("organize", "organise", "en-GB", "organize"),  # Oxford
        ("organise", "organize", "en-US", "organize"),
        ("organisation", "organizations", None, "organizations"),
        ("advertize", "advertise", None, "advertise"),  # no variant
        ("surprize", "surprise", "en-US", "surprise"),
        ("learnt", "learned", "en-US", "learnt"),
        ("practise", "practice", None, "practise"),
        ("four", "for", None, "for"),
        ("hour", "our", None, "our"),
        ("prise", "prize", None, "prize"),
        ("size", "sise", None, "sise"),
        ("", "", None, ""),
    ],
)
def test_what_replaces_a_word(old: str, new: str, dialect: str | None, kept: str) -> None:
    assert keep_spelling(old, new, dialect, KNOWN) == kept


@pytest.mark.parametrize(
    ("text", "dialect", "result"),
    [
        ("Organising our colours.", "en-US", "Organizing our colors."),
        ("Organizing our colors.", "en-GB", "Organizing our colours."),
        ("We visited Pearl Harbor and the NCAR CENTER.", "en-GB", None),
        ("Our exercise was to advertise the enterprise.", "en-US", None),
        ("The analyses of the meter and the tire.", "en-GB", None),
        ("The analyses of the metre and the tyre.", "en-US", "The analyses of the meter and the tire."),
        ("A chemise, a promise, otherwise noise.", "en-US", None),
    ],
)
def test_a_dialect_asks_for_its_own_side(text: str, dialect: str, result: str | None) -> None:
    assert apply_changes(text, find_other_side(text, dialect, KNOWN)) == (result or text)


@given(st.text(alphabet="aeiorszuy colur'’-COL", max_size=40), st.sampled_from(DIALECTS))
def test_a_text_of_one_side_stays(text: str, dialect: str) -> None:
    once = apply_changes(text, find_other_side(text, dialect, KNOWN))
    assert list(find_other_side(once, dialect, KNOWN)) == []


@given(st.lists(st.sampled_from([word for pair in PAIRS for word in pair.split()] + ["a", "the,"])))
def test_what_does_not_change_is_kept(words: list[str]) -> None:
    assert keep_spelling(" ".join(words), " ".join(words), None) == " ".join(words)


@pytest.mark.parametrize(("dialect", "refused"), [(None, True), ("en-GB", True), ("en-US", False)])
def test_a_group_may_take_the_plural(dialect: str | None, refused: bool) -> None:
    text = "The team are ready, the man are not."
    edit = Edit(9, 12, "are", "is", 0.9)
    assert (keep_side(text, edit, dialect, KNOWN) is None) == refused
    assert keep_side(text, Edit(28, 31, "are", "is", 0.9), dialect, KNOWN) is not None


def test_an_edit_keeps_what_is_no_spelling() -> None:
    text = "The colour go well."
    edit = Edit(4, 13, "colour go", "color goes", 0.9)
    kept = keep_side(text, edit, None, KNOWN)
    assert kept == Edit(11, 13, "go", "goes", 0.9)
    assert keep_side(text, Edit(4, 10, "colour", "color", 0.9), None, KNOWN) is None
    assert keep_side(text, edit, "en-US", KNOWN) == edit
