r"""Texts inside files of quoted strings: Markdown cells of Jupyter notebooks, translations of gettext catalogues.

    "source": ["She go\n",       the part "She go\nhome": "\n" and what is between the strings is one line break,
               "home"]           other escapes stay and no edit brings in what must be escaped

Nothing is read of a notebook that is no JSON, nor of a catalogue that does not say that it is in English.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from edit_gec.text.parts import Part, Span

_ESCAPE = re.compile(r"\\(?:u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|.)")
_SHOWN = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/", "r": " ", "b": " ", "f": " "}
_ENTRY = re.compile(
    r'^msgstr(?:\[\d+\])?[ \t]+("(?:[^"\\\n]|\\.)*"(?:[ \t\r]*\n[ \t]*"(?:[^"\\\n]|\\.)*")*)', re.MULTILINE
)
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_ENGLISH = re.compile(r'^"Language:[ \t]*en(?:[_@-]\w+)*[ \t]*(?:\\n)?"', re.MULTILINE)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all of its pairs, as they stand."""


def read_notebook(text: str) -> Iterator[Part]:
    """The Markdown cells of a Jupyter notebook."""
    try:
        paths = [*_find_strings(json.loads(text, object_pairs_hook=_Pairs))]
    except (ValueError, RecursionError):
        return
    placed = zip(paths, _STRING.finditer(text), strict=True)
    of_sources = ((path[1], found.span(1)) for path, found in placed if path[::2][:2] == ("cells", "markdown source"))
    for _, sources in groupby(of_sources, key=itemgetter(0)):
        yield _to_part(text, [span for _, span in sources])


def _find_strings(value: Any, *path: str | int) -> Iterator[tuple[str | int, ...]]:
    """The path to each string in a value, in their order; () for the keys. The keys of cells have their type before
    them."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, _Pairs):
        kind = dict(value).get("cell_type")
        for key, each in value:
            yield ()
            yield from _find_strings(each, *path, key if kind is None else f"{kind} {key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _find_strings(each, *path, number)


def read_catalogue(text: str) -> Iterator[Part]:
    """The translations of a gettext catalogue in English."""
    if _ENGLISH.search(text):
        for entry in _ENTRY.finditer(text):
            strings = [found.span(1) for found in _STRING.finditer(text, *entry.span(1))]
            if not any(text.startswith("Language:", start) for start, _ in strings):  # the header
                yield _to_part(text, strings, "text")


def _to_part(text: str, strings: Sequence[Span], format: str = "markdown") -> Part:
    """The part that strings are together, their escapes read."""
    shown: list[str] = []
    offsets = array("q")
    widths: dict[int, int] = {}
    for start, end in strings:
        at = start
        while at < end:
            found = _ESCAPE.match(text, at, end) if text[at] == "\\" else None
            width = len(found[0]) if found else 1
            if found:
                widths[len(shown)] = width
            shown.append(_read_escape(found[0]) if found else text[at])
            offsets.append(at)
            at += width
    return Part("".join(shown), offsets, format, format == "text", widths)


def _read_escape(escape: str) -> str:
    """The one character that an escape stands for."""
    if escape[1] != "u":
        return _SHOWN.get(escape[1], escape[1])
    shown = str(json.loads(f'"{escape}"'))
    return shown if len(shown) == 1 and not "\ud800" <= shown <= "\udfff" else "\ufffd"
