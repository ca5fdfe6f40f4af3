"""Words that move: both halves are one change, and nouns and adjectives stay where they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.editing.moves import is_movable, join_moves
from edit_gec.text.edits import Change, apply_changes


def halves(source: str, word: str, behind: str) -> list[Change]:
    """The two changes with which the model moves a word behind another one."""
    gone = source.index(f"{word} ")
    place = source.index(behind, gone) + len(behind)
    return [Change(gone, gone + len(word) + 1, "", 0.8), Change(place, place, f" {word}", 0.6)]


@pytest.mark.parametrize(
    ("source", "word", "behind", "expected"),
    [
        ("I also can help you.", "also", "can", "I can also help you."),
        ("She always was the best.", "always", "was", "She was always the best."),
        ("They know why was it wrong.", "was", "it", "They know why it was wrong."),
        ("We improve quickly it all.", "improve", "quickly", "We quickly improve it all."),
    ],
)
def test_a_word_that_moves_is_one_change(source: str, word: str, behind: str, expected: str) -> None:
    (change,) = join_moves(source, halves(source, word, behind))
    assert apply_changes(source, [change]) == expected and change.confidence == 0.6


@pytest.mark.parametrize(
    ("source", "word", "behind"),
    [
        ("Do you have a training horror story?", "training", "horror"),
        ("Prices make potential buyers skeptical now.", "potential", "buyers"),
    ],
)
def test_nouns_and_adjectives_stay(source: str, word: str, behind: str) -> None:
    assert not list(join_moves(source, halves(source, word, behind)))


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("the most of people", [Change(0, 4, "", 0.9), Change(11, 11, " the", 0.9)]),  # an article: two errors
        ("also, we can help", [Change(0, 4, "", 0.9), Change(12, 12, " also", 0.9)]),  # past a comma
        ("also we can help", [Change(0, 4, "", 0.9), Change(11, 11, " then", 0.9)]),  # another word
        ("It now is on", [Change(2, 6, "", 0.9), Change(9, 12, " now off", 0.9)]),  # another change
    ],
)
def test_what_is_no_move(source: str, changes: list[Change]) -> None:
    assert list(join_moves(source, changes)) == changes


@pytest.mark.parametrize(
    ("source", "at", "inserted", "stays"),
    [
        ("glass and film photographic negatives", 27, " film", False),
        ("to complete successfully all steps", 24, " complete", False),
        ("I like this but you do not like", 31, " it", True),
        ("I like this and we like", 23, " this", True),
        ("the film that we saw in the town with good friends was a bad", 60, " film", True),  # far away
        ("glass and photographic negatives", 9, " film", True),
    ],
)
def test_half_of_a_move_is_left_out(source: str, at: int, inserted: str, stays: bool) -> None:
    assert bool(list(join_moves(source, [Change(at, at, inserted, 0.7)]))) == stays


@given(st.lists(st.sampled_from("she also can not often help quickly them".split()), min_size=3, max_size=9), st.data())
def test_joined_halves_do_what_they_did(words: list[str], data: st.DataObject) -> None:
    source = " ".join(words)
    at = data.draw(st.integers(0, len(words) - 2))
    to = data.draw(st.integers(at + 1, min(len(words) - 1, at + 3)))
    gone = len(" ".join(words[:at]))
    end = len(" ".join(words[: at + 1]))
    place = len(" ".join(words[: to + 1]))
    both = [Change(gone, end + (at == 0), "", 0.7), Change(place, place, f" {words[at]}", 0.9)]
    joined = list(join_moves(source, both))
    if any(map(is_movable, words[at : to + 1])):
        assert len(joined) == 1 or words[at] == words[to]
    if joined:
        assert apply_changes(source, joined) == apply_changes(source, both)
