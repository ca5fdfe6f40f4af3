"""Windows: parts of a sentence that a model can read cover it, and are cut where a reader would pause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, nasty

from edit_gec.editing.windows import fitting_windows, halve_window, leave_cuts
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.text.edits import Change


@law
@given(nasty, st.integers(1, 12))
def test_parts_fit_and_tile_their_window(tokens: Tokens, text: str, longest: int) -> None:
    window = tokens.encode(text)
    parts = list(fitting_windows(window, lambda part: len(part) <= longest))
    assert [n for part in parts for n in part.ids] == list(window.ids)
    assert "".join(part.covered for part in parts) == window.covered
    assert all(part.source == text for part in parts)
    assert all(len(part.covered) <= longest or len(part) == 1 for part in parts)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("We sat by the river, and the cat sat by the house.", "We sat by the river,"),
        ("We sat by the river and the cat sat by the house", "We sat by the river"),
        ("So, we sat by the river and the cat sat by the house", "So, we sat by the river"),  # a comma too far away
    ],
)
def test_windows_are_cut_at_clauses_and_words(tokens: Tokens, text: str, first: str) -> None:
    assert [half.covered for half in halve_window(tokens.encode(text))] == [first, text.removeprefix(first)]


def test_changes_next_to_a_cut_are_left(tokens: Tokens) -> None:
    text = "We sat by the river, and the cat sat by the house."
    one, two = halve_window(tokens.encode(text))
    changes = [
        Change(0, 2, "They", 0.9),
        Change(19, 20, ".", 0.9),
        Change(21, 24, "And", 0.9),
        Change(49, 50, "!", 0.9),
    ]
    assert leave_cuts(changes[:2], one) == changes[:1]  # the sentence begins there
    assert leave_cuts(changes[2:], two) == changes[3:]  # and ends there
    assert leave_cuts(changes, tokens.encode(text)) == changes
