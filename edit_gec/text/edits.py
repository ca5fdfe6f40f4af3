r"""Edits: what a correction changes, as half-open spans of code points in the original text.

    >>> text = "She go home \U0001f3e0 today ."
    >>> edits = [Edit(4, 6, "go", "goes", 0.97), Edit(19, 20, " ", "", 0.88)]
    >>> apply(text, edits)
    'She goes home \U0001f3e0 today.'
    >>> trim("I like like tea", 0, 15, "I like tea")
    Replacement(start=7, end=12, replacement='')
    >>> for place in offsets(text, [4, 19]): print(*place)
    4 4 4 1 5 5
    19 22 20 1 20 23

Everything outside the edits is copied from the text, never produced again, so it stays identical to the byte.
How edits are shown (diff, JSON, SARIF and so on) is in render.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.text.words import Replacement, is_word_character, word_end, word_start

UNITS = ("codepoint", "utf8", "utf16")


class Provenance(str, Enum):
    """Which part of the system proposed an edit, and what a target said of it. As a string, it is its value."""

    EDIT5 = "edit5"  # EdiT5 alone, no target
    RULE = "rule"  # a rule, the list of words or a dialect, no target
    JUDGE = "judge"  # the language model that judges what EdiT5 proposes
    ACCEPTED = "agree"  # EdiT5 and the target make the same edit
    REVISED = "target changed"  # the target edits the same place in another way
    ADDED = "target only"  # EdiT5 does not edit this place
    REJECTED = "target refused"  # the target leaves the place alone

    def __str__(self) -> str:
        return str(self.value)


class Change(NamedTuple):
    """Replace text[start:end] by `replacement`: an edit of a sentence, before it is one of a document.

    start, end: code points, half-open. confidence: 0 to 1, the probability that the change is right. provenance: which
    part of the system proposed it.
    """

    start: int
    end: int
    replacement: str
    confidence: float
    provenance: Provenance = Provenance.EDIT5


@dataclass(frozen=True)
class Edit:
    """Replace text[start:end], which is `original`, by `replacement`.

    start, end: code points of the whole document, half-open; start == end is an insertion.
    confidence: 0 to 1, the model's probability that the edit is right.
    provenance: which part of the system proposed it. type, message, reason: an ERRANT type such as "R:VERB:SVA", its
    name with the words that change, and a sentence that says why, where edits were explained (annotation/explain.py).
    kind: what it changes, told without ERRANT (kinds.py). alternatives: other replacements, the likeliest first, where
    they were asked for (`Corrector.suggest`).
    """

    start: int
    end: int
    original: str
    replacement: str
    confidence: float
    provenance: str = Provenance.EDIT5
    type: str | None = None
    message: str | None = None
    reason: str | None = None
    kind: str | None = None
    alternatives: tuple[str, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """(start, end), code points."""
        return self.start, self.end

    def moved(self, by: int) -> Edit:
        """The same edit in a text that has so many characters more before it."""
        return replace(self, start=self.start + by, end=self.end + by)

    def to_dict(self, unit: str = "codepoint", text: str | Places | None = None) -> dict[str, Any]:
        """The edit as plain JSON values, its span counted in `unit`: codepoint, utf8 or utf16.

        Other units than code points need the `text` that the edit belongs to, or for many edits its places. Raises
        InputError without it, or for an unknown unit.
        """
        if unit not in UNITS:
            raise InputError(f"unit {unit!r}: expected one of {', '.join(UNITS)}")
        start, end = self.span
        if unit != "codepoint":
            if text is None:
                raise InputError(f"unit {unit}: expected the text of the edit as well, its offsets depend on it")
            places = Places(text) if isinstance(text, str) else text
            start, end = (int(getattr(places.find(place), unit)) for place in self.span)
        return {
            "start": start,
            "end": end,
            "original": self.original,
            "replacement": self.replacement,
            "confidence": self.confidence,
            "provenance": str(self.provenance),
            "type": self.type,
            "message": self.message,
            "reason": self.reason,
            "kind": self.kind and str(self.kind),
            "alternatives": list(self.alternatives),
        }


def check(text: str, edits: Sequence[Edit]) -> None:
    """Raise ValueError unless the edits are sorted, do not overlap and hold the text that they say they replace."""
    done = 0
    for edit in edits:
        span = f"edit {edit.start}:{edit.end} {edit.original!r} -> {edit.replacement!r}"
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ValueError(f"{span} leaves the text, which has {len(text)} characters")
        if edit.start < done:
            raise ValueError(
                f"{span} starts before {done}, where the edit before it ends; sort edits and merge overlaps"
            )
        found = text[edit.start : edit.end]
        if found != edit.original:
            raise ValueError(f"{span} does not fit: the text has {found!r} there; edits of another text?")
        done = edit.end


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The corrected text, in linear time. Raises ValueError as `check` does."""
    check(text, edits)
    return apply_changes(text, edits)


def apply_changes(text: str, changes: Iterable[Change | Edit]) -> str:
    """The text with its changes made; they are in order and do not overlap."""
    parts = []
    done = 0
    for change in changes:
        parts += [text[done : change.start], change.replacement]
        done = change.end
    return "".join([*parts, text[done:]])


# What must not be cut: words with their inner apostrophes and hyphens, numbers, CRLF, and scripts and emoji that
# are written with combining characters, which \w leaves out.
_WORD = r"[\w\u0300-\u1fff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe2f\U0001f000-\U0010ffff]"
UNIT = re.compile(rf"\d+(?:[.,]\d+)+|{_WORD}+(?:['’\-]{_WORD}+)*|\r\n|.", re.DOTALL)


def count_shared_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """How many items both sequences begin with, and how many of the others both end with.

    >>> count_shared_ends("learned", "learnt"), count_shared_ends("aa", "aaa")
    ((5, 0), (2, 0))
    """
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    return head, tail


def narrow(text: str, start: int, end: int, replacement: str) -> Replacement:
    """The same change without the characters that both sides share at their ends."""
    head, tail = count_shared_ends(text[start:end], replacement)
    return Replacement(start + head, end - tail, replacement[head : len(replacement) - tail])


def trim(text: str, start: int, end: int, replacement: str) -> Replacement:
    """The same change with the words and marks that both sides share at their ends trimmed off.

    Never cuts inside a word: "learn" -> "learns" stays one edit of the whole word, because that is what a reader
    judges; nor does it ever grow the span. Leading units go first, so that an inserted word stands at the start of
    the word that it precedes ("want " before "to"), at the end of a line after the last word (" it"), and of a
    doubled word the second is deleted. Equal sides give (end, end, "").
    """
    old = UNIT.findall(text[start:end])
    new = UNIT.findall(replacement)
    head, tail = count_shared_ends(old, new)
    start += sum(map(len, old[:head]))
    end -= sum(map(len, old[len(old) - tail :]))
    return Replacement(start, end, "".join(new[head : len(new) - tail]))


def expand_to_words(text: str, start: int, end: int, replacement: str) -> Replacement:
    """The same change, widened until it cuts no word, old or new: `+s` after "learn" becomes "learn" -> "learns"."""
    if is_word_character(text[start : start + 1]) or is_word_character((replacement or text[end : end + 1])[:1]):
        first = word_start(text, start)
        replacement = text[first:start] + replacement
        start = first
    if is_word_character(text[end - 1 : end]) or is_word_character((replacement or text[start - 1 : start])[-1:]):
        last = word_end(text, end)
        replacement += text[end:last]
        end = last
    return Replacement(start, end, replacement)


def fit_to_words(text: str, start: int, end: int, replacement: str) -> Replacement:
    """The same change with its borders settled: it cuts no word, and no word that stays is in it.

    Settled once, it stays as it is.

    >>> fit_to_words("He learn it", 8, 8, "s")
    Replacement(start=3, end=8, replacement='learns')
    """
    return trim(text, *expand_to_words(text, start, end, replacement))


def resolve_overlaps(found: Iterable[Edit]) -> list[Edit]:
    """The edits in order; of two that overlap, or insert at the same place, only the more confident one."""
    chosen: list[Edit] = []
    for edit in sorted(found, key=lambda e: e.span):
        if chosen and edit.start < max(chosen[-1].end, chosen[-1].start + 1):
            if edit.confidence > chosen[-1].confidence:
                chosen[-1] = edit
            continue
        chosen.append(edit)
    return chosen


def edits_touch(a: Edit, b: Edit) -> bool:
    """Whether two edits overlap, or begin at the same place."""
    return (a.start < b.end and b.start < a.end) or a.start == b.start


_LETTERS = r"(?:[^\W_][\u0300-\u036f]*)+"  # with the marks of those that are no character of their own
_DICTIONARY_WORD = re.compile(rf"{_LETTERS}(?:[-'’_.]{_LETTERS})*")


def contains_word(text: str, words: frozenset[str]) -> bool:
    """Whether the text contains one of these words, which are case folded."""
    return not words.isdisjoint(_DICTIONARY_WORD.findall(text.casefold()))


class Offset(NamedTuple):
    """One place in a text, in every common unit: offsets from 0, line and columns from 1.

    utf8 counts bytes of UTF-8 after any byte order mark, utf16 counts code units (Java, JavaScript, editors),
    column counts code points, byte_column bytes. Lines end with LF or CRLF.
    """

    codepoint: int
    utf8: int
    utf16: int
    line: int
    column: int
    byte_column: int

    def move(self, text: str, place: int) -> Offset:
        """A later place of the same text."""
        between = text[self.codepoint : place]
        newlines = between.count("\n")
        size = len(between.encode("utf-8", "surrogatepass"))
        column, byte_column = self.column + len(between), self.byte_column + size
        if newlines:
            last = between[between.rindex("\n") + 1 :]
            column, byte_column = len(last) + 1, len(last.encode("utf-8", "surrogatepass")) + 1
        units = len(between.encode("utf-16-le", "surrogatepass")) // 2
        return Offset(place, self.utf8 + size, self.utf16 + units, self.line + newlines, column, byte_column)


START = Offset(0, 0, 0, 1, 1, 1)
STEP = 1_000  # code points between the places of a text that `Places` knows


def offsets(text: str, places: Iterable[int]) -> Iterator[Offset]:
    """The places, code points in ascending order, in every unit; linear in the length of the text."""
    at = START
    for place in places:
        at = at.move(text, place)
        yield at


class Places:
    """The places of a text in every unit, in any order: for those that are asked for one by one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.known = list(offsets(text, range(0, len(text) + 1, STEP)))

    def find(self, place: int) -> Offset:
        """One place, a code point; what is counted for it has a bound."""
        return self.known[place // STEP].move(self.text, place)


def spans(text: str, edits: Sequence[Edit], places: Places | None = None) -> Iterator[tuple[Edit, Offset, Offset]]:
    """Each edit with the offsets of its start and end; of a few edits by the `places` of their text. Raises ValueError
    as `check` does."""
    check(text, edits)
    wanted = (place for edit in edits for place in (edit.start, edit.end))
    ends = map(places.find, wanted) if places else offsets(text, wanted)
    return zip(edits, ends, ends, strict=True)
