"""The kind of an edit in one word, from its characters alone or from its ERRANT type.

    "recieve" -> "receive"   spelling         "monday" -> "Monday"   case
    "the the" -> "the"       doubled word     "home ." -> "home."    spacing
    "go" -> "goes"           replacement      "" -> "a "             insertion

Kinds need no language pipeline, so every edit has one. `parse_names` reads the kinds and types that users switch off:
"spelling", "PUNCT", "R:DET".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from edit_gec.errors import InputError


class EditKind(str, Enum):
    """What an edit changes. As a string, it is its value."""

    SPELLING = "spelling"
    CASE = "case"
    PUNCTUATION = "punctuation"
    DOUBLED = "doubled word"
    SPACING = "spacing"
    INSERTION = "insertion"
    DELETION = "deletion"
    REPLACEMENT = "replacement"

    def __str__(self) -> str:
        return str(self.value)


NAMES = {  # ERRANT's categories, as messages say them
    "ADJ": "adjective",
    "ADJ:FORM": "form of the adjective",
    "ADV": "adverb",
    "CONJ": "conjunction",
    "CONTR": "contraction",
    "DET": "article or determiner",
    "MORPH": "form of the word",
    "NOUN": "noun",
    "NOUN:INFL": "plural form",
    "NOUN:NUM": "singular or plural",
    "NOUN:POSS": "possessive",
    "ORTH": "capitals or spaces",
    "OTHER": "wording",
    "PART": "particle",
    "PREP": "preposition",
    "PRON": "pronoun",
    "PUNCT": "punctuation",
    "SPELL": "spelling",
    "VERB": "verb",
    "VERB:FORM": "verb form",
    "VERB:INFL": "verb ending",
    "VERB:SVA": "subject-verb agreement",
    "VERB:TENSE": "verb tense",
    "WO": "word order",
}
_SAME_AS = {  # categories that are kinds, so that they need no pipeline
    "PUNCT": (EditKind.PUNCTUATION,),
    "SPELL": (EditKind.SPELLING,),
    "ORTH": (EditKind.CASE, EditKind.SPACING),
}
_SHORT = 4  # letters of a word that one slip makes another; in longer ones there may be two
_OPERATION = re.compile(r"(?:[MRU]:)?(.+)")
_SPACES = re.compile(r"[\s-]+")


def name_kind(text: str, start: int, end: int, replacement: str) -> EditKind:
    """The kind of the edit text[start:end] -> replacement."""
    old = text[start:end].strip()
    new = replacement.strip()
    if not any(map(str.isalnum, old + new)):
        return EditKind.SPACING if _join(old) == _join(new) else EditKind.PUNCTUATION
    if not old:
        return EditKind.INSERTION
    if not new:
        return EditKind.DOUBLED if _is_beside(text, start, end, old.lower()) else EditKind.DELETION
    return _kind_of_change(old, new)


def _kind_of_change(old: str, new: str) -> EditKind:
    """The kind of an edit that puts words for words."""
    lower = old.lower()
    words = new.lower().split()
    if old == new or (_join(old) == _join(new) and bare(old).split() == bare(new).split()):
        return EditKind.SPACING
    if lower == new.lower():
        return EditKind.CASE
    if lower.split() == [*words, *words]:
        return EditKind.DOUBLED
    if _strip(lower) == _strip(new.lower()):
        return EditKind.PUNCTUATION
    if bare(old) == bare(new) or is_possessive(old, new) or is_spelling(lower, new.lower()):
        return EditKind.SPELLING
    return EditKind.REPLACEMENT


def _is_beside(text: str, start: int, end: int, deleted: str) -> bool:
    """Whether what is deleted stands a second time directly before or after its place."""
    before = text[max(0, start - len(deleted) - 100) : start].rstrip().lower()
    after = text[end : end + len(deleted) + 100].lstrip().lower()
    head = before[-len(deleted) - 1 : -len(deleted)]
    tail = after[len(deleted) : len(deleted) + 1]
    return (before.endswith(deleted) and not head.isalnum()) or (after.startswith(deleted) and not tail.isalnum())


def _join(text: str) -> str:
    return "".join(text.split())


def _strip(text: str) -> str:
    """A text without the marks before and after each of its words."""
    return " ".join(re.sub(r"^\W+|\W+$", "", word) for word in text.split())


def bare(text: str) -> str:
    """A text in lower case without marks: "don’t" and "dont" are alike."""
    return re.sub(r"[^\w\s]|_", "", text).lower()


def is_possessive(old: str, new: str) -> bool:
    """Whether one is the other with the ending of a possessive."""
    longer, shorter = (old, new) if len(old) > len(new) else (new, old)
    return longer.startswith(shorter) and re.fullmatch(r"['’]s?|s['’]", longer[len(shorter) :]) is not None


def is_spelling(old: str, new: str) -> bool:
    """One word for a similar one of three letters or more, or words joined, split or hyphenated."""
    if _SPACES.sub("", old) == _SPACES.sub("", new):
        return True
    if not (old.isalpha() and new.isalpha() and min(len(old), len(new)) >= 3):
        return False
    from rapidfuzz.distance import OSA

    near = 1 if min(len(old), len(new)) <= _SHORT else 2
    return OSA.distance(old, new, score_cutoff=near) <= near and not _same_stem(old, new)


def _same_stem(a: str, b: str) -> bool:
    """Whether two words differ by an inflection alone: "walk" and "walks", "come" and "coming"."""
    head = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    endings = {"", "s", "es", "d", "ed", "ing", "e", "y", "ies", "ied", "ly", "er", "est"}
    return head >= 3 and a[head:] in endings and b[head:] in endings


# ---------------------------------------------------------------- names that users write


class Names(NamedTuple):
    """Kinds and ERRANT types that a user named."""

    kinds: frozenset[EditKind] = frozenset()
    types: frozenset[str] = frozenset()

    def union(self, other: Names) -> Names:
        """The names of both."""
        return Names(self.kinds | other.kinds, self.types | other.types)

    def include(self, kind: str | None, type: str | None) -> bool:
        """Whether an edit of this kind and type, where it has one, is among them.

        "VERB" is every "VERB:..." as well, "DET" is "M:DET", "R:DET" and "U:DET".
        """
        if kind in self.kinds:
            return True
        if type is None or not self.types:
            return False
        operation, _, category = type.partition(":")
        parts = category.split(":")
        names = {":".join(parts[: n + 1]) for n in range(len(parts))}
        return not self.types.isdisjoint({*names, *(f"{operation}:{name}" for name in names)})


def parse_names(names: Iterable[str]) -> Names:
    """Names of kinds and types, in any case. Raises InputError for one that is neither."""
    kinds: set[EditKind] = set()
    types: set[str] = set()
    for name in names:
        found = find_name(name)
        if found is None:
            known = f"a kind ({', '.join(EditKind)}) or a type of ERRANT, for instance PUNCT or R:DET"
            raise InputError(f"{name!r}: expected {known}")
        kinds |= found.kinds
        types |= found.types
    return Names(frozenset(kinds), frozenset(types))


def find_name(name: str) -> Names | None:
    """What one name means; None for one that nothing has."""
    plain = re.sub(r"[\s_-]+", " ", name.strip()).lower()
    for kind in EditKind:
        if plain == kind.value:
            return Names(frozenset([kind]))
    upper = name.strip().upper()
    matched = _OPERATION.fullmatch(upper)
    category = matched[1] if matched else ""
    if category not in NAMES:
        return None
    return Names(frozenset(_SAME_AS[upper])) if upper in _SAME_AS else Names(types=frozenset([upper]))
