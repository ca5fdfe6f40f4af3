"""AsciiDoc: the prose of every kind of block is seen, code, markup and directives are not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.text.asciidoc import mark_asciidoc
from edit_gec.text.sentences import split

PIECES = (
    "= ",
    "== ",
    ":a: b",
    "{a}",
    "[source]",
    "[NOTE]",
    "[[x]]",
    ".T",
    "----",
    "....",
    "====",
    "****",
    "--",
    "|===",
    "|a",
    "```",
    "* ",
    ". ",
    "1. ",
    "a:: ",
    "+",
    "NOTE: ",
    "include::x[]",
    "xref:x[",
    "https://x.y[",
    "]",
    "<<x,",
    ">>",
    "`",
    "*",
    "_",
    "#",
    "footnote:[",
    "\\",
    " +",
    "//",
    "////",
    "word",
    "Two words.",
    " ",
    "\n",
    "\n\n",
)


def sentences(text: str) -> list[str]:
    return [sentence.text for sentence in split(text, format="asciidoc")]


def fragments(text: str) -> list[str]:
    return [sentence.text for sentence in split(text, format="asciidoc") if sentence.fragment]


def protected(text: str) -> list[str]:
    return [each.text[start:end] for each in split(text, format="asciidoc") for start, end in each.protected]


SEEN = [
    # the header, titles, attributes
    ("= The guide\nAnn Smith <a@b.org>\nv1.0, 2024\n:toc: left\n\nIt begins.\n", ["The guide", "It begins."]),
    ("// c\n:a: b\n\n= The guide\n:b: c\n\nIt begins.\n", ["The guide", "It begins."]),
    ("---\nlayout: page\n---\n= The guide\n\nIt begins.\n", ["The guide", "It begins."]),
    ("== A part\nIt begins.\n\n=== More ===\n## Less\n", ["A part", "It begins.", "More", "Less"]),
    ("A title\n-------\n\nIt begins.\n\nAnother\n~~~~~~~\n", ["A title", "It begins.", "Another"]),
    ("[[x]]\n[#id.role]\n[appendix]\n== A part\n", ["A part"]),
    (":a: one \\\n  two\n:!b:\n\nIt begins.\n", ["It begins."]),
    # blocks without prose
    (".Code to run\n[source,ruby]\n----\nputs it\n\nand more\n----\nIt ends.\n", ["Code to run", "It ends."]),
    ("First.\n----\ncode here\n----\nLast.\n", ["First.", "Last."]),
    ("First.\n\n----\ncode here\n", ["First."]),
    ("....\nas it is\n....\n\n++++\n<b>x y</b>\n++++\n\nLast.\n", ["Last."]),
    ("////\nA comment.\n\n----\n////\nLast.\n", ["Last."]),
    ("```ruby\nputs it\n```\nLast.\n", ["Last."]),
    ("[source]\nputs it\nand more\n\nLast.\n", ["Last."]),
    ("[,ruby]\nputs it\n\n[listing]\nls here\n\n[unheard-of]\nwho knows\n\nLast.\n", ["Last."]),
    ("[source,sh]\n--\nputs it\n\nand more\n--\nLast.\n", ["Last."]),
    ("[stem]\n++++\nx y z\n++++\n[plantuml]\n====\na b\n====\nLast.\n", ["Last."]),
    ("First.\n\n  as it is\n  and more\n\nLast.\n", ["First.", "Last."]),
    ("* One\n+\n----\ncode here\n----\n* Two\n\n  as it is\n", ["One", "Two"]),
    ("====\n----\ncode here\n====\nLast.\n\n----\ncode here\n----\n", ["Last."]),
    # blocks with prose
    ("====\nAn example.\n====\n****\nA sidebar.\n****\n", ["An example.", "A sidebar."]),
    ("[quote, Ann Smith]\n____\nTo be.\n____\n--\nOpen it.\n--\n", ["To be.", "Open it."]),
    ("[NOTE]\n====\nMind it.\n\n----\ncode here\n----\n====\n", ["Mind it."]),
    ("NOTE: Mind the gap\nin here.\n\nTIP: Go.\n", ["Mind the gap in here.", "Go."]),
    ("[quote]\nTo be or\nnot to be.\n-- Ann Smith\n", ["To be or not to be."]),
    ("> To be.\n", ["To be."]),
    # paragraphs
    ("A text that\nGoes on\nwith it.\n", ["A text that Goes on with it."]),
    ("One. +\nTwo.\n", ["One.", "Two."]),
    ("First.\n// a comment\nLast.\n", ["First.", "Last."]),
    # lists
    ("* One\ngoes on\n** Two\n- Three\n", ["One goes on", "Two", "Three"]),
    (". One\n.. Two\n1. Three\n2. Four\na. Five\n", ["One", "Two", "Three", "Four", "Five"]),
    ("* [x] Done\n* [ ] Not done\n", ["Done", "Not done"]),
    ("* One\n+\nIt goes on.\n\n* Two\n", ["One", "It goes on.", "Two"]),
    (
        "A term:: It means this\nand that.\nAnother::\nIt too.\n",
        ["A term", "It means this and that.", "Another", "It too."],
    ),
    ("----\nx <1>\n----\n<1> We do this\n<.> And that\n", ["We do this", "And that"]),
    # tables
    (
        '.Some cells\n[cols="1,1"]\n|===\n| One | Two\n\n|Three goes\non\n2+|Four\n|===\nLast.\n',
        ["Some cells", "One", "Two", "Three goes on", "Four", "Last."],
    ),
    ("|===\na|One\n\n* Two\n|===\n", ["One", "Two"]),
    ('[cols="1,m"]\n|===\n|One |two\n|===\n[format=csv]\n|===\none,two\n|===\n,===\none,two\n,===\nLast.\n', ["Last."]),
    ("|===\n|One l|two three\n|===\nLast.\n", ["Last."]),
    # directives and macros of blocks
    ("include::a/b.adoc[tags=x]\nifdef::x[]\nFirst.\nendif::[]\nifeval::[1 < 2]\nimage::x.png[An image]\n", ["First."]),
    ("toc::[]\n\nvideo::x[]\n\n'''\n\n<<<\n\n* * *\n\nLast.\n", ["Last."]),
    # inside a paragraph
    ("See xref:a.adoc#b[the guide] now.\n", ["See the guide now."]),
    ("See link:a.html[the guide^] now.\n", ["See the guide now."]),
    ("See https://a.org/b[the *big* guide,window=_blank] now.\n", ["See the big guide now."]),
    ("See {docs}/a.html[the guide] now.\n", ["See the guide now."]),
    ("See <<x,the guide>> now.\n", ["See the guide now."]),
    ("It is *bold*, _soft_, #marked#, [.red]#red# and **b**old.\n", ["It is bold, soft, marked, red and bold."]),
    ('We call it "`big`" now.\n', ['We call it "big" now.']),
    ("It is so.footnote:[See xref:a[the b].] It ends.\n", ["It is so.", "See the b.", "It ends."]),
    ("It isfootnote:[Not seen.] so.\n", ["It is so."]),
    ("[[x]]It is ((shown)) here(((a, b))).\n", ["It is shown here."]),
]


@pytest.mark.parametrize(("text", "expected"), SEEN)
def test_the_prose_is_seen_and_nothing_else(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
    assert sentences(text.replace("\n", "\r\n")) == expected


STAYING = [
    "`go it`",
    "``go `it``",
    "+go it+",
    "`+go it+`",
    "++go it++",
    "pass:[go it]",
    "{name}",
    "<<ref>>",
    "xref:a.adoc[]",
    "kbd:[Ctrl+T]",
    "menu:File[New > It]",
    "btn:[OK]",
    "javadoc:a.B[c d]",
    "stem:[x y]",
    "H~2~",
    "https://a.org/b",
    "latexmath:[x y]",
    "\\*",
]


@pytest.mark.parametrize("code", STAYING)
def test_code_and_names_are_shown_and_stay(code: str) -> None:
    (sentence,) = split(f"Now see {code} there.\n", format="asciidoc")
    assert sentence.text == f"Now see {code} there."
    kept = {at for start, end in sentence.protected for at in range(start, end)}
    at = sentence.text.index(code)
    assert kept >= {at + n for n, character in enumerate(code) if character != "H"}


def test_which_blocks_are_fragments() -> None:
    text = "= Title\n\nIt is so.\n\n.Caption\n* An item\n+\nIt goes on.\n\nTerm:: Meaning\n\n|===\n|Cell\n|===\n"
    assert fragments(text) == ["Title", "Caption", "An item", "Term", "Meaning", "Cell"]


@law
@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text())
def test_every_text_can_be_read(text: str) -> None:
    assert len(mark_asciidoc(text)) == len(text)
    sentences(text)


@law
@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sampled_from(("----", "....", "////", "++++", "```")))
def test_what_is_in_a_literal_block_is_never_seen(text: str, mark: str) -> None:
    body = text.replace(mark[0] * 3, "")
    assert sentences(f"First.\n\n{mark}\n{body}\n{mark}\n\nLast.\n") == ["First.", "Last."]


@pytest.mark.parametrize(
    "opener",
    [
        *PIECES,
        "<<x",
        "((",
        "+++",
        "$$",
        "a:",
        "::[",
        "x:[",
        "{a",
        "[[",
        '"`',
        "-- ",
        "=\n--\n",
        "----\n====\n",
        "|",
        "|===\n|a l|\n",
        "cols=",
        "~a",
        "^a",
        " +a",
        "a;;",
        "//x\n",
    ],
)
def test_openers_without_an_end_cost_no_more_than_their_length(opener: str) -> None:
    text = opener * (100_000 // len(opener))
    began = time.process_time()
    mark_asciidoc(text)
    mark_asciidoc("[" + text)
    assert time.process_time() - began < 2
