"""Slips with verbs: form, tense, agreement; auxiliaries missing or superfluous; the wrong verb.

>>> rewrite = Rewrite("He didn't go.")
>>> rewrite.apply(verb_form(rewrite, Lexicon.load(), random.Random(5))), str(rewrite)
(True, "He didn't went.")
"""

from __future__ import annotations

import random

from edit_gec.lab.training.synthetic import confusions as c
from edit_gec.lab.training.synthetic.inflections import BASE, ING, PARTICIPLE, PAST, S_FORM, Lexicon
from edit_gec.lab.training.synthetic.rule import Sites, rule
from edit_gec.lab.training.synthetic.sentence import Edit, Rewrite

# How readily learners mistake each right form where it stands: coarse proportions, 0.4 for the others.
_AGREEING = {
    "is": 0.4, "are": 1.2, "was": 0.05, "were": 0.3, "has": 2.0, "have": 0.4, "does": 3.0, "do": 0.02, "don't": 0.1
}  # fmt: skip
_SKIPPED = c.ADVERBS | {"not"}


def _governor(s: Rewrite, i: int) -> tuple[str, int]:
    """The word before i, adverbs and "not" passed over, and its place."""
    k = i - 1
    while k > 0 and s.lows[k] in _SKIPPED:
        k -= 1
    return s.low(k), k


# The right form that another one is put for, and how often, in tenths.
_MISTAKEN_FORMS = (ING, BASE, PARTICIPLE)
_MISTAKEN_WEIGHTS = (6, 2, 2)


@rule()
def verb_form(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """to go -> to going; can sings; didn't went; has went; enjoy to read"""
    right = rng.choices(_MISTAKEN_FORMS, _MISTAKEN_WEIGHTS)[0]
    for i in range(1, len(s)):
        if not s.free[i] or s.lows[i] not in lex.verbs:
            continue
        before, k = _governor(s, i)
        for lemma, slot in lex.verbs[s.lows[i]]:
            if slot != right:
                continue
            for weight, text in _INSTEAD_OF[right](s, lex, i, before, lemma):
                yield weight, Edit(i, i + 1, text)
            if slot == BASE and before == "to" and k == i - 1 and _real_infinitive(s, lex, i) and s.free[k]:
                head = lex.lemma(s.low(i - 2))
                if head in c.INFINITIVE_VERBS or s.low(i - 2) in c.INFINITIVE_VERBS:
                    yield 1.0, Edit(k, i + 1, lex.forms[lemma][ING])
                    yield 0.8, Edit(k, i + 1, lemma)
                yield 0.4, Edit(k, i + 1, f"for {rng.choice((lemma, lex.forms[lemma][ING]))}")


def _real_infinitive(s: Rewrite, lex: Lexicon, i: int) -> bool:
    """Not "to school": a word with a noun reading must be followed by an object, a preposition or the end."""
    after = s.low(i + 1)
    return (
        s.lows[i] not in lex.nouns
        or after in c.DETERMINERS
        or after in c.OBJECTS
        or after in c.PREPOSITIONS
        or s.low(i - 2) in c.INFINITIVE_VERBS
    )


def _instead_of_base(s: Rewrite, lex: Lexicon, i: int, before: str, lemma: str) -> list[tuple[float, str]]:
    base, s_form, past, participle, ing = lex.forms[lemma]
    if before == "to" and _real_infinitive(s, lex, i):
        return [(1.4, ing), (0.5, past), (0.2, s_form)]
    if before in c.MODALS and before not in ("let's",):
        return [(0.3, s_form), (0.8, past), (0.9, ing), (0.2, f"to {base}"), (0.3, participle)]
    asks_or_denies = before in c.DO or (s.low(i - 2) in c.DO and before in c.SUBJECTS)
    if asks_or_denies and lemma not in ("do", "be"):
        past_do = "did" in before or "did" in s.low(i - 2)
        return [(3.0 if past_do else 0.5, past), (0.2 if past_do else 0.6, s_form), (0.4, ing), (0.1, f"to {base}")]
    if before in c.OBJECTS and lex.lemma(s.low(i - 2)) in ("make", "let", "help") and lemma != "be":
        return [(1.0, f"to {base}"), (0.3, s_form), (0.8, ing), (0.5, past)]
    return []


def _instead_of_ing(s: Rewrite, lex: Lexicon, i: int, before: str, lemma: str) -> list[tuple[float, str]]:
    base, _, past, _, _ = lex.forms[lemma]
    clear = _is_only_a_verb(s, lex, i)
    progressive = before in c.BE or (before in c.SUBJECTS and s.low(i - 2) in c.BE)
    if progressive and (clear or s.lows[i] not in lex.grades):
        return [(1.5, base), (0.2, past)]
    if before in c.PREPOSITIONS | {"to"} and clear and lemma != "be":
        return [(1.6, base), (0.3, f"to {base}" if before != "to" else base), (0.1, past)]
    if lex.lemma(before) in c.GERUND_VERBS and before not in c.FUNCTION_WORDS:
        return [(1.8, f"to {base}"), (1.0, base)]
    return []


def _instead_of_participle(s: Rewrite, lex: Lexicon, i: int, before: str, lemma: str) -> list[tuple[float, str]]:
    base, s_form, past, participle, ing = lex.forms[lemma]
    if before in c.HAVE and lemma not in ("have", "be"):
        return [(1.0, base), (1.2 if past != participle else 0.0, past), (0.2, ing), (0.2, s_form)]
    if before in c.BE and _is_only_a_verb(s, lex, i) and lemma != "be":
        return [(1.2, base), (0.8 if past != participle else 0.0, past), (0.3, ing)]
    if lex.is_noun_at(s, i - 1) and s.low(i + 1) in ("by", "in", "on"):
        return [(0.3, base), (0.3, ing)]
    return []


# Forms that writers put in the place of the right one, with how often; none where they hardly err.
_INSTEAD_OF = {ING: _instead_of_ing, BASE: _instead_of_base, PARTICIPLE: _instead_of_participle}


def _is_only_a_verb(s: Rewrite, lex: Lexicon, i: int) -> bool:
    return s.lows[i] not in lex.nouns and s.lows[i] not in lex.grades


@rule()
def verb_tense(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I went there yesterday. -> I go there yesterday."""
    past_setting = any(low in c.PAST_MARKERS for low in s.lows)
    for i, low in enumerate(s.lows):
        if not s.free[i]:
            continue
        if low in c.TENSE:
            yield 0.4, Edit(i, i + 1, rng.choice(c.TENSE[low]))
        elif low in lex.verbs and lex.is_verb_at(s, i):
            before, _ = _governor(s, i)
            for weight, text in _wrong_tenses(lex, low, before, past_setting):
                yield weight, Edit(i, i + 1, text)
        elif low in c.HAVE and s.free[i + 1 : i + 2] == [True] and (lemma := lex.slot(s.low(i + 1), PARTICIPLE)):
            yield 1.0, Edit(i, i + 2, lex.forms[lemma][PAST])
            yield 0.5, Edit(i, i + 2, lex.forms[lemma][BASE])
        if low in c.BE and "'" not in low and (lemma := lex.slot(s.low(i + 1), ING)) and s.free[i] and s.free[i + 1]:
            form = S_FORM if low == "is" else PAST if low in ("was", "were") else BASE
            yield 0.8, Edit(i, i + 2, lex.forms[lemma][form])


def _wrong_tenses(lex: Lexicon, low: str, before: str, past_setting: bool) -> list[tuple[float, str]]:
    found: list[tuple[float, str]] = []
    for lemma, slot in lex.verbs[low][:2]:
        base, s_form, past, participle, ing = lex.forms[lemma]
        if slot == PAST and before not in c.HAVE and before not in c.BE and base != past:
            third = before in c.SUBJECTS_SINGULAR
            found += [
                (2.0 if past_setting else 1.0, base),
                (0.3, s_form) if third or before in lex.nouns else (0.1, f"have {participle}"),
                (0.1, f"had {participle}"),
                (0.1, f"was {ing}" if before != "you" else f"were {ing}"),
            ]
        elif slot == BASE and before in c.SUBJECTS_PLURAL and base != past:
            found += [
                (0.5, past),
                (0.1, f"will {base}"),
                (0.2, f"{'am' if before == 'i' else 'are'} {ing}"),
            ]
        elif slot == S_FORM and before in c.SUBJECTS_SINGULAR:
            found += [(0.3, past), (0.2, f"is {ing}")]
    return found


@rule(idle=1.0)
def agreement(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """She goes -> She go; They are -> They is; people think -> people thinks"""
    for i, low in enumerate(s.lows):
        if not s.free[i]:
            continue
        before, k = _governor(s, i)
        if low in c.AGREEMENT and not (
            low in ("have", "do", "be") and (before in c.MODALS or before == "to" or before in c.DO)
        ):
            yield _AGREEING.get(low, 0.4), Edit(i, i + 1, rng.choice(c.AGREEMENT[low]))
            continue
        if low in c.FUNCTION_WORDS or low not in lex.verbs:
            continue
        for lemma, slot in lex.verbs[low]:
            if slot == S_FORM and (before in c.SUBJECTS or (lex.is_verb_at(s, i) and k >= 0)):
                yield 2.5 if before in c.SUBJECTS else 1.2, Edit(i, i + 1, lex.forms[lemma][BASE])
            elif (
                slot == BASE
                and lex.slot(low, PAST) is None
                and s.low(k - 1) not in c.DO
                and s.low(k - 1) not in c.MODALS
            ):
                subject = before in c.SUBJECTS_PLURAL or (
                    before in lex.singular and before not in lex.verbs and lex.is_verb_at(s, i)
                )
                if subject and lex.lemma(s.low(k - 1)) not in ("make", "let", "help", "see", "hear", "watch"):
                    yield 0.2, Edit(i, i + 1, lex.forms[lemma][S_FORM])


@rule()
def drop_verb(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """She is happy. -> She happy.; Do you like it? -> You like it?; I have been there. -> I been there."""
    for i, low in enumerate(s.lows[:-1]):
        if not s.free[i]:
            continue
        if low in ("is", "are", "was", "were", "am", "be", "been"):
            yield 1.2, Edit(i, i + 1, "")
        elif low in ("have", "has", "had") and lex.slot(s.low(i + 1), PARTICIPLE):
            yield 1.0, Edit(i, i + 1, "")
        elif low in ("do", "does", "did") and s.low(i + 1) in c.SUBJECTS:
            yield 1.0, Edit(i, i + 1, "")
        elif low in ("will", "would", "can", "could"):
            yield 0.15, Edit(i, i + 1, "")
        elif low in ("he's", "she's", "it's", "they're", "we're", "you're", "i'm", "there's"):
            yield 0.5, Edit(i, i + 1, low.split("'")[0] if low != "i'm" else "I")
        elif low in ("have", "make", "get", "go", "do", "take", "use") and s.low(i - 1) in ("to", *c.MODALS):
            yield 0.15, Edit(i, i + 1, "")


@rule()
def insert_verb(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """I agree. -> I am agree.; He went -> He was went"""
    for i in range(1, len(s)):
        low = s.lows[i]
        before = s.lows[i - 1]
        if (
            low in c.FUNCTION_WORDS
            or low not in lex.verbs
            or before not in c.SUBJECTS_SINGULAR | c.SUBJECTS_PLURAL
            or s.low(i - 2) in c.DO | c.MODALS | c.BE
        ):
            continue
        past = lex.slot(low, PAST) is not None
        be = ("was" if past else "am") if before == "i" else ("is" if before in c.SUBJECTS_SINGULAR else "are")
        be = {"is": "was", "are": "were"}.get(be, be) if past else be
        yield 2.0 if low in ("agree", "like", "want", "need") else 0.1 if past else 0.6, Edit(i, i, be)
        yield 0.1, Edit(i, i, "has" if before in c.SUBJECTS_SINGULAR else "have")


@rule()
def wrong_verb(s: Rewrite, lex: Lexicon, rng: random.Random) -> Sites:
    """do homework -> make homework; said -> told: another verb in the same form"""
    for i, low in enumerate(s.lows):
        if not s.free[i] or low in c.FUNCTION_WORDS - {"do", "have"} or low not in lex.verbs:
            continue
        if low in ("do", "have") and s.low(i - 1) not in ("to", *c.MODALS):
            continue
        lemma, slot = lex.verbs[low][0]
        if lemma in c.VERB and (low not in lex.nouns or lex.is_verb_at(s, i)):
            other = rng.choice(c.VERB[lemma])
            head, _, rest = other.partition(" ")
            if head in lex.forms:
                yield 1.0, Edit(i, i + 1, f"{lex.forms[head][slot]} {rest}".strip())
