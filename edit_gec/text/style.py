"""Edits that are a matter of style in a document, or that turn its meaning around: they are not made.

    they occupy it        -> occupys          no word
    it is useless         -> useful           the opposite
    an e-mail, reuse      -> email, re-use    both are right
    the filesystem        -> file system      a compound in two words
    of the Company        -> company          an institution, in a contract or a report
    (35 %)                -> (35 %).          a full stop behind a bracket
    let i be the number   -> me               a variable

    you don’t know        -> don't            another apostrophe
    see [the list](a.md)  -> [the list.](a)   a full stop in or behind markup at the end of a block
    process  ID           -> process -  ID    a mark in a wide gap
    docs: name the option -> Docs:            what a subject is about
    these also run        -> runs             a plural subject, also one of two names: "a and b are"
    bugs that need fixing -> to fix           both are right
    double or single quotes -> a single       before a plural
    Return the list       -> Returns          what a description begins with
    # find longest match  -> the longest      an article, the first capital or a dash in a comment of code
    * Fix crash in parser -> the parser       an article in a list item, heading or table cell without a subject
    fix the build by @ann -> built            a word before the name of its author
    run --help            -> --help()         brackets

A line that is taken by itself has no document around it: there only the first seven and brackets are style.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from edit_gec.text.edits import Edit
from edit_gec.text.sentences import Sentence
from edit_gec.text.words import WORD

TITLE = 72  # characters of a block that may be a title
# Log-odds that an edit needs in addition where writers choose.
CHOICE = 0.9
REWORDED = 0.3
COMMA = 0.15
_QUOTES = str.maketrans("’‘ʼ“”´`", "''" + "'" + '""' + "''")
_END_MARKS = frozenset(".!?")
_MARKS = frozenset(".,;:!?-–—")
_BRACKETS = frozenset("()[]{}<>")
_SMALL_WORDS = frozenset(  # a word that holds one is written apart: "infact", "eachother", "aswell"
    "a about after again all an and any as at be before by can do each else even ever every for from had has have "
    "he high how i if in is it just least less lot many may more most much my no not now of off on one or other our "
    "out over school so some such than that the their them then there they this though through time times to too under "
    "up us very was way we well what when where while who will with you your".split()
)
_SWAPPED = frozenset(  # small words that writers choose among; a corrector seldom knows better in an edited text
    "the a this that which what in inside within on at to too into of for from with by about as like can could will "
    "would may might shall should is was".split()
)
_ADDED = frozenset("of to in on at for with by from as do does is are be it that which they we you he she".split())
_CONFUSED = frozenset(  # "are", "its", "than": what they become is one of them
    "a an the is are was were has have had do does did its their there they your you whose than then to too of off "
    "lose loose affect effect quite quiet".split()
)
_SUBJECTS = frozenset(  # what whole sentences begin with, and notes do not
    "a an the this that these those i you he she it we they there here my your his her its our their each every some "
    "if when while because although since after before".split()
)
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_PLURAL_SUBJECT = re.compile(
    r"(?:(?P<before>\w+)\s+)?\b(?P<subject>these|those|they|we|you|I)"
    r"(?:\s+(?:also|always|never|often|usually|only|still|just|then|now|both|all))?\s+\Z",
    re.IGNORECASE,
)
_TWO_NAMES = re.compile(
    r"[\w`*.()]+\s+and\s+(?!(?:it|he|she|this|that|there|(?:every|some|any|no)(?:one|body|thing))\b)[\w`*.()-]+\s+\Z",
    re.IGNORECASE,
)
_PREPOSITIONS = frozenset("of to for by with in on at from among like about".split())
_NEEDS = re.compile(r"\b(?:needs?|needed|requires?|worth)\s+\Z")
_PLURAL_PHRASE = re.compile(
    r"\s*(?:[a-z-]+\s+){0,2}[a-z-]+[b-hj-rtv-z]s"
    r"(?=\s*(?:[^\w\s]|\Z)|\s+(?:is|are|and|or|of|in|to|for|with|that|which|on|from)\b)"
)
_CREDIT = re.compile(r"\s+by \[?@\w")
_OBJECT = re.compile(r"\s+(?:an?|the|this|that|all|each|its|your)\b")
_TEXT = re.compile(r"\S")
_INSTITUTIONS = frozenset(
    "Company Board Committee Council Court Department Government Agency Commission Ministry Parliament Congress Senate "
    "Church University Party Bank Fund State President Director Secretary Agreement Act Section".split()
)
_LET = re.compile(r"\b[Ll]et \Z")
_OPPOSITE = re.compile(r"(.{3,})(?:less|ful)(ly|ness)?")


def is_style(document: str, sentence: Sentence, edit: Edit, is_known: Callable[[str], bool]) -> bool:
    """Whether an edit of a sentence is one that its document is better without; `is_known` tells the words."""
    old, new = edit.original, edit.replacement
    is_part = document[edit.end : edit.end + 1] in ("'", "’")  # of "doesn't"
    if (not is_part and _invents(old, new, is_known)) or _is_opposite(old, new):
        return True
    if not old.strip() and new.strip() and _BRACKETS.issuperset(new.strip()):
        return True
    if _splits_compound(old, new) or _differs_by_hyphen(old, new) or (old in _INSTITUTIONS and new == old.lower()):
        return True
    before = document[max(0, edit.start - 5) : edit.start]
    if not old.strip() and new.strip() in _END_MARKS and before[-1:] in (")", "]"):
        return True
    if len(old) == 1 and old.islower() and new != "an" and _LET.search(before):
        return True
    if sentence.alone:
        return False
    return (
        old.translate(_QUOTES) == new.translate(_QUOTES)
        or _is_in_wide_gap(document, edit)
        or (not old.strip() and new.strip() in _END_MARKS and _ends_block(document, sentence, edit))
        or (old.islower() and new == old.capitalize() and document[edit.end : edit.end + 1] == ":")
        or (sentence.in_code and _is_telegram(sentence, edit))
        or (_is_note(sentence) and _adds_article(edit))
        or (bool(new.strip()) and _CREDIT.match(document, edit.end) is not None)
        or _is_right_already(document, sentence, edit)
    )


def _differs_by_hyphen(old: str, new: str) -> bool:
    """Whether a hyphen behind a short prefix comes or goes: "e-mail", "co-operate"."""
    with_hyphen, without = (old, new) if "-" in old else (new, old)
    is_prefix = with_hyphen.find("-") in (1, 2) and with_hyphen[:2].casefold() not in _SMALL_WORDS
    return without.isalpha() and is_prefix and with_hyphen.replace("-", "", 1) == without


def _is_right_already(document: str, sentence: Sentence, edit: Edit) -> bool:
    """Whether grammar allows what stands there, and not what is proposed, or both."""
    old, new = edit.original.strip(), edit.replacement.strip()
    before = document[max(0, edit.start - 80) : edit.start]
    after = document[edit.end : edit.end + 80]
    if not old:
        return new in ("a", "an") and _PLURAL_PHRASE.match(after) is not None
    if old.endswith("ing") and new.startswith("to "):
        return _NEEDS.search(before) is not None
    if not (_adds_s(old, new) or _adds_s(new, old)):
        return False
    if before.rstrip().endswith(":"):
        return True  # what does it is before the colon
    if not _adds_s(old, new):
        return False
    if sentence.first and edit.start <= sentence.offsets[0]:
        return _OBJECT.match(after) is not None
    if old in _SINGULAR and _TWO_NAMES.search(before):
        return True
    subject = _PLURAL_SUBJECT.search(before)
    if subject is None or (subject["subject"] == "I" and old == "were"):
        return False
    is_object = (subject["before"] or "").lower() in _PREPOSITIONS and subject["subject"].lower() not in (
        "i",
        "we",
        "they",
    )
    return not is_object


def _is_telegram(sentence: Sentence, edit: Edit) -> bool:
    """Whether an edit asks for what comments of code leave out: articles, a first capital; or for a dash."""
    old, new = edit.original.strip(), edit.replacement.strip()
    if not old:
        return _adds_article(edit)
    is_raised = sentence.first and edit.start <= sentence.offsets[0] and old != "i" and new == old.capitalize()
    return is_raised or set(old) == {"-"}


def _is_note(sentence: Sentence) -> bool:
    """Whether a sentence begins a list item, heading or table cell of a document with markup, and has no subject, as in
    "Fix crash in parser"."""
    if sentence.unmarked or not (sentence.fragment and sentence.first):
        return False
    word = WORD.search(sentence.text)
    return word is not None and word[0].casefold() not in _SUBJECTS


def _adds_article(edit: Edit) -> bool:
    return not edit.original.strip() and edit.replacement.strip().casefold() in ("the", "a", "an")


def _adds_s(old: str, new: str) -> bool:
    """Whether a verb becomes one of the third person singular."""
    return _SINGULAR.get(old.lower()) == new.lower() or new in (f"{old}s", f"{old}es", f"{old[:-1]}ies")


def extra_odds(edit: Edit, is_known: Callable[[str], bool]) -> float:
    """The log-odds above the threshold that an edit of a document with markup needs, because writers choose there.

    In plain prose only swaps of small words need them: it may be a learner's, whose errors the other edits often
    correct (profiles/LOG.md).

    Most of them where one small word takes the place of another, "in" for "at", where one other than an article comes
    or goes, where a full stop takes the place of a comma, and where a word loses its capital. Some where a known word
    becomes another one, a few for a comma. "an" for "a" needs none, nor does what is often confused, "is" and "are",
    "its" and "it's". `is_known` tells the words.
    """
    old, new = edit.original.strip(), edit.replacement.strip()
    if not old and new == ",":
        return COMMA
    if not (old and new):
        return CHOICE if (old or new).lower() in _ADDED else 0.0
    is_stop = old[0] == "," and new[0] == "."
    is_lowered = old.istitle() and new == old.lower()
    if swaps_small_words(edit) or is_stop or is_lowered:
        return CHOICE
    is_word = old.isalpha() and new.isalpha() and old.casefold() != new.casefold()
    return REWORDED if is_word and _CONFUSED.isdisjoint((old.lower(), new.lower())) and is_known(old) else 0.0


def swaps_small_words(edit: Edit) -> bool:
    """Whether one small word takes the place of another: "in" for "at"."""
    old, new = edit.original.strip(), edit.replacement.strip()
    return old != new and _SWAPPED.issuperset((old, new))


def _invents(old: str, new: str, is_known: Callable[[str], bool]) -> bool:
    """Whether known words become one that is no word: "occupy" -> "occupys"."""
    before, after = WORD.findall(old), WORD.findall(new)
    made = [word for word in after if word.islower() and len(word) > 2 and not is_known(word) and word not in before]
    return bool(made and before) and all(map(is_known, before))


def _is_opposite(old: str, new: str) -> bool:
    """Whether "useless" becomes "useful"."""
    before, after = _OPPOSITE.fullmatch(old.strip()), _OPPOSITE.fullmatch(new.strip())
    return bool(before and after) and before.group(1) == after.group(1) and old != new  # type: ignore[union-attr]


def _is_in_wide_gap(document: str, edit: Edit) -> bool:
    """Whether a mark is written into a gap of two and more spaces, as justified lines have them."""
    new = edit.replacement.strip()
    before = document[max(0, edit.start - 1) : edit.start]
    after = document[edit.end : edit.end + 1]
    if edit.original.strip() or not new or not set(new) <= _MARKS:
        return False
    gap = sum(map(str.isspace, (before, after))) + len(edit.original)
    return gap > 1 and (bool(edit.original) or (before.isspace() and after.isspace()))


def _ends_block(document: str, sentence: Sentence, edit: Edit) -> bool:
    """Whether an end mark comes to a block whose end is markup, code or an address, or that may be a title."""
    if not sentence.last or edit.start < sentence.offsets[-2]:
        return False
    if not document[max(0, edit.start - 1) : edit.start].isalnum() or document[edit.end : edit.end + 1].strip():
        return True
    if sentence.protected and sentence.protected[-1][1] == len(sentence.text):
        return True
    begin = document.rfind("\n", 0, edit.start) + 1
    below = document.find("\n", edit.end)
    neighbours = [_line_at(document, begin - 1) if begin else "", _line_at(document, below + 1) if below >= 0 else ""]
    is_title = sentence.first and edit.start - begin < TITLE and not any(map(str.strip, neighbours))
    return is_title and bool(_TEXT.search(document, 0, begin) or _TEXT.search(document, edit.start))


def _line_at(document: str, at: int) -> str:
    """The line that a character is in."""
    end = document.find("\n", at)
    return document[document.rfind("\n", 0, at) + 1 : len(document) if end < 0 else end]


def _splits_compound(old: str, new: str) -> bool:
    """Whether a compound becomes two words, neither of them one that belongs apart."""
    parts = new.casefold().split()
    return len(parts) == 2 and "".join(parts) == old.casefold() and _SMALL_WORDS.isdisjoint(parts)
