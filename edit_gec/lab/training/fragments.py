"""Fragments, lines that are right without being sentences: headings, list items, table cells, greetings, subjects.

    fragment("The driver closes the door of the bus.", rng)
    ->  "Closes the Door" | "2.3 The driver" | "the door of the bus;" | "Fix the door of the bus" | "Best regards,"

Real documents are full of them. A model that never sees one learns that every line needs a capital and a full stop. The
words come from the sentences of the training text; STYLES has the kinds of fragments and their frequencies.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

from edit_gec.text.rows import read_row

Style = Callable[[str, random.Random], str]

_READ = read_row(Path(__file__).with_suffix(".rules"))
_ROWS = {name: tuple(map(str.strip, row.split("|"))) for name, row in _READ.items()}
GREETINGS, NAMES, MONTHS, DAYS = (_ROWS[name] for name in ("greetings", "names", "months", "days"))
CHANGES, SCOPES, KEYS, CAPTIONS, UNITS = (_ROWS[name] for name in ("changes", "scopes", "keys", "captions", "units"))
LONGEST = 6  # words of a fragment's text

_PHRASE = re.compile(
    r"\b(?:the|a|an|this|these|its|your|our|their|my|each|all)\s+(?:[a-z][\w'’-]*\s+){1,3}"
    r"(?:(?:of|in|for|from|with|on|at|by)\s+(?:the\s+|a\s+|an\s+|your\s+)?[a-z][\w'’-]*)",
    re.IGNORECASE,
)
_SMALL = frozenset("a an the of in for from with on at by to and or".split())  # in titles, by the taste of some
_EDGES = " .,;:!?\"'“”‘’()-–—"


def fragment(sentence: str, rng: random.Random) -> str:
    """A fragment with words of a sentence, in one of STYLES."""
    style: Style = rng.choices(_CHOICES, cum_weights=_CUMULATED)[0]
    return style(sentence, rng)


def piece(sentence: str, rng: random.Random, longest: int = LONGEST) -> str:
    """A few words in a row, without punctuation at the ends."""
    words = sentence.split()
    length = min(len(words), rng.randint(1, longest))
    start = rng.randrange(len(words) - length + 1)
    return " ".join(words[start : start + length]).strip(_EDGES)


def phrase(sentence: str, rng: random.Random) -> str:
    """Words that belong together ("the door of the bus") where the sentence has such, else some words in a row."""
    found = _PHRASE.findall(sentence)
    return rng.choice(found) if found and rng.random() < 0.8 else piece(sentence, rng)


def _lower(text: str) -> str:
    """`text` with a small first letter, unless its first word is "I" or has more capitals ("NASA")."""
    first = text.split(" ", 1)[0]
    return text if first[1:] != first[1:].lower() or first in ("I", "I'm", "I’m") else text[:1].lower() + text[1:]


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(sentence: str, rng: random.Random) -> str:
    line = piece(sentence, rng)
    return _upper(line) if rng.random() < 0.7 else line


def _title(sentence: str, rng: random.Random) -> str:
    small = _SMALL if rng.random() < 0.5 else ()
    return _upper(" ".join(word if word in small else _upper(word) for word in phrase(sentence, rng).split()))


def _capitals(sentence: str, rng: random.Random) -> str:
    return sentence.upper() if rng.random() < 0.3 else piece(sentence, rng).upper()


def _heading(sentence: str, rng: random.Random) -> str:
    number = ".".join(str(rng.randint(1, 12)) for _ in range(rng.randint(1, 3)))
    text = _title(sentence, rng) if rng.random() < 0.5 else _upper(phrase(sentence, rng))
    return f"{number}{rng.choice(('', '', '.'))} {text}"


def _item(sentence: str, rng: random.Random) -> str:
    text = phrase(sentence, rng)
    text = _lower(text) if rng.random() < 0.7 else _upper(text)
    return text + rng.choice(("", "", "", ";", ",", ", and", ":"))


def _opening(sentence: str, rng: random.Random) -> str:
    """A line that introduces a list or a quotation."""
    return sentence[:-1] + ":" if sentence.endswith(".") else _upper(piece(sentence, rng)) + ":"


def _pair(sentence: str, rng: random.Random) -> str:
    """`Key: value`, or a term and its definition."""
    key = rng.choice(KEYS) if rng.random() < 0.5 else _upper(piece(sentence, rng, 2))
    value = phrase(sentence, rng) if rng.random() < 0.7 else _number(rng)
    return key + rng.choice((": ", ": ", ": ", " – ", " - ")) + (_lower(value) if rng.random() < 0.5 else _upper(value))


def _change(sentence: str, rng: random.Random) -> str:
    """A line of a changelog, or the subject of a commit; both need something that is changed."""
    found = _PHRASE.findall(sentence)
    if not found:
        return _item(sentence, rng)
    text = f"{rng.choice(CHANGES)} {_lower(rng.choice(found))}"
    return f"{rng.choice(SCOPES)}: {_lower(text)}" if rng.random() < 0.3 else text


def _caption(sentence: str, rng: random.Random) -> str:
    return f"{rng.choice(CAPTIONS)} {rng.randint(1, 30)}{rng.choice(('.', ':', ' –'))} {_upper(phrase(sentence, rng))}"


def _cell(sentence: str, rng: random.Random) -> str:
    if rng.random() < 0.25:
        return _number(rng)
    word = piece(sentence, rng, 2)
    return _lower(word) if rng.random() < 0.5 else _upper(word)


def _number(rng: random.Random) -> str:
    return f"{rng.choice((rng.randint(1, 20), rng.randint(1, 2000)))} {rng.choice(UNITS)}"


def _greeting(sentence: str, rng: random.Random) -> str:
    return rng.choice(GREETINGS) + rng.choice((",", ",", "", "!"))


def _letter(sentence: str, rng: random.Random) -> str:
    """A date or a name, as they stand above and below a letter."""
    if rng.random() < 0.4:
        return rng.choice(NAMES)
    day = rng.randint(1, 28)
    month = rng.choice(MONTHS)
    year = rng.randint(1950, 2030)
    date = rng.choice((f"{day} {month} {year}", f"{month} {day}, {year}", f"{day} {month}", f"{month} {year}"))
    return f"{rng.choice(DAYS)}, {date}" if rng.random() < 0.3 else date


STYLES: tuple[tuple[Style, int], ...] = (
    (_plain, 18),
    (_title, 14),
    (_item, 14),
    (_greeting, 10),
    (_change, 9),
    (_heading, 8),
    (_pair, 7),
    (_capitals, 6),
    (_opening, 5),
    (_cell, 4),
    (_caption, 3),
    (_letter, 2),
)
_CHOICES = [style for style, _ in STYLES]
_CUMULATED = [sum(weight for _, weight in STYLES[: n + 1]) for n in range(len(STYLES))]
