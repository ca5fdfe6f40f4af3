"""What refers stays whole: no edit of a word makes a link dead, a title text, or a parser complain."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.strategies import law
from support.timing import is_linear, repeat

from edit_gec.text.edits import Change, apply, resolve_overlaps
from edit_gec.text.references import find_keys, find_labels, key_of
from edit_gec.text.sentences import split
from edit_gec.text.titles import keep_marks

MARKDOWN = [
    "# Two kids", "## The long way", "The short way\n-------------", "See [below](#two-kids) for it.",
    "- [The way](#the-long-way)\n- [Kids](#two-kids)", "See the [old guide] and the [old guide][].",
    "[old guide]: guide.html", "Read [the old words][old guide] now.", "> The [old\n> guide] is here.",
    "[more words]: more 'Their title'", "The [more words] are [*more* words][more words].",
    "![a cat](cat.png){width=50%}",
    "A [page](x.html){title=\"some more words\"} is here.", "It is ~~old text~~ new text.", "- one item\n- two items",
]  # fmt: skip
RST = [
    "Two kids\n========", "The long way\n------------", "The short way\n-------------", "========\nTwo cats\n========",
    "See `Two kids`_ for it.", "See `the kids <Two kids_>`_ and `two\nkids`_.", "The `old guide`_ is here.",
    ".. _old guide: https://example.org", "Some words of text.", "A longer line\n~~~~~~~~~~~~~",
    "- one item\n- two items",
    "Use ``two kids`` and *two kids* here.", ".. note:: Two kids are here.",
    ".. _cats:\n\nTwo more cats\n-------------",
]  # fmt: skip
WORD = re.compile(r"(?<![\w-])[A-Za-z]{3,}(?![\w-])")


def edit(text: str, format: str, choose: Callable[[str], str | None]) -> str:
    """The text with each word replaced by what is chosen for it, where that is an edit."""
    edits = []
    for sentence in split(text, format=format):
        changes = ((found.span(), choose(found[0])) for found in WORD.finditer(sentence.text))
        made = [sentence.project(text, Change(*span, new, 0.9)) for span, new in changes if new is not None]
        edits += keep_marks(text, sentence, list(filter(None, made)))
    return apply(text, resolve_overlaps(edits))


def read_markdown(text: str) -> tuple[list[str], list[str], int]:
    """Where links lead, the keys of titles that a link leads to, and how many titles there are."""
    links, titles = [], []
    tokens = MarkdownIt().parse(text)
    for token, inline in zip(tokens, [*tokens[1:], None], strict=False):
        links += [str(child.attrs["href"]) for child in token.children or () if child.type == "link_open"]
        if token.type == "heading_open" and inline is not None:
            titles.append(key_of(inline.content))
    return links, [title for title in titles if any(key_of(link) == title for link in links)], len(titles)


def read_rst(text: str) -> tuple[list[str], int, int]:
    """What docutils says about a text, and how many references and titles it finds."""
    core, nodes = pytest.importorskip("docutils.core"), pytest.importorskip("docutils.nodes")
    stream = io.StringIO()
    tree = core.publish_doctree(text, settings_overrides={"warning_stream": stream, "halt_level": 6})
    kinds = [re.sub(r"\".*|<string>:\d+:", "", line) for line in stream.getvalue().splitlines() if "<string>" in line]
    whole = [node for node in tree.findall(nodes.reference) if "refid" in node or "refuri" in node]
    return sorted(kinds), len(whole), sum(1 for _ in tree.findall(nodes.title))


choices = st.dictionaries(
    st.sampled_from("two kids the long way short old guide more words some text item items cats longer line".split()),
    st.sampled_from(["children", "a", "informations", "mice and men"]),
    min_size=1,
)


@law
@given(st.lists(st.sampled_from(MARKDOWN), unique=True, min_size=2), choices)
def test_links_of_markdown_lead_where_they_led(blocks: list[str], words: dict[str, str]) -> None:
    text = "\n\n".join(blocks) + "\n"
    edited = edit(text, "markdown", lambda word: words.get(word.lower()))
    assert read_markdown(edited) == read_markdown(text), edited
    assert re.findall(r"\{.*?\}", edited) == re.findall(r"\{.*?\}", text)


@law
@given(st.lists(st.sampled_from(RST), unique=True, min_size=2), choices)
def test_docutils_has_no_more_to_say_than_before(blocks: list[str], words: dict[str, str]) -> None:
    text = "\n\n".join(blocks) + "\n"
    edited = edit(text, "rst", lambda word: words.get(word.lower()))
    assert read_rst(edited) == read_rst(text), edited


@pytest.mark.parametrize(
    ("format", "reference", "title"),
    [
        ("markdown", "[it](#two-kids)", "# Two kids"),
        ("markdown", "[it](guide.md#two-kids-1)", "# Two kids"),
        ("markdown", '<a href="#two-kids">it</a>', "## *Two* kids!"),
        ("markdown", "[[#Two kids]]", "# Two kids"),
        ("markdown", "[[Guide#Two kids|them]]", "# Two kids"),
        ("markdown", "[it](#two%20kids)", "Two kids\n---"),
        ("rst", "`Two kids`_", "Two kids\n========"),
        ("rst", "`them <Two\nkids_>`_", "Two kids\n========"),
        ("rst", ":ref:`them <guide:Two kids>`", "Two kids\n========"),
        ("asciidoc", "<<Two kids>>", "== Two kids"),
        ("asciidoc", "<<_two_kids,them>>", "== Two kids"),
        ("asciidoc", "xref:guide.adoc#two-kids[them]", "== Two kids"),
        ("org", "[[*Two kids][them]]", "* Two kids"),
        ("org", "[[Two kids]]", "* TODO Two kids"),
    ],
)
def test_a_title_stays_where_something_refers_to_it(format: str, reference: str, title: str) -> None:
    def plural(word: str) -> str | None:
        return "children" if word == "kids" else None

    assert "Two children" in edit(f"See it here.\n\n{title}\n\nText.\n", format, plural).replace("*", "")
    text = f"See {reference} here.\n\n{title}\n\nText.\n"
    assert edit(text, format, plural) == text


def test_an_anchor_of_its_own_makes_a_title_free() -> None:
    text = "See [it](#young).\n\n# Two kids {#young}\n"
    assert edit(text, "markdown", {"kids": "children"}.get) == text.replace("kids", "children")


def test_keys_and_labels() -> None:
    assert find_keys("[a](#b-c-2) [[D#E|f]] <<g,h>> `i`_ :x:`j <k:l>`") >= {"bc2", "bc", "e", "g", "i", "kl", "l"}
    assert find_labels("[A  b]: x\n> [c\nd]: <y>\n[^e]: z\nsee [f]: g\n") == {"a b", "c d"}


@pytest.mark.parametrize("unit", ["[", "<<", "](#", "`a ", "[a]: ", "xref:", "[[a|", "#", "~~a ", "{--", "{a=", "<s>"])
def test_reading_is_linear(unit: str) -> None:
    assert is_linear(lambda text: split(text), repeat(unit))
    assert is_linear(find_keys, repeat(unit)) and is_linear(find_labels, repeat(unit))
