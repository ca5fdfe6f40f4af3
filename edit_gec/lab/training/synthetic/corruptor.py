"""Synthetic errors: a clean sentence in, the sentence as a learner or a hurried writer might have put it out.

    >>> Corruptor.load(None).corrupt("She has lived in Paris since 2010.", random.Random(8))
    'She has to lived at the Paris since 2010.'

    $ edit-gec corrupt prose.txt > pairs.tsv
    $ python profiles/training/error_shares.py pairs.tsv learners.m2

The number of errors is drawn first, then the type of each from a histogram like that of learners' corrected writing.
The rule of a type (verbs.py, nouns.py, function_words.py, surface.py) yields the places in the sentence where that
error is really made; one is picked (rule.py). A rule that finds no place gives way to another draw. The pair
(corrupted, clean) trains the corrector. The same random numbers give the same errors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Container, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from edit_gec.lab.training.synthetic import confusions as c
from edit_gec.lab.training.synthetic import function_words, nouns, surface, verbs
from edit_gec.lab.training.synthetic.inflections import Lexicon
from edit_gec.lab.training.synthetic.misspellings import Misspeller, read_lists, read_variants, usable_lists
from edit_gec.lab.training.synthetic.rule import Rule, Sites, pick
from edit_gec.lab.training.synthetic.sentence import Edit, Rewrite

CLEAN_SHARE = 0.12  # of sentences at the learner-like rate
MOST_ERRORS = 9
EXTRA_PER_WORD = 0.13  # mean number of errors besides the first; the shape of learners' corrected writing
ALL_LOWER_SHARE = 0.006

# How often each rule is tried for (learners, hurried native writers); spelling is drawn apart. A rule that seldom finds
# its place is tried more often: what counts is what comes out, which profiles/training/error_shares.py shows.
RULES: tuple[tuple[Rule, float, float], ...] = (
    (surface.drop_comma, 32.0, 22.0),
    (surface.insert_comma, 0.8, 1.4),
    (surface.final_mark, 1.0, 2.0),
    (surface.run_on, 150.0, 50.0),  # needs two sentences, which few units have
    (surface.replace_mark, 6.0, 4.0),
    (surface.drop_quotes, 0.4, 0.5),
    (surface.spacing, 0.8, 2.0),
    (surface.apostrophe, 1.4, 5.0),
    (surface.case, 3.2, 5.5),
    (surface.join_or_split, 1.5, 3.0),
    (surface.confused_word, 4.5, 10.0),
    (surface.mistyped_word, 0.4, 5.0),
    (surface.phrase, 5.0, 1.5),
    (surface.word_order, 5.0, 0.5),
    (surface.double_word, 1.0, 2.5),
    (surface.drop_word, 9.0, 6.0),
    (function_words.drop_determiner, 7.5, 2.0),
    (function_words.insert_determiner, 9.0, 0.8),
    (function_words.replace_determiner, 1.6, 1.4),
    (function_words.replace_article, 2.0, 0.6),
    (function_words.a_or_an, 1.5, 1.5),
    (function_words.replace_preposition, 12.0, 2.0),
    (function_words.drop_preposition, 5.0, 1.5),
    (function_words.insert_preposition, 4.0, 0.5),
    (function_words.replace_pronoun, 1.6, 0.5),
    (function_words.drop_pronoun, 2.0, 1.0),
    (function_words.insert_pronoun, 0.5, 0.1),
    (function_words.replace_conjunction, 1.4, 0.3),
    (function_words.drop_conjunction, 0.6, 0.4),
    (function_words.superfluous_word, 14.0, 2.0),
    (function_words.insert_conjunction, 1.0, 0.1),
    (function_words.drop_small_word, 0.8, 0.4),
    (verbs.verb_form, 18.0, 4.0),
    (verbs.verb_tense, 6.5, 1.2),
    (verbs.agreement, 8.0, 4.5),
    (verbs.drop_verb, 2.4, 1.5),
    (verbs.insert_verb, 0.8, 0.2),
    (verbs.wrong_verb, 4.0, 0.3),
    (nouns.noun_number, 5.5, 2.2),
    (nouns.noun_inflection, 0.5, 0.2),
    (nouns.verb_inflection, 0.5, 0.3),
    (nouns.possessive, 0.8, 2.5),
    (nouns.comparison, 1.2, 0.4),
    (nouns.adverb_or_adjective, 1.4, 0.8),
    (nouns.word_class, 0.7, 0.3),
    (nouns.wrong_noun, 3.0, 0.2),
    (nouns.wrong_adjective, 3.0, 0.6),
)
# Learners choose words that a reader notices and an annotator leaves: no error, but what errors stand among.
ODD_CHOICES: tuple[Rule, ...] = (verbs.wrong_verb, nouns.wrong_noun)
SPELLING = (3.4, 8.0)  # more than learners': it takes the most practice, and JFLEG falls with less (profiles/log)
LEARNER_SHARE = 0.8  # of sentences; the others are a hurried native's


class Corruptor:
    """Makes sentences wrong.

    `misspellings`: right word -> known misspellings; `vocabulary`: further real words, never given as a misspelling;
    `rate` multiplies the expected number of errors.
    """

    def __init__(
        self,
        misspellings: Mapping[str, Sequence[str]] | None = None,
        vocabulary: Container[str] = frozenset(),
        *,
        rate: float = 1.0,
    ) -> None:
        self.rate = rate
        self._lexicon = Lexicon.load()
        words = _Words(self._lexicon, vocabulary)
        self._misspeller = Misspeller(usable_lists(misspellings or {}, words), words)
        rules: list[Rule] = [rule for rule, _, _ in RULES] + [self._misspell]
        self._rules = rules
        learner = accumulate([weight for _, weight, _ in RULES] + [SPELLING[0]])
        hurried = accumulate([weight for _, _, weight in RULES] + [SPELLING[1]])
        self._weights = (list(learner), list(hurried))

    @classmethod
    def load(cls, spelling_dir: Path | None) -> Corruptor:
        """With the misspelling lists in `spelling_dir`, or without any.

        The folder holds misspell_main.json.xz, typos_words.csv.xz, wikipedia_list.txt and varcon.txt.xz. Raises
        InputError if one of them, or lemminflect, is missing.
        """
        if spelling_dir is None:
            return cls()
        return cls(read_lists(spelling_dir), read_variants(spelling_dir))

    def corrupt(self, sentence: str, rng: random.Random, rate: float = 1.0, *, punctuation: bool = True) -> str:
        """The sentence with errors; one in eight stays clean at rate 1. `rate` multiplies the number of errors.

        Without `punctuation` its commas stay as they are: for prose whose commas are no model.
        """
        rewrite = Rewrite(sentence)
        words = sum(map(rewrite.is_word, range(len(rewrite))))
        wanted = error_count(words, self.rate * rate, rng)
        if not wanted:
            return sentence
        weights = self._weights[rng.random() > LEARNER_SHARE]
        made = 0
        tries = 0
        while made < wanted and tries < 9 * wanted + 15:
            tries += 1
            rule = rng.choices(self._rules, cum_weights=weights)[0]
            edit = rule(rewrite, self._lexicon, rng)
            if edit is not None and (punctuation or keeps_commas(rewrite, edit)):
                made += rewrite.apply(edit)
        if rng.random() < ALL_LOWER_SHARE:
            rewrite.lower_all()
        return str(rewrite)

    def reword(self, sentence: str, rng: random.Random) -> str:
        """The sentence with one or two odd choices of words, which are nothing to correct."""
        rewrite = Rewrite(sentence)
        for _ in range(rng.choice((1, 1, 2))):
            edit = rng.choice(ODD_CHOICES)(rewrite, self._lexicon, rng)
            if edit is not None:
                rewrite.apply(edit)
        return str(rewrite)

    def _misspell(self, s: Rewrite, lexicon: Lexicon, rng: random.Random) -> Edit | None:
        chosen = pick(rng, self._find_misspellable(s, rng))
        wrong = chosen and self._misspeller.misspell(chosen.text, rng)
        return chosen._replace(text=wrong) if chosen and wrong else None

    def _find_misspellable(self, s: Rewrite, rng: random.Random) -> Sites:
        """Longer words more often; words with known misspellings more often; names hardly ever."""
        for i, low in enumerate(s.lows):
            plain = len(low) > 3 and s.free[i] and low.isalpha() and low.isascii()
            if plain and (not s.is_name(i) or rng.random() < 0.1):
                known = 1.5 if low in self._misspeller.lists else 0.5 if low in c.FUNCTION_WORDS else 1.0
                yield (len(low) - 2) * known, Edit(i, i + 1, low)


def keeps_commas(rewrite: Rewrite, edit: Edit) -> bool:
    """Whether the edit neither adds a comma nor takes one away."""
    return edit.text.count(",") == sum(word.count(",") for word in rewrite.words[edit.start : edit.end])


class _Words:
    """What counts as a real word: the lexicon, the closed classes and the caller's vocabulary."""

    def __init__(self, lexicon: Lexicon, vocabulary: Container[str]) -> None:
        self._lexicon = lexicon
        self._vocabulary = vocabulary

    def __contains__(self, word: object) -> bool:
        return word in self._lexicon or word in c.FUNCTION_WORDS or word in self._vocabulary


def error_count(words: int, rate: float, rng: random.Random) -> int:
    """Errors for a sentence of so many words: at rate 1 none in 12 %, else geometric from 1 up, as learners' are.

    Learners' sentences that have any have 2.8 in 15 words, and each count is a third rarer than the one before.
    """
    if words == 0 or rng.random() >= (1 - CLEAN_SHARE) * min(1.0, rate):
        return 0
    mean = max(1.0, rate) * (1 + EXTRA_PER_WORD * words)
    extra = int(math.log(1.0 - rng.random()) / math.log(1.0 - 1.0 / mean)) if mean > 1.0 else 0
    return min(1 + extra, MOST_ERRORS, max(1, (words + 1) // 2))
