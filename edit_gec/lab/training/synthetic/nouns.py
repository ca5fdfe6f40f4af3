"""Slips with nouns, adjectives and adverbs: number, possessive, comparison, word class, the wrong word.

>>> rewrite = Rewrite("I have two children.")
>>> rewrite.apply(noun_number(rewrite, Lexicon.load(), random.Random(1))), str(rewrite)
(True, 'I have two child.')
"""

from __future__ import annotations

import random

from edit_gec.lab.training.synthetic import confusions as c
from edit_gec.lab.training.synthetic.inflections import Lexicon
from edit_gec.lab.training.synthetic.rule import Sites, rule
from edit_gec.lab.training.synthetic.sentence import Edit, Rewrite

PLURAL_MISSING = 0.8  # of learners' errors of number, the rest have a plural too many


@rule()
def noun_number(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """two cats -> two cat; a cat -> a cats; information -> informations"""
    missing = rng.random() < PLURAL_MISSING
    for i, low in enumerate(s.lows):
        if missing:
            right = low in lex.singular
        else:
            right = low in c.MASS_NOUNS or (low in lex.plural and low not in lex.grades)
        if not right or not s.free[i] or s.is_name(i) or not (low in c.MASS_NOUNS or lex.is_noun_at(s, i)):
            continue
        before = s.low(i - 1)
        cue = s.low(i - 2) if before in lex.grades and before not in c.FUNCTION_WORDS else before
        if not missing and low in c.MASS_NOUNS:
            if low not in lex.verbs or before in c.DETERMINERS or before in c.PLURAL_CUES:
                yield 0.6, Edit(i, i + 1, low + "s")
        elif missing:
            weight = 1.6 if cue in c.PLURAL_CUES or before not in c.DETERMINERS else 0.4
            yield weight, Edit(i, i + 1, lex.singular[low])
        else:
            yield 1.0 if cue in c.SINGULAR_CUES else 0.25, Edit(i, i + 1, lex.plural[low])


@rule()
def noun_inflection(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """children -> childs, childrens; countries -> countrys"""
    for i, low in enumerate(s.lows):
        if low not in lex.singular or not s.free[i] or low in c.FUNCTION_WORDS:
            continue
        one = lex.singular[low]
        if not low.endswith("s"):
            yield 1.5, Edit(i, i + 1, rng.choice((one + "s", low + "s")))
        elif low != one + "s":
            yield 0.4, Edit(i, i + 1, one + "s")


@rule()
def verb_inflection(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """went -> goed; stopped -> stoped; tries -> trys"""
    for i, low in enumerate(s.lows):
        if low not in lex.verbs or not s.free[i] or low in c.FUNCTION_WORDS or low in lex.nouns:
            continue
        lemma, slot = lex.verbs[low][0]
        regular = lemma + ("d" if lemma.endswith("e") else "ed")
        wrong = {1: lemma + "s", 2: regular, 3: regular, 4: lemma + "ing"}.get(slot)
        if wrong is not None and wrong != low and wrong not in lex:
            yield 1.0, Edit(i, i + 1, wrong)


@rule()
def possessive(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """my friend's house -> my friends house, my friend house; the students are -> the student's are"""
    for i, low in enumerate(s.lows):
        if not s.free[i]:
            continue
        if low.endswith("'s") and low[:-2] not in c.FUNCTION_WORDS and low not in ("let's", "that's"):
            word = s.words[i][:-2]
            yield 1.0, Edit(i, i + 1, word + "s")
            yield 0.8, Edit(i, i + 1, word)
            yield 0.3, Edit(i, i + 1, word + "s'")
        elif low in lex.singular and low.endswith("s") and lex.is_noun_at(s, i):
            yield 0.25, Edit(i, i + 1, s.words[i][:-1] + "'s")


_NOT_COMPARED = c.word_set("more most later latter last less least other outer upper few fewer further")


@rule()
def comparison(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """easier -> more easy, more easier; more important -> importanter, important; better -> more better"""
    for i, low in enumerate(s.lows):
        if not s.free[i]:
            continue
        if (
            low in lex.graded
            and low not in _NOT_COMPARED
            and low not in lex.nouns
            and s.low(i - 1) not in ("no", "any")
        ):
            base = lex.graded[low]
            superlative = lex.grades[base][1] == low
            more = "most" if superlative else "more"
            yield 1.0, Edit(i, i + 1, f"{more} {low}")
            yield 0.8, Edit(i, i + 1, f"{more} {base}")
            yield 0.8, Edit(i, i + 1, base)
            if superlative and s.low(i - 1) == "the" and s.free[i - 1]:
                yield 0.8, Edit(i - 1, i, "")
        elif low in ("more", "most") and s.low(i + 1) in lex.grades and s.low(i + 1) not in c.FUNCTION_WORDS:
            comparative, superlative_form = lex.grades[s.low(i + 1)]
            yield 0.8, Edit(i, i + 1, "")
            yield 0.8, Edit(i, i + 1, "more" if low == "most" else "most")
            form = comparative if low == "more" else superlative_form
            if form and s.free[i + 1]:
                yield 0.8, Edit(i + 1, i + 2, form)


# Their adverbs are rare, or mean something else.
_NO_ADVERB = c.word_set(
    "several many like such certain new old young big little good late hard most first last short near"
)


@rule()
def adverb_or_adjective(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """She sings beautifully. -> She sings beautiful.; a real problem -> a really problem"""
    for i, low in enumerate(s.lows):
        if not s.free[i] or s.is_name(i):
            continue
        if low in ("well", "good", "hard", "fast", "late") and s.low(i - 1) in lex.verbs:
            yield 1.2 if low in ("well", "good") else 0.4, Edit(i, i + 1, c.IRREGULAR_ADVERBS[low])
        elif (
            low.endswith("ly") and len(low) > 4 and low not in ("only", "early", "family", "july", "reply", "friendly")
        ):
            stem = low[:-3] + "y" if low.endswith("ily") else low[:-4] if low.endswith("ically") else low[:-2]
            adjective = next((a for a in (stem, stem + "le", stem + "e") if a in lex.grades), None)
            if adjective:
                yield 1.0, Edit(i, i + 1, adjective)
        elif low in lex.grades and low not in c.FUNCTION_WORDS and low not in lex.nouns:
            adverb = low[:-1] + "ily" if low.endswith("y") else low[:-1] + "y" if low.endswith("le") else low + "ly"
            if adverb in lex.adverbs and low not in _NO_ADVERB:
                yield 0.2, Edit(i, i + 1, adverb)


@rule()
def word_class(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """a difference -> a different; very successful -> very success; of the same family, wrong class"""
    for i, low in enumerate(s.lows):
        if len(low) < 3 or not s.free[i] or s.is_name(i) or low in c.FUNCTION_WORDS or low not in lex:
            continue
        family = c.FAMILY.get(low) or lex.family(low)
        if family:
            yield 1.0, Edit(i, i + 1, rng.choice(family))


@rule()
def wrong_noun(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """an interesting trip -> an interesting travel: another noun in the same number"""
    for i, low in enumerate(s.lows):
        one = lex.singular.get(low, low)
        if one in c.NOUN and s.free[i] and (low not in lex.verbs or lex.is_noun_at(s, i)):
            other = rng.choice(c.NOUN[one])
            yield 1.0, Edit(i, i + 1, other if one == low else lex.plural.get(other, other))


@rule()
def wrong_adjective(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I am bored -> I am boring; three years ago -> three years before"""
    for i, low in enumerate(s.lows):
        if low in c.ADJECTIVE and s.free[i]:
            yield 0.3 if low in c.FUNCTION_WORDS else 1.0, Edit(i, i + 1, rng.choice(c.ADJECTIVE[low]))
