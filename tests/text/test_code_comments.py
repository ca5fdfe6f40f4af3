"""Code: the prose of comments and docstrings is seen, and no edit of it reaches what is run."""

from __future__ import annotations

import ast
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, String
from support.strategies import law, nasty, thorough
from support.timing import is_linear, repeat

from edit_gec.errors import MissingExtraError
from edit_gec.text.code_comments import knows_language, read_code
from edit_gec.text.edits import Change, apply, resolve_overlaps
from edit_gec.text.sentences import split

PYTHON = '''#!/usr/bin/env python
# Copyright (c) 2024 Somebody
# It go on.
"""The module do things.

It also have a second paragraph, which
are wrapped.

    >>> x = 1
    one

Lists::

    literal text go here

Usage: module [options]
    they goes home
"""
import os  # noqa: F401

# This comment go on
# over two line.
# x = foo(bar)
x = 1  # a trailing one are here

# if x:
#     x = foo(bar)
query = (
    """
    This select things.
    """
)
message = """It go.""" % x
def f(a):
    r"""Return the things.

    :param a: the a, which
        are long
    :type a: the type are here
    Some text are here.
    """
    s = "# not a comment"
    'This are short.'

def g():
    """Do it.

    Args:
        name (int, optional): the name, which
            are long
        other: the ``other`` go
    Returns:
        The things.
    Example:
        it go here

    column    another column
    it go     they goes
    """

def h():
    """Do it.

    Parameters
    ----------
    a : int go
        The first are
        long.
    b : str
        The second.

    Notes
    -----
    It go on.
    """
'''
JAVASCRIPT = """#!/usr/bin/env node
// This are one
/**
 * She go home.
 * @param {string} x the x, which
 *   are long
 * @throws {Error} if it go wrong
 * @see the others go
 *   there
 * @example
 * it go here
 */
const a = "// no"; /* inline one are */
const b = <a href="x">http://she go home</a>;
/* eslint-disable no-console */
// SPDX-License-Identifier: it go
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "python",
            PYTHON,
            [
                "The module do things.",
                "It also have a second paragraph, which are wrapped.",
                "Lists:",
                "This comment go on over two line.",
                "a trailing one are here",
                "Return the things.",
                "the a, which are long",
                "Some text are here.",
                "Do it.",
                "the name, which are long",
                "the ``other`` go",
                "The things.",
                "Do it.",
                "The first are long.",
                "The second.",
                "Notes",
                "It go on.",
            ],
        ),
        (
            "b.jsx",
            JAVASCRIPT,
            ["This are one", "She go home.", "the x, which are long", "if it go wrong", "inline one are"],
        ),
        ("c", "#include <x.h> /* why */\nint x; // it count\n       // the thing\n", ["why", "it count the thing"]),
        ("shellscript", "#!/bin/sh\n# She go.\necho hi # there\necho a#she go\n", ["She go.", "there"]),
        ("lua", "--[[ She go\nhome ]]\n-- again\n", ["She go home", "again"]),
        ("haskell", "{- She go -}\n-- | Doc are\nx = 1\n", ["She go", "Doc are"]),
        ("rust", "//! Crate docs is\nfn x() {} // here\n/* not closed", ["Crate docs is", "here"]),
        ("a.go", "//go:build linux\n\n// She go home\npackage x\n", ["She go home"]),
        ("vim", '" She go home\n', ["She go home"]),
        ("julia", '"""\n    f(x)\n\nIt is $x.\n"""\nf(x) = x\ny = """\n  String\n  """\nend\n', ["It is $x."]),
        ("julia", '#= She go\nhome =#\n# She go\n"""\nString\n"""\n', ["She go home", "She go"]),
        ("sql", "SELECT '-- no' -- it go\n", ["it go"]),
        ("yaml", "# it go\nkey: 'a # no' # yes\nrun: |\n  she go\n", ["it go", "yes"]),
        ("doxygen.cpp", "/// \\brief It go.\n/// \\param[in] x the x\n/// \\code\n/// she go\n", ["It go.", "the x"]),
        ("no-such-language", "# She go home\n", []),
    ],
)
def test_what_is_read(language: str, text: str, expected: list[str]) -> None:
    for line_end in ("\n", "\r\n"):
        found = split(text.replace("\n", line_end), format=f"code/{language}")
        assert [sentence.text for sentence in found] == expected
        assert all(sentence.fragment and sentence.in_code for sentence in found)


def test_a_short_comment_gets_no_full_stop_and_no_capital() -> None:
    (sentence,) = split("x = 1  # a counter\n", format="code/python")
    for change in ((9, 9, ".", 1.0), (0, 1, "A", 1.0), (2, 9, "counter.", 1.0)):
        assert sentence.project("x = 1  # a counter\n", Change(*change)) is None


def test_lines_for_tools_make_no_comment_code() -> None:
    header = "# frozen_string_literal: true\n# -*- coding: utf-8 -*-\n# ------\n# The module go on.\n"
    (sentence,) = split(header, format="code/ruby")
    assert sentence.text == "The module go on."
    (sentence,) = split(";;; foo.el --- It go -*- lexical-binding: t; -*-\n\n;; It go on.\n", format="code/emacs-lisp")
    assert sentence.text == "It go on."
    (sentence,) = split("/** It go {@link the the} on. */\n", format="code/javascript")
    assert [sentence.text[a:b] for a, b in sentence.protected] == ["{@link the the}"]


@pytest.mark.parametrize("line", ["# edit-gec: ignore", "x = 1  # edit-gec: ignore-next-line"])
def test_ignored_comments_are_left_out(line: str) -> None:
    text = f"# She go home. edit-gec: ignore\n{line}\nx = 1  # They goes.\ny = 2  # It are.\n"
    kept = [sentence.text for sentence in split(text, format="code/python")]
    assert kept == (["It are."] if "next" in line else ["They goes.", "It are."])


WRITTEN = [*"\"'`*/\\-#}{)(<>=|%;.,!?&@[]~^$ \t", "a", "I go", "*/", '"""', "'''", "-->", "{%", "\\n", "é", "${x}"]
COMMENTS = {
    "python": ["# {}", '"""{}"""', "'''{}'''", 'r"""{}\n    {}"""', "# {}\n# {}"],
    "javascript": ["// {}", "/* {} */", "/** {}\n * {} */", "<!-- {}"],
    "c": ["// {}", "/* {} */", "/*{}*/"],
    "haskell": ["-- {}", "{- {} -}"],
    "html+php": ["<?php // {} ?>", "<?php /* {} */ ?>", "<!-- {} -->"],
    "bash": ["# {}", "#{}"],
    "ocaml": ["(* {} *)"],
    "lua": ["-- {}", "--[[ {} ]]"],
    "css": ["/* {} */"],
    "sql": ["-- {}", "/* {} */"],
}
CODE = {"python": "x = 1\n", "html+php": "<p>x</p>\n", "css": "a { color: red }\n"}
words = st.lists(
    st.sampled_from(["she", "go", "home", "don't", "(a)", "*", '"b"', "'c'", "\\", "a/b", "-", "x.", "#"]), min_size=1
)


def tokens(text: str, language: str) -> list[tuple[Any, str]]:
    """The tokens of a program that are run."""
    found = get_lexer_by_name(language).get_tokens_unprocessed(text)
    return [(kind, value) for _, kind, value in found if kind not in Comment and kind not in String.Doc]


def draw_changes(data: st.DataObject, length: int) -> list[Change]:
    place = st.integers(0, length)
    new = st.lists(st.sampled_from(WRITTEN), max_size=4).map("".join) | nasty
    drawn = data.draw(st.lists(st.tuples(place, place, new), max_size=4))
    return [Change(min(a, b), max(a, b), text, 0.5) for a, b, text in drawn]


@thorough
@given(st.sampled_from(sorted(COMMENTS)), st.data())
def test_no_edit_changes_what_is_run(language: str, data: st.DataObject) -> None:
    code = CODE.get(language, "x = 1;\n")
    text = code
    for comment in data.draw(st.lists(st.sampled_from(COMMENTS[language]), min_size=1, max_size=3)):
        for _ in range(comment.count("{}")):
            comment = comment.replace("{}", " ".join(data.draw(words)), 1)
        text += comment + "\n" + code
    edits = []
    for sentence in split(text, format=f"code/{language}"):
        edits += [sentence.project(text, change) for change in draw_changes(data, len(sentence.text))]
    corrected = apply(text, resolve_overlaps(edit for edit in edits if edit))
    assert tokens(corrected, language) == tokens(text, language)


def strip_docstrings(tree: ast.AST) -> str:
    """What a program is without statements that are nothing but a string."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            ]
    return ast.dump(tree)


SOURCES = sorted((Path(__file__).parents[2] / "edit_gec" / "text").glob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_our_own_files_compile_after_any_edit(path: Path) -> None:
    """Every word becomes another, every gap gets a quote, a bracket, the end of a comment."""
    text = path.read_text(encoding="utf-8")
    sentences = split(text, format="code/python")
    for new in ("it's", '"', "'", "\\", "*/", '"""', " x"):
        edits = []
        for sentence in sentences:
            ends = [
                n
                for n in range(len(sentence.text) + 1)
                if sentence.text[n - 1 : n + 1].count(" ") or n == len(sentence.text)
            ]
            edits += [sentence.project(text, Change(n, n, new, 0.5)) for n in ends]
        corrected = apply(text, resolve_overlaps(edit for edit in edits if edit))
        assert strip_docstrings(ast.parse(corrected)) == strip_docstrings(ast.parse(text))


@law
@given(nasty, st.sampled_from(["python", "javascript", "c", "sql", "haskell", "yaml", "lua", "a.vue"]))
def test_every_text_can_be_read(text: str, language: str) -> None:
    for mark in ("", "# ", "// ", "/* ", "-- ", "{- ", '"""', "# @param x ", ":param x:", "# ```\n# "):
        document = mark + text
        for sentence in split(document, format=f"code/{language}"):
            places = sentence.offsets[:-1]
            assert list(places) == sorted(set(places))
            folds = dict(sentence.folds)
            for at, (place, seen) in enumerate(zip(places, sentence.text, strict=True)):
                assert document[place] == seen or (at in folds and document.startswith(folds[at], place))


def test_a_comment_behind_an_endless_name_is_found() -> None:
    text = "a?" * 5_000 + "b\n// This is " + "c" * 1_200 + " and it go on.\n"
    (sentence,) = split(text, format="code/javascript")
    start, end = sentence.offsets[0], sentence.offsets[-1]
    assert text[start:end] == sentence.text == text[text.index("This") :].rstrip()


@pytest.mark.parametrize(
    "line", ["# a\n", '"""a\n', "/* a\n", "// @param x\n", "# >>> a\n", "#\n", "# Args:\n#   x: y\n", "a?"]
)
def test_the_time_is_linear(line: str) -> None:
    for language in ("python", "javascript"):
        assert is_linear(partial(split, format=f"code/{language}"), repeat(line), 20_000)


def test_without_pygments_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygments.lexers", None)
    for ask in (lambda: knows_language("python"), lambda: list(read_code("# a", "python"))):
        with pytest.raises(
            MissingExtraError, match=r"^code needs pygments; install it: pip install '\.\[code\]' in edit-gec's folder$"
        ):
            ask()
