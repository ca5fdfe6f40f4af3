"""Why edits are not made, and the like of them that are."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from edit_gec import Corrector
from edit_gec.editing.document_edits import Projection
from edit_gec.rules import checks
from edit_gec.rules.checks import ANYWHERE, ARTICLE, CHOICE, COMMA, IN_DOCUMENTS, extra_odds, find_refusal
from edit_gec.rules.placed_edit import PlacedEdit
from edit_gec.text.edits import Change, Edit, Provenance
from edit_gec.text.sentences import split

SURE = 10.0  # log-odds above the threshold
UNKNOWN = frozenset("occupys ocupy becuase zorkpath skipif qlong longgest sooo seees mtime init".split())


def judged(
    document: str, old: str, new: str, at: int | None = None, *, alone: bool = False, form: str = "markdown"
) -> bool:
    """Whether the edit old -> new at its first place in the document, or at `at`, is refused."""
    start = document.index(old) if at is None else at
    edit = Edit(start, start + len(old), old, new, 0.9)
    sentence = next(each for each in split(document, format=form) if each.offsets[0] <= start <= each.offsets[-1])
    return find_refusal(PlacedEdit(document, replace(sentence, alone=alone), edit, WORDS, SURE)) is not None


class Most:
    """All words but a few, two of which are slips of common ones."""

    def knows(self, word: str) -> bool:
        return word.casefold() not in UNKNOWN

    def is_common_slip(self, word: str) -> bool:
        return word in ("becuase", "ocupy")


WORDS = Most()


@pytest.mark.parametrize(
    ("document", "old", "new", "style"),
    [
        ("You don’t know it.", "don’t", "don't", True),
        ("You dont know it.", "dont", "don't", False),
        ("They occupy it.", "occupy", "occupys", True),
        ("They ocupy it.", "ocupy", "occupy", False),
        ("He don't know it.", "don", "doesn", False),
        ("They go to Rome.", "Rome", "Roma", False),
        ("It is useless.", "useless", "useful", True),
        ("It is useless.", " useless", " useful", True),
        ("See the filesystem.", "filesystem", "file system", True),
        ("You know infact it.", "infact", "in fact", False),
        ("docs: see the list", "docs", "Docs", True),
        ("docs see the list", "docs", "Docs", False),
        ("sort.Slice will see it.", "sort", "Sort", True),
        ("i see the list", "i", "I", False),
        ("Send an e-mail.", "e-mail", "email", True),
        ("They reuse it.", "reuse", "re-use", True),
        ("A wellknown list.", "wellknown", "well-known", False),
        ("The shares of the Company.", "Company", "company", True),
        ("The shares of the Football.", "Football", "football", False),
    ],
)
@pytest.mark.parametrize("alone", [False, True])
def test_words(document: str, old: str, new: str, style: bool, alone: bool) -> None:
    assert judged(document, old, new, alone=alone) == (style and not (alone and new in ("don't", "Docs", "Sort")))


@pytest.mark.parametrize(
    ("document", "old", "new", "joins"),
    [
        ("It was I . he knew it.", "I ", "I", True),
        ("It was me . he knew it.", "me ", "me", False),
        ("It was I . He knew it.", "I ", "I", False),
        ("He came in the january. it was cold.", "january", "Jan", True),
        ("He came in the january. it was cold.", "january", "January", False),
    ],
)
def test_the_end_of_a_sentence_stays_one(document: str, old: str, new: str, joins: bool) -> None:
    assert judged(document, old, new) == joins
    assert not judged(document, old, new, alone=True)


def test_numbers_of_items() -> None:
    assert judged("i. see the list", "i", "I", form="plain") and judged("ii) see it", "ii", "Ii", form="plain")
    assert not judged("so. see the list", "so", "So", form="plain")


@pytest.mark.parametrize(
    ("document", "place", "new", "style"),
    [
        ("First line here.\n\nSee [the list](a.md)\n\nMore.", "](a", ".", True),
        ("First line here.\n\nSee <https://example.org>\n\nMore.", ">\n\nMore", ".", True),
        ("First line here.\n\nwindows: add an option\n\nMore.", "\n\nMore", ".", True),
        ("First line here.\n\nThey know the list of all of us and\nthey go to see it\n\nMore.", "\n\nMore", ".", False),
        ("They know it", "", ".", False),
        ("First line here.\n\nHow they know it\n\nMore.", "\n\nMore", "?", True),
        ("First line here.\n\nHow do they know it\n\nMore.", "\n\nMore", "?", False),
        ("First line here.\n\nHow do they know `it`\n\nMore.", "\n\nMore", "?", True),
        ("First line here.\n\n- How do they know it\n\nMore.", "\n\nMore", "?", True),
        ("The process  ID", " ID", "-", True),
        ("The process  ID", "  ID", ",", False),
        ("See useless lists.", " useless", " a", True),
        ("See useless list.", " useless", " a", False),
        ("See lists we go to.", " lists", " a", False),
        ("See this.", " this", " a", False),
        ("We run it with help, so.", ", so", "()", True),
        ("We run it with help, so.", ", so", " (", True),
        ("We run it with help, so.", ", so", " now", False),
        ("We run it with help, so.", ", so", ".)", False),
    ],
)
def test_insertions(document: str, place: str, new: str, style: bool) -> None:
    at = document.index(place) if place else len(document)
    assert judged(document, "", new, at) == style


@pytest.mark.parametrize(
    ("document", "old", "new", "style"),
    [
        ("You know it: these also go to the list.", "go", "goes", True),
        ("You know one of these go to the list.", "go", "goes", False),
        ("You know this: sees the list.", "sees", "see", True),
        ("You know this sees the list.", "sees", "see", False),
        ("You know OpenFiles returns the list.", "returns", "return", True),
        ("You know these list.", "list", "lists", False),
        ("You know that I were it.", "were", "was", False),
        ("You know the list and `file` are in it.", "are", "is", True),
        ("You know the list, and it are in it.", "are", "is", False),
        ("It is a list that needs knowing.", "knowing", "to know", True),
        ("It is a list that is knowing.", "knowing", "to know", False),
        ("See useless files: go.", "See", "Sees", False),
        ("See the files: go.", "See", "Sees", True),
    ],
)
def test_what_is_right_already(document: str, old: str, new: str, style: bool) -> None:
    assert judged(document, old, new) == style
    assert not judged(document, old, new, alone=True)


def test_a_line_by_itself_has_little_style() -> None:
    assert not judged("You don’t know it.", "don’t", "don't", alone=True)
    assert judged("See the filesystem.", "filesystem", "file system", alone=True)
    assert judged("They occupy it.", "occupy", "occupys", alone=True)


@pytest.mark.parametrize(
    ("document", "old", "place", "new", "style"),
    [
        ("# find longest match of all\n", "", "longest", "the ", True),
        ("# find longest match of all\n", "find", "find", "Find", True),
        ("# This is -- the match of all\n", "--", "--", "", True),
        ("# This are the match of all\n", "are", "are", "is", False),
        ("# This is match to which we must\n", "", "we", "that ", False),
    ],
)
def test_comments_are_telegrams(document: str, old: str, place: str, new: str, style: bool) -> None:
    at = document.index(place)
    assert judged(document, old, new, at, form="code/python") == style
    assert not judged(document, old, new, at, form="plain")


@pytest.mark.parametrize(
    ("document", "style"),
    [
        ("We list:\n\n- Fix crash in parser.\n", True),
        ("We list:\n\n- [core] Crash in parser is fixed.\n", True),
        ("# Crash in parser\n\nWe `see`.\n", True),
        ("We list:\n\n- It is crash in parser.\n", False),
        ("We list:\n\n- Fix it. We had crash in parser.\n", False),
        ("We fix crash in parser.\n\n- `a`\n", False),
    ],
)
def test_a_note_needs_no_articles(document: str, style: bool) -> None:
    at = document.index("parser")
    assert document[0] == "#" or not judged(document, "", "the ", at), "anybody's list"
    document += "\n```\ncode\n```\n"
    assert judged(document, "", "the ", at) == style
    assert not judged(document, "parser", "parsers", at)


@pytest.mark.parametrize(
    ("old", "new", "odds"),
    [
        ("in", "at", CHOICE),
        ("could", "can", CHOICE),
        ("a", "an", 0),
        ("", "the", ARTICLE),
        ("is", "are", 0),
        (", it", ". It", CHOICE),
        ("", " of", CHOICE),
        (" they", "", CHOICE),
        (" a", "", ARTICLE),
        ("User", "user", CHOICE),
        ("user", "User", 0),
        ("", ",", COMMA),
        ("", ".", 0),
        ("useless", "list", CHOICE),
        ("sees", "see", CHOICE),
        ("seees", "sees", 0),
        ("their", "there", 0),
    ],
)
def test_where_writers_choose(old: str, new: str, odds: float) -> None:
    (sentence,) = split("It is so.")
    assert extra_odds(PlacedEdit("", sentence, Edit(0, len(old), old, new, 0.5), WORDS)) == odds


@pytest.mark.parametrize(
    ("ending", "is_made"),
    [("", True), ("\n\n> A quote.\n", True), ("\n\n```\ncode\n```\n", False), ("\n\n<pre>code</pre>\n", False)],
)
def test_plain_prose_may_be_a_learners(ending: str, is_made: bool) -> None:
    text = f"However we stayed at home.{ending}"
    projection, comma = Projection(None, min_confidence=0.5), Change(7, 7, ",", 0.51)
    assert bool(projection.choose(text, split(text)[0], [comma])) == is_made
    assert not projection.choose(text, split(text)[0], [Change(18, 20, "in", 0.51)])  # writers choose


@pytest.mark.parametrize(("provenance", "is_made"), [(Provenance.RULE, True), (Provenance.EDIT5, False)])
def test_writers_do_not_choose_what_a_rule_calls_wrong(provenance: Provenance, is_made: bool) -> None:
    text = "It depends of him."
    change = Change(11, 13, "on", 0.51, provenance)
    assert bool(Projection(None, min_confidence=0.5).choose(text, split(text)[0], [change])) == is_made


def test_a_refusal_says_who_refused(caplog: pytest.LogCaptureFixture) -> None:
    text = "See the filesystem."
    (sentence,) = split(text)
    caplog.set_level("DEBUG", "edit_gec.rules")
    assert not Projection(None).choose(text, sentence, [Change(8, 18, "file system", 0.9)])
    assert [record.message for record in caplog.records] == ["splits_a_compound: 8-18 'filesystem' -> 'file system'"]


def test_the_module_lists_its_checks() -> None:
    names = [check.__name__ for check in (*ANYWHERE, *IN_DOCUMENTS)]
    assert [name for name in re.findall(r"(?m)^    (\w+)", checks.__doc__ or "") if "_" in name] == names


@pytest.mark.parametrize(
    ("original", "replacement", "times", "habit"),
    [
        ("Party", "party", 3, True),
        ("Party", "party", 2, False),
        ("e-mail", "email", 3, True),
        ("classpath", "class path", 3, True),
        ("Zorkpath", "Work path", 3, True),
        ("Zorkpath", "Work path", 2, False),
        ("party", "Party", 5, False),
        ("party", "parties", 5, False),
        ("a Party", "a party", 3, True),
        ("file name", "filename", 3, True),
        ("A Party", "The Party", 3, False),
        ("its", "it's", 3, False),
        ("were", "we're", 3, False),
    ],
)
def test_what_stands_three_times_is_a_habit(original: str, replacement: str, times: int, habit: bool) -> None:
    document = f"{original}. " * times
    place = PlacedEdit(document, split(document)[0], Edit(0, len(original), original, replacement, 0.9), WORDS)
    assert checks.breaks_a_habit(place) == habit
    ruled = replace(place, edit=replace(place.edit, provenance=Provenance.RULE))
    assert not checks.breaks_a_habit(ruled)


def test_a_document_keeps_its_words_and_a_line_has_none() -> None:
    projection = Projection(Corrector.load(threads=1).edit5.spelling)
    for word, stays in (("skipif", True), ("becuase", False)):
        (sentence,) = split(f"It is so {word} he is late.")
        document = f"It is so {word} he is late. " * 3
        edits = projection.choose(document, sentence, [Change(9, 9 + len(word), "because", 0.9)])
        assert bool(edits) != stays
        (line,) = split(f"It is so {word} he is late.", lines=True)
        assert projection.choose(document, line, [Change(9, 9 + len(word), "because", 0.9)])


@pytest.mark.parametrize(
    ("document", "stays"),
    [
        ("We build Thinc now.\n\n    pip install thinc\n\nSee explosion/thinc.", True),
        ("We build Thinc now.\n\n```\nimport a\n```\n\nRun `thinc`.", True),
        ("We build Thinc now.\n\n```\nimport a\n```\n\nRun `thinking`.", False),
        ("We build thinc now.\n\n```\nimport a\n```\n\nRun `thinc`.", False),  # a common misspelling of "think"
        ("We build libthinc now.\n\n```\nimport a\n```\n\nRun `libthinc`.", True),
        ("We build Thinc now. See his/thinc.", False),  # anybody's letter
    ],
)
def test_a_word_of_the_code_is_a_name(document: str, stays: bool) -> None:
    projection = Projection(Corrector.load(threads=1).edit5.spelling)
    sentence = split(document)[0]
    end = sentence.text.index(" now")
    edits = projection.choose(document, sentence, [Change(9, end, "Think", 0.9)])
    assert bool(edits) != stays


@pytest.mark.parametrize(
    ("old", "new", "refused"), [("in it", "init", True), ("file system", "filesystem", False), ("in it", "it", False)]
)
def test_words_are_joined_to_words_only(old: str, new: str, refused: bool) -> None:
    assert judged(f"They see {old} now.", old, new) == refused


def test_terms_keep_their_spelling() -> None:
    assert judged("It is the qlong type.", "qlong", "long")
    assert not judged("It is the qlong type.", "qlong", "long", alone=True)
    assert not judged("It is the longgest type.", "longgest", "longest")
    assert not judged("It is sooo long.", "sooo", "")


def test_gaps_of_justified_text_stay() -> None:
    document = "They  see the  file  system in it."
    assert judged(document, "  ", " ", 4) and not judged("They  see the file.", "  ", " ", 4)


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        ("> We looked at the new\n\n> plan of it.\n", True),
        ("> We looked at the new,\n>\n>  plan of it.\n", True),
        ("> We looked at the new.\n\n> plan of it.\n", False),
        ("We looked at the new\n\n> plan of it.\n", False),
    ],
)
def test_a_quoted_line_that_stands_apart_begins_no_sentence(document: str, refused: bool) -> None:
    assert judged(document, "plan", "Plan", form="text") == refused
