"""Readers of formats: prose is shown, code and markup are not, whatever the text; every reader obeys the same laws."""

from __future__ import annotations

from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.formats import Samples, asciidoc, joined, latex, org, rst, typst
from support.strategies import law, nasty, thorough
from support.timing import is_linear, repeat

from edit_gec.text.readers import READERS
from edit_gec.text.sentences import split

FORMATS = [asciidoc.SAMPLES, latex.SAMPLES, org.SAMPLES, rst.SAMPLES, typst.SAMPLES]
BY_NAME = {samples.format: samples for samples in FORMATS}
TEXTS = {name: BY_NAME[name].texts if name in BY_NAME else joined("*-#[]{}\\|`\n .%$a") | nasty for name in READERS}


def show(text: str, format: str) -> list[str]:
    """The sentences of a document, "~" before a fragment."""
    return ["~" * sentence.fragment + sentence.text for sentence in split(text, format=format)]


@pytest.mark.parametrize(
    ("format", "text", "expected"), [(each.format, *case) for each in FORMATS for case in each.seen]
)
def test_the_prose_is_seen_and_nothing_else(format: str, text: str, expected: list[str]) -> None:
    assert show(text, format) == expected
    assert show(text.replace("\n", "\r\n"), format) == expected


@pytest.mark.parametrize(("format", "code"), [(each.format, code) for each in FORMATS for code in each.staying])
def test_code_and_names_are_shown_and_stay(format: str, code: str) -> None:
    (sentence,) = split(f"Now see {code} there.\n", format=format)
    assert sentence.text == f"Now see {code} there."
    assert [sentence.text[start:end] for start, end in sentence.protected] == [code]


@pytest.mark.parametrize(
    ("format", "text", "view", "protected"), [(each.format, *case) for each in FORMATS for case in each.inline]
)
def test_inline_markup(format: str, text: str, view: str | None, protected: list[str]) -> None:
    (sentence,) = split(text, format=format)
    assert sentence.text == (text if view is None else view)
    assert [sentence.text[start:end] for start, end in sentence.protected] == protected


@pytest.mark.parametrize("format", READERS)
@thorough
@given(data=st.data())
def test_every_character_has_flags_and_every_sentence_its_characters(format: str, data: st.DataObject) -> None:
    text = data.draw(TEXTS[format])
    assert len(READERS[format](text)) == len(text)
    at = 0
    read: set[int] = set()
    for sentence in split(text, format=format):
        assert sentence.text.strip() == sentence.text != ""
        assert at <= sentence.offsets[0] and list(sentence.offsets) == sorted(set(sentence.offsets))
        at = sentence.offsets[0]
        assert read.isdisjoint(sentence.offsets[:-1])
        read.update(sentence.offsets[:-1])
        kept = {place for span in sentence.protected for place in range(*span)}
        for place, character in enumerate(sentence.text):
            assert character in (" ", text[sentence.offsets[place]]) or place in kept


@pytest.mark.parametrize("samples", [each for each in FORMATS if each.literal], ids=lambda samples: samples.format)
@law
@given(data=st.data())
def test_what_is_in_a_literal_block_is_never_seen(samples: Samples, data: st.DataObject) -> None:
    begin, end, never = data.draw(st.sampled_from(samples.literal))
    body = data.draw(samples.texts).replace(never, "")
    assert show(f"First.\n\n{begin}\n{body}\n{end}\n\nLast.\n", samples.format) == ["First.", "Last."]


@pytest.mark.parametrize(("format", "opener"), [(each.format, opener) for each in FORMATS for opener in each.openers])
def test_openers_without_an_end_cost_no_more_than_their_length(format: str, opener: str) -> None:
    def make_deeper(size: int) -> str:
        """Half of the characters indent ever deeper lines; blank lines follow."""
        return "".join(" " * depth + opener.strip() + "\n" for depth in range(isqrt(size))) + "\n" * (size // 4)

    for before in ("", "[", "- ["):
        assert is_linear(READERS[format], repeat(opener, before))
    assert is_linear(READERS[format], make_deeper)
