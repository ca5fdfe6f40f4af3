"""Known words, and the candidates among them for an unknown word.

    >>> lexicon = WordList(["because", "become", "house"])
    >>> [candidate.text for candidate in lexicon.candidates("Becuase")]
    ['Because']

A small decoder learns that "becuase" is wrong long before it learns to spell the right word. For an unknown word it
chooses among near known words (edit distance, first letter, frequency: a noisy channel; see spelling.py). The list is a
file of the model folder, made from its training text. A model without one writes everything itself.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from edit_gec.errors import ModelError
from edit_gec.modeling.config import MOST_LIST, check_size
from edit_gec.modeling.tokenizer import Pieces
from edit_gec.text.words import WORD

FILE = "words.txt"  # in a model folder; build_lexicon.py makes it
NAMED = 60_000  # words from the top of the list that may be candidates
LISTED = 16  # most candidates that the decoder scores
DEARER = 2.0  # most nats above the cheapest of them
SHORTEST = 3  # letters of a word that is looked up, at least
LONGEST = 24  # and at most
LONGEST_GAP = 6  # most consecutive words that are chosen together
ENGLISH = 0.3  # least share of the words of an English sentence that are among the first SPLIT of the list
FOREIGN_WORDS = 4  # least words of a sentence in another language
FOREIGN = 0.2  # least share of its words that are unknown
COMMON_SLIP = 2.6  # cost of a candidate: one letter changed, and among the first 1,500 of the list
# The cost of a candidate, in nats:
APART = 1.5  # for each changed letter; another first letter costs a third of that
COMMON = 0.15  # times the logarithm of its rank in the list
SPLIT = 3000  # for a missing space ("alot"), both words must be among so many from the top of the list
TORN = 0.4  # for a missing space
_LATIN = re.compile("[A-Za-zÀ-ɏ]")
_OTHER = re.compile(r"\d(?:[\d.,:]*\d)?|[()\[\]\"“”;:/–—&%$#@*+=<>_|]| - ")  # no words, and no everyday marks
_COUNTS = np.array([bin(n).count("1") for n in range(1 << 13)], dtype=np.uint8)


class Word(NamedTuple):
    """A word of a sentence, in its pieces first..last (half-open)."""

    first: int
    last: int
    text: str


class Candidate(NamedTuple):
    """A word that the writer may have meant; `cost` in nats of misspelling it so.

    `listed`: the only right form that the list has for the misspelling.
    """

    cost: float
    text: str
    listed: bool = False


class WordList:
    """A list of words, the most frequent first. All are known; the first NAMED may be candidates for others.

    `slips` has lines of a wrong form and a right one, which may be far from it ("goed went").
    """

    def __init__(self, words: Sequence[str], slips: str = "") -> None:
        folded = "\n".join(words).casefold().split("\n")
        self.known = frozenset(folded)
        self.words = words[:NAMED]
        self.folded = folded[:NAMED]
        self._slips = slips
        self.candidates = lru_cache(maxsize=4096)(self._candidates)
        self.right_forms = lru_cache(maxsize=4096)(self._right_forms)
        self.find_words = lru_cache(maxsize=64)(self._find_words)  # of a sentence, for each of its slots

    @cached_property
    def slips(self) -> str:
        """The slips in order. One string: as a dictionary, 90,000 of them would take 20 MB and 50 ms."""
        return "\n".join([*sorted(self._slips.split("\n")), ""])

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Case-folded word -> its place in the list, from 0; of the first SPLIT."""
        return {self.folded[rank]: rank for rank in reversed(range(min(SPLIT, len(self.folded))))}

    @cached_property
    def letters(self) -> np.ndarray:
        """Which letters each word has [N], a set in bits."""
        bits = _letters("\n".join(self.folded))
        lengths = np.array([len(word.encode()) + 1 for word in self.folded])
        return np.bitwise_or.reduceat(bits, np.cumsum(lengths) - lengths)

    @cached_property
    def pool(self) -> np.ndarray:
        """The folded words [N], to be picked by rank many at a time."""
        return np.array(self.folded, dtype=object)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Characters of each word [N]."""
        return np.array([len(word) for word in self.folded])

    @classmethod
    def load(cls, folder: str | Path) -> WordList | None:
        """The list of a model folder, or None where it has none. Raises ModelError for one that cannot be read."""
        path = Path(folder) / FILE
        if not os.path.lexists(path):
            return None
        try:
            if not path.is_file():  # a pipe would be waited for
                raise ValueError("not a regular file")
            check_size(path, MOST_LIST)
            words, _, slips = path.read_text(encoding="utf-8").strip("\n").partition("\n\n")
            if not words:
                raise ValueError("the file is empty")
            if slips and slips.count(" ") != slips.count("\n") + 1:
                raise ValueError("a line below the words is no pair")
            return cls(words.split("\n"), slips)
        except (OSError, ValueError) as error:  # ValueError: not UTF-8, no words, or not a pair
            expected = "a word in each line, an empty line, then a wrong and a right form in each line, in UTF-8"
            raise ModelError(f"{path}: {error}; expected {expected}") from None

    def knows(self, word: str) -> bool:
        """Whether it is a word of the list, in whatever case, or one with 's."""
        folded = word.casefold().replace("’", "'")
        return folded in self.known or folded.removesuffix("'s") in self.known

    def is_common_slip(self, word: str) -> bool:
        """Whether an unknown word is a slip that is listed, or one letter away from a frequent word."""
        candidates = self.candidates(word)
        return bool(self.right_forms(word)) or bool(candidates and candidates[0].cost <= COMMON_SLIP)

    def _right_forms(self, wrong: str) -> list[str]:
        """What a listed slip should be; [] for all other words.

        >>> WordList(["gone", "went"], "goed gone\\ngoed went").right_forms("Goed")
        ['gone', 'went']
        """
        key = f"{wrong.casefold()} "
        at = _find_line(self.slips, key)
        found = []
        while self.slips.startswith(key, at):
            end = self.slips.index("\n", at)
            found.append(self.slips[at + len(key) : end])
            at = end + 1
        return found

    def is_compound(self, word: str) -> bool:
        """Whether a word is made of two frequent ones: "manpage", "inout"."""
        cuts = ((word[:cut].casefold(), word[cut:].casefold()) for cut in range(2, len(word) - 1))
        return any(first in self.ranks and second in self.ranks for first, second in cuts)

    def _find_words(self, sentence: Pieces, *, unknown: bool = False) -> tuple[Word, ...]:
        """The words of a sentence that can be looked up and that follow a space; with `unknown` only unknown ones.

        Words in capitals (names, abbreviations) and parts of addresses and formulas are left out.
        """
        text = sentence.source
        found = []
        n = 0
        begin, stop = (sentence.starts[0], sentence.ends[-1]) if len(sentence) else (0, 0)
        for match in WORD.finditer(text, begin, stop):
            word = match.group()
            start, end = match.span()
            if len(word) > LONGEST or not (word[1:].islower() or len(word) == 1) or (unknown and self.knows(word)):
                continue
            if (start and not text[start - 1].isspace()) or text[end : end + 1] in {"/", "@", "_", "-"}:
                continue
            while sentence.ends[n] <= start:
                n += 1
            last = n
            while sentence.ends[last] < end:
                last += 1
            first = n - 1 if n and sentence.text(n - 1, n) == " " else n  # the space can be a piece of its own
            if sentence.ends[last] == end and sentence.text(first, last + 1) == " " + word:
                found.append(Word(first, last + 1, word))
        return tuple(found)

    def rare_share(self, text: str) -> float:
        """The share of a sentence that everyday prose lacks: words that are not among the first SPLIT of the list,
        numbers, brackets, quotation marks and symbols."""
        words = _words_of(text)
        others = len(_OTHER.findall(text))
        return (sum(word not in self.ranks for word in words) + others) / max(1, len(words) + others)

    def common_share(self, text: str) -> float:
        """The share of its words that are among the first SPLIT of the list."""
        return self._common_share(_words_of(text))

    def _common_share(self, words: Sequence[str]) -> float:
        return sum(word in self.ranks for word in words) / max(1, len(words))

    def is_foreign(self, text: str) -> bool:
        """Whether a sentence is not English: few common words and some unknown ones, or no Latin letters."""
        words = _words_of(text)
        if words and not _LATIN.search(text):
            return True
        if len(words) < FOREIGN_WORDS or self._common_share(words) > ENGLISH:
            return False
        return sum(not self.knows(word) for word in words) >= FOREIGN * len(words)

    def gap_candidates(self, sentence: Pieces, first: int, last: int) -> list[list[Candidate]]:
        """Candidates for each word of the pieces first..last (half-open); [] unless these are words, not all known."""
        words = [word for word in self.find_words(sentence) if first <= word.first and word.last <= last]
        pieces = [n for word in words for n in range(word.first, word.last)]
        if pieces != list(range(first, last)) or len(words) > LONGEST_GAP or all(self.knows(w.text) for w in words):
            return []
        candidates = [self.candidates(word.text) for word in words]
        return candidates if all(candidates) else []

    def _candidates(self, word: str) -> list[Candidate]:
        """Words of the list that the writer may have meant, the most likely first, in the case of this one."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract

        folded = word.casefold().replace("’", "'")
        if len(folded) < SHORTEST:
            return [Candidate(0.0, word)] if self.knows(word) else []
        most = 1 if len(folded) <= 3 else 2 if len(folded) <= 8 else 3
        differing = self.letters ^ np.bitwise_or.reduce(_letters(folded))
        near = _COUNTS[differing & 8191] + _COUNTS[differing >> 13] <= 2 * most  # a letter changed: two differ
        near &= abs(self.lengths - len(folded)) <= most
        ranks = np.flatnonzero(near)
        pool = self.pool[ranks].tolist()
        right_forms = self.right_forms(folded)
        ranked = []
        for other, distance, at in extract(folded, pool, scorer=OSA.distance, score_cutoff=most, limit=None):
            if other in right_forms:
                continue
            n = int(ranks[at])
            cost = APART * (distance + (other[0] != folded[0]) / 3) + COMMON * math.log(n + 1)
            ranked.append(Candidate(cost, cased(self.words[n], word)))
        for right in right_forms:
            cost = APART / 2 + COMMON * math.log(self.ranks.get(right, NAMED) + 1)
            ranked.append(Candidate(cost, cased(right, word), listed=len(right_forms) == 1))
        for cut in range(1, len(folded)):
            parts = [self.ranks.get(part, SPLIT) for part in (folded[:cut], folded[cut:])]
            if max(parts) < SPLIT and all(len(self.words[part]) > 1 or self.words[part] in "aI" for part in parts):
                text = " ".join(self.words[part] for part in parts)
                ranked.append(Candidate(APART + TORN + COMMON * math.log(max(parts) + 1), cased(text, word)))
        ranked.sort()
        others = [each.cost for each in ranked if not each.listed]  # a listed one leaves others to choose from
        dearest = min(others, default=0.0) + DEARER
        return [each for each in ranked if each.listed or each.cost <= dearest][:LISTED]


def _find_line(lines: str, key: str) -> int:
    """Where the first of these lines begins that is not less than the key; each ends with a line break, in order.

    >>> [_find_line("b x\\nb y\\nd z\\n", key) for key in ("a ", "b ", "c ", "d ", "e ")]
    [0, 0, 8, 8, 12]
    """
    low, high = 0, len(lines)  # both begin lines
    while low < high:
        middle = lines.rfind("\n", low, (low + high) // 2) + 1 or low
        if lines[middle : middle + len(key)] < key:
            low = lines.index("\n", middle) + 1
        else:
            high = middle
    return low


def _words_of(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in WORD.findall(text)]


def cased(candidate: str, word: str) -> str:
    """The candidate with the capital that the word begins with; its own capitals stay."""
    return candidate[0].upper() + candidate[1:] if word[0].isupper() else candidate


def _letters(text: str) -> np.ndarray:
    """A bit for the kind of each byte, of 26; none for a line's end."""
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    return np.where(data == 10, 0, np.uint32(1) << (data % 26).astype(np.uint32)).astype(np.uint32)
