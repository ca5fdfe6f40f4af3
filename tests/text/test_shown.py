"""Errors that are shown on purpose stay; what is said around them is prose."""

from __future__ import annotations

import pytest

from edit_gec.text.sentences import split
from edit_gec.text.shown import find_shown, is_bad_label


def shown(text: str, **how: bool | str) -> list[str]:
    """The protected parts of the sentences of a text."""
    return [each.text[start:end] for each in split(text, **how) for start, end in each.protected]  # type: ignore[arg-type]


@pytest.mark.parametrize("label", ["Bad:", "Wrong", "Don't", "❌", "Incorrect usage:", "Bad example:", "Avoid —"])
def test_labels_of_bad_examples(label: str) -> None:
    assert is_bad_label(label)
    assert shown(f"{label} He go home.\n" if label[-1] in ":❌—" else f"### {label}\n\nHe go home.\n")[-1].endswith(
        "home."
    )


@pytest.mark.parametrize(
    "label", ["Good:", "Note:", "Do", "Not all of them:", "A bad day", "Never mind.", "Warning:", ""]
)
def test_other_labels(label: str) -> None:
    assert not is_bad_label(label)
    assert shown(f"{label} He go home.\n") == []


def test_examples_are_bad_until_a_good_one() -> None:
    text = "Wrong:\n\n- He go.\n- She go.\n\nRight:\n\n- He goes.\n\nThey go.\n"
    assert shown(text) == ["He go.", "She go."]
    assert shown("Wrong:\n\nHe go.\n\nShe go.\n") == ["He go."]


def test_columns_of_bad_examples() -> None:
    table = "| Use | Not | Why |\n|---|---|---|\n| he goes | he go | it is one |\n| a | b | c |\n"
    assert shown(table) == ["he go", "b"]
    assert shown(table + "\n| x | y |\n|---|---|\n| d | e |\n") == ["he go", "b"]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("He recieve [sic] it. She go.", ["He recieve [sic] it."]),
        ("He recieve (sic) it.", ["He recieve (sic) it."]),
        ('The word "recieve" is misspelt.', ['"recieve"']),
        ("Write “he goes”, not “he go”.", ["“he goes”", "“he go”"]),
        ("He is a 'profesional' player.", []),
        ("The boys' toys are the girls' words.", []),
        ('They call it "the big wheel" here.', []),
    ],
)
def test_what_is_quoted_or_talked_about(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in find_shown(text, is_marked=False)] == spans


def test_quoted_sentences_stay_in_documents_with_markup() -> None:
    assert shown('# Test\n\nIt says "They was late today." to us.\n') == ['"They was late today."']
    assert shown('It says "They was late today." to us.\n') == []
    assert shown('# Test\n\nIt says "they was late" to us.\n') == []


SHOWN = "He recieve [sic] it, `teh` code. They was late.\n\n- [Kids](#two-childs)\n\n## Two childs\n"


def test_what_is_shown_is_open_in_a_copy_of_its_sentence_and_nothing_else_is() -> None:
    first, second, link, title = split(SHOWN)
    assert second.opened() is None and link.opened() is None
    for sentence, kept in ((first, ["teh"]), (title, [])):
        opened = sentence.opened()
        assert opened and (opened.text, opened.offsets) == (sentence.text, sentence.offsets)
        assert [opened.text[start:end].strip("`") for start, end in opened.protected] == kept
        assert sentence.protected == ((0, len(sentence.text)),) and opened.opened() is None


def test_every_reader_knows_what_is_shown() -> None:
    for format in ("markdown", "plain", "rst", "asciidoc", "org", "latex", "html", "mail", "code/python"):
        text = (
            f'#: The word "{"recieve"}" is misspelt.\n'
            if format == "code/python"
            else 'The word "recieve" is misspelt.\n'
        )
        for sentence in split(text.replace("#:", "#"), format=format):
            opened = sentence.opened()
            assert opened and not opened.protected, format
