"""Commit messages: the subject and the body are seen; prefixes, trailers, quoted output and what git adds are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, nasty

from edit_gec.text.edits import Change, apply, resolve_overlaps
from edit_gec.text.sentences import split

MESSAGE = """fix(io)!: read al lines

It are wrapped, and it
goes on.

- an item are here
  and go on
- another

    $ she go home
    output go

It go on.
Fixes #12
Signed-off-by: X <x@y>
# Please enter
# ------------------------ >8 ------------------------
diff --git a b
+foo
"""


def read(text: str) -> list[str]:
    return [sentence.text for sentence in split(text, format="commit")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_read(line_end: str) -> None:
    found = split(MESSAGE.replace("\n", line_end), format="commit")
    assert [(sentence.text, sentence.fragment) for sentence in found] == [
        ("read al lines", True),
        ("It are wrapped, and it goes on.", False),
        ("an item are here and go on", True),
        ("another", True),
        ("It go on.", False),
    ]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Read lines", ["Read lines"]),
        ("net: ipv6: read lines", ["read lines"]),
        ("[PATCH 2/3] cli, docs(io): read lines", ["read lines"]),
        ("Read lines: all of them", ["Read lines: all of them"]),
        ("fixup! Read lines", []),
        ("Merge branch 'a' into b", []),
        ('Revert "Read lines"', []),
        ("v1.2.3", []),
    ],
)
def test_subjects(subject: str, expected: list[str]) -> None:
    assert read(subject) == read(f"\n{subject}\n") == expected
    assert read(f"{subject}\n\nIt go.") == [*expected, "It go."]


@pytest.mark.parametrize(
    "trailer",
    [
        "Signed-off-by: She Go <a@x.org>",
        "Co-authored-by: She Go <a@x.org>",
        "Change-Id: I0123",
        "Fixes: she go",
        "Closes #12",
        "fixes owner/repo#3",
        "(cherry picked from commit 0123)",
        "Whatever: she go\nOther: they goes",
        "BREAKING CHANGE: it go",
    ],
)
def test_trailers_are_left_out(trailer: str) -> None:
    assert read(f"Add it\n\nIt go.\n\n{trailer}\n") == ["Add it", "It go."]


def test_a_subject_gets_no_full_stop_and_no_capital() -> None:
    text = "fix: read lines\n"
    (sentence,) = split(text, format="commit")
    assert sentence.project(text, Change(10, 10, ".", 1.0)) is None
    assert sentence.project(text, Change(0, 4, "Read", 1.0)) is None


PIECES = [
    "fix: ",
    "go",
    " ",
    "\n",
    "\n\n",
    "# ",
    "; ",
    "- ",
    "    ",
    "A-by: x",
    "Fixes #1",
    ">8",
    "# ---- >8 ----\n",
    "(a)!: ",
    "`",
    "```\n",
]


@law
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | nasty, nasty)
def test_lines_that_are_left_out_stay(text: str, new: str) -> None:
    document = f"Add it\n\n{text}\n\nA-by: go\n# go\n"
    edits = [each.project(document, Change(0, len(each.text), new, 0.5)) for each in split(document, format="commit")]
    assert apply(document, resolve_overlaps(edit for edit in edits if edit)).endswith("\n\nA-by: go\n# go\n")
