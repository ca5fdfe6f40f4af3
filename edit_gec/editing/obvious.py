"""Errors that are found without the model: it need not doubt them.

    "the best best of them"     best            a word stands twice
    "the seccond of them"       second          a misspelling that is listed
    "a preprocssor is"          preprocessor    one letter from a long word that the document has elsewhere
    "my phone.It is new."       phone. It       two sentences
    "the end is near."          The             a line that is a whole sentence
    "with baited breath"        bated breath    what a sure rule finds, in any text

In documents that people keep, a word that stands twice is nearly always an error, unless it is one that may ("gave her
her", "log in in"). So is an unknown word that stands once or twice and is a listed misspelling, or a letter away from a
long one that the document has. Names, compounds, other languages and words of the trade ("ctime") are left alone.

A line that is taken by itself has no document. There only the model decides, except that a line which starts with a
small word and ends like a sentence starts with a capital. Lists and tables of documents start as they like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from edit_gec.rules.doubled import DOUBLE, may_stand_twice
from edit_gec.rules.engine import find_rules
from edit_gec.rules.usage import HABIT, count_word
from edit_gec.text.edits import Change, Provenance, count_shared_ends
from edit_gec.text.protected import STARTERS
from edit_gec.text.sentences import Sentence

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList

# Confidence: how often such edits are right in edited documents.
DOUBLED = 0.95
RULE = 0.95
SLIP = 0.8
START = 0.9  # that of the capital, in lines
EVERYDAY = 0.6  # share of common words in such a line: it is English, and no code
# Highest cost of a candidate (lexicon.py):
NEAR = 2.75  # of a listed one
NEAR_OWN = 3.1  # of one that the document has
LONG = 7  # letters of that, at least: "ctime" is not "time", "shopt" not "short"
MANY_UNKNOWN = 0.2  # share of unknown words in a sentence of another language, or full of names
_TWICE = re.compile(r"(?<![\w'’.@/\\-])(?P<word>[A-Za-z][a-z]+)(?P<again>(?: (?i:(?P=word)))+)(?![\w'’/(@-]|\.\w)")
_WORD = re.compile(r"(?<![\w'’@/\\.-])[a-z]{5,24}(?![\w'’@/\\(=-]|\.\w)")
_CAPITALS = frozenset("The In Of To And Is It If This For On With We You There".split())  # words that are no names
_START = re.compile(
    r"\s*(the|this|that|these|those|and|but|so|for|in|we|he|she|it|they|you|my|his|her|our|their|there|if|when"
    r"|because|as|"
    r"on|at|by|with|an?|also|then|some|many|most|i(?! (?:is|be|and|or)\b)) (?:[A-Za-z'’-]+,? ){2}"
    r"[^()\[\]{}<>=+*/\\|_]*[.!?]\s*"
)
_LAST = re.compile(r"(?<![\w.@/-])([a-z]{2,})[.!?]\Z")  # "phone.It is new"
_NEXT = re.compile(r"([A-Z][a-z]*)(?:['’][a-z]{1,2})?(?:,| (?=[a-z]|I\b))")
_PREFIXED = re.compile("(?:un|re|pre|non|sub|multi|micro|over|under|down)([a-z]{5,})")
_ENDING = re.compile("s|es|d|ed|r|er|ers|or|ing|y|ly|al")


def find_obvious(text: str, sentence: Sentence, words: WordList) -> Iterator[Change]:
    """What sure rules find in a sentence of the text, and its doubled and misspelt words; of a line, the first word
    without a capital. In order."""
    found = [*_apply_rules(sentence)]
    if sentence.alone:
        found += _find_small_start(text, sentence, words)
    else:
        found += [*_find_doubled(sentence, words), *_find_slips(text, sentence, words)]
        found += _find_missing_space(text, sentence, words)
    yield from sorted(found)


def _apply_rules(sentence: Sentence) -> Iterator[Change]:
    for start, end, texts, *_ in find_rules(sentence.text, sure=True):
        if _is_free(sentence, start, end):
            yield Change(start, end, texts[0], RULE, Provenance.RULE)


def _find_small_start(text: str, sentence: Sentence, words: WordList) -> Iterator[Change]:
    start = _START.fullmatch(sentence.text)
    if start is None or words.common_share(sentence.text) < EVERYDAY:
        return
    line = text[text.rfind("\n", 0, sentence.offsets[0]) + 1 : sentence.offsets[0]]  # before the sentence
    if not line.strip() and _is_free(sentence, *start.span(1)):
        yield Change(*start.span(1), start[1].capitalize(), START, Provenance.RULE)


def _find_doubled(sentence: Sentence, words: WordList) -> Iterator[Change]:
    for found in _TWICE.finditer(sentence.text):
        word = found["word"]
        is_word = (word.islower() or word in _CAPITALS) and words.knows(word) and found["again"].islower()
        is_pair = found["again"].count(" ") == 1 or word.lower() in DOUBLE  # "very very very", but not "in in in"
        twice = is_pair and may_stand_twice(word.lower(), sentence.text, found.start())
        if is_word and not twice and _is_free(sentence, *found.span()):
            yield Change(*found.span("again"), "", DOUBLED, Provenance.RULE)


def _find_missing_space(text: str, sentence: Sentence, words: WordList) -> Iterator[Change]:
    """The space between two sentences, where it is missing: neither of them holds the place."""
    end = sentence.offsets[-1]
    last, following = _LAST.search(sentence.text), _NEXT.match(text, end)
    if last is None or following is None or sentence.in_code or not words.knows(last[1]):
        return
    if following[1] in STARTERS:
        yield Change(len(sentence.text), len(sentence.text), " ", DOUBLED, Provenance.RULE)


def _find_slips(text: str, sentence: Sentence, words: WordList) -> Iterator[Change]:
    unknown = [found for found in _WORD.finditer(sentence.text) if not words.knows(found[0])]
    if len(unknown) > 1 and len(unknown) > MANY_UNKNOWN * (sentence.text.count(" ") + 1):
        return
    for found in unknown:
        right = _correct(text, found[0], words, 1 if sentence.in_code else HABIT - 1)
        if right and _is_free(sentence, *found.span()):
            yield Change(*found.span(), right, SLIP, Provenance.RULE)


def _correct(text: str, word: str, words: WordList, most: int) -> str | None:
    """The word that was meant by one that stands at most so often in the text; None where that is not obvious."""
    is_made = words.is_compound(word) or _is_prefixed(word, words)
    candidates = words.candidates(word) if count_word(word, text) <= most and not is_made else []
    if not candidates:
        return None
    cost, right, listed = candidates[0]
    is_own = len(right) >= LONG and right[0] == word[0] and count_word(right, text) > 0
    is_near = (listed and cost <= NEAR) or (is_own and cost <= NEAR_OWN)
    return right if is_near and right.isalpha() and not _is_inflected(word, right) else None


def _is_prefixed(word: str, words: WordList) -> bool:
    """Whether a prefix stands before a known word: "unrounded"."""
    found = _PREFIXED.fullmatch(word)
    return found is not None and words.knows(found[1])


def _is_inflected(word: str, other: str) -> bool:
    """Whether two words differ by an ending only: "unquotes", "whitespaces" are words of the trade."""
    stem, _ = count_shared_ends(word, other)
    return all(not ending or _ENDING.fullmatch(ending) for ending in (word[stem:], other[stem:]))


def _is_free(sentence: Sentence, start: int, end: int) -> bool:
    return all(stop <= start or end <= begin for begin, stop in sentence.protected)
