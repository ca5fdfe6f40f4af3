"""Doubled and misspelt words of documents, found without a model; and the like of them that is right."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.editing.document_edits import Projection
from edit_gec.editing.lexicon import WordList
from edit_gec.editing.obvious import DOUBLED
from edit_gec.rules.doubled import may_stand_twice
from edit_gec.text.edits import Edit, Provenance, apply
from edit_gec.text.sentences import split

COMMON = (
    "the of to it is not in on we had that this name second property page man music house them be by and read often"
)
WORDS = WordList(
    [*COMMON.split(), *(f"filler{n}" for n in range(9000)), "preprocessor", "whitespace"],
    "propery property\nseccond second",
)
PROJECTION = Projection(WORDS)


def correct(
    document: str, *, format: str = "markdown", alone: bool = False, projection: Projection = PROJECTION
) -> str:
    """The document with its obvious errors corrected."""
    edits: list[Edit] = []
    for sentence in split(document, format=format):
        edits += projection.add_obvious(document, replace(sentence, alone=alone), [])
    return apply(document, edits)


@pytest.mark.parametrize(
    ("document", "corrected"),
    [
        ("It is of of the house.", "It is of the house."),
        ("It is not not\nnot in it.", "It is\nnot in it."),
        ("It is of\nof the house.", "It is of\nthe house."),
        ("The the house is in it.", "The house is in it."),
        ("We had had it, and that that is it.", None),
        ("Read it by by the house.", None),
        ("Read it by by by the house.", "Read it by the house."),
        ("It is The The in it.", None),
        ("Read npm npm and `of of` in it.", None),
        ("Read of/of and of-of of.of it.", None),
        ("It is the seccond of them.", "It is the second of them."),
        ("The propery of it.", "The property of it."),
        ("The seccond, the seccond, the seccond of them.", None),
        ("The Seccond of it.", None),
        ("The manpage of it.", None),
        ("Read `seccond` and seccond() in it.", None),
        ("A preprocssor is it.", None),
        ("The preprocessor is it. A preprocssor is it.", "The preprocessor is it. A preprocessor is it."),
        ("The whitespace is it. We read whitespaces.", None),
        ("It is an unrounded value.", None),
        ("It is an unseccond of them.", None),
        ("La musica della seconda nottte.", None),
    ],
)
def test_documents(document: str, corrected: str | None) -> None:
    assert correct(document) == (corrected or document)
    assert correct(document, alone=True) == document


def test_comments_of_code_repeat_the_names_in_it() -> None:
    assert correct("x = 1  # the seccond of them\n", format="code/python") == "x = 1  # the second of them\n"
    assert (
        correct("seccond = 1  # the seccond of them\n", format="code/python") == "seccond = 1  # the seccond of them\n"
    )


def test_an_edit_of_the_model_comes_first() -> None:
    document = "It is the seccond of of them."
    (sentence,) = split(document)
    model = Edit(10, 17, "seccond", "next", 0.5)
    edits = PROJECTION.add_obvious(document, sentence, [model])
    assert apply(document, edits) == "It is the next of them."
    vague = Edit(18, 23, "of of", "about", 0.5)
    assert apply(document, PROJECTION.add_obvious(document, sentence, [vague])) == "It is the second of them."


@pytest.mark.parametrize(("confidence", "surer"), [(0.6, Provenance.RULE), (0.97, Provenance.EDIT5)])
@pytest.mark.parametrize(("start", "end"), [(16, 19), (17, 20), (19, 22)])
def test_of_two_that_write_the_same_the_surer_one_counts(
    start: int, end: int, confidence: float, surer: Provenance
) -> None:
    document = "It is the second of of them."
    (sentence,) = split(document)
    model = Edit(start, end, document[start:end], "", confidence)
    assert PROJECTION.add_obvious(document, sentence, [model]) == [
        replace(model, confidence=max(confidence, DOUBLED), provenance=surer)
    ]


def test_the_threshold_and_the_dictionary_count() -> None:
    assert correct("It is the seccond of of it.", projection=Projection(WORDS, min_confidence=0.9)).count("of") == 1
    assert "seccond" in correct("It is the seccond of of it.", projection=Projection(WORDS, min_confidence=0.9))
    assert "seccond" in correct("It is the seccond.", projection=Projection(WORDS, frozenset(["seccond"])))


@law
@given(st.lists(st.sampled_from(COMMON.split()), min_size=1, max_size=30))
@example(["it", "by", "by", "by"])
def test_no_word_is_left_twice(words: list[str]) -> None:
    document = " ".join(words)
    once = correct(document)
    assert [word for word, _ in groupby(once.split())] == [word for word, _ in groupby(words)]
    left = once.split()
    for n, (first, second) in enumerate(pairwise(left)):
        before = "".join(word + " " for word in left[:n])
        is_meant = f"{first} {first} {first}" in document  # "dig dig dig"
        assert first != second or is_meant or may_stand_twice(first, before + first, len(before))


@pytest.mark.parametrize(
    ("line", "corrected"),
    [
        ("this is the house we had.", "This is the house we had."),
        (" the music is of it?", " The music is of it?"),
        ("It is not.\nthis is the house we had.", "It is not.\nThis is the house we had."),
        ("this is the house", None),  # no sentence
        ("the house.", None),
        ("npm is the name of it.", None),  # no small word
        ("It is of it. the house is in it.", None),  # not the first word
        ("`the` house is in it now.", None),
        ("the house = it is the house.", None),  # a formula
        ("on ne sait jamais pourquoi.", None),
    ],
)
def test_a_line_that_is_a_sentence_begins_with_a_capital(line: str, corrected: str | None) -> None:
    assert correct(line, alone=True) == (corrected or line)
    assert correct(line) == line, "lists and tables of documents begin as they like"


@pytest.mark.parametrize(
    "text",
    [
        "I gave her her book back.", "I told you you could go.", "What he did did not matter.", "What it was was old.",
        "Please log in in the morning.", "We moved on on Monday.", "The light was turned on on time.",
        "It is true true.",
    ],
)  # fmt: skip
def test_words_that_rightly_stand_twice_are_left(text: str) -> None:
    assert correct(text) == text


def test_prepositions_stand_twice_after_verbs_with_particles_only() -> None:
    assert correct("The book is in in the box.") == "The book is in the box."
    assert may_stand_twice("in", "to log in in", 7) and not may_stand_twice("in", "it is in in", 6)


def test_a_sure_rule_counts_more_than_what_the_model_changes_in_its_words() -> None:
    text = "It gives me piece of mind in the house."
    at = text.index("piece")
    sentence = split(text)[0]
    made = [Edit(at, at, "", "a ", 0.6), Edit(at + 9, at + 13, "mind", "minds", 0.6), Edit(0, 2, "It", "That", 0.6)]
    assert apply(text, PROJECTION.add_obvious(text, sentence, made)) == "That gives me peace of mind in the house."
