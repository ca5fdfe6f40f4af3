"""Which of a document is prose, and that it is found again; lines, characters and changes in every unit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, nasty

pytest.importorskip("pygls")
pytest.importorskip("pygments")
from lsprotocol import types
from pygls.workspace import PositionCodec

from edit_gec.config import Settings
from edit_gec.errors import InputError
from edit_gec.lsp.documents import Document, Mark
from edit_gec.lsp.options import Options
from edit_gec.lsp.positions import LineIndex
from edit_gec.lsp.user_dictionary import UserDictionary, WatchedLineFile
from edit_gec.text.annotated import NOWHERE
from edit_gec.text.edits import Edit
from edit_gec.text.prose import prose

PYTHON = '''#!/usr/bin/env python
"""The module do things.

It also have a second paragraph, which
are wrapped.

    >>> x = 1
"""
import os  # noqa: F401

# This comment go on
# over two line.
# x = foo(bar)
x = 1  # a trailing one are here
def f(a):
    r"""Return the things.

    :param a: the a
    Indented text are here.
    """
    s = "# not a comment"
'''
JAVASCRIPT = """// This are one
/**
 * She go home.
 * @param {string} x the x
 */
const a = "// no"; /* inline one are */
/* eslint-disable no-console */
"""
LATEX = r"""\documentclass{article}
\begin{document}
\section{The intro} % x
We has \emph{very \textbf{good}} results~\cite[p.~3]{foo} on 50\% of $x$. % a comment
As shown in Figure~\ref{fig:a}, it work. We use ``quotes'' here.
\begin{itemize}
\item The first are good. \LaTeX{} is fine.
\item[b] Two thing \href{http://x.y}{with a link}.
\end{itemize}
\begin{equation}
x = y
\end{equation}
where \verb|code go| hold.
% edit-gec: ignore-next-line
This line go away.
\includegraphics[width=1]{foo}
\end{document}
foo
"""
COMMIT = """Add thing

It go well.

Signed-off-by: X Y <x@y>
# Please enter
# ------------------------ >8 ------------------------
diff --git a b
+foo
"""


@pytest.mark.parametrize(
    ("language", "name", "text", "paragraphs"),
    [
        (
            "python",
            "a.py",
            PYTHON,
            [
                "The module do things.",
                "It also have a second paragraph, which\nare wrapped.",
                "This comment go on\nover two line.",
                "a trailing one are here",
                "Return the things.",
                "Indented text are here.",
            ],
        ),
        ("javascript", "a.js", JAVASCRIPT, ["This are one", "She go home.", "inline one are"]),
        (
            "c",
            "a.c",
            "#include <x.h> /* why */\nint x; // it count\n       // the thing\n",
            ["why", "it count\nthe thing"],
        ),
        ("shellscript", "a.sh", "#!/bin/sh\n# She go.\necho hi # there", ["She go.", "there"]),
        ("lua", "a.lua", "--[[ She go\nhome ]]\n-- again\n", ["She go\nhome", "again"]),
        ("haskell", "A.hs", "{- She go -}\n-- | Doc are\nx = 1\n", ["She go", "Doc are"]),
        ("rust", "a.rs", "//! Crate docs is\nfn x() {} // here\n", ["Crate docs is", "here"]),
        ("", "a.go", "// She go home\npackage x\n", ["She go home"]),
        ("vim", "x.vim", '" She go home\n', ["She go home"]),
        (
            "latex",
            "a.tex",
            LATEX,
            [
                "The intro",
                'We has very good results [1] on 50% of X. As shown in Figure 1, it work. We use "quotes" here.',
                "The first are good. LaTeX is fine.",
                "Two thing with a link.",
                "where X hold.\n% edit-gec: ignore-next-line\nThis line go away.",
            ],
        ),
        ("gitcommit", "", COMMIT, ["Add thing", "It go well."]),
        ("unknown", "COMMIT_EDITMSG", COMMIT, ["Add thing", "It go well."]),
        ("markdown", "a.md", "# She go\n", ["# She go"]),
        ("", "a.md", "# She go\n", ["# She go"]),
    ],
)
def test_prose(language: str, name: str, text: str, paragraphs: list[str]) -> None:
    for given_text in (text, text.replace("\n", "\r\n")):
        view = prose(given_text, language, name)
        assert view is not None
        seen = view.view.replace("\r\n", "\n").split("\n\n")
        assert [each.strip() for each in seen if each.strip()] == paragraphs


def test_what_is_not_known_is_not_checked() -> None:
    assert prose("(she go)", "no-such-language", "a.unknown") is None
    assert prose("# She go\n", "python", "a.py", code=False) is None


@law
@given(text=nasty, language=st.sampled_from(["python", "javascript", "c", "latex", "gitcommit", "markdown", "sql"]))
def test_a_view_holds_what_the_document_has_there(text: str, language: str) -> None:
    for mark in ("", "# ", "// ", "/* ", "-- ", "% ", "\\emph{", '"""'):
        view = prose(mark + text, language, "")
        assert view is not None and len(view.view) == len(view.offsets)
        places = [at for at in view.offsets if at != NOWHERE]
        assert places == sorted(set(places))
        assert all(at == NOWHERE or view.document[at] == seen for at, seen in zip(view.offsets, view.view, strict=True))


@law
@given(text=nasty, encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_positions_there_and_back(text: str, encoding: str) -> None:
    lines = LineIndex(text, encoding)
    for at in range(len(text) + 1):
        line, character = lines.position(at)
        if not (0 < at < len(text) and text[at - 1 : at + 1] == "\r\n"):  # inside a line's end is at its beginning
            assert lines.offset(line, character) == at
        assert lines.offset(line, 10_000) == lines.ends[line]
    assert lines.offset(10_000, 0) == len(text)
    assert "".join(text[a:b] for a, b in zip(lines.starts, [*lines.starts[1:], len(text)], strict=True)) == text


@law
@given(
    texts=st.lists(nasty, min_size=1, max_size=4),
    encoding=st.sampled_from(list(types.PositionEncodingKind)),
    data=st.data(),
)
def test_documents_follow_their_changes(
    texts: list[str], encoding: types.PositionEncodingKind, data: st.DataObject
) -> None:
    """Whole or in part; what is marked and was not touched holds the same text as before."""
    text = texts[0] + "She go home."
    document = Document("file:///a.md", text, 1, "markdown", position_codec=PositionCodec(encoding))
    document.marks = (Mark(len(texts[0]) + 4, len(texts[0]) + 6, "goes", Edit(4, 6, "go", "goes", 1.0), "key"),)
    for new in texts[1:]:
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        lines = LineIndex(text, encoding.value)
        if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):  # no editor puts a cursor there
            start = end = len(text)
        whole = data.draw(st.booleans())
        where = types.Range(types.Position(*lines.position(start)), types.Position(*lines.position(end)))
        text = text[:start] + new + text[end:]
        if whole:
            document.apply_change(types.TextDocumentContentChangeWholeDocument(text))
        else:
            document.apply_change(types.TextDocumentContentChangePartial(where, new))
        assert document.source == text
        assert all(text[mark.start : mark.end] == "go" for mark in document.marks)


@pytest.mark.parametrize(
    ("given_options", "complaint"),
    [
        ({"minConfidence": 2}, "minConfidence must be a number from 0 to 1, not 2"),
        ({"fixAllConfidence": True}, "fixAllConfidence must be a number"),
        ({"severity": "loud"}, "severity must be one of error, warning, information, hint"),
        ({"comments": 1}, "comments must be true or false"),
        ({"dictionary": "kubectl"}, "dictionary must be a list of words"),
    ],
)
def test_wrong_options_are_one_line(given_options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Options().with_settings(given_options)
    assert Options().with_settings(None) == Options() == Options().with_settings({"somebody": "else's"})


def test_words_are_kept_one_on_each_line(tmp_path: Path) -> None:
    memory = UserDictionary(tmp_path / "new" / "folder")
    assert memory.words(Settings(dictionary=("Grafana",))) == {"grafana"}
    for word in ("Kubectl", "Zürich", "Kubectl"):
        memory.add_word(word, None)
    assert (tmp_path / "new" / "folder" / "dictionary.txt").read_text(encoding="utf-8") == "Kubectl\nZürich\n"
    assert memory.words(Settings()) == {"kubectl", "zürich"}
    (tmp_path / "new" / "folder" / "dictionary.txt").write_text("by hand")  # without an end of the line
    memory.own.add("more")
    assert WatchedLineFile(memory.own.path).read() == {"by hand", "more"}
    with pytest.raises(InputError, match="set dictionary = 'words.txt'"):
        memory.add_word("x", Settings())
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        UserDictionary(tmp_path / "file").add_word("x", None)
