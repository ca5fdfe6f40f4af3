"""Is a text English? A corrector of English must not change German.

    >>> confidence("The house that we saw is not the one on the map.")
    1.0
    >>> confidence("Das Haus, das wir gesehen haben, ist nicht das auf der Karte.")
    0.0
    >>> detect("Das Haus, das wir gesehen haben, ist nicht das auf der Karte.").name
    'German'

The confidence is the share of English words among the function words that are not shared with other languages; a letter
of another alphabet counts as foreign. A text without any of them, such as "Thanks!", is taken for English.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from edit_gec.text.formats import PLAIN
from edit_gec.text.rows import read_rows
from edit_gec.text.sentences import split

_ROWS = {row["code"][0]: row for row in read_rows(Path(__file__).with_name("languages.rules"))}
_NAMES = {code: row["name"][0] for code, row in _ROWS.items()}
_WORDS = {code: frozenset(row["words"][0].split()) for code, row in _ROWS.items() if "words" in row}
_ALPHABETS = {code: re.compile(row["letters"][0]) for code, row in _ROWS.items() if "letters" in row}
ENGLISH = _WORDS.pop("en")
FOREIGN = frozenset[str]().union(*_WORDS.values()) - {*_ROWS["en"]["shared"][0].split()}
MIN_ENGLISH = 0.5  # a text with a lower confidence is left alone
JUDGED = 4000  # characters of a text, from its beginning
# Words of other languages that name a text without being asked. Of 14,043 English sentences (wi-3k, cweb-G, cweb-S and
# clean.txt) two have as many, and fewer English ones.
LEAST_FOREIGN = 3
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_OTHER_ALPHABET = re.compile(r"[\u0370-\u1cff\u3040-\ud7ff]")


class Language(NamedTuple):
    """A language with its confidence, 0 to 1; `und` for an unknown language that is not English."""

    code: str
    name: str
    confidence: float


ENGLISH_ASSUMED = Language("en", "English", 1.0)  # where the client says so


def confidence(text: str) -> float:
    """The confidence that a text is English, 0 to 1, from its beginning."""
    english, foreign = _count(text)
    return round(english / (english + foreign), 2) if english + foreign else 1.0


def find_other(text: str, format: str = PLAIN) -> Language | None:
    """The language of a text whose prose is surely not English, else None. `format` as in text.sentences.split.

    >>> find_other("Le chat est sur la table, et il ne veut pas descendre.").name
    'French'
    >>> find_other("Merci beaucoup!") is find_other("The cat is on the table.") is None
    True
    """
    prose = "\n".join(sentence.text for sentence in split(text[:JUDGED], markup=format != PLAIN, format=format))
    english, foreign = _count(prose)
    return detect(prose) if foreign >= LEAST_FOREIGN and foreign > english else None


def _count(text: str) -> tuple[int, int]:
    """Words of English and of other languages in the beginning of a text."""
    words = _words(text)
    foreign = sum(word in FOREIGN or bool(_OTHER_ALPHABET.match(word)) for word in words)
    return sum(word in ENGLISH for word in words), foreign


def detect(text: str) -> Language:
    """The language of a text: English where `confidence` is MIN_ENGLISH at least, else the one with most words."""
    sure = confidence(text)
    if sure >= MIN_ENGLISH:
        return Language("en", "English", sure)
    words = _words(text)
    counts = {code: sum(word in known for word in words) for code, known in _WORDS.items()}
    counts |= {code: sum(bool(letter.search(word)) for word in words) for code, letter in _ALPHABETS.items()}
    code, most = max(counts.items(), key=lambda item: item[1])
    return Language(code, _NAMES[code], round(1 - sure, 2)) if most else Language("und", "unknown", 0.0)


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text[:JUDGED].casefold())]
