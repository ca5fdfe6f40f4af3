"""A sentence under rewriting: words, the blanks before them, and which of them a rule may still touch.

>>> rewrite = Rewrite("She goes to https://example.org.")
>>> rewrite.words, rewrite.free
(['She', 'goes', 'to', 'https://example.org', '.'], [True, True, True, False, True])
>>> rewrite.apply(Edit(1, 2, "go"))
True
>>> str(rewrite)
'She go to https://example.org.'
"""

from __future__ import annotations

import re
from typing import NamedTuple

# First a protected token (digits, code, addresses) up to its closing punctuation; then a word; then any other sign.
TOKEN = re.compile(
    r"(\s*)("
    r"[^\s\"“(]*[\d_@/\\<>{}\[\]=#~^|*+`$%&]\S*?(?=[.,;:!?)\"'”’]*(?:\s|$))"
    r"|[^\W\d_]+(?:['’.\-‐][^\W\d_]+)*"
    r"|\.\.\.|--|\S)"
)
PLAIN = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*\Z")
PUNCTUATION = frozenset(".,;:!?\"'“”‘’()-–—…")
CLOSING = frozenset(".,;:!?)”’…")


class Edit(NamedTuple):
    """Put `text` for the words [start, end): "" deletes, start == end inserts. `exact` keeps the case of `text`."""

    start: int
    end: int
    text: str
    exact: bool = False


class Rewrite:
    """Words of one sentence; `lows`: in lower case, straight apostrophe; `gaps`: the white space before each.

    `free`: a rule may touch it, for no rule has yet and it is not protected.
    """

    __slots__ = ("free", "gaps", "lows", "words")

    def __init__(self, sentence: str) -> None:
        self.words: list[str] = []
        self.gaps: list[str] = []
        for gap, word in TOKEN.findall(sentence):
            self.gaps.append(gap)
            self.words.append(word)
        self.lows = [word.lower().replace("’", "'") for word in self.words]
        self.free = [_may_change(word) for word in self.words]

    def __str__(self) -> str:
        return "".join([piece for pair in zip(self.gaps, self.words, strict=True) for piece in pair])

    def __len__(self) -> int:
        return len(self.words)

    def low(self, i: int) -> str:
        """The word at i in lower case, "" beyond either end."""
        return self.lows[i] if 0 <= i < len(self.lows) else ""

    def is_word(self, i: int) -> bool:
        """Whether there is a word at place i, rather than a mark or nothing."""
        return 0 <= i < len(self.words) and self.words[i][0].isalpha()

    def starts_clause(self, i: int) -> bool:
        """Is i the first word of the sentence, or does it follow a full stop or an opening quotation mark?"""
        return i == 0 or self.words[i - 1] in '.!?:…"“‘(-–—' or self.words[i - 1] in ("--", "...")

    def is_name(self, i: int) -> bool:
        """Capitalised for itself, not for the place it stands in."""
        return self.words[i][0].isupper() and not self.starts_clause(i)

    def apply(self, edit: Edit) -> bool:
        """Carry the edit out; False, and nothing done, where it would change nothing or hit a word that is not free."""
        start, end, text, exact = edit
        if not all(self.free[start:end]):
            return False
        if start == end:
            return self._insert(start, text)
        if not text:
            return self._delete(start, end)
        old = self.words[start]
        if not exact and old[0].isupper() and (old != "I" or self.starts_clause(start)):
            text = text[0].upper() + text[1:]
        if "’" in old:
            text = text.replace("'", "’")
        if text == self._span(start, end):
            return False
        self._splice(start, end, [text], [self.gaps[start]])
        return True

    def lower_all(self) -> None:
        """Every plain word in lower case, as in hasty chat."""
        self.words = [word.lower() if _may_change(word) else word for word in self.words]

    def _span(self, start: int, end: int) -> str:
        first, *rest = range(start, end)
        return self.words[first] + "".join(self.gaps[k] + self.words[k] for k in rest)

    def _insert(self, at: int, text: str) -> bool:
        if text[0] in CLOSING:
            self._splice(at, at, [text], [""])
            return True
        if at == len(self):
            self._splice(at, at, [text], [" "])
            return True
        old = self.words[at]
        if old[0].isupper() and self.starts_clause(at):
            text = text[0].upper() + text[1:]
            if old not in ("I", "I'm", "I’m", "I've", "I’ve", "I'd", "I’d", "I'll", "I’ll"):
                self.words[at] = old[0].lower() + old[1:]
        gap = self.gaps[at]
        self.gaps[at] = " "
        self._splice(at, at, [text], [gap])
        return True

    def _delete(self, start: int, end: int) -> bool:
        if end - start >= sum(map(self.is_word, range(len(self)))):
            return False
        if end < len(self):
            if self.is_word(start) and self.words[end] not in CLOSING:
                self.gaps[end] = self.gaps[start]
            if self.words[start][0].isupper() and self.starts_clause(start) and self.free[end]:
                self.words[end] = self.words[end][0].upper() + self.words[end][1:]
        self._splice(start, end, [], [])
        return True

    def _splice(self, start: int, end: int, words: list[str], gaps: list[str]) -> None:
        self.words[start:end] = words
        self.gaps[start:end] = gaps
        self.lows[start:end] = [word.lower() for word in words]
        self.free[start:end] = [False] * len(words)


def _may_change(word: str) -> bool:
    """Plain words and punctuation, but no ACRONYMS, no camelCase, no addresses and nothing with digits."""
    if word in PUNCTUATION:
        return True
    if not PLAIN.match(word):
        return False
    return len(word) == 1 or word[1:].replace("I", "i").islower() or (not word[1:].isalpha() and word[2:].islower())
