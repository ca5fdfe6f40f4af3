"""Messages for writers: types by ERRANT, words by us, places kept."""

from __future__ import annotations

import pytest

pytest.importorskip("errant")
from edit_gec.annotation.explain import _annotator, explain, message, spacy_memory_zone
from edit_gec.text.edits import Edit


def edit(text: str, old: str, new: str) -> Edit:
    start = text.index(old)
    return Edit(start, start + len(old), old, new, 0.9)


@pytest.mark.parametrize(
    ("text", "old", "new", "kind", "words"),
    [
        ("She go home every day.", "go", "goes", "R:VERB:SVA", "subject-verb agreement: 'go' -> 'goes'"),
        ("It is a intresting book.", "intresting", "interesting", "R:SPELL", "spelling: 'intresting' -> 'interesting'"),
        ("I have two cat at home.", "cat", "cats", "R:NOUN:NUM", "singular or plural: 'cat' -> 'cats'"),
        ("We met in london.", "london", "London", "R:ORTH", "capital letter: 'london' -> 'London'"),
        ("They dont care.", "dont", "don't", "R:CONTR", "contraction: 'dont' -> 'don't'"),
        ("My friends house is big.", "friends", "friend's", "R:NOUN:POSS", "possessive: 'friends' -> 'friend's'"),
        ("We discussed about the plan.", "about ", "", "U:PREP", "unnecessary preposition: 'about'"),
        ("If it rains we stay.", "rains", "rains,", "M:PUNCT", "missing comma: ','"),
    ],
)
def test_types_and_messages(text: str, old: str, new: str, kind: str, words: str) -> None:
    given = edit(text, old, new)
    (found,) = explain(text, [given])
    assert (found.type, found.message) == (kind, words)
    assert (found.start, found.end, found.replacement, found.confidence) == (given.start, given.end, new, 0.9)


def test_edits_smaller_than_a_word() -> None:
    text = "Well. She go home 🏠 now."
    (found,) = explain(text, [Edit(12, 12, "", "es", 0.9)])
    assert (found.type, found.message) == ("R:VERB:SVA", "subject-verb agreement: 'go' -> 'goes'")
    (found,) = explain("I am going in to town.", [Edit(13, 14, " ", "", 0.9)])
    assert found.message == "one word: 'in to' -> 'into'"


def test_insertions_spacing_and_several_edits() -> None:
    text = "I want cat . She have dog and he have house.\n\nThe end , he said."
    edits = [
        Edit(7, 7, "", "a ", 0.9),
        Edit(10, 11, " ", "", 0.9),
        Edit(17, 21, "have", "has", 0.9),
        Edit(21, 21, "", " a", 0.9),
        Edit(33, 37, "have", "has", 0.9),
        Edit(53, 54, " ", "", 0.9),
    ]
    found = explain(text, edits)
    assert [e.type for e in found] == ["M:DET", "R:ORTH", "R:VERB:SVA", "M:DET", "R:VERB:SVA", "R:ORTH"]
    assert found[0].message == "missing article or determiner: 'a'"
    assert found[1].message == found[5].message == "spacing"


def test_an_edit_across_two_sentences() -> None:
    text = "We were late. Because the bus broke down."
    (found,) = explain(text, [Edit(12, 21, ". Because", " because", 0.8)])
    assert (found.type, found.message) == ("U:PUNCT", "unnecessary full stop: '. Because' -> 'because'")


def test_a_sentence_that_goes_away() -> None:
    (found,) = explain("Bad bad. Fine.", [Edit(0, 9, "Bad bad. ", "", 0.8)])
    assert found.type == "U:OTHER" and found.message == "unnecessary wording: 'Bad bad.'"


@pytest.mark.parametrize(
    ("text", "old", "new", "kind", "name", "reason"),
    [
        ("I recieved a letter.", "recieved", "received", "R:SPELL", "spelling", "spelt “received”"),
        ("We buyed bread.", "buyed", "bought", "R:VERB:INFL", "verb ending", "in another way"),
        ("Now its monday.", "its", "it's", "R:CONTR", "words that are mixed up", "“it’s” means “it is”"),
        ("Your welcome.", "Your", "You're", "R:CONTR", "words that are mixed up", "“you’re” means “you are”"),
        ("Their is a house.", "Their", "There", "R:PRON", "words that are mixed up", "is a place"),
        ("Then i left.", "i", "I", "R:ORTH", "capital letter", "always written with a capital"),
        ("I like alot of it.", "alot", "a lot", "R:ORTH", "two words", "separate words"),
        ("Now lets go.", "lets", "let's", "R:CONTR", "contraction", "apostrophe"),
        ("I saw the the car.", " the", "", "U:DET", "repeated word", "twice"),
        ("We met in London .", " ", "", "R:ORTH", "spacing", None),
    ],
)
def test_one_sentence_says_why(text: str, old: str, new: str, kind: str, name: str, reason: str | None) -> None:
    start = text.rindex(old)
    (found,) = explain(text, [Edit(start, start + len(old), old, new, 0.9)])
    assert (found.type, str(found.message).split(":")[0]) == (kind, name)
    assert reason is None if found.reason is None else reason and reason in found.reason


def test_a_document_is_split_as_its_format() -> None:
    text = "```\nThe results was good.\n```\n"  # code in Markdown, a sentence in a text without markup
    change = edit(text, "was", "were")
    assert [explain(text, [change], name)[0].type for name in ("markdown", "plain")] == ["R:OTHER", "R:VERB:SVA"]


def test_nothing_to_explain_needs_no_parser() -> None:
    assert explain("Fine.", []) == []


def test_what_would_be_parsed_for_long_is_not() -> None:
    """A word of 80,000 characters of which spaCy tries every prefix; its neighbours are parsed."""
    text = "She go home. We was " + "(*`<" * 20_000 + ". He go home."
    edits = [Edit(4, 6, "go", "goes", 0.9), Edit(16, 19, "was", "were", 0.9), Edit(80_025, 80_027, "go", "goes", 0.9)]
    assert [edit.type for edit in explain(text, edits)] == ["R:VERB:SVA", "R:OTHER", "R:VERB:SVA"]


def test_words_of_a_corpus_are_forgotten() -> None:
    """spaCy keeps every word that it has seen, and a corpus has no end of them."""
    text = "We met in xqzvb and in wkrtpl."
    explain("We met in london.", [edit("We met in london.", "london", "London")])
    known = set(_annotator().nlp.vocab.strings)
    with spacy_memory_zone():
        inside = explain(text, [edit(text, "xqzvb", "Xqzvb")])
        assert "xqzvb" in set(_annotator().nlp.vocab.strings) - known
    assert set(_annotator().nlp.vocab.strings) == known
    assert inside == explain(text, [edit(text, "xqzvb", "Xqzvb")])


def test_every_type_has_words() -> None:
    assert message("M:VERB:TENSE", "", "has") == "missing verb tense: 'has'"
    assert message("U:PUNCT", ",", "") == "unnecessary comma: ','"
    assert message("UNK", "a", "b") == "wording: 'a' -> 'b'"
