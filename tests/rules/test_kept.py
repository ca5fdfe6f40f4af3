"""What stays whoever proposes an edit, with any model: the edits themselves are given."""

from __future__ import annotations

import pytest

from edit_gec.rules.checks import renames_code
from edit_gec.rules.kept import CHECKS, keep_known_words
from edit_gec.rules.placed_edit import PlacedEdit
from edit_gec.text.edits import Edit
from edit_gec.text.sentences import split

KNOWN = frozenset(
    "a an it is module key of course they do the house hour we had enough no i mean go he shouted open book address "
    "names lot how decide on pay add rule used short at in fact in the end it is and user will be here".split()
)


def is_known(word: str) -> bool:
    return word.casefold() in KNOWN


class Few:
    """The words of these texts."""

    def knows(self, word: str) -> bool:
        return is_known(word)

    def is_common_slip(self, word: str) -> bool:
        return False


def stays(text: str, old: str, new: str, at: int = 0, **how: str) -> bool:
    start = text.index(old, at)
    edit = Edit(start, start + len(old), old, new, 0.9)
    sentence = next(each for each in split(text, **how) if each.holds(edit))  # type: ignore[arg-type]
    return any(check(PlacedEdit(text, sentence, edit, Few())) for check in (*CHECKS, renames_code))


@pytest.mark.parametrize(
    ("text", "old", "new", "kept"),
    [
        ("No no, I mean it.", " no", "", True),
        ("Had had enough, he said.", "Had had", "Had", True),
        ("La la la, he sang.", " la la", "", True),
        ("Go go go, he shouted.", "go ", "", True),
        ("Run, run, run and hide.", " run,", "", True),
        ("Dig dig dig, he said.", " dig dig", "", True),
        ("Open the the door.", " the", "", False),
        ("I mean that he he shouted.", " he", "", False),
        ("In in in the end.", " in in", "", False),
        ("We open open the door.", " open", "", False),
        ("It is is here.", " is", "", False),
        ("It is an nginx module.", "an", "a", True),
        ("It is an *xemacs* file.", "an", "a", True),
        ("It is a `orb` file.", "a", "an", True),
        ("It is a frobnik module.", "a", "an", True),
        ("It is a hour.", "a", "an", False),
        ("It is a 8 hour.", "a", "an", False),
        ("Wait for a hour.", "a", "an", False),
        ("Add a udev rule.", "udev", "used", True),
        ("Use the shopt builtin.", "shopt", "short", True),
        ("Use the shotr rule.", "shotr", "short", False),
        ("We met Mr Aamodt here.", "Aamodt", "Almost", True),
        ("# How we decide on pay\n", "we", "do we", True),
        ("# How we decide on pay\n", "pay", "pay?", True),
        ("# How we decide on pay\n", "decide", "decided", False),
        ("How we decide on pay?", "we", "do we", False),
        ("how do we decide on pay", "pay", "pay?", False),
        ("# How do we decide on pay\n", "pay", "pay?", True),
        ("how do we decide on pay\nit is used", "used", "used?", True),
        ("The house. How we go on. The end.", "we", "do we", False),
        ("Of course they do.", " they", ", they", False),
        ("Had had a bad day, she slept.", "Had had", "Have", True),
        ("They do it, for the lot.", ", for", ". For", True),
        ("They do it, they do.", ", they", ". They", False),
        ("Easy come, easy go.", "come", "came", True),
        ("It is easy, come here.", "come", "came", False),
        ("So that we see, they go.", " that", "", True),
        ("We knew so that they go.", " that", "", False),
    ],
)
def test_what_stays(text: str, old: str, new: str, kept: bool) -> None:
    assert stays(text, old, new) is kept


@pytest.mark.parametrize(
    ("text", "place", "kept"),
    [
        ("Of course they do.", 9, True),
        ("In fact we did.", 7, True),
        ("Of course they do what they can for us here.", 9, False),
        ("Of course the house is old.", 9, False),
        ("The house they do.", 9, False),
    ],
)
def test_an_opening_before_a_few_words_needs_no_comma(text: str, place: int, kept: bool) -> None:
    (sentence,) = split(text)
    edit = Edit(place, place, "", ",", 0.9)
    assert any(check(PlacedEdit(text, sentence, edit, Few())) for check in CHECKS) is kept


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("adress book", "address", ("adress", "address")),
        ("adderess", "address of", ("adderess", "address")),
        ("adress book", "address book", ("adress book", "address book")),
        ("alot", "a lot", ("alot", "a lot")),
        ("the book", "book", ("the book", "book")),
        ("qqq www", "address", ("qqq www", "address")),
        ("qqq\u0301", "qqq\u0301www", ("qqq\u0301", "qqq\u0301www")),
    ],
)
def test_a_known_word_stays_beside_a_misspelt_one(old: str, new: str, expected: tuple[str, str]) -> None:
    edit = keep_known_words(Edit(5, 5 + len(old), old, new, 0.9), is_known)
    assert (edit.original, edit.replacement) == expected
    assert edit.start == 5 + old.index(edit.original) and edit.end - edit.start == len(edit.original)
