"""Edits: apply, trim, count in every unit. Laws with hypothesis on text that breaks careless offset arithmetic."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.text.edits import Edit, apply, check, fit_to_words, offsets, spans, trim

# Astral emoji, ZWJ family, combining marks, CRLF, lone CR, NBSP, line separators, scripts of 1 to 4 UTF-8 bytes.
PIECES = [
    "a",
    "Go",
    " ",
    ".",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "é",
    "e\u0301",
    "\u00a0",
    "\u2028",
    "क्ष",
    "中",
    "🏠",
    "👩‍👩‍👧",
    "ß",
]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text and sorted edits of it that do not overlap; some insert, some delete, some touch."""
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    replacements = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
    return text, [
        Edit(start, end, text[start:end], draw(replacements), 0.5)
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]


@pytest.mark.parametrize(
    ("text", "edits", "corrected"),
    [
        ("She go home.", [(4, 6, "goes")], "She goes home."),
        ("I  want tea", [(0, 0, "Now "), (1, 3, " "), (11, 11, ".")], "Now I want tea."),
        ("", [(0, 0, "Hi")], "Hi"),
        ("a 🏠b", [(3, 4, "c")], "a 🏠c"),
        ("ab", [(1, 1, "x"), (1, 1, "y"), (1, 2, "")], "axy"),
        ("as it was\r\n", [], "as it was\r\n"),
    ],
)
def test_apply(text: str, edits: list[tuple[int, int, str]], corrected: str) -> None:
    assert apply(text, [Edit(start, end, text[start:end], new, 1.0) for start, end, new in edits]) == corrected


@pytest.mark.parametrize(
    ("edits", "complaint"),
    [
        ([Edit(0, 3, "Shy", "He", 1.0)], "the text has 'She'"),
        ([Edit(4, 6, "go", "goes", 1.0), Edit(0, 3, "She", "He", 1.0)], "starts before 6"),
        ([Edit(0, 5, "She g", "x", 1.0), Edit(4, 6, "go", "goes", 1.0)], "starts before 5"),
        ([Edit(6, 8, "", "x", 1.0)], "leaves the text, which has 6 characters"),
        ([Edit(-2, 6, "go", "x", 1.0)], "leaves the text"),
        ([Edit(3, 2, "", "x", 1.0)], "leaves the text"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit], complaint: str) -> None:
    for use in (check, apply, spans):
        with pytest.raises(ValueError, match=re.escape(complaint)):
            list(use("She go", edits) or [])


@given(edited())
def test_bytes_outside_edits_are_identical(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    source, target = text.encode(), apply(text, edits).encode()
    at = done = 0
    for edit, start, end in spans(text, edits):
        kept = source[done : start.utf8]
        assert target[at : at + len(kept)] == kept
        at += len(kept)
        new = edit.replacement.encode()
        assert target[at : at + len(new)] == new
        at, done = at + len(new), end.utf8
    assert target[at:] == source[done:]


@given(edited())
def test_offsets_cut_out_the_original_in_every_unit(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    for edit, start, end in spans(text, edits):
        assert text[start.codepoint : end.codepoint] == edit.original
        assert text.encode()[start.utf8 : end.utf8].decode() == edit.original
        assert text.encode("utf-16-le")[2 * start.utf16 : 2 * end.utf16].decode("utf-16-le") == edit.original
        for place in (start, end):
            assert place.line == text[: place.codepoint].count("\n") + 1
            assert place.column == len(text[: place.codepoint].split("\n")[-1]) + 1


def test_offsets_are_linear() -> None:
    text = "x🏠" * 1_000_000  # one long line: anything quadratic takes hours here
    *_, last = offsets(text, range(0, len(text) + 1, 20))
    assert last == (2_000_000, 5_000_000, 3_000_000, 1, 2_000_001, 5_000_001)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("learn", "learns", ("learn", "learns")),
        ("She go home", "She goes home", ("go", "goes")),
        ("He dont know", "He doesn't know", ("dont", "doesn't")),
        ("James book", "James's book", ("James", "James's")),
        ("a well known fact", "a well-known fact", ("well known", "well-known")),
        ("a 3.14 b", "a 3.15 b", ("3.14", "3.15")),
        ("I to go", "I want to go", ("", "want ")),
        ("I want", "I want it", ("", " it")),
        ("good", "It is good", ("", "It is ")),
        ("Hello world", "Hello world.", ("", ".")),
        ("the the cat", "the cat", ("the ", "")),
        ("I like like", "I like", (" like", "")),
        ("the then cat", "then cat", ("the ", "")),
        ("said 'no", "said 'no'", ("", "'")),
        ("a\r\nb", "a\nb", ("\r\n", "\n")),
        ("cafe\u0301 x", "cafe\u0300 x", ("cafe\u0301", "cafe\u0300")),
        ("हिन्दी है", "हिन्दि है", ("हिन्दी", "हिन्दि")),
        ("👩‍👧 ok", "👩‍👩‍👧 ok", ("👩‍👧", "👩‍👩‍👧")),
        ("Hello , you", "Hello, you", (" ", "")),
        ("", "Hi", ("", "Hi")),
        ("same", "same", ("", "")),
    ],
)
def test_minimal(old: str, new: str, change: tuple[str, str]) -> None:
    text = f"Start {old} end"
    start, end, replacement = trim(text, 6, 6 + len(old), new)
    assert (text[start:end], replacement) == change
    assert apply(text, [Edit(start, end, text[start:end], replacement, 1.0)]) == f"Start {new} end"


@given(texts, texts, texts)
def test_minimal_is_the_same_change_and_already_minimal(before: str, old: str, new: str) -> None:
    text = before + old
    start, end, replacement = trim(text, len(before), len(text), new)
    assert len(before) <= start <= end <= len(text)
    assert text[:start] + replacement + text[end:] == before + new
    assert trim(text, start, end, replacement) == (start, end, replacement)


PLACES = st.text(alphabet="ab -'.,\n1é😀\u0301", max_size=14)


@given(PLACES, st.integers(0, 14), st.integers(0, 14), PLACES)
def test_borders_are_settled_once(text: str, one: int, other: int, new: str) -> None:
    """The text that comes out is the same, and settling again changes nothing."""
    start, end = sorted(min(place, len(text)) for place in (one, other))
    fitted = fit_to_words(text, start, end, new)
    assert text[: fitted.start] + fitted.replacement + text[fitted.end :] == text[:start] + new + text[end:]
    assert fit_to_words(text, *fitted) == fitted
