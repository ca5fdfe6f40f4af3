r"""Code -> the prose in its comments and docstrings. Pygments knows where those are, in some 500 languages.

    >>> comments("int x; /* she go\n        * home */\n// x = 1;\n", "c", "a.c").view
    'she go\nhome\n\n\n\n\n'

Comments that follow each other in the same column are one text. Lines of code that was commented out, of doctests, of
tags such as `@param` and of directives to other tools are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from edit_gec.text.annotated import Annotated
from edit_gec.text.views import View

# Names that editors use and pygments does not.
NAMES = {
    "shellscript": "bash", "javascriptreact": "jsx", "typescriptreact": "tsx", "objective-cpp": "objective-c++",
    "jsonc": "javascript", "js": "javascript", "dockerfile": "docker", "elisp": "emacs-lisp", "vb": "vb.net",
    "terraform": "hcl", "cuda-cpp": "cuda",
}  # fmt: skip
_OPEN = re.compile(r"[ \t]*(?:/\*+[!<]?|\(\*+|\{-+\|?|<!--|<#|--\[=*\[|[rRbBuU]?\"{3}|[rRbBuU]?'{3}|[\"'])[ \t]*")
_CLOSE = re.compile(r"[ \t]*(?:\*+/|\*+\)|-+\}|-->|#>|\]=*\]|\"{3}|'{3}|[\"'])[ \t\r]*\Z")
_STAR = re.compile(r"[ \t]*(?:\*(?![*/])[ \t]?)?")
_LINE = re.compile(r"[ \t]*(?:#+[!:|]?|//+[!<]*|--+(?: ?[|^])?|;+|%+|!+|'+|\"|[Rr][Ee][Mm]\b|\\)[ \t]?")
_CODE = re.compile(
    r"\s*(?:>>>|\.\.\. |\$ |#!|[@\\]\w+|:\w[\w ]*:|\.\. ?\w"
    r"|(?:type|noqa|pylint|eslint|fmt|isort|mypy|pyright|ruff|pragma|-\*-|vim?|prettier|ts|tslint|nolint|clang|cspell"
    r"|spell-?checker|codespell|region|endregion|SPDX|Copyright|istanbul|v8|c8)(?:[-:]\S|\b *[:=(-])"
    r"|(?:return|import|from|def|class|const|let|var|using|include|if|for|while)\b[^.]*[:;()=\"'{]\s*$"
    r"|[\w.\[\]$>-]+ ?(?:[-+*/:|&]?=|->|<-|:=|\()[^.?!]*$)"
    r"|.*[;{}]\s*$|.*\w\([^()]*\)[:,]?\s*$"
)
_BREAK = "\n\n"


def comments(text: str, language: str, path: str) -> Annotated | None:
    """The prose in a file of code; None where pygments knows neither the language nor the name of the file."""
    lexer = _lexer(language, path.rpartition("/")[2])
    if lexer is None:
        return None
    view = View(text)
    for start, end in _blocks(text, lexer):
        _add(view, start, end)
        view.stand_in(_BREAK)
    return view.done()


@lru_cache(64)
def _lexer(language: str, name: str) -> Any | None:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    for find, what in ((get_lexer_by_name, NAMES.get(language, language)), (get_lexer_for_filename, name)):
        try:
            lexer = find(what)
        except ClassNotFound:
            continue
        return None if lexer.name == "Text only" else lexer
    return None


def _blocks(text: str, lexer: Any) -> Iterator[tuple[int, int]]:
    """Spans of comments; those that belong together are one."""
    from pygments.token import Comment, String

    no_prose = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
    last: tuple[int, int] | None = None
    for start, kind, value in lexer.get_tokens_unprocessed(text + "\n"):  # lexers want an end of the last line
        if not (kind in Comment or kind in String.Doc) or any(kind in each for each in no_prose):
            continue
        end = min(start + len(value), len(text))
        if last is not None and _together(text, last, start):
            last = (last[0], end)
            continue
        if last is not None:
            yield last
        last = (start, end)
    if last is not None:
        yield last


def _together(text: str, last: tuple[int, int], start: int) -> bool:
    """Are they parts of one comment, or comments of one line each, in lines that follow each other?"""
    between = text[last[1] : start]
    if not between and text[start - 1] != "\n":
        return True
    if _OPEN.match(text, *last):
        return not between and not _CLOSE.search(text, *last)
    lines = between.count("\n") + (text[last[1] - 1] == "\n")
    same = _column(text, last[0]) == _column(text, start)
    return lines == 1 and same and not between.strip() and not _OPEN.match(text, start)


def _column(text: str, at: int) -> int:
    return at - (text.rfind("\n", 0, at) + 1)


def _add(view: View, start: int, end: int) -> None:
    """Put in a block, line by line, without comment marks."""
    text = view.document
    opened, quoted, indent = _OPEN.match(text, start, end), False, 0
    closed = _CLOSE.search(text, opened.end(), end) if opened else None
    if opened and closed:
        start, end = opened.end(), closed.start()
        quoted = opened[0].strip()[-1] in "'\""
        indent = _indent(text[start:end])
    first = True
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline + 1
        if closed and (quoted or first):
            begin = start + (0 if first else min(indent, _blanks(text[start:stop])))
        else:
            mark = (_STAR if closed else _LINE).match(text, start, stop)
            begin = mark.end() if mark else start
        if _CODE.match(text[begin:stop].rstrip("\r\n")):
            begin = stop if newline < 0 else newline
        view.text(begin, stop)
        start, first = stop, False


def _indent(block: str) -> int:
    """Blanks at the beginning of every line but the first."""
    return min((_blanks(line) for line in block.split("\n")[1:] if line.strip()), default=0)


def _blanks(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
