"""Tables of LaTeX's commands and environments, by what they do with their arguments (latex.rules).

latex.py judges a command that is in no table by its arguments.
"""

from __future__ import annotations

import re
from pathlib import Path

from edit_gec.text.rows import read_row

_ROW = read_row(Path(__file__).with_name("latex.rules"))
_WORDS = {field: frozenset(value.split()) for field, value in _ROW.items()}

VERBATIM, MATH, CODE, PROSE, TITLED = (re.compile(_ROW[kind]) for kind in "verbatim math code prose titled".split())
HEADING, CITE, TEXTUAL_CITE = (re.compile(_ROW[kind]) for kind in "heading cite textual_cite".split())
REF, NAMED_REF = (re.compile(_ROW[kind]) for kind in ("ref", "named_ref"))
NOTES, CODE_LIKE, SILENT = (_WORDS[kind] for kind in ("notes", "code_like", "silent"))
SWITCHES, SPACES = _WORDS["switches"], _WORDS["spaces"]
# The number of arguments in braces before the one that is text.
TEXT = dict.fromkeys(_WORDS["text"], 0) | dict.fromkeys(_WORDS["second_text"], 1)
SYMBOLS = {name: symbol for name, _, symbol in (pair.partition("=") for pair in _ROW["symbols"].split())}
SKIPPED = {"iffalse": r"\fi", "makeatletter": r"\makeatother", "ExplSyntaxOn": r"\ExplSyntaxOff"}
LETTERS = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "i": "i", "j": "j", "dh": "ð", "th": "þ",
}  # fmt: skip
ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331",
}  # fmt: skip
