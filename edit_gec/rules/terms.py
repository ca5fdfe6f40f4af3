"""Words of the trade and people's names that a dictionary of English lacks, from two lists beside this file.

    >>> is_term("udev"), is_term("Shopt"), is_term("house"), is_name("Aamodt"), is_name("aamodt")
    (True, True, False, True, False)

terms.txt: commands, options, types, file types, tools. names.txt: family and given names. Their first lines say where
they come from. Both are read when they are first needed.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


def is_term(word: str) -> bool:
    """Whether a word, in any case, is one of the trade."""
    return word.casefold() in _read("terms")


def is_name(word: str) -> bool:
    """Whether a word with a capital is a person's name."""
    return word in _read("names")


@lru_cache(maxsize=2)
def _read(name: str) -> frozenset[str]:
    """The words of a list; lines that begin with "#" say where it is from."""
    lines = Path(__file__).with_name(f"{name}.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
