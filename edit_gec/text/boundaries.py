"""Sentence boundaries inside one paragraph, for English as learners write it.

    "By 5 p.m. we met Dr. Hay. it was late.Then we slept."
    ->  By 5 p.m. we met Dr. Hay. | it was late. | Then we slept.

A stop ends a sentence unless what stands before it (title, abbreviation, initial, list number) or after it says
otherwise. Two things differ from splitters for edited text: a lower-case letter may begin a sentence ("late. i"), and
a missing space is forgiven where a plain word meets a capitalised one ("home.Then", but not "node.Js").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from edit_gec.text.markup import PROTECTED
from edit_gec.text.protected import STARTERS

_STOP = re.compile(r"([.!?…]+|[。！？｡]+)([\"'”’»)\]]*)")
_NEXT = re.compile(r"\s*[\"'“‘«(\[¿¡–—-]{0,3}\s?([^\W_]{0,20})")
_OPENING = "\"'“‘«(["

# Never the end of a sentence; before a number only ("No. 5", but "I said no. He left."); the end of one only where
# the next word is a typical beginning ("Acme Inc. The", but "Acme Inc. Berlin"), or any capital (etc., p.m.).
_NEVER = frozenset(
    "mr mrs ms mx dr prof rev hon gen col lt sgt capt maj cmdr adm gov sen rep pres messrs mme mlle fr mt ft e.g i.e "
    "eg ie cf vs viz ca approx esp incl resp".split()
)
_BEFORE_NUMBER = frozenset("no nos fig figs p pp vol vols sec ch chap art eq eqs ed tab para par nr op".split())
_SELDOM = frozenset(
    "inc ltd co corp jr sr st ave blvd rd dept univ assn bros est ph.d m.d b.a m.a b.sc m.sc ph d.c jan feb apr jun "
    "jul aug sept oct nov dec mon tue tues thu thur thurs fri al ext tel max min avg misc govt gmbh".split()
)
_BEFORE_CAPITAL = frozenset("etc a.m p.m am pm b.c a.d bc ad".split())
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LAST_WORD = re.compile(r"(?:^|[\s\"'“‘(,])([^\W\d_]+(?:['’][^\W\d_]+)?)$")
_NEXT_WORD = re.compile(r"([^\W\d_]{1,30})(?:['’][^\W\d_]{1,30})?(?=[\s,;!?]|$|\.(?:\s|$))")
LONGEST = 50_000  # characters of a sentence; the model reads windows of some 500
_LOOK_BACK = 40  # characters; no abbreviation is longer


def boundaries(view: str, flags: bytearray) -> Iterator[int]:
    """Ends of sentences in `view`, in order, the end of the paragraph last. None is longer than LONGEST."""
    start = 0
    for end in _find_ends(view, flags):
        while end - start > LONGEST:
            gap = view.rfind(" ", start + LONGEST // 2, start + LONGEST)
            start = gap + 1 if gap >= 0 else start + LONGEST
            yield start
        start = end
        yield end


def _find_ends(view: str, flags: bytearray) -> Iterator[int]:
    start = 0
    last = len(view)
    while last and not view[last - 1].isalnum():
        last -= 1  # quotes and dashes at the end are no sentence
    for stop in _STOP.finditer(view, 0, last):
        if stop.end() < last and _ends_sentence(view, flags, start, stop):
            yield stop.end()
            start = stop.end()
            while start < len(view) and view[start].isspace():
                start += 1
    yield len(view)


def _ends_sentence(view: str, flags: bytearray, start: int, stop: re.Match[str]) -> bool:
    at = stop.start()
    end = stop.end()
    marks = stop[1]
    closing = stop[2]
    if flags[at] & PROTECTED or at == start:
        return False
    if marks[0] in "。！？｡":
        return True
    head = view[max(start, at - _LOOK_BACK) : at]
    if not view[end].isspace():
        return not closing and len(set(marks)) == 1 and _is_missing_space(head, view, end)
    following = _NEXT.match(view, end)
    word = following[1] if following else ""
    if closing and (word[:1].islower() or head[-1:] == "("):  # "Really?" he asked; he came (?) late
        return False
    if "!" in marks or "?" in marks:
        return True
    if marks != ".":
        return not word[:1].islower() and word != "I"  # well... maybe
    return is_full_stop(head, word, len(head) == at - start)


def is_full_stop(head: str, word: str, whole: bool) -> bool:
    """Does the stop between `head`, which is not empty, and `word` end a sentence? `whole`: head is all of the sentence
    so far."""
    last = "" if head[-1:].isspace() else head.split()[-1].lstrip(_OPENING)
    key = last.lower()
    if last.isdigit() and whole and len(head.strip()) == len(last):
        return False  # "1. First"
    if len(last) == 1 and last.isupper():
        return word in STARTERS  # an initial, a class, a plan
    if key in _NEVER:
        return False
    if key in _BEFORE_NUMBER:
        return not word[:1].isdigit()
    if key in _BEFORE_CAPITAL:
        return word[:1].isupper()
    if key in _SELDOM or _ACRONYM.fullmatch(last):
        return word in STARTERS
    if word[:1].islower() and last.isalpha() and last.isascii() and len(last) < 6:
        return any(vowel in key for vowel in "aeiouy")  # "blvd. near" is an abbreviation that we have not listed
    return True


def _is_missing_space(head: str, view: str, end: int) -> bool:
    left = _LAST_WORD.search(head)
    right = _NEXT_WORD.match(view, end)
    if left is None or right is None or len(left[1]) < 2 or not left[1].islower():
        return False
    word = right[1]
    return word in STARTERS or (len(word) > 2 and word[0].isupper() and word[1:].islower())
