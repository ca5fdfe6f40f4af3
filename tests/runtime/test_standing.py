"""Suggestions stand while a writer accepts one after the other, in any order."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from edit_gec import Corrector
from edit_gec.runtime.async_corrector import AsyncCorrector
from edit_gec.runtime.standing import MOST, StandingSuggestions
from edit_gec.text.edits import Change, apply_changes

WORDS = ["so", "they", "was", "late", "and", "she", "go", "home"]


@st.composite
def suggestions(draw: st.DrawFn) -> tuple[str, list[Change]]:
    """A sentence, and replacements of some of its words."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
    changes, at = [], 0
    for word in words:
        if draw(st.booleans()):
            changes.append(Change(at, at + len(word), draw(st.text("xyz", max_size=5)), draw(st.floats(0, 1))))
        at += len(word) + 1
    return " ".join(words), changes


@given(suggestions(), st.randoms(use_true_random=False))
def test_what_was_suggested_stands_until_it_is_accepted(drawn: tuple[str, list[Change]], rng) -> None:  # type: ignore[no-untyped-def]
    """The model sees nothing more after the first time; whatever is accepted, in the end all of it is done."""
    sentence, changes = drawn
    standing = StandingSuggestions()
    left = standing.keep(sentence, None, changes)
    assert left == tuple(changes)
    wanted = apply_changes(sentence, changes)
    while left:
        accepted = rng.randrange(len(left))
        before = len(left)
        sentence = apply_changes(sentence, [left[accepted]])
        others = [change[2:] for n, change in enumerate(left) if n != accepted]
        left = standing.keep(sentence, None, ())
        assert len(left) == before - 1 and [change[2:] for change in left] == others
    assert sentence == wanted


def test_a_sentence_full_of_suggestions_is_not_remembered() -> None:
    """Each of n suggestions would keep the n - 1 others."""
    standing = StandingSuggestions()
    changes = [Change(2 * n, 2 * n + 1, "b", 0.5) for n in range(MOST + 1)]
    assert standing.keep("a " * len(changes), None, changes) == tuple(changes) and not standing.known.size
    assert standing.keep("a " * MOST, None, changes[:MOST]) and standing.known.size == MOST


def test_new_suggestions_come_where_nothing_stands() -> None:
    standing = StandingSuggestions(capacity=1)
    standing.keep("they was late", None, [Change(5, 8, "were", 0.9), Change(9, 13, "early", 0.4)])
    assert standing.keep("they were late", None, ()) == (), "the capacity is one sentence"
    assert standing.keep("they was early", None, ()) == (Change(5, 8, "were", 0.9),)
    standing = StandingSuggestions()
    standing.keep("they was late", None, [Change(5, 8, "were", 0.9), Change(9, 13, "early", 0.4)])
    for asked, kept in ((None, "were"), (0.5, "are")):
        found = standing.keep("they was early", asked, [Change(0, 4, "They", 0.8), Change(5, 8, "are", 0.7)])
        assert [change[2] for change in found] == ["They", kept], "other settings have other suggestions"


def test_a_corrector_for_many_callers_lets_suggestions_stand(model_folder) -> None:  # type: ignore[no-untyped-def]
    async def accept() -> None:
        async with AsyncCorrector(Corrector.load(model_folder, min_confidence=0.0)) as corrector:
            text = "They was looking for small house with a garden."
            first = await corrector.correct(text, format="plain")
            edit, *others = first.edits
            assert others
            after = text[: edit.start] + edit.replacement + text[edit.end :]
            growth = len(edit.replacement) - len(edit.original)
            found = (await corrector.correct(after, format="plain")).edits
            assert {(e.start + growth, e.end + growth, e.replacement) for e in others} <= {
                (e.start, e.end, e.replacement) for e in found
            }

    asyncio.run(accept())
