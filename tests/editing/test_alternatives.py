"""Alternatives and hints: they say more of a text, and change nothing of its correction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import brief, nasty

from edit_gec import Corrector
from edit_gec.editing import alternatives
from edit_gec.editing.alternatives import MOST
from edit_gec.text.correction import Correction
from edit_gec.text.edits import apply
from edit_gec.text.sentences import split

WORDS = [
    "She",
    "go",
    "to",
    "school",
    "the the",
    "becuase",
    "I",
    "recieved",
    "mail",
    "in",
    "monday",
    ".",
    "**was**",
    "`x`",
]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | nasty


@pytest.fixture(scope="module")
def corrector(model_folder: Path) -> Iterator[Corrector]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternatives, "LEAST_SHARE", 1e-9)  # a random model holds nothing likely
        yield Corrector.load(model_folder, threads=1)


@pytest.fixture(scope="module")
def shipped_corrector() -> Corrector:
    return Corrector.load(threads=1)


def suggest(corrector: Corrector, correction: Correction, doubt: float) -> Correction:
    """As `Corrector.suggest`, with hints from this doubt on."""

    suggester = corrector.suggester()
    assert suggester is not None
    sentences = split(correction.text)
    return replace(suggester, hint_doubt=doubt).extend(correction, sentences)


@brief
@given(text=texts, doubt=st.sampled_from([0.0, 0.6, 0.97]))
def test_suggestions_change_no_edit(corrector: Corrector, text: str, doubt: float) -> None:
    plain = corrector.correct(text)
    assert not plain.hints and not any(edit.alternatives for edit in plain.edits)
    found = suggest(corrector, plain, doubt)
    assert found.corrected == plain.corrected
    assert [replace(edit, alternatives=()) for edit in found.edits] == list(plain.edits)
    for edit in (*found.edits, *found.hints):
        assert len(set(edit.alternatives)) == len(edit.alternatives) <= MOST
        assert not {edit.original, edit.replacement} & set(edit.alternatives)
    apply(text, found.hints)  # in order, apart, of this text
    both = sorted((*found.edits, *found.hints), key=lambda edit: edit.span)
    apply(text, both)


@brief
@given(text=texts)
def test_alternatives_respect_what_edits_respect(corrector: Corrector, text: str) -> None:
    found = suggest(corrector, corrector.correct(text), 0.5)
    protected = [
        (sentence.offsets[start], sentence.offsets[end - 1] + 1)
        for sentence in split(text)
        for start, end in sentence.protected
    ]
    for edit in (*found.edits, *found.hints):
        assert all(edit.end <= start or edit.start >= end for start, end in protected)
        assert all(each.count("\n") == edit.original.count("\n") for each in edit.alternatives)


def test_no_edits_and_no_hints_ask_nothing(corrector: Corrector, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a sentence was read")

    monkeypatch.setattr(alternatives, "Reading", refuse)
    (sentence,) = split("She goes to school.")
    suggester = corrector.suggester()
    assert suggester is not None
    assert suggester.suggest("She goes to school.", sentence, [], hints=False) == ((), ())


def test_a_misspelt_word_has_other_words(shipped_corrector: Corrector) -> None:
    found = shipped_corrector.suggest(shipped_corrector.correct("I recieved a lettr yesterday."))
    offered = {edit.original: (edit.replacement, *edit.alternatives) for edit in found.edits}
    assert "received" in offered["recieved"] and "letter" in offered["lettr"]
    assert len(offered["recieved"]) > 1 and len(offered["lettr"]) > 1


def test_a_missing_apostrophe_has_no_words_of_other_letters(shipped_corrector: Corrector) -> None:
    found = shipped_corrector.suggest(shipped_corrector.correct("It isnt good, and you cant see me."))
    assert [(edit.replacement, edit.alternatives) for edit in found.edits] == [("isn't", ()), ("can't", ())]


def test_other_words_bring_no_spaces(shipped_corrector: Corrector) -> None:
    """ "teh" had "the" and " the"."""
    found = shipped_corrector.suggest(shipped_corrector.correct("I recieved teh letter becuase its monday."))
    assert len(found.edits) > 3
    for edit in found.edits:
        assert len({*edit.alternatives, edit.replacement}) == 1 + len(edit.alternatives)
        assert all(other == other.strip() for other in edit.alternatives)


def test_a_word_that_is_surely_wrong_gets_a_hint(shipped_corrector: Corrector) -> None:
    careful = shipped_corrector.with_thresholds(min_confidence=0.99)
    text = "She go to school every day."
    found = suggest(careful, careful.correct(text), 0.5)
    assert found.corrected == text
    (hint,) = found.hints
    assert hint.original == "go" and {"goes", "went"} <= {hint.replacement, *hint.alternatives}
    assert hint.confidence < 0.99
    assert found.to_dict()["hints"][0]["alternatives"] == list(hint.alternatives)
    right = suggest(careful, careful.correct("She goes to school every day."), 0.5)
    assert not right.hints
