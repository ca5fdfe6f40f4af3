r"""LaTeX: prose is read as it is printed; commands, math, code and citations are never touched."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.formats.latex import SAMPLES
from support.strategies import law

from edit_gec.text.sentences import Sentence, split


def test_a_sentence_around_a_note_is_corrected_as_one() -> None:
    text = "She\\footnote{He go.} go home."
    around, note = split(text, format="latex")
    assert around.to_document(4, 6, "goes") == (text.index(" home"), text.index(" home"), "es")
    assert note.to_document(3, 5, "goes") == (text.index(".}"), text.index(".}"), "es")
    assert around.to_document(0, 6, "He goes") is None  # the note would be swallowed


@pytest.mark.parametrize(
    "code",
    ["$x^2$", "\\%", "\\cref{a}", "\\texttt{a}", "\\'e", "``", "---", "\\own{a}", "\\LaTeX{}", "\\verb|a|", "!!{a}s"],
)
@pytest.mark.parametrize("inserted", ["x", " x", "x ", ",", "1"])
def test_nothing_comes_into_what_is_printed_by_a_command(code: str, inserted: str) -> None:
    text = f"{code} is {code} and {code}"
    (sentence,) = split(text, format="latex")
    for at in range(len(sentence.text) + 1):
        edit = sentence.to_document(at, at, inserted)
        if edit:
            assert (text[: edit[0]] + edit[2] + text[edit[1] :]).count(code) == 3


@pytest.mark.parametrize("character", list("\\{}$&%#^_~"))
def test_no_edit_brings_in_markup(character: str) -> None:
    (sentence,) = split("It costs 5 percent of it.", format="latex")
    assert sentence.to_document(11, 18, character) is None


@law
@given(SAMPLES.texts)
@example("\\o \n\\%")
def test_what_is_read_is_the_text_or_stands_for_it(text: str) -> None:
    for sentence in split(text, format="latex"):
        _check_offsets(text, sentence)


def _check_offsets(text: str, sentence: Sentence) -> None:
    """What is not protected is the document's, or a space; what stands for more is as long as that."""
    kept = {at for start, end in sentence.protected for at in range(start, end)}
    folds = dict(sentence.folds)
    for at, character in enumerate(sentence.text):
        offset = sentence.offsets[at]
        assert at in kept or (at in folds and character == " ") or text[offset] == character
        assert text.startswith(folds.get(at, text[offset]), offset)
        assert sentence.offsets[at + 1] >= offset + len(folds.get(at, "x"))


@law
@given(SAMPLES.texts, st.data(), st.sampled_from(["", "x", " y", ",", "two words"]))
def test_an_edit_changes_letters_and_marks_only(text: str, data: st.DataObject, replacement: str) -> None:
    for sentence in split(text, format="latex"):
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(sentence.text))] * 2)))
        edit = sentence.to_document(start, end, replacement)
        if edit:
            corrected = text[: edit[0]] + edit[2] + text[edit[1] :]
            assert re.findall(r"[\\{}$&%#^_~]|\n", corrected) == re.findall(r"[\\{}$&%#^_~]|\n", text)
