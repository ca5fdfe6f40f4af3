"""Org: the prose of every element is seen, code, markup and keywords are not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.text.org import mark_org
from edit_gec.text.sentences import split

PIECES = (
    "* ",
    "** TODO ",
    ":a:",
    ":END:",
    ":PROPERTIES:",
    "#+a: ",
    "#+title: ",
    "#+begin_src",
    "#+end_src",
    "#+begin_quote",
    "#+end_quote",
    "#+begin_",
    "# ",
    ": ",
    "| ",
    "|-",
    "- ",
    "1. ",
    " :: ",
    "[ ] ",
    "[[",
    "][",
    "]]",
    "~",
    "=",
    "*",
    "/",
    "+",
    "_",
    "$",
    "\\(",
    "\\)",
    "\\begin{a}",
    "\\end{a}",
    "[fn:1]",
    "[fn:: ",
    "<2024-01-01",
    ">",
    "{{{",
    "}}}",
    "<<",
    "SCHEDULED: ",
    "word",
    "Two words.",
    " ",
    "\n",
    "\n\n",
)


def sentences(text: str) -> list[str]:
    return [sentence.text for sentence in split(text, format="org")]


SEEN = [
    # headings, keywords, drawers
    ("* TODO [#A] A part [1/2] :tag:other:\nIt begins.\n** More\n", ["A part", "It begins.", "More"]),
    ("#+TODO: BUG(b) | FIXED\n* BUG A part\n* COMMENT Not seen\nNor this.\n** Nor this\n* Seen\n", ["A part", "Seen"]),
    ("#+TITLE: The guide\n#+AUTHOR: Ann Smith\n#+options: toc:nil\n\nIt begins.\n", ["The guide", "It begins."]),
    ("#+CAPTION[short]: A caption\n#+name: x\n[[file:x.png]]\n", ["A caption", "[[file:x.png]]"]),
    ("* A part\nSCHEDULED: <2024-01-01 Mon>\n:PROPERTIES:\n:ID: a b c\n:END:\nIt begins.\n", ["A part", "It begins."]),
    (":LOGBOOK:\nCLOCK: [2024-01-01 Mon]\n- Not seen\n:END:\n:NOTES:\nIt is seen.\n:END:\n", ["It is seen."]),
    (":PROPERTIES:\n:ID: a\n* A part\nIt begins.\n", ["A part", "It begins."]),
    # blocks without prose
    ("First.\n#+begin_src sh\nls here\n\n- and more\n#+end_src\nLast.\n", ["First.", "Last."]),
    ("#+BEGIN_EXAMPLE\nas it is\n#+END_EXAMPLE\n  #+begin_export html\n  <b>x</b>\n  #+end_export\nLast.\n", ["Last."]),
    ("#+begin_comment\nA comment.\n#+end_comment\n#+begin: clocktable\n| a |\n#+end:\nLast.\n", ["Last."]),
    ("#+begin_src\nls here\n* A part\nLast.\n", ["A part", "Last."]),
    ("First.\n# A comment\n#\n: as it is\n-----\nLast.\n", ["First.", "Last."]),
    ("\\begin{align}\nx + y\n\\end{align}\nLast.\n", ["Last."]),
    ("#+begin_latex\nx y\n#+end_latex\n#+RESULTS:\n: x\n:results:\nx y\n:end:\nLast.\n", ["Last."]),
    # blocks with prose
    ("#+begin_quote\nTo be or\nnot to be.\n#+end_quote\n", ["To be or not to be."]),
    ("#+begin_note\nMind it.\n#+begin_src sh\nls here\n#+end_src\nAnd it.\n#+end_note\n", ["Mind it.", "And it."]),
    # paragraphs and lists
    ("A text that\nGoes on\n  with it.\n", ["A text that Goes on with it."]),
    ("One \\\\\ntwo.\n", ["One two."]),
    (
        "- One\n  goes on\n  - Two\n+ Three\n * Four\n1. Five\n2) Six\n",
        ["One goes on", "Two", "Three", "Four", "Five", "Six"],
    ),
    ("- [X] Done\n- [ ] Not done\n- [@5] Five\n", ["Done", "Not done", "Five"]),
    ("- One\n\n  It goes on.\n- Two\n", ["One", "It goes on.", "Two"]),
    (
        "- A term :: It means this\n  and that.\n- Another ::\n  It too.\n",
        ["A term", "It means this and that.", "Another", "It too."],
    ),
    (
        "- Function: go-on &optional it ::\n\n  It goes on.\n- Key: C-x (go-on) :: It goes.\n",
        ["It goes on.", "It goes."],
    ),
    # tables
    (
        "| One | Two |\n|-----+-----|\n| three | four |\n#+TBLFM: $2=$1\nLast.\n",
        ["One", "Two", "three", "four", "Last."],
    ),
    ("| / | <l> |\n| One | :=x y |\n+---+\n", ["One"]),
    # inside a paragraph
    ("See [[https://a.org/b][the *big* guide]] now.\n", ["See the big guide now."]),
    ("It is *bold*, /soft/, _lined_ and +gone+.\n", ["It is bold, soft, lined and gone."]),
    ("It is so.[fn:1] It ends.\n\n[fn:1] A note that\ngoes on.\n", ["It is so.", "It ends.", "A note that goes on."]),
    ("It is so.[fn:: See [[a][the b]].] It ends.\n", ["It is so.", "See the b.", "It ends."]),
    ("It is[fn:x: Not seen.] so.\n", ["It is so."]),
    ("It <<here>>is @@html:<b>@@so.\n", ["It is so."]),
]


@pytest.mark.parametrize(("text", "expected"), SEEN)
def test_the_prose_is_seen_and_nothing_else(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
    assert sentences(text.replace("\n", "\r\n")) == expected


STAYING = [
    "~go it~",
    "=go it=",
    "=a = b=",
    "[[file:x y.org]]",
    "[[kbd:][C-c d]]",
    "$x y$",
    "\\(x y\\)",
    "\\[x y\\]",
    "$$x y$$",
    "<2024-01-01 Mon>",
    "[2024-01-01 Mon]--[2024-01-02 Tue]",
    "{{{go(it)}}}",
    "<<<go it>>>",
    "src_sh{ls here}",
    "call_x(go it)",
    "[cite:@smith; see it]",
    "`go it'",
    "x_{go it}",
    "\\alpha",
]


@pytest.mark.parametrize("code", STAYING)
def test_code_and_names_are_shown_and_stay(code: str) -> None:
    (sentence,) = split(f"Now see {code} there.\n", format="org")
    assert sentence.text == f"Now see {code} there."
    kept = {at for start, end in sentence.protected for at in range(start, end)}
    at = sentence.text.index(code)
    assert kept >= {at + n for n, character in enumerate(code) if character != "x" or n}


def test_which_blocks_are_fragments() -> None:
    text = "#+title: Title\n* Part\nIt is so.\n- An item\n- Term :: Meaning\n\n| Cell |\n\n[fn:1] A note.\n"
    found = [sentence.text for sentence in split(text, format="org") if sentence.fragment]
    assert found == ["Title", "Part", "An item", "Term", "Meaning", "Cell"]


@law
@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text())
def test_every_text_can_be_read(text: str) -> None:
    assert len(mark_org(text)) == len(text)
    sentences(text)


@law
@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sampled_from(("src", "example", "export", "comment")))
def test_what_is_in_a_literal_block_is_never_seen(text: str, name: str) -> None:
    body = text.replace("#+end", "")
    assert sentences(f"First.\n\n#+begin_{name}\n{body}\n#+end_{name}\n\nLast.\n") == ["First.", "Last."]


@pytest.mark.parametrize(
    "opener",
    [
        *PIECES,
        "=a ",
        " =a",
        "[[a",
        "[[a][",
        "$a ",
        " $a",
        "\\[a",
        "@@a:",
        "src_a{",
        "|:=",
        "#+begin_src\n",
        ":a:\n",
        ":PROPERTIES:\n",
        "\\begin{a}\n",
        "- a :: ",
        "x_{a",
        " `a",
        "| <",
        "[fn:a:",
    ],
)
def test_openers_without_an_end_cost_no_more_than_their_length(opener: str) -> None:
    text = opener * (100_000 // len(opener))
    began = time.process_time()
    mark_org(text)
    mark_org("- [" + text)
    assert time.process_time() - began < 2
