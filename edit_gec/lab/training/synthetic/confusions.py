"""What English writers confuse: tables and classes of words for the error rules, from confusions.tsv and words.rules.

A row `confused  their  there*3 they're` has the wrong forms that learners and hurried writers put for the right one,
`*3` three times as often, `_` for a space. It turns "their house" into "there house" three times out of four. Verbs and
nouns are listed by lemma; the rules carry the inflection over ("made homework" for "did homework"). Only words that are
wrong in each other's place belong here; synonyms would teach to rewrite.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from edit_gec.text.rows import read_row, read_table

Table = dict[str, tuple[str, ...]]
FOLDER = Path(__file__).parent


def _weigh(alternatives: str) -> tuple[str, ...]:
    wrong: list[str] = []
    for alternative in alternatives.split():
        form, _, times = alternative.partition("*")
        wrong += [form.replace("_", " ")] * int(times or 1)
    return tuple(wrong)


def word_set(text: str) -> frozenset[str]:
    """The words of a string."""
    return frozenset(text.split())


@cache
def _tables() -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for table, right, wrong in read_table(FOLDER / "confusions.tsv")[1:]:
        tables.setdefault(table, {})[right] = _weigh(wrong)
    return tables


@cache
def _sets() -> dict[str, frozenset[str]]:
    return {name: word_set(words) for name, words in read_row(FOLDER / "words.rules").items()}


# Classes -------------------------------------------------------------------------------------------------------------

ARTICLES = _sets()["articles"]
POSSESSIVES = _sets()["possessives"]
DETERMINERS = ARTICLES | POSSESSIVES | word_set("this that these those some any no every each another either neither")
PLURAL_CUES = _sets()["plural_cues"]
SINGULAR_CUES = _sets()["singular_cues"]
SUBJECTS_SINGULAR = _sets()["subjects_singular"]
SUBJECTS_PLURAL = _sets()["subjects_plural"]
SUBJECTS = SUBJECTS_SINGULAR | SUBJECTS_PLURAL | word_set("who which there this that")
OBJECTS = _sets()["objects"]
MODALS = _sets()["modals"]
DO = _sets()["do"]
BE = _sets()["be"]
HAVE = _sets()["have"]
PREPOSITIONS = _sets()["prepositions"]
CONJUNCTIONS = _sets()["conjunctions"]
ADVERBS = _sets()["adverbs"]
WH = _sets()["wh"]
FUNCTION_WORDS = (
    DETERMINERS | SUBJECTS | OBJECTS | MODALS | DO | BE | HAVE | PREPOSITIONS | CONJUNCTIONS | ADVERBS | WH
) | _sets()["other_function_words"]
# Lemminflect knows these as verbs or nouns too, but in running text that reading is so rare that a rule may ignore it.
NOT_VERB = _sets()["not_verb"]
NOT_NOUN = _sets()["not_noun"]
MASS_NOUNS = _sets()["mass_nouns"]
# Mass and abstract nouns before which learners put "the".
GENERIC_NOUNS = MASS_NOUNS | _sets()["generic_nouns"]
MOTION_WITHOUT_TO = _sets()["motion_without_to"]
WEEKDAYS_MONTHS = _sets()["weekdays_months"]
PAST_MARKERS = _sets()["past_markers"]
GERUND_VERBS = _sets()["gerund_verbs"]
INFINITIVE_VERBS = _sets()["infinitive_verbs"]
IRREGULAR_ADVERBS = {"good": "well", "well": "good", "hard": "hardly", "fast": "fastly", "late": "lately"}

# Tables --------------------------------------------------------------------------------------------------------------

PREPOSITION = _tables()["preposition"]
GOVERNED = _tables()["governed"]  # head word (lemma or exact form) and the preposition that it governs; - drops it
INTRUSIVE = _tables()["intrusive"]  # verbs that take an object without a preposition, and the one that learners insert
DETERMINER = _tables()["determiner"]
PRONOUN = _tables()["pronoun"]
CONJUNCTION = _tables()["conjunction"]
CONFUSED = _tables()["confused"]  # homophones and words that look alike: a spelling checker passes them
MISTYPED = _tables()["mistyped"]  # small words that hasty fingers turn into other small words
SUPERFLUOUS = _tables()["superfluous"]  # word -> what slips in after it
VERB = _tables()["verb"]
NOUN = _tables()["noun"]
ADJECTIVE = _tables()["adjective"]
PHRASE = _tables()["phrase"]  # whole phrases -> as learners write them
AGREEMENT = _tables()["agreement"]
TENSE = _tables()["tense"]
MERGED = _tables()["merged"]  # words that are written as one
SPLIT = _tables()["split"]  # and those that are torn apart
STRAY = _tables()["stray"]  # what slips in anywhere
FAMILY = _tables()["family"]  # of words that the suffix rules do not find -> another member, wrong in its place
EVERYWHERE = _sets()["everywhere"]  # of the words in SUPERFLUOUS: only some are followed by a word too many
