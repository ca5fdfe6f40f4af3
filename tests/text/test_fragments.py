"""Fragments: list items, headings, cells and captions get no full stop and no capital, a last colon stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.text.fragments import keep_case, keep_end
from edit_gec.text.sentences import split

BLOCKS = [
    ("- local build\n", ["local build"]),
    ("1. local build\n2. last\n", ["local build", "last"]),
    ("- [ ] a long item that goes on in\n  the Next line\n", ["a long item that goes on in the Next line"]),
    ("## Local build\n", ["Local build"]),
    ("Local build\n===========\n\nIt is here\n", ["Local build"]),
    ("Table 2: what we saw\n", ["Table 2: what we saw"]),
    ("| a | b c |\n|---|---|\n| d | e |\n", ["a", "b c", "d", "e"]),
    ("<ul>\n<li>one</li>\n<li class='x'>two <b>three</b></li></ul>", ["one", "two three"]),
    ("<h2>Local build</h2>\n<p>It is here</p><table><tr><td>x</td></tr></table>", ["Local build", "x"]),
    ("It is here\n", []),
    ("Dear Sir,\n\nIt is here:\n\n    $ make\n", []),
]


@pytest.mark.parametrize(("text", "fragments"), BLOCKS)
def test_which_blocks_are_fragments(text: str, fragments: list[str]) -> None:
    for document in (text, text.replace("\n", "\r\n")):
        assert [sentence.text for sentence in split(document) if sentence.fragment] == fragments


def test_first_and_last_are_of_a_block_and_a_line_by_itself_is_neither() -> None:
    ends = [(s.text, s.first, s.last) for s in split("- One is here. Two\n- Three\n")]
    assert ends == [("One is here.", True, False), ("Two", False, True), ("Three", True, True)]
    assert not any(s.first or s.last or s.fragment for s in split("- One is here. Two\n# Three:\n", lines=True))


@pytest.mark.parametrize(
    ("text", "old", "new", "corrected"),
    [
        ("- local build", "build", "build.", "- local build"),
        ("- local buid", "buid", "build.", "- local build"),
        ("- local build,", ",", ".", "- local build,"),
        ("- local build ?", " ?", "?", "- local build?"),
        ("- (local build)", "build)", "build).", "- (local build)"),
        ("# local build", "local", "Local", "# local build"),
        ("# teh build", "teh", "The", "# the build"),
        ("# github actions", "github", "GitHub", "# GitHub actions"),
        ("- i am here", "i", "I", "- I am here"),
        ("- It is. he went", "he", "He", "- It is. He went"),
        ("- it is. He went", "it", "It", "- it is. He went"),
        ("Add the following:\n\n- a", "following:", "following.", "Add the following:\n\n- a"),
        ("Add teh:\n\n```\nx\n```", "teh:", "these.", "Add these:\n\n```\nx\n```"),
        ("Add this:", ":", "", "Add this:"),
        ("See you soon,", "soon,", "soon.", "See you soon,"),
        ("Add this", "this", "this.", "Add this."),
        ("add this.", "add", "Add", "Add this."),
    ],
)
def test_what_a_block_forbids_is_taken_off_the_edit(text: str, old: str, new: str, corrected: str) -> None:
    result = text
    for sentence in split(text):
        at = sentence.text.find(old)
        if at >= 0 and (edit := sentence.to_document(at, at + len(old), new)):
            result = text[: edit[0]] + edit[2] + text[edit[1] :]
    assert result == corrected


@pytest.mark.parametrize(
    ("text", "old", "new", "is_made"),
    [
        ("- name it; move it", ";", ",", False),
        ("- name, move and test", " and", ", and", False),
        ("- name it , move it", " ,", ",", True),
        ("- name it; go on", "; go", ", goes", True),
        ("- Name it; move it.", ";", ",", True),
        ("Name it; move it", ";", ",", True),
    ],
)
def test_a_fragment_keeps_its_marks(text: str, old: str, new: str, is_made: bool) -> None:
    (sentence,) = split(text)
    at = sentence.text.index(old)
    assert (sentence.to_document(at, at + len(old), new) is not None) == is_made


@pytest.mark.parametrize("text", ["- She go", "# she go", "Look:"])
def test_a_line_by_itself_is_a_text(text: str) -> None:
    (sentence,) = split(text, lines=True)
    end = len(sentence.text)
    assert sentence.to_document(end - 1, end, sentence.text[-1] + ".") is not None


@law
@given(st.text("ab ,;()", max_size=9), st.data(), st.text("Ab .,;!)", max_size=6))
def test_a_fragment_gets_no_mark(text: str, data: st.DataObject, replacement: str) -> None:
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    result = text[:start] + keep_end(text, start, end, replacement, fragment=True) + text[end:]
    assert not result.rstrip(" ,;()").endswith((".", "!"))


@law
@given(st.text("ab ,", max_size=9), st.data(), st.text("Ab .,!)", max_size=6), st.booleans())
def test_the_last_colon_stays(text: str, data: st.DataObject, replacement: str, fragment: bool) -> None:
    text += ":"
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    result = text[:start] + keep_end(text, start, end, replacement, fragment) + text[end:]
    assert result.count(":") == 1 and not result.endswith((".", "!"))


@law
@given(st.from_regex(r"[ (]{0,2}[ab][ab ]{0,8}", fullmatch=True), st.data(), st.text("ab ", max_size=6))
def test_a_small_first_letter_stays_small(text: str, data: st.DataObject, replacement: str) -> None:
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    result = text[:start] + keep_case(text, start, replacement.title()) + text[end:]
    assert result.lower() == text[:start] + replacement + text[end:]
    assert not result.lstrip(" (")[:1].isupper()


@pytest.mark.parametrize("blocks", [2, 3])
def test_several_blocks_without_a_stop_are_a_style(blocks: int) -> None:
    text = "It is said. We went home\n\n" * blocks + "Here it ends.\n"
    for sentence in split(text):
        last = sentence.text.endswith("home")
        assert sentence.fragment == (last and blocks >= 3)
    small = "and here it is.\n\n" * blocks + "Here it ends.\n"
    assert [sentence.fragment for sentence in split(small)] == [blocks >= 3] * blocks + [False]
    assert not any(sentence.fragment for sentence in split(text, lines=True))
