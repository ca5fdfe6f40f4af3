"""A change never cuts a character; `regex` says what a character is."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from support.strategies import nasty, thorough

from edit_gec.text.edits import Change, apply_changes, expand_to_words
from edit_gec.text.sentences import split
from edit_gec.text.words import breaks_character, is_one_character

MARKED = [
    "e\u0301",
    "क्षि",
    "👩\u200d🚒",
    "👍🏽",
    "🇩🇪",
    "🇫🇷",
    "1\ufe0f\u20e3",
    "각",
    "\u1100\u1161\u11a8",
    "ก็",
    "\u0600\u0661",
]
characters = st.lists(st.sampled_from([*MARKED, "\u0301", "\u200d", *"ae .\n-"]), max_size=12).map("".join) | nasty


def character_ends(text: str) -> set[int]:
    return {0, *(found.end() for found in regex.finditer(r"\X", text))}


@thorough
@example("กำ")
@example("ກຳ")
@given(characters)
def test_no_character_is_taken_for_two(text: str) -> None:
    ends = character_ends(text)
    for at in range(1, len(text)):
        assert at in ends or is_one_character(text[at - 1], text[at]), (text[at - 1 : at + 1], at)


@thorough
@given(characters, characters, st.data())
def test_projected_edits_cut_no_character(text: str, replacement: str, data: st.DataObject) -> None:
    text = text.encode(errors="replace").decode()  # `regex` takes no lone surrogates for characters of their own
    for sentence in split(text, lines=data.draw(st.booleans()), markup=False):
        start, end = sorted(
            (data.draw(st.integers(0, len(sentence.text))), data.draw(st.integers(0, len(sentence.text))))
        )
        edit = sentence.project(text, Change(start, end, replacement, 0.5))
        if edit is None:
            continue
        corrected = apply_changes(text, [Change(edit.start, edit.end, edit.replacement, 0.5)])
        assert {edit.start, edit.end} <= character_ends(text)
        assert {edit.start, edit.start + len(edit.replacement)} <= character_ends(corrected)


@pytest.mark.parametrize(
    ("text", "change", "cut"),
    [
        ("cafe\u0301 is", (4, 5, ""), True),
        ("cafe\u0301 is", (3, 5, "é"), False),
        ("cafe is", (4, 4, "\u0301"), True),
        ("👩\u200d🚒", (1, 3, ""), True),
        ("👩\u200d🚒", (0, 3, "she"), False),
        ("a\r\nb", (2, 3, ""), True),
    ],
)
def test_cutting(text: str, change: tuple[int, int, str], cut: bool) -> None:
    assert breaks_character(text, *change) is cut


@pytest.mark.parametrize(
    ("text", "change", "widened"),
    [
        ("cafe\u0301s are", (6, 6, "x"), (0, 6, "cafe\u0301sx")),
        ("cafe\u0301 are", (0, 4, "tea"), (0, 5, "tea\u0301")),
        ("❤\ufe0fgo on", (2, 4, "goes"), (2, 4, "goes")),
    ],
)
def test_marks_belong_to_words(text: str, change: tuple[int, int, str], widened: tuple[int, int, str]) -> None:
    assert expand_to_words(text, *change) == widened
