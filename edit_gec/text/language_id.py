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
from typing import NamedTuple

from edit_gec.text.formats import PLAIN
from edit_gec.text.sentences import split

# Words of one side only: no "is" and "of" (Dutch), "was" (German), "for" (Danish), "to" (Polish), "or" (French).
ENGLISH = frozenset(
    "the and are were been you your they them their she our this that these those there with from not but because "
    "which who what when where how would can could should does about into some any my i'm don't it's it we be "
    "have has had will must very only then than after before".split()
)
_SHARED = frozenset("i no a in an as on or at do he me so die was war man is of to for den el come sur".split())
_WORDS = {  # function words of other languages; those in _SHARED tell nothing of English
    (
        "de",
        "German",
    ): "der das und ist nicht ein eine einen ich wir sie sind haben auf mit für von zu zum im den dem auch es "
    "sehr wie die man war so",
    (
        "fr",
        "French",
    ): "le la les et est pas une des du je nous vous ils que qui dans pour avec sur au ce cette avons de un en",
    ("es", "Spanish"): "el los las y por para con una del no se su mis como pero muy fuimos de en la que un es al",
    ("it", "Italian"): "il lo gli di che per sono della nel alla un po e i la una non con del siamo è",
    ("pt", "Portuguese"): "o os da na em uma com não dos foi de que um e as a no por para do à",
    ("nl", "Dutch"): "het een van niet zijn naar voor maar ook met dat deze wij de en is in was",
    ("da", "Danish"): "og det er ikke jeg til af på som for den der at vi var med et en i",
    ("sv", "Swedish"): "och är inte jag den det ett av som för att på vi var med en i till",
    ("pl", "Polish"): "się nie jest że na do jak ale tak był była już są czy oraz od",
}
_ALPHABETS = {
    ("el", "Greek"): re.compile(r"[\u0370-\u03ff]"),
    ("ru", "Russian"): re.compile(r"[\u0400-\u04ff]"),
    ("he", "Hebrew"): re.compile(r"[\u0590-\u05ff]"),
    ("ar", "Arabic"): re.compile(r"[\u0600-\u06ff]"),
    ("hi", "Hindi"): re.compile(r"[\u0900-\u097f]"),
    ("th", "Thai"): re.compile(r"[\u0e00-\u0e7f]"),
    ("ja", "Japanese"): re.compile(r"[\u3040-\u30ff]"),
    ("ko", "Korean"): re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    ("zh", "Chinese"): re.compile(r"[\u4e00-\u9fff]"),
}
_FOREIGN_WORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()}
FOREIGN = frozenset[str]().union(*_FOREIGN_WORDS.values()) - _SHARED
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
    counts = {language: sum(word in known for word in words) for language, known in _FOREIGN_WORDS.items()}
    counts |= {language: sum(bool(a.search(word)) for word in words) for language, a in _ALPHABETS.items()}
    (code, name), most = max(counts.items(), key=lambda item: item[1])
    return Language(code, name, round(1 - sure, 2)) if most else Language("und", "unknown", 0.0)


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text[:JUDGED].casefold())]
