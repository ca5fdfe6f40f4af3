"""What a document is read as, by the language that an editor names or by its path, and which formats are understood.

    >>> format_of("docs/guide.md"), format_of("README"), format_of("client.py"), format_of("notes.xyz")
    ('markdown', 'text', 'code', None)
    >>> find_format("gitcommit"), find_format("python"), find_format(path="src/client.py")
    ('commit', 'code/python', 'code/client.py')

A file is rewritten only where its format is understood. The others that are listed here look like text and are not:
an edit breaks them. formats.rules is the only place that knows suffixes and languages; readers.py reads the formats.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from edit_gec.errors import InputError
from edit_gec.text.code_comments import knows_language
from edit_gec.text.rows import read_rows

_ROWS = {row["format"][0]: row for row in read_rows(Path(__file__).with_suffix(".rules"))}
NAMES = {format: row["name"][0] for format, row in _ROWS.items()}  # as messages say them
UNDERSTOOD = tuple(format for format, row in _ROWS.items() if row["read"] != ["never"])
NAMED_ONLY = tuple(format for format, row in _ROWS.items() if row["read"] == ["named"])  # no search gives them unasked
PLAIN = "plain"  # of a text in which nothing is markup
READ_ALIKE = ("markdown", "html", "text")  # by one reader; the others have their own (readers.py)


def _formats_by(field: str) -> dict[str, str]:
    """Which format each word of a field of formats.rules belongs to."""
    return {word: format for format, row in _ROWS.items() for words in row.get(field, ()) for word in words.split()}


_FORMATS = {f".{suffix}": format for suffix, format in _formats_by("suffixes").items()}
_NAMED = _formats_by("files")
_PATTERNS = (
    (re.compile(r"\w+_editmsg|edit_description"), "commit"),  # what git gives to an editor
    (re.compile(r"(?:(?:un)?licen[cs]e(?:-[\w.-]+)?|copying(?:\.less(?:er|ib)?)?)(?:\.\w+)?"), "licence"),
    (re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)"), "data"),
    (re.compile(r"(?:docker|container|make)file\..+"), "code"),
    (re.compile(r"\.+[^.]*"), "data"),  # .gitignore, .bashrc
)


def format_of(path: str) -> str | None:
    """The format of the file at this path, a key of NAMES; None where the name says nothing known.

    "client.py.orig" and "client.py.txt" are code: a copy of what must not be edited.
    """
    name = os.path.basename(path).casefold()
    if name in _NAMED:
        return _NAMED[name]
    for pattern, named in _PATTERNS:
        if pattern.fullmatch(name):
            return named
    stem, suffix = os.path.splitext(name)
    known = _FORMATS.get(suffix)
    if not suffix or "." not in stem or known not in (None, "text"):
        return known
    within = format_of(stem)
    return known if within in (None, *READ_ALIKE) else within


_NAMED_LANGUAGES = {PLAIN: PLAIN, **_formats_by("languages")}  # every other name is that of a programming language
_UNKNOWN_LANGUAGES = ("", "unknown", "default")
_OF_PROSE = frozenset(UNDERSTOOD) - {"text", "code"}  # whose suffixes say more than the name of an unknown language


def find_format(language: str = "", path: str = "") -> str | None:
    """What to read a document as: by the language that an editor names, or else by its path. None is not known.

    The format of code says which code: "code/python" or "code/client.py". What git lets one edit is a commit message in
    every language. A suffix of prose counts where the language is not known, or is plain text.
    """
    language = language.casefold()
    by_path = format_of(path)
    if language in _UNKNOWN_LANGUAGES or by_path == "commit":
        return f"code/{os.path.basename(path)}" if by_path == "code" else by_path
    known = _NAMED_LANGUAGES.get(language)
    return by_path if known in (None, "text") and by_path in _OF_PROSE else known or f"code/{language}"


def is_understood(format: str | None) -> bool:
    """Is there a reader for what `find_format` found?"""
    kind, _, language = (format or "").partition("/")
    return knows_language(language) if kind == "code" else kind in (*UNDERSTOOD, PLAIN)


class FormatError(InputError):
    """A file that is not corrected, because of its format."""


def check(path: str, writing: bool) -> None:
    """Raise FormatError for a file that must not be corrected or, if `writing`, for one of unknown format.

    Of a symbolic link both names count: a link may have none of the known ones, and its file is what is written. Two
    names of different formats are no better than one that is not understood.
    """
    found = [known for known in (find_format(path=name) for name in (path, os.path.realpath(path))) if known]
    other = next((known for known in found if not is_understood(known)), None)
    if other is None and len({_kind(known) for known in found}) > 1:
        other = found[1]
    if other is None and (found or not writing):
        return
    what = f"cannot correct {NAMES[_kind(other)]}" if other else "cannot write a file of unknown format"
    raise FormatError(
        f"{path}: {what}; {list_understood()} are understood; use --read-as text, or --lines if each line is a text"
    )


def _kind(format: str) -> str:
    """The format, a key of NAMES; "text" for all that is read alike."""
    kind = format.partition("/")[0]
    return "text" if kind in READ_ALIKE else kind


def check_searched(path: str, *, code: bool) -> None:
    """Raise FormatError for a file that is corrected only where it is named; `code` as for `searched`."""
    kind = _kind(find_format(path=path) or "text")
    if kind in NAMED_ONLY and kind not in searched(code=code):
        raise FormatError(f"{path}: no search of a folder gives {NAMES[kind]}")


def list_understood() -> str:
    """The formats that are understood, as a sentence names them."""
    *names, last = (NAMES[name] for name in UNDERSTOOD)
    return f"{', '.join(names)} and {last}"


def check_format(name: str) -> str:
    """The format of this name, or of the language of this name. Raises InputError where it is not understood."""
    if not isinstance(name, str):
        raise InputError(f"format: expected a name such as markdown, not {type(name).__name__}")
    found = name if name.startswith("code/") else find_format(name) if name else None
    if not is_understood(found):
        known = ", ".join(each for each in UNDERSTOOD if each != "code")
        raise InputError(f"format {name[:60]!r}: expected one of {known}, or a programming language such as python")
    return str(found)


def check_formats(formats: Sequence[str], texts: int) -> Sequence[str]:
    """The formats of so many texts; all Markdown if none are given. Raises InputError as `check_format` does."""
    if isinstance(formats, str):
        raise InputError(f"formats {formats!r}: expected a list with one for each text, not one string")
    if not formats:
        return ["markdown"] * texts
    if len(formats) != texts:
        raise InputError(f"{len(formats)} formats for {texts} texts; expected one for each")
    known = {name: check_format(name) for name in set(formats)}
    return [known[name] for name in formats]


def searched(*, code: bool = False) -> tuple[str, ...]:
    """The formats that a search of a folder looks for; `code` too, if asked."""
    return tuple(name for name in UNDERSTOOD if name not in NAMED_ONLY or (code and name == "code"))


def suffixes() -> list[str]:
    """The suffixes that a search of a folder looks for, sorted."""
    return sorted(suffix for suffix, known in _FORMATS.items() if known in searched())
