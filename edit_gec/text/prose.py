r"""Which of a document is prose: its text without code, commands and comment marks, and the way back.

    >>> prose("She go.\n# Please enter the commit message\n", "gitcommit", "").view
    'She go.\n\n'
    >>> prose("x = go()  # she go home\n", "python", "a.py").view
    'she go home\n\n'
    >>> prose("(setq x)", "no-such-language", "x.unknown") is None
    True

Markdown, HTML and their kin are left as they are: the sentence splitter knows them.
"""

from __future__ import annotations

import re

from edit_gec.text.annotated import Annotated, plain
from edit_gec.text.code_comments import comments
from edit_gec.text.formats import READ_ALIKE, format_of
from edit_gec.text.latex import latex
from edit_gec.text.views import View

# As VS Code, Vim, Helix and Emacs call them.
WHOLE = frozenset(
    "markdown gfm mdx quarto rmd plaintext text txt html xhtml restructuredtext rst asciidoc adoc org norg mail help "
    "fundamental".split()
)
LATEX = frozenset("latex tex plaintex latex-expl3 context".split())
UNKNOWN = frozenset(("", "unknown", "default"))
COMMIT = frozenset("gitcommit git-commit commit vc-git-log-edit log-edit".split())

_SCISSORS = re.compile(r"^[#;] -+ >8 -+.*", re.MULTILINE | re.DOTALL)
_NO_MESSAGE = re.compile(
    r"^(?:#.*|;.*|diff --git .*|[A-Z][\w-]*-by: .*|[A-Z]\w*(?:-\w+)+: .*|(?:fixup|squash|amend)! .*)$", re.MULTILINE
)


def prose(text: str, language: str, path: str, *, code: bool = True) -> Annotated | None:
    """What to check of a document with this language id and path; None where that is not known.

    `code` false leaves out files of which only the comments are prose.
    """
    language, known = language.casefold(), format_of(path)
    if language in COMMIT or known == "commit":
        return commit(text)
    if language in LATEX or (not language and known == "latex"):
        return latex(text)
    if language in WHOLE:
        return plain(text)
    if language in UNKNOWN and known in READ_ALIKE:
        return plain(text)
    return comments(text, language, path) if code else None


def commit(text: str) -> Annotated:
    """A commit message without git's comments, the diff, trailers and the titles that other commits gave."""
    end = found.start() if (found := _SCISSORS.search(text)) else len(text)
    view, at = View(text), 0
    for found in _NO_MESSAGE.finditer(text, 0, end):
        view.text(at, found.start())
        at = found.end()
    view.text(at, end)
    return view.done()
