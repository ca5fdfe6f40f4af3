"""MDX is Markdown in which modules, tags and expressions are no prose; admonitions are known in all Markdown."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.text.mdx import mark_mdx_regions
from edit_gec.text.sentences import split

PIECES = (
    "import a from 'b'\n", "export const a = {\n", "<A", "<A>", "</A>", "<A b={", "<>", "</>", "/>", ">", "{", "}",
    "{a}", "{/*", "*/}", 'c="', "`", "```\n", ":::note\n", ":::\n", "# ", "- ", "| ", "**", "[a](b)", "\\", "word",
    "Two words.", " ", "\n", "\n\n",
)  # fmt: skip

SEEN = [
    ("---\ntitle: She go\n---\nimport a from 'b';\nexport const c = {\n  d: 1,\n}\n\nIt is.\n", ["It is."]),
    ("# The parts\n\nimport a from 'b'\nimport c from 'd'\n\nIt is.\n", ["~The parts", "It is."]),
    ("We import this and\nimport that from there.\n", ["We import this and import that from there."]),
    ('<Tabs items={[1, "she go"]}>\n  <Tab\n    a={b > c}\n  >\n  It is.\n  </Tab>\n</Tabs>\n', ["It is."]),
    ("<A.B c:d>First is.</A.B>\n<A>Second is.</A>\n", ["~First is.", "~Second is."]),
    ("It is <b style={{ a: 1 }}>so</b> here.\n", ["It is so here."]),
    ("{/* She go */}\n\n{\n  a.map(b => <li>She go</li>)\n}\n\nIt is.\n", ["It is."]),
    (":::note[The title]\nIt is.\n:::\n", ["It is."]),
    ("```jsx\n<A b={\n```\nIt is.\n", ["It is."]),
    ("It is { so\nhere.\n\nIt ends.\n", ["It ends."]),
    ("It is <A b={ so\nhere.\n\nIt ends.\n", ["It ends."]),
    ("If a < b it is.\n", ["If a < b it is."]),
]


def show(text: str) -> list[str]:
    return ["~" * sentence.fragment + sentence.text for sentence in split(text, format="mdx")]


@pytest.mark.parametrize(("text", "expected"), SEEN)
def test_the_prose_is_seen_and_nothing_else(text: str, expected: list[str]) -> None:
    assert show(text) == expected
    assert show(text.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize("code", ["<Version of='it go' />", "{items.length}", "{a({b: 1})}"])
def test_what_a_line_prints_stays(code: str) -> None:
    (sentence,) = split(f"It has {code} parts.\n", format="mdx")
    assert [sentence.text[start:end] for start, end in sentence.protected] == [code]
    assert sentence.to_document(0, 2, "{It}") is None


def test_admonitions_are_known_in_markdown() -> None:
    text = ":::tip[Its title]\nIt is.\n:::\n\n::: warning\nIt is: so.\n:::\n"
    assert [sentence.text for sentence in split(text)] == ["It is.", "It is: so."]


@law
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text())
def test_every_text_can_be_read(text: str) -> None:
    assert len(mark_mdx_regions(text)) == len(text)
    for sentence in split(text, format="mdx"):
        folds = dict(sentence.folds)
        for at, character in enumerate(sentence.text):
            assert at in folds or text[sentence.offsets[at]] == character


@pytest.mark.parametrize("opener", [*PIECES, "<A a ", "{a ", "<A {", "import a\n", "a\nimport b\n", "<A b='"])
def test_openers_without_an_end_cost_no_more_than_their_length(opener: str) -> None:
    text = opener * (100_000 // len(opener))
    began = time.process_time()
    mark_mdx_regions(text)
    assert time.process_time() - began < 4
