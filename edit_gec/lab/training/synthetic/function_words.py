"""Slips with determiners, prepositions, pronouns, conjunctions and other small words.

>>> rewrite = Rewrite("She listens to music.")
>>> rewrite.apply(drop_preposition(rewrite, Lexicon.load(), random.Random(1))), str(rewrite)
(True, 'She listens music.')
"""

from __future__ import annotations

import random

from edit_gec.lab.training.synthetic import confusions as c
from edit_gec.lab.training.synthetic.inflections import ING, Lexicon
from edit_gec.lab.training.synthetic.rule import Sites, from_table, rule
from edit_gec.lab.training.synthetic.sentence import Edit, Rewrite


def _article_for(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"


# Determiners ---------------------------------------------------------------------------------------------------------


@rule()
def drop_determiner(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I saw a dog. -> I saw dog."""
    for i, low in enumerate(s.lows[:-1]):
        if not s.free[i] or not s.is_word(i + 1):
            continue
        if low in ("a", "an"):
            yield 0.3 if s.low(i + 1) in ("few", "little", "lot") else 1.0, Edit(i, i + 1, "")
        elif low == "the":
            plain_plural = s.low(i + 1) in lex.singular
            yield 0.35 if plain_plural or s.words[i + 1][0].isupper() else 0.9, Edit(i, i + 1, "")
        elif low in c.POSSESSIVES and s.low(i + 1) in lex.plural and low != "her":
            yield 0.15, Edit(i, i + 1, "")


@rule()
def insert_determiner(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I like music. -> I like the music."""
    for i, low in enumerate(s.lows):
        if not _determiner_could_stand(s, lex, i):
            continue
        before = s.low(i - 1)
        if low in c.GENERIC_NOUNS and (i > 0 or s.low(i + 1) not in lex.nouns):
            yield 1.0, Edit(i, i, "the")
            if low in c.MASS_NOUNS and s.low(i + 1) not in lex.nouns:
                yield 0.4, Edit(i, i, _article_for(low))
        elif low in lex.singular and lex.is_noun_at(s, i):
            yield 0.6, Edit(i, i, "the" if rng.random() < 0.7 else _article_for(low))
        elif low in lex.grades and before in c.BE and s.low(i + 1) in ".,!?" and low not in c.FUNCTION_WORDS:
            yield 0.3, Edit(i, i, _article_for(low))
        elif (
            low in lex.grades
            and s.low(i + 1) in lex.singular
            and s.low(i + 1) not in lex.verbs
            and low not in c.FUNCTION_WORDS
        ):
            yield 0.5, Edit(i, i, _article_for(low) if rng.random() < 0.4 else "the")
        elif i > 0 and s.is_name(i) and s.low(i - 1) in c.PREPOSITIONS:
            yield 0.2, Edit(i, i, "the")


def _determiner_could_stand(s: Rewrite, lex: Lexicon, i: int) -> bool:
    """Whether nothing before the word or in it rules a determiner out, for learners as well."""
    low = s.lows[i]
    before = s.low(i - 1)
    if before in c.DETERMINERS or before in c.PLURAL_CUES or before.endswith("'s") or not s.free[i]:
        return False
    if before in lex.grades and before not in lex.verbs:
        return False
    if before in lex.nouns and before not in c.FUNCTION_WORDS and before not in lex.verbs:
        return False
    return not (low in c.PLURAL_CUES or (low in lex.verbs and before in c.MODALS | {"to"}) or before in lex.graded)


def replace_determiner(s: Rewrite, lex: Lexicon, rng: random.Random) -> Edit | None:
    """these books -> this books; many people -> much people"""
    return from_table(c.DETERMINER, s, rng, faint=("the", "a", "that", "all"))


# Learners' share of each (wrong, right), in tenths.
_ARTICLES = (("the", ("a", "an")), ("a", ("the",)))
_ARTICLE_WEIGHTS = (6, 4)


@rule()
def replace_article(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I saw a dog. -> I saw the dog.; the sun -> a sun"""
    wrong, right = rng.choices(_ARTICLES, _ARTICLE_WEIGHTS)[0]
    for i, low in enumerate(s.lows):
        if low in right and s.free[i] and s.is_word(i + 1):
            if wrong == "the":
                few = low == "an" or s.lows[i + 1] in ("lot", "few", "little")
                yield 0.3 if few else 1.0, Edit(i, i + 1, wrong)
            elif s.lows[i + 1] in lex.plural or (s.lows[i + 1] in lex.grades and s.lows[i + 1][0] not in "aeiou"):
                yield 1.0, Edit(i, i + 1, _article_for(s.lows[i + 1]))


@rule(idle=1.0)
def a_or_an(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """an apple -> a apple; a book -> an book, which is rarer"""
    for i, low in enumerate(s.lows):
        if low in ("a", "an") and s.free[i] and s.is_word(i + 1):
            yield (1.0, Edit(i, i + 1, "a")) if low == "an" else (0.15, Edit(i, i + 1, "an"))


# How readily learners lose or mistake each preposition where it stands, and which they add: coarse proportions.
_DROPPED = {
    "to": 0.6, "of": 0.3, "for": 0.8, "in": 0.4, "with": 0.5, "by": 1.0, "on": 0.4, "about": 3.0, "at": 0.6, "from": 0.4
}  # fmt: skip
_REPLACED = {
    "in": 0.9, "on": 2.5, "at": 4.0, "to": 0.9, "for": 1.4, "of": 0.4, "with": 0.6, "from": 0.5, "about": 1.0,
    "by": 0.5, "into": 0.5, "during": 0.5, "since": 0.5
}  # fmt: skip

# Prepositions --------------------------------------------------------------------------------------------------------


def _is_infinitive(s: Rewrite, lex: Lexicon, i: int) -> bool:
    """Is the `to` at i the mark of an infinitive?"""
    after = s.low(i + 1)
    if after in ("be", "have", "do", "not"):
        return True
    return s.low(i) == "to" and lex.slot(after, 0) is not None and after not in c.FUNCTION_WORDS


def _governed(s: Rewrite, lex: Lexicon, i: int) -> tuple[str, ...] | None:
    """The wrong prepositions for a preposition at i whose head comes just before it, or one word further."""
    low = s.low(i)
    for head in (s.low(i - 1), s.low(i - 2)):
        for form in (head, lex.lemma(head)):
            if (wrong := c.GOVERNED.get(f"{form} {low}")) is not None:
                return wrong
    return None


@rule(idle=1.0)
def replace_preposition(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """He depends on her. -> He depends of her."""
    for i, low in enumerate(s.lows):
        if low not in c.PREPOSITION or not s.free[i] or i + 1 == len(s):
            continue
        if low == "to" and _is_infinitive(s, lex, i):
            if rng.random() < 0.15:
                yield 0.3, Edit(i, i + 1, "for")
            continue
        wrong = _governed(s, lex, i)
        if wrong is not None:
            other = rng.choice(wrong).replace("-", "") or rng.choice(c.PREPOSITION[low])
            yield 3.0 * _REPLACED.get(low, 0.5), Edit(i, i + 1, other)
        else:
            yield _REPLACED.get(low, 0.3), Edit(i, i + 1, rng.choice(c.PREPOSITION[low]))


@rule(idle=1.0)
def drop_preposition(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I listen to music on Mondays. -> I listen music on Mondays."""
    for i, low in enumerate(s.lows):
        if low not in c.PREPOSITIONS or not s.free[i] or not s.is_word(i + 1) or i == 0:
            continue
        weight = _DROPPED.get(low, 0.0)
        if low == "to" and _is_infinitive(s, lex, i):
            weight *= 0.8
        elif (wrong := _governed(s, lex, i)) is not None:
            weight = max(weight, 0.5) * (4 if "-" in wrong else 1)
        elif s.lows[i + 1] in c.WEEKDAYS_MONTHS:
            weight *= 2
        if weight:
            yield weight, Edit(i, i + 1, "")


@rule(idle=1.0)
def insert_preposition(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """We discussed the plan. -> We discussed about the plan.; He went home. -> He went to home."""
    for i in range(1, len(s)):
        low = s.lows[i]
        before = s.lows[i - 1]
        if low in c.MOTION_WITHOUT_TO and lex.lemma(before) in ("go", "come", "get", "return", "arrive", "travel"):
            yield 3.0, Edit(i, i, "to")
        elif before not in c.FUNCTION_WORDS and (low in c.DETERMINERS or low in c.OBJECTS or s.is_name(i)):
            yield from _before_an_object(lex, rng, i, before)
        elif (
            low in ("yesterday", "today", "tomorrow", "last", "next", "every")
            and s.is_word(i - 1)
            and before not in c.FUNCTION_WORDS
        ):
            yield 1.0, Edit(i, i, rng.choice(("in", "in", "in", "on", "at")))
        elif before in ("all", "both", "many", "some", "most") and (low in lex.singular or low in c.DETERMINERS):
            yield 0.4, Edit(i, i, "of")
        elif before in ("must", "can", "should", "could", "might", "may") and lex.slot(low, 0):
            yield 0.3, Edit(i, i, "to")
        elif before in ("make", "makes", "made", "let", "lets") and low in c.OBJECTS and lex.slot(s.low(i + 1), 0):
            yield 2.0, Edit(i + 1, i + 1, "to")
        elif before == "near":
            yield 1.0, Edit(i, i, rng.choice(("to", "of")))


def _before_an_object(lex: Lexicon, rng: random.Random, i: int, verb: str) -> Sites:
    """Prepositions between a verb and its object: those that go with this verb, else any."""
    wrong = c.INTRUSIVE.get(lex.lemma(verb))
    if wrong is not None and verb in lex.verbs:
        yield 2.5, Edit(i, i, rng.choice(wrong))
    elif lex.slot(verb, ING) is not None:
        yield 0.4, Edit(i, i, rng.choice(("of", "in", "in", "for")))
    elif verb in lex.verbs and verb not in lex.nouns and verb not in lex.grades:
        yield 1.5, Edit(i, i, rng.choice(c.STRAY["any"]))


# Pronouns, conjunctions, other small words -------------------------------------------------------------------------


@rule()
def replace_pronoun(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """the man who -> the man which; They like it. -> Them like it."""
    for i, low in enumerate(s.lows):
        if low in c.PRONOUN and s.free[i] and not (low == "that" and s.low(i - 1) not in lex.nouns):
            weight = 0.2 if low in ("it", "what", "one", "that") else 1.0
            yield weight, Edit(i, i + 1, rng.choice(c.PRONOUN[low]))


@rule()
def drop_pronoun(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I think it is late. -> I think is late.; the man who lives here -> the man lives here"""
    for i, low in enumerate(s.lows[:-1]):
        if not s.free[i]:
            continue
        after = s.low(i + 1)
        if low in ("it", "he", "she", "they", "we", "i", "you", "there") and (
            after in c.BE or after in lex.verbs or after in c.MODALS
        ):
            yield 2.0 if low in ("it", "there") else 0.8, Edit(i, i + 1, "")
        elif low in c.OBJECTS and lex.lemma(s.low(i - 1)) in lex.forms and s.low(i - 1) not in c.BE:
            yield 0.8, Edit(i, i + 1, "")
        elif (
            low in ("who", "which", "that", "what")
            and i > 0
            and s.low(i - 1) in lex.nouns
            and (after in lex.verbs or after in c.BE)
        ):
            yield 1.0, Edit(i, i + 1, "")


_PEOPLE = c.word_set(
    "man woman boy girl friend brother sister mother father teacher doctor son daughter wife husband boss uncle "
    "aunt child student neighbor neighbour person cousin mom dad grandmother grandfather"
)
_FINITE = c.word_set("is are was were has have had can could will would should must may doesn't don't isn't aren't")


@rule()
def insert_pronoun(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """My brother is tall. -> My brother he is tall.; the book that I read -> the book that I read it"""
    for i in range(1, len(s)):
        before = s.lows[i - 1]
        low = s.lows[i]
        if before in lex.nouns and before not in c.FUNCTION_WORDS and low in _FINITE:
            plural = before in lex.singular
            person = rng.choice(("he", "she")) if before in _PEOPLE or (i == 1 and before not in lex) else "it"
            yield 1.0, Edit(i, i, "they" if plural else person)
        elif lex.slot(before, 0) in ("know", "like", "see", "want", "do", "say", "need") and low in ".,":
            yield 0.6, Edit(i, i, "it")


def replace_conjunction(s: Rewrite, lex: Lexicon, rng: random.Random) -> Edit | None:
    """Although it rained -> Despite it rained"""
    return from_table(c.CONJUNCTION, s, rng, faint=("and", "that", "or"))


@rule()
def drop_conjunction(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """bread and butter -> bread butter"""
    for i in range(1, len(s) - 1):
        if s.lows[i] in ("and", "but", "or", "if", "because", "as", "than", "when") and s.free[i] and s.is_word(i + 1):
            yield 1.0, Edit(i, i + 1, "")


@rule()
def insert_conjunction(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """Although it rained, we went. -> Although it rained, but we went."""
    concessive = s.low(0) in ("although", "though", "because", "since", "if", "when", "as")
    for i in range(1, len(s) - 1):
        if s.words[i] == "," and s.is_word(i + 1):
            if concessive:
                yield 3.0, Edit(i + 1, i + 1, "but" if s.low(0) in ("although", "though") else "so")
            elif s.lows[i + 1] in c.SUBJECTS and i < 5:
                yield 0.3, Edit(i + 1, i + 1, rng.choice(("that", "so")))
        elif (
            s.lows[i] in c.WH
            and s.lows[i] not in ("who", "which")
            and lex.lemma(s.low(i - 1)) in ("know", "wonder", "understand", "ask", "see")
        ):
            yield 0.7, Edit(i, i, "that")


@rule()
def superfluous_word(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """He must go. -> He must to go.; despite the rain -> despite of the rain"""
    for i, low in enumerate(s.lows[:-1]):
        if low in c.SUPERFLUOUS and s.is_word(i + 1) and s.low(i + 1) not in c.SUPERFLUOUS[low]:
            yield 0.15 if low in c.EVERYWHERE else 1.0, Edit(i + 1, i + 1, rng.choice(c.SUPERFLUOUS[low]))


@rule()
def drop_small_word(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """He is as tall as me. -> He is tall as me.; only small words whose loss shows"""
    for i in range(len(s) - 1):
        if s.lows[i] in ("as", "such", "up", "been", "own", "than", "most") and s.free[i]:
            yield 1.0, Edit(i, i + 1, "")
