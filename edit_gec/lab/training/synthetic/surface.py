"""Slips of the surface: spelling, case, spaces, hyphens, apostrophes, punctuation, word order, doubled and lost words.

>>> rewrite = Rewrite("After lunch, we left.")
>>> rewrite.apply(drop_comma(rewrite, Lexicon.load(), random.Random(1))), str(rewrite)
(True, 'After lunch we left.')
"""

from __future__ import annotations

import random

from edit_gec.lab.training.synthetic import confusions as c
from edit_gec.lab.training.synthetic.commas import BEFORE_AND, BEFORE_CLAUSE, INTRODUCTORY, OTHER, SERIAL, purpose
from edit_gec.lab.training.synthetic.inflections import Lexicon
from edit_gec.lab.training.synthetic.rule import Sites, from_table, rule
from edit_gec.lab.training.synthetic.sentence import Edit, Rewrite

_CONTRACTED = c.FUNCTION_WORDS | c.word_set("that let what there here")
# So frequent that they would take all the confusions.
_EVERYWHERE = c.word_set("and of to in on the for with by is was our are that it an one these this")
# Words that lean on the next: not even a careless writer puts a comma after them.
_LEANING = c.DETERMINERS | c.PREPOSITIONS | c.BE | c.MODALS | {"not", "to", "very", "so", "as", "i", "he", "they", "we"}
_AFTER_STRAY_COMMAS = c.word_set("that because if when while and or but so who which as to than")
# Leaving these out often gives good English.
_OPTIONAL = c.word_set(
    "that very much too there here own such other yes well no oh please all both more most up out down off"
)

# A shorter line without a full stop may be a heading, a greeting or a list item: no error, and none must be learnt.
SHORTEST_STOPPED = 6


# Punctuation ---------------------------------------------------------------------------------------------------------


# How readily learners lose a comma, by what it is for: coarse proportions.
_LOST_COMMAS = {INTRODUCTORY: 2.0, BEFORE_CLAUSE: 2.0, BEFORE_AND: 0.05, SERIAL: 0.05, OTHER: 1.0}


@rule(idle=1.0)
def drop_comma(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """However, he left. -> However he left."""
    for i, word in enumerate(s.words[:-1]):
        if word == "," and s.free[i]:
            yield _LOST_COMMAS[purpose(s.lows, i)], Edit(i, i + 1, "")


@rule()
def insert_comma(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I think that -> I think, that; He came and saw -> He came, and saw"""
    for i in range(2, len(s) - 1):
        low = s.lows[i]
        if not s.is_word(i) or not s.is_word(i - 1) or not s.free[i] or not s.is_word(i - 2):
            continue
        if s.lows[i - 1] in _LEANING:
            continue
        if low in _AFTER_STRAY_COMMAS:
            yield 0.3 if low in ("to", "than", "who") else 1.0, Edit(i, i, ",")
        elif low in c.BE and s.low(i - 1) in lex.nouns:
            yield 0.5, Edit(i, i, ",")
        elif s.low(i - 1) in ("and", "but", "so") and low in c.SUBJECTS:
            yield 0.4, Edit(i, i, ",")
        elif low in c.PREPOSITIONS:
            yield 0.15, Edit(i, i, ",")


def final_mark(s: Rewrite, lex: Lexicon, rng: random.Random) -> Edit | None:
    """The end lost or mistaken: Are you here? -> Are you here, Are you here."""
    i = len(s) - 1
    while i > 0 and s.words[i] in "\"'”’)":
        i -= 1
    if i < (SHORTEST_STOPPED if s.words[i] == "." else 2) or s.words[i] not in (".", "?", "!") or not s.free[i]:
        return None
    wrong = {".": ("",) * 9 + (",",), "?": (".", "", "", ""), "!": ("",)}[s.words[i]]
    return Edit(i, i + 1, rng.choice(wrong))


@rule()
def run_on(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """It rained. We left. -> It rained, we left. or It rained we left."""
    for i in range(1, len(s) - 1):
        after = s.words[i + 1]
        if not (s.words[i] == "." and s.is_word(i - 1) and after[0].isupper() and s.free[i] and s.free[i + 1]):
            continue
        low = after.lower()
        if low in c.FUNCTION_WORDS or low in lex.adverbs or low in lex.singular:  # others may be names
            lower = after if after == "I" or after[:2] in ("I'", "I’") else after.lower()
            yield 1.5, Edit(i, i + 2, f", {lower}", True)
            yield 0.15, Edit(i, i + 2, f"; {lower}", True)
            yield 0.15, Edit(i, i + 2, f" {lower}", True)
            yield 0.2, Edit(i, i + 2, f", {after}", True)


@rule(idle=1.0)
def replace_mark(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """Inner marks: ", but" -> ". But"; ; -> ,"""
    for i in range(1, len(s) - 1):
        word = s.words[i]
        after = s.words[i + 1]
        if not s.free[i] or not s.free[i + 1]:
            continue
        if word == "," and after in ("and", "but", "so", "because", "which", "however", "then"):
            yield 0.04, Edit(i, i + 2, f". {after.capitalize()}", True)
            yield 0.01, Edit(i, i + 1, ";")
        elif word == "," and s.is_word(i + 1):
            yield 0.02, Edit(i, i + 1, ".")
            yield 0.01, Edit(i, i + 1, ";")
        elif word == ";":
            yield 4.0, Edit(i, i + 1, ",")
            yield 0.5, Edit(i, i + 1, "")
            yield 0.2, Edit(i, i + 1, ":")
        elif word == ":":
            yield 0.1, Edit(i, i + 1, ",")
            yield 0.3, Edit(i, i + 1, "")
            yield 0.2, Edit(i, i + 1, ";")
        elif word in ("—", "–", "--") and s.gaps[i] == s.gaps[i + 1] == " ":
            yield 0.8, Edit(i, i + 1, "-")


@rule()
def drop_quotes(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """One quotation mark lost."""
    for i in range(1, len(s) - 1):
        if s.words[i] in '"“”':
            yield 1.0, Edit(i, i + 1, "")


@rule()
def spacing(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """word,word and word , word"""
    for i in range(1, len(s) - 1):
        if s.words[i] in ".,;:!?" and s.gaps[i] == "" and s.gaps[i + 1] == " " and s.free[i] and s.is_word(i - 1):
            yield 1.0, Edit(i, i + 2, s.words[i] + s.words[i + 1], True)
            yield 0.7, Edit(i, i + 1, " " + s.words[i], True)
    last = len(s) - 1
    if last > 1 and s.words[last] in ".?!" and s.free[last]:
        yield 0.4, Edit(last, last + 1, " " + s.words[last], True)


# Spelling and orthography --------------------------------------------------------------------------------------------


@rule()
def apostrophe(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """don't -> dont, don t, do'nt"""
    for i, low in enumerate(s.lows):
        if (
            "'" in low[1:-1]
            and s.free[i]
            and low not in ("it's", "we're", "she'll", "he'll", "we'll", "i'll", "i'd", "we'd", "she'd")
        ):
            head, _, tail = low.partition("'")
            if tail in ("t", "re", "ve", "ll", "m", "d") or head in _CONTRACTED:
                yield 1.0, Edit(i, i + 1, head + tail)
                if tail == "t":
                    yield 0.12, Edit(i, i + 1, f"{head[:-1]}'nt")
                    yield 0.12, Edit(i, i + 1, f"{head} t")
                    yield 0.1, Edit(i, i + 1, f"{head};t")


@rule()
def case(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """The start, I, names and weekdays in lower case; a common noun capitalised."""
    for i, word in enumerate(s.words):
        if not s.free[i] or not s.is_word(i):
            continue
        low = word.lower()
        if low in ("i", "i'm", "i’m", "i've", "i’ve", "i'll", "i’ll", "i'd", "i’d") and word != low:
            yield 1.5, Edit(i, i + 1, low, True)
        elif s.starts_clause(i) and word != low:
            yield 1.0, Edit(i, i + 1, low, True)
        elif s.is_name(i) and word != low:
            yield 0.8, Edit(i, i + 1, low, True)
        elif low in lex.nouns and len(low) > 3 and low not in lex.verbs and low not in c.FUNCTION_WORDS:
            yield 0.12, Edit(i, i + 1, word.capitalize(), True)
        elif low in c.CONJUNCTIONS and s.low(i - 1) == ",":
            yield 0.15, Edit(i, i + 1, word.capitalize(), True)


@rule()
def join_or_split(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """a lot -> alot; myself -> my self; well-known -> well known; bathroom -> bath room"""
    for i, low in enumerate(s.lows):
        if not s.free[i]:
            continue
        pair = f"{low} {s.low(i + 1)}"
        if pair in c.MERGED and s.free[i + 1]:
            yield 2.0, Edit(i, i + 2, c.MERGED[pair][0])
        elif low in c.SPLIT:
            yield 1.0, Edit(i, i + 1, rng.choice(c.SPLIT[low]))
        elif "-" in low:
            yield 0.8, Edit(i, i + 1, s.words[i].replace("-", " "))
            yield 0.4, Edit(i, i + 1, s.words[i].replace("-", ""))
        elif (cut := _compound_cut(low, lex)) is not None:
            yield 1.0, Edit(i, i + 1, low[:cut] + rng.choice("  -") + low[cut:])
        elif low in lex.plural and s.low(i + 1) in lex.nouns and s.low(i - 1) in c.DETERMINERS and s.free[i + 1]:
            yield 0.1, Edit(i, i + 2, f"{s.words[i]}{rng.choice(('-', ''))}{s.words[i + 1]}")


_TAILS = c.word_set(
    "ball room time day work book house side line way land man men woman paper bell box brush cake card chair "
    "phone board top night shop store mate friend market port place ground field stick hold yard bag light table "
    "spoon fall shine"
)


def _compound_cut(word: str, lex: Lexicon) -> int | None:
    """Where a compound noun falls apart: class|room, but not gene|rations."""
    for length in (4, 3, 5, 6):
        if word[-length:] in _TAILS and word[:-length] in lex.plural and len(word) - length > 2:
            return len(word) - length
    return None


def confused_word(s: Rewrite, lex: Lexicon, rng: random.Random) -> Edit | None:
    """their -> there; then -> than; could have -> could of"""
    return from_table(c.CONFUSED, s, rng, faint=_EVERYWHERE)


def mistyped_word(s: Rewrite, lex: Lexicon, rng: random.Random) -> Edit | None:
    """in -> on, of -> if, they -> the, you -> your: a small word by a slip of the fingers"""
    return from_table(c.MISTYPED, s, rng)


def phrase(s: Rewrite, lex: Lexicon, rng: random.Random) -> Edit | None:
    """on the other hand -> in the other hand"""
    return from_table(c.PHRASE, s, rng)


# Order, doubling, loss -----------------------------------------------------------------------------------------------


@rule()
def word_order(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """What are you doing -> What you are doing; always eats -> eats always; a red car -> a car red"""
    for i in range(len(s) - 2):
        one, two, three = s.lows[i : i + 3]
        if not (s.free[i] and s.free[i + 1] and s.is_word(i + 1)):
            continue
        a = s.words[i]
        b = s.words[i + 1]
        if one in c.WH and (two in c.BE or two in c.MODALS or two in c.DO) and three in c.SUBJECTS and s.free[i + 2]:
            yield 2.0, Edit(i + 1, i + 3, f"{s.words[i + 2]} {b}", True)
        elif one in c.WH and two in c.SUBJECTS and three in c.BE and s.free[i + 2] and i > 0:
            yield 2.0, Edit(i + 1, i + 3, f"{s.words[i + 2]} {b}", True)
        elif (one in c.ADVERBS or one.endswith("ly")) and lex.slot(two, 0) is not None and i > 0:
            yield 0.8, Edit(i, i + 2, f"{b} {a}", True)
        elif one in ("is", "are", "was", "were", "can", "will", "have", "has") and two in c.ADVERBS and i > 0:
            yield 0.8, Edit(i, i + 2, f"{b} {a}", True)
        elif one in lex.grades and two in lex.nouns and one not in c.FUNCTION_WORDS and i > 0 and one not in lex.nouns:
            yield 0.4, Edit(i, i + 2, f"{b} {a}", True)
        elif one in ("so", "very", "too", "only", "also", "even", "still", "not") and s.is_word(i + 1) and i > 0:
            yield 0.3, Edit(i, i + 2, f"{b} {a}", True)


@rule()
def double_word(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """the -> the the"""
    for i, low in enumerate(s.lows):
        if s.free[i] and s.is_word(i) and low not in ("that", "had", "very"):
            yield 1.0 if low in c.FUNCTION_WORDS else 0.2, Edit(i, i + 1, f"{s.words[i]} {low if low != 'i' else 'I'}")


@rule()
def drop_word(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """Any word whose loss shows, left out in a hurry."""
    for i in range(1, len(s) - 1):
        if s.free[i] and s.is_word(i) and s.is_word(i + 1):
            needed = s.lows[i] in c.FUNCTION_WORDS and s.lows[i] not in c.ADVERBS and s.lows[i] not in _OPTIONAL
            if needed or s.lows[i] in lex.plural or s.lows[i] in lex.verbs:
                yield 1.0 if needed else 0.2, Edit(i, i + 1, "")
