"""An edit over several words, cut into its errors: nothing else may come of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import thorough, valid

from edit_gec.text.edits import Edit, apply, check, resolve_overlaps
from edit_gec.text.word_edits import split_edit

WORDS = [*"its it's a an the The I i . , ; alot lot go goes went is was becuase because".split(), "  ", "\n", "é", "😀"]
phrase = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.lists(st.sampled_from(WORDS)).map("".join)


@thorough
@given(valid | phrase, phrase | valid, phrase | valid, valid)
def test_the_parts_do_what_the_edit_does(before: str, old: str, new: str, after: str) -> None:
    text = before + old + after
    edit = Edit(len(before), len(before + old), old, new, 0.7, type="R:OTHER")
    parts = split_edit(edit)
    check(text, parts)
    assert apply(text, parts) == before + new + after
    assert all((part.confidence, part.type, part.provenance) == (0.7, "R:OTHER", edit.provenance) for part in parts)
    assert resolve_overlaps(parts) == parts or parts == [edit]
    assert old != new or len(parts) <= 1
    if old.count("\n") == new.count("\n"):
        assert all(part.original.count("\n") == part.replacement.count("\n") for part in parts)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("becuase its monday", "because it's Monday", ["becuase>because", "its>it's", "monday>Monday"]),
        ("has recieved you", "have received you a", ["has>have", "recieved>received", "> a"]),
        ("recieved teh", "received the", ["recieved>received", "teh>the"]),
        ("you was", "You were", ["you>You", "was>were"]),
        ("i going", "I am going", ["i>I", ">am "]),
        ("too store", "to the store", ["too>to", ">the "]),
        ("however i", "However, I", ["however>However", ">,", "i>I"]),
        ("more better", "better", ["more >"]),
    ],
)
def test_errors_side_by_side_are_apart(old: str, new: str, parts: list[str]) -> None:
    assert [f"{e.original}>{e.replacement}" for e in split_edit(Edit(0, len(old), old, new, 0.6))] == parts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("alot", "a lot"),
        ("every day", "everyday"),
        ("is go", "goes"),
        ("more fast", "faster"),
        ("make do", "have a go"),
        ("have been", "had"),
        ("time is it", "time it is"),
        (". Because", " because"),
        (" because", ". Because"),
        ("dont", "do not"),
        ("e\u0301 its", "e it's"),
    ],
)
def test_what_belongs_together_stays_together(old: str, new: str) -> None:
    edit = Edit(3, 3 + len(old), old, new, 0.6)
    assert split_edit(edit) == [edit]
