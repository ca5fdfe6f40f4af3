"""Inflection tables, read once from lemminflect's lexicon, and guesses at a word's part of speech from its neighbours.

    >>> lexicon = Lexicon.load()
    >>> lexicon.verbs["went"]
    [('go', 2)]
    >>> lexicon.forms["go"]
    ('go', 'goes', 'went', 'gone', 'going')
    >>> lexicon.plural["child"]
    'children'

lemminflect itself is never imported (it pulls numpy in); only its table is read, in a fraction of a second.
"""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from edit_gec.errors import MissingExtraError
from edit_gec.lab.training.synthetic import confusions as c
from edit_gec.lab.training.synthetic.sentence import Rewrite

BASE, S_FORM, PAST, PARTICIPLE, ING = range(5)

# British consonant doubling and other choices where the lexicon lists the American or a rare form first.
_PREFERRED = {"get": ("get", "gets", "got", "got", "getting"), "lie": ("lie", "lies", "lay", "lain", "lying")}
_BE_FORMS = ("be", "is", "was", "been", "being")

# suffix of the word > what else the stem may end in, 0 for nothing: members of a family that the lexicon must know.
_FAMILIES = tuple(
    (suffix.strip("0"), tuple(ending.strip("0") for ending in endings.split(",")))
    for suffix, _, endings in (
        family.partition(">")
        for family in """
    ence>ent,e,0 ance>ant,e,0,ate ent>ence,0 ant>ance tion>te,t,tive ation>e,0,ate sion>d,de,se,sive ion>0,e,ive
    ment>0 ness>0 iness>y ity>0,e ility>le ful>0,less less>0,ful al>0 ical>ic,y,ically ous>0,e able>0,e
    ive>ion,e,0 ic>0,y,ical,ics ist>ism,y,0 ism>ist,0 th>0 er>0,e or>e,0,ion y>0,ily
    ly>0,e ily>y e>ion,ation 0>ion,ation,ment,al,ity,ly
    """.split()
    )
)


class Lexicon:
    """Tables from form to lemma and back. All keys are lower case; names are not in it.

    plural, singular: noun -> its other number.
    verbs: form -> [(lemma, slot)], slot one of BASE .. ING.  forms: lemma -> its five forms.
    grades: adjective -> (comparative, superlative), ("", "") where it has none.  graded: "easier" -> "easy".
    """

    def __init__(self) -> None:
        self.plural: dict[str, str] = {}
        self.singular: dict[str, str] = {}
        self.nouns: set[str] = set()
        self.verbs: dict[str, list[tuple[str, int]]] = {}
        self.forms: dict[str, tuple[str, ...]] = {}
        self.grades: dict[str, tuple[str, str]] = {}
        self.graded: dict[str, str] = {}
        self.adverbs: set[str] = set()

    @classmethod
    @lru_cache(maxsize=1)
    def load(cls) -> Lexicon:
        """The lexicon of the installed lemminflect. Raises MissingExtraError without it."""
        lexicon = cls()
        for word, kind, forms in read_lemminflect():
            if not (word.islower() and word.isalpha()):
                continue
            if kind == "noun":
                lexicon._add_noun(word, forms)
            elif kind == "verb":
                lexicon._add_verb(word, forms)
            elif kind == "adj":
                lexicon._add_adjective(word, forms)
            else:
                lexicon.adverbs.add(word)
        for form, slot in zip(_BE_FORMS, range(5), strict=True):
            lexicon.verbs[form] = [("be", slot)]
        lexicon.forms["be"] = _BE_FORMS
        return lexicon

    def __reduce__(self) -> tuple[object, tuple[()]]:
        return Lexicon.load, ()  # a worker process reads the tables itself: faster than unpickling them

    def _add_noun(self, word: str, forms: list[str]) -> None:
        if word in c.NOT_NOUN or word in c.FUNCTION_WORDS:
            return
        self.nouns.add(word)
        plurals = [form for form in (forms or [""])[0].split("/") if form and form != word]
        if plurals and word not in c.MASS_NOUNS:
            self.plural[word] = plurals[0]
        for plural in plurals:
            self.singular.setdefault(plural, word)
            self.nouns.add(plural)

    def _add_verb(self, word: str, forms: list[str]) -> None:
        if word in c.NOT_VERB or word in c.MODALS or len(forms) < 4:
            return
        past, participle, ing, s_form = (form.split("/")[0] for form in forms[:4])
        table = _PREFERRED.get(word) or (word, s_form, past, participle or past, ing)
        if not all(table):
            return
        self.forms[word] = table
        variants = (word, forms[3], forms[0], forms[1] or forms[0], forms[2])
        for slot, forms_of_slot in enumerate(variants):
            for form in forms_of_slot.split("/"):
                self.verbs.setdefault(form, []).append((word, slot))

    def _add_adjective(self, word: str, forms: list[str]) -> None:
        comparative, superlative = (form.split("/")[0] for form in (*forms, "", "")[:2])
        self.grades[word] = (comparative, superlative)
        for form in (comparative, superlative):
            if form:
                self.graded.setdefault(form, word)

    def __contains__(self, word: object) -> bool:
        return self.is_listed(word) or word in self.graded

    def is_listed(self, word: object) -> bool:
        """Known as noun, verb, adjective or adverb; comparatives do not count (the lexicon has "trueer")."""
        return word in self.nouns or word in self.verbs or word in self.grades or word in self.adverbs

    def slot(self, word: str, slot: int) -> str | None:
        """The lemma if the word can be that form of a verb, else None."""
        for lemma, of in self.verbs.get(word, ()):
            if of == slot:
                return lemma
        return None

    def lemma(self, word: str) -> str:
        """The verb lemma of a form, or the word itself."""
        readings = self.verbs.get(word)
        return readings[0][0] if readings else word

    def family(self, word: str) -> tuple[str, ...]:
        """Words derived from the same stem that the lexicon knows: difference -> different, differ."""
        return _family(self, word)

    # Guesses from the neighbours ------------------------------------------------------------------------------------

    def is_verb_at(self, s: Rewrite, i: int) -> bool:
        """Does the word, which has a verb reading, stand where a verb stands?"""
        word = s.lows[i]
        before = s.low(i - 1)
        if word not in self.verbs or word in c.FUNCTION_WORDS or s.is_name(i):
            return False
        if before in c.ADVERBS or before in ("not", "please"):
            before = s.low(i - 2) or before
        if before in c.DETERMINERS and before not in ("that", "this", "her"):
            return False
        if before in c.SUBJECTS or before in c.MODALS or before in c.DO:
            return True
        if word not in self.nouns and word not in self.grades:
            return True
        after = s.low(i + 1)
        return (before == "to" or before in self.singular) and (after in c.DETERMINERS or after in c.OBJECTS)

    def is_noun_at(self, s: Rewrite, i: int) -> bool:
        """Does the word, which has a noun reading, stand where the head of a noun phrase stands?"""
        word = s.lows[i]
        before = s.low(i - 1)
        after = s.low(i + 1)
        if word not in self.nouns or word in c.FUNCTION_WORDS or s.is_name(i) or not s.free[i]:
            return False
        if after in self.nouns and after not in self.verbs and after not in c.FUNCTION_WORDS:
            return False
        if word not in self.verbs and word not in self.grades:
            return True
        if word in self.grades and after in self.nouns:
            return False
        return (
            before in c.DETERMINERS
            or before in c.PLURAL_CUES
            or (before in c.PREPOSITIONS and before != "to")
            or before in self.grades
        )


@lru_cache(maxsize=50_000)
def _family(lexicon: Lexicon, word: str) -> tuple[str, ...]:
    found: list[str] = []
    for suffix, endings in _FAMILIES:
        stem = word[: len(word) - len(suffix)]
        if word.endswith(suffix) and len(stem) >= 4 - (suffix != ""):
            found += [
                stem + ending for ending in endings if lexicon.is_listed(stem + ending) and len(stem + ending) > 3
            ]
    return tuple(dict.fromkeys(found))


def read_lemminflect() -> Iterator[tuple[str, str, list[str]]]:
    """Word, part of speech and forms ("a/b": either) of each entry. Raises MissingExtraError without it."""
    spec = importlib.util.find_spec("lemminflect")
    if spec is None or spec.origin is None:
        raise MissingExtraError(
            "synthetic errors need lemminflect, which is not installed; pip install '.[train]' in edit-gec's folder"
        )
    with gzip.open(Path(spec.origin).parent / "resources" / "infl_lu.csv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            word, kind, *forms = line.rstrip("\n").split(",")
            yield word, kind, forms
