"""Misspellings as people make them: known ones from lists, else the slips of fingers and ears.

    >>> Misspeller({"receive": ["recieve"]}, frozenset()).misspell("receive", random.Random(1))
    'recieve'

A misspelling that is itself a word, or the other side of the Atlantic's spelling, is never given.
"""

from __future__ import annotations

import csv
import json
import lzma
import random
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from edit_gec.errors import InputError

Lists = dict[str, list[str]]
FILES = ("misspell_main.json.xz", "wikipedia_list.txt", "typos_words.csv.xz", "varcon.txt.xz")

_KEYBOARD = dict(
    pair.split(":")
    for pair in """
    q:wa w:qes e:wrd r:etf t:ryg y:tuh u:yij i:uok o:ipl p:ol a:qsz s:awdx d:sefc f:drgv g:fthb h:gyjn j:hukm k:jil
    l:kop z:asx x:zsdc c:xdfv v:cfgb b:vghn n:bhjm m:njk
    """.split()
)


def _replacements(text: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """`pattern>replacement` pairs, parted by blanks."""
    return tuple((re.compile(pattern), other) for pattern, _, other in (pair.partition(">") for pair in text.split()))


# What the ear, or a half-remembered spelling, makes of a word.
_PHONETIC = _replacements(r"""
    ie>ei ei>ie ance$>ence ence$>ance ant$>ent ent$>ant able$>ible ible$>able able$>eble ph>f ght>gth ght>th ght>gh
    tion$>sion sion$>tion ssion$>sion cian$>tion ful$>full fully$>fuly lly$>ly ally$>aly ([^l])ly$>\1lly ely$>ly
    ily$>ly ous$>us ous$>ious ious$>ous ^wh>w ^w(?=[aeiou])>wh sc(?=[ei])>s sc(?=[ei])>c ^kn>n mb$>m ea>ee ea>e
    ee>ea ee>e ou>o ou>u au>a ai>a ai>ia oo>o ui>i ough>ogh y$>ey ey$>y ies$>ys ied$>yed ([^e])e$>\1 er$>ar or$>er
    ar$>er le$>el el$>le al$>el re$>er ing$>eing ying$>ing ch>sh sh>ch ch>c ck>k c(?=[ei])>s s(?=[ei])>c qu>q x>cs
    exc>ex th>ht th$>ht dg>g gu>g rh>r ment$>mant iful$>yful ^be>bi ^de>di ^di>de ^in>en ^en>in ^im>inm ^un>in
    ^pre>pri ^per>pre ^pre>per ary$>ery ery$>ary ory$>ary ly$>ley nment$>ment sts$>st uous$>ous ture$>tur
    sure$>shure age$>ege ege$>age ive$>ife z>s v>w
""")
_TRIPLE = re.compile(r"(.)\1\1")
_VOWELS = {"a": "eeo", "e": "aiia", "i": "eey", "o": "uae", "u": "oa", "y": "ie"}


class Misspeller:
    """Draws one misspelling of a word.

    `lists`: right word -> its known misspellings; `words`: what counts as a real word.
    """

    def __init__(self, lists: Mapping[str, Sequence[str]], words: Container[str]) -> None:
        self.lists = lists
        self._words = words

    def misspell(self, word: str, rng: random.Random) -> str | None:
        """A misspelling of a lower-case word, or None if the draw gave nothing usable."""
        known = self.lists.get(word)
        if known and rng.random() < 0.65:
            return rng.choice(known)
        for _ in range(4):
            wrong = _SLIPS[rng.choices(range(len(_SLIPS)), cum_weights=_SLIP_WEIGHTS)[0]](word, rng)
            if (
                wrong is not None
                and wrong != word
                and not _TRIPLE.search(wrong)
                and wrong not in self._words
                and not same_but_for_dialect(word, wrong)
            ):
                return wrong
        return None


def _swap(word: str, rng: random.Random) -> str | None:
    i = rng.randrange(1, len(word) - 1)
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :]


def _drop(word: str, rng: random.Random) -> str | None:
    i = rng.randrange(1, len(word))
    return word[:i] + word[i + 1 :]


def _double_or_undouble(word: str, rng: random.Random) -> str | None:
    doubled = [i for i in range(1, len(word)) if word[i] == word[i - 1]]
    if doubled and rng.random() < 0.7:
        i = rng.choice(doubled)
        return word[:i] + word[i + 1 :]
    sites = [
        i for i in range(1, len(word) - 1) if word[i] in "bcdfglmnprst" and word[i] not in (word[i - 1], word[i + 1])
    ]
    if not sites:
        return None
    i = rng.choice(sites)
    return word[:i] + word[i] + word[i:]


def _vowel(word: str, rng: random.Random) -> str | None:
    sites = [i for i in range(1, len(word)) if word[i] in _VOWELS]
    if not sites:
        return None
    i = rng.choice(sites)
    return word[:i] + rng.choice(_VOWELS[word[i]]) + word[i + 1 :]


def _phonetic(word: str, rng: random.Random) -> str | None:
    for _ in range(12):
        pattern, wrong = rng.choice(_PHONETIC)
        if pattern.search(word):
            return pattern.sub(wrong, word, count=1)
    return None


def _neighbour(word: str, rng: random.Random) -> str | None:
    i = rng.randrange(1, len(word))
    near = _KEYBOARD.get(word[i])
    return near and word[:i] + rng.choice(near) + word[i + rng.choice((0, 1, 1)) :]


def _extra(word: str, rng: random.Random) -> str | None:
    i = rng.randrange(1, len(word) + 1)
    return word[:i] + word[i - 1] + word[i:] if rng.random() < 0.5 else word[:i] + rng.choice("eaiotnsrlh") + word[i:]


_SLIPS = (_swap, _drop, _double_or_undouble, _vowel, _phonetic, _neighbour, _extra)
_SLIP_WEIGHTS = (14, 32, 50, 68, 92, 96, 100)  # cumulated, per cent

_DIALECT = _replacements(r"""
    our>or is(?=e|ing|ation|able)>iz ys(?=e|ing)>yz tre(?=s?$|d$)>ter ogue>og l?l(?=ed$|ing$|er$|ers$)>l
    ence(?=s?$)>ense dge(?=ment)>dg ae|oe>e gramme>gram grey>gray l?l(?=ment|ful)>l
""")


def same_but_for_dialect(one: str, other: str) -> bool:
    """colour and color, organise and organize, travelled and traveled: neither is a misspelling of the other."""
    if abs(len(one) - len(other)) > 2:
        return False
    for pattern, american in _DIALECT:
        one, other = pattern.sub(american, one), pattern.sub(american, other)
    return one == other


def find_spelling(data: Path) -> Path | None:
    """The folder of the misspelling lists of a data folder, or None if there is none.

    Raises InputError if it lacks one of FILES.
    """
    folder = data / "spelling"
    if not folder.exists():
        return None
    check_lists(folder)
    return folder


def check_lists(folder: Path) -> None:
    """Raises InputError if one of FILES is missing."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"spelling folder '{folder}': no {missing[0]} in it; expected the four lists of data/README.md, "
            "or no such folder: misspellings are then invented"
        )


def read_lists(folder: Path) -> Lists:
    """Right word -> misspellings, from the lists in `folder`; those that people collected count fourfold.

    Raises InputError if one of FILES is missing.
    """
    check_lists(folder)
    lists: Lists = {}
    for wrong, rights in chain(_read_client9(folder), _read_wikipedia(folder)):
        for right in rights:
            lists.setdefault(right, []).extend([wrong] * 4)
    for wrong, rights in _read_typos(folder):
        lists.setdefault(rights[0], []).append(wrong)
    return lists


def read_right_forms(folder: Path) -> dict[str, list[str]]:
    """Misspelling -> what it should be, in order, from the lists under licences without share-alike.

    Raises InputError if one of FILES is missing.
    """
    check_lists(folder)
    forms: dict[str, set[str]] = {}
    for wrong, rights in chain(_read_client9(folder), _read_typos(folder)):
        forms.setdefault(wrong.casefold(), set()).update(rights)
    return {wrong: sorted(rights) for wrong, rights in sorted(forms.items())}


def _read_client9(folder: Path) -> Iterator[tuple[str, list[str]]]:
    with lzma.open(folder / "misspell_main.json.xz", "rt", encoding="utf-8") as file:
        for right, wrongs in json.load(file).items():
            yield from ((wrong, [right]) for wrong in wrongs)


def _read_wikipedia(folder: Path) -> Iterator[tuple[str, list[str]]]:
    with (folder / "wikipedia_list.txt").open(encoding="utf-8") as lines:
        for line in lines:
            wrong, _, rights = line.strip().partition("->")
            yield wrong, [right.strip() for right in rights.split(",")]


def _read_typos(folder: Path) -> Iterator[tuple[str, list[str]]]:
    with lzma.open(folder / "typos_words.csv.xz", "rt", encoding="utf-8", newline="") as file:
        yield from ((wrong, rights) for wrong, *rights in csv.reader(file))


def read_variants(folder: Path) -> frozenset[str]:
    """Every spelling in varcon, British or American: all of them are words."""
    with lzma.open(folder / "varcon.txt.xz", "rt", encoding="latin-1") as file:
        return frozenset(
            word.lower() for line in file if not line.startswith("#") for word in re.findall(r": ([A-Za-z'-]+)", line)
        )


def usable_lists(lists: Mapping[str, Sequence[str]], words: Container[str]) -> dict[str, tuple[str, ...]]:
    """Only plain single words, and only misspellings that are no words themselves."""
    usable: dict[str, tuple[str, ...]] = {}
    for right, wrongs in lists.items():
        if right.isalpha() and right.islower():
            kept = tuple(
                w
                for w in wrongs
                if w.isalpha() and w.islower() and w not in words and not same_but_for_dialect(w, right)
            )
            if kept:
                usable[right] = kept
    return usable
