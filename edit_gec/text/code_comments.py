r"""Code: where its comments and docstrings are. Pygments knows, in some 500 languages.

    >>> [part.text for part in read_code("x = 1;\n/* she go\n * home */\n// x = 1;\n", "c")]
    ['she go\nhome']

Comments that follow each other in the same column are one text. Of strings only those are read that stand alone as a
statement in triple quotes, as docstrings do. Licences are left out. comment_lines.py says which lines are prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from heapq import merge
from typing import Any

from edit_gec.errors import MissingExtraError
from edit_gec.text.comment_lines import count_blanks, read_comment
from edit_gec.text.licences import has_notice
from edit_gec.text.parts import Part, Span, line_end

# Names that editors use and pygments does not.
NAMES = {
    "shellscript": "bash", "javascriptreact": "jsx", "typescriptreact": "tsx", "objective-cpp": "objective-c++",
    "jsonc": "javascript", "js": "javascript", "dockerfile": "docker", "elisp": "emacs-lisp", "vb": "vb.net",
    "terraform": "hcl", "cuda-cpp": "cuda",
}  # fmt: skip
_OPEN = re.compile(r"[ \t]*(?:/\*+[!<]?|\(\*+|\{-+\|?|<!--|<#|#=|#\||--\[=*\[|\"{3}|'{3})[ \t]*")
_CLOSE = re.compile(r"[ \t]*(?:\*+/|\*+\)|-+\}|-->|#>|=#|\|#|\]=*\]|\"{3}|'{3})[ \t\r]*\Z")
_STAR = re.compile(r"[ \t]*(?:\*(?![*/])[ \t]?)?")
_LINE = re.compile(r"[ \t]*(?:#+[!:|]?|//+[!<]*|--+(?: ?[|^])?|;+|%+|!+[<>]?|'+|\"|[Rr][Ee][Mm]\b|::|\\)[ \t]?")
_DESCRIBED = re.compile(r"[ \t]*\n[ \t]*[^\W\d]")
_ENDLESS_NAME = re.compile(r"[\w?.$]{1000}")  # or the beginning of one
_CLOSING_PAIRS = frozenset(
    ("*/", "/*", "*)", "(*", "-}", "{-", "->", "--", "#>", "?>", "%>", "=#", "|#", "]]", "//", '""', "''")
)  # the halves of marks that end comments and docstrings, or begin others inside


def read_code(text: str, language: str) -> Iterator[Part]:
    """The prose in a program. `language` is the name of one or of a file; nothing is read where it is not known.

    Raises MissingExtraError where pygments is not installed.
    """
    lexer = _find_lexer(language, text)
    if lexer is None:
        return
    docstrings = _find_docstrings(text, lexer) if lexer.name == "Julia" else ()
    for start, end in merge(_find_comments(text, lexer), docstrings):
        if not has_notice(text, start, end):
            lines = _strip_marks(text, start, end)
            if lines:
                yield from read_comment(text, lines, in_docstring=text[start] in "\"'")


def knows_language(name: str) -> bool:
    """Is it the name of a language, or of a file in one, whose comments are found? Raises MissingExtraError without
    pygments."""
    return _find_lexer(name, "") is not None


def keeps_comment(document: str, start: int, end: int, replacement: str) -> bool:
    """Does what document[start:end] -> replacement puts there leave the comment or docstring around it as it is?

    It must not bring half of a mark next to the other half, nor take the place of what a backslash escapes.
    """
    before = document[max(0, start - 1) : start]
    after = document[end : end + 1]
    pairs = _count_pairs(before + replacement + after) - _count_pairs(before + document[start:end] + after)
    return pairs.keys().isdisjoint(_CLOSING_PAIRS) and before != "\\"


def _count_pairs(text: str) -> Counter[str]:
    return Counter(text[n : n + 2] for n in range(len(text) - 1))


def _find_lexer(language: str, text: str) -> Any | None:
    try:
        from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
        from pygments.util import ClassNotFound
    except ModuleNotFoundError:
        raise MissingExtraError("code needs pygments; install it: pip install '.[code]' in edit-gec's folder") from None
    try:
        lexer = get_lexer_by_name(NAMES.get(language, language))
    except ClassNotFound:
        try:
            lexer = get_lexer_for_filename(language, text[:4000])
        except ClassNotFound:
            return None
    return None if lexer.name == "Text only" else lexer


def _find_comments(text: str, lexer: Any) -> Iterator[Span]:
    """Spans of comments and docstrings; those that belong together are one."""
    from pygments.token import Comment, Punctuation, String

    no_prose = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
    last: Span | None = None
    depth = 0
    for start, kind, value in lexer.get_tokens_unprocessed(_hide_traps(text) + "\n"):  # a last line break
        if kind in Punctuation:
            depth += sum(map(value.count, "([{")) - sum(map(value.count, ")]}"))
        end = min(start + len(value), len(text))
        if not (kind in Comment or kind in String.Doc) or any(kind in each for each in no_prose) or start >= end:
            continue
        if last is not None and _together(text, last, start):
            last = (last[0], end)
            continue
        if last is not None:
            yield last
        is_quoted = text[start] in "\"'" and kind in String
        last = (start, end) if _stands_free(text, start, end, depth if is_quoted else None) else None
    if last is not None:
        yield last


def _find_docstrings(text: str, lexer: Any) -> Iterator[Span]:
    """Strings in triple quotes in front of what they describe, where pygments takes them for strings like others."""
    from pygments.token import String

    marks = (at for at, kind, value in lexer.get_tokens_unprocessed(text) if kind in String and value == '"""')
    for start, end in zip(marks, marks, strict=False):
        before = text[text.rfind("\n", 0, start) + 1 : start].strip()
        if before in ("", "@doc") and _DESCRIBED.match(text, end + 3):
            yield start, end + 3


def _hide_traps(text: str) -> str:
    """The text without what makes lexers slow, in the same length: a "/*" that nothing closes, endless names.

    They read to the end of the text behind each of the former, to the end of the latter for each of their letters.
    """
    end = text.rfind("*/") + 2 if "*/" in text else 0
    text = text[:end] + text[end:].replace("/*", "  ")
    return _ENDLESS_NAME.sub(lambda name: name[0][:-1] + " ", text)


def _stands_free(text: str, start: int, end: int, depth: int | None) -> bool:
    """Is text[start:end] a comment, and no string with its marks inside; with `depth` of brackets, a docstring?"""
    if depth is None:
        return start == 0 or text[start - 1].isspace() or text[start - 1] in ";,{}()[]"
    line = text[text.rfind("\n", 0, start) + 1 : start]
    behind = text[end : line_end(text, end)].strip()
    is_alone = not line.strip(" \trRuU") and (not behind or behind.startswith("#"))
    return depth == 0 and is_alone and not text[max(0, start - 200) : start].rstrip(" \t\r\nrRuU").endswith("\\")


def _together(text: str, last: Span, start: int) -> bool:
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


def _strip_marks(text: str, start: int, end: int) -> list[Span]:
    """The lines of a comment without its marks and without the margin that all of them share, each with its end."""
    opened = _OPEN.match(text, start, end)
    closed = _CLOSE.search(text, opened.end(), end) if opened else None
    if opened and not closed:
        return []  # not closed: nobody knows where it ends
    margin = 0
    if opened and closed:
        start = opened.end()
        end = closed.start()
        margin = min((count_blanks(line) for line in text[start:end].split("\n")[1:] if line.strip()), default=0)
    is_quoted = opened is not None and opened[0].strip()[-1] in "\"'"
    lines: list[Span] = []
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline + 1
        begin = start
        if opened and (is_quoted or not lines):
            begin += min(margin, count_blanks(text[start:stop])) if lines else 0
        else:
            mark = (_STAR if opened else _LINE).match(text, start, stop)
            if mark is None:
                return []  # marks of a kind that is not known
            begin = min(mark.end(), stop)
        lines.append((begin, stop))
        start = stop
    return lines
