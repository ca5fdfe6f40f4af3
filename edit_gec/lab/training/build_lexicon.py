"""The word list of a model, for lexicon.py: what is written often enough, and what the dictionary knows.

Words of DATA/prose/, the most frequent first, then those of dictionaries that are not there: the inflection tables of
lemminflect, and the files of DATA/words/ if there are any. Left out: misspellings on the lists of DATA/spelling/, and
contractions that lost their apostrophe. Below the words, and an empty line, stand slips with what they should be:
regular forms of irregular words ("goed went"), and listed misspellings with one right form ("recieve receive").
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from edit_gec.lab.training.clean_prose import find_corpora, read_lines
from edit_gec.lab.training.synthetic.inflections import PARTICIPLE, PAST, Lexicon, read_lemminflect
from edit_gec.lab.training.synthetic.misspellings import find_spelling, read_lists, read_right_forms
from edit_gec.text.files import write_lines
from edit_gec.text.words import WORD

OFTEN = 3  # times that a word which the dictionary has not is written
LOST = 50  # a contraction is so many times as frequent as the word that it becomes without its apostrophe ("dont")
LOWER = 0.1  # of its uses: a word is no name if so many are in lower case
SHORTEST_LISTED = 4  # letters of a listed misspelling; shorter ones are abbreviations, too ("tung", "pn")
FARTHEST_LISTED = 3  # letters that differ from the right form
_PLAIN = re.compile("[a-z]+")
_SHORT = re.compile(r"[^aeiou][aeiou][^aeiouwxy]$")  # hit, get: their last letter is doubled


def learn(lines: Iterable[str], dictionary: Iterable[str] = (), misspellings: Iterable[str] = ()) -> list[str]:
    """Words of a text, the most frequent first, then the other ones of a dictionary, in order."""
    written: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        for word in WORD.findall(line):
            written[word.casefold().replace("’", "'")][word.replace("’", "'")] += 1
    counts = {word: forms.total() for word, forms in written.items()}
    known = {word.casefold(): word for word in dictionary if WORD.fullmatch(word)}
    listed = {word.casefold() for word in misspellings}
    often = (word for word, count in counts.items() if count >= OFTEN)
    known |= {verb: verb for noun in (*known, *often) for verb in verbs_of(noun) if verb not in listed}
    wrong = listed - known.keys()
    contracted = (word for word in counts if "'" in word and not word.endswith("'s"))
    joined = ((word, word.replace("'", "")) for word in contracted)
    torn = {without for word, without in joined if counts[word] >= LOST * counts.get(without, 0)}
    ranked = []
    for word, count in counts.items():
        single = len(word) == 1 and word not in ("a", "i")
        if (count >= OFTEN or word in known) and not single and word not in torn and word not in wrong:
            forms = written[word]
            lower = forms[word] >= LOWER * count
            ranked.append((-count, word if lower else max(forms, key=lambda form: (forms[form], form))))
    rest = sorted(form for word, form in known.items() if word not in counts and word not in torn)
    return [word for _, word in sorted(ranked)] + rest


def verbs_of(noun: str) -> list[str]:
    """The verb that a noun in -ization is made of, in its forms; [] for other words.

    >>> verbs_of("parametrization")
    ['parametrize', 'parametrizes', 'parametrized', 'parametrizing']
    """
    stem = noun.removesuffix("ization")
    return [] if stem == noun else [f"{stem}iz{ending}" for ending in ("e", "es", "ed", "ing")]


def dictionary() -> Iterator[str]:
    """Words and their forms, names too, of the inflection tables; without comparatives (they have "trueer").

    Nouns in -a with a foreign plural have one in -s, too ("lemmata", "lemmas").
    """
    for word, kind, forms in read_lemminflect():
        yield word
        if kind == "noun" and any(form in (word + "ta", word + "e") for form in forms if word.endswith("a")):
            yield word + "s"
        for form in forms if kind in ("noun", "verb") else ():
            yield from filter(None, form.split("/"))


def read_dictionaries(folder: Path) -> Iterator[str]:
    """The words of all .txt files in a folder, one a line, without possessives; none where there is no folder."""
    for path in sorted(folder.glob("*.txt")):
        yield from (line for line in read_lines(path) if not line.endswith("'s"))


def regular_forms(lexicon: Lexicon, known: Container[str]) -> Iterator[tuple[str, str]]:
    """(wrong, right): what irregular verbs and nouns would be if they were regular, as far as that is no word."""
    for verb, forms in lexicon.forms.items():
        wrong = {verb + "d" if verb.endswith("e") else verb + "ed"}
        if _SHORT.search(verb):
            wrong.add(verb + verb[-1] + "ed")
        right = forms[PAST], forms[PARTICIPLE]
        if not wrong & set(right) and not right[0].endswith("ied"):
            yield from sorted((w, r) for w in wrong if w not in known for r in set(right))
    for noun, plural in lexicon.plural.items():
        if not plural.endswith("s"):
            yield from ((w, plural) for w in (noun + "s", plural + "s") if w not in known)


def listed_misspellings(
    right_forms: Mapping[str, Sequence[str]], known: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """(wrong, right): misspellings that stand for one known word only, and for none far from them.

    `known` has the words by their case-folded form.

    >>> known = {"their": "their", "there": "there", "sunday": "Sunday"}
    >>> list(listed_misspellings({"sundey": ["sunday"], "thier": ["their", "there"]}, known))
    [('sundey', 'Sunday')]
    """
    from rapidfuzz.distance import OSA

    for wrong, rights in right_forms.items():
        right = rights[0].casefold()
        single = len(rights) == 1 and len(wrong) >= SHORTEST_LISTED and _PLAIN.fullmatch(wrong)
        if single and wrong not in known and right in known and OSA.distance(wrong, right) <= FARTHEST_LISTED:
            yield wrong, known[right]


def read_prose(folder: Path) -> Iterator[str]:
    """Lines of all corpora in a folder. Raises InputError if none is there."""
    return chain.from_iterable(map(read_lines, find_corpora(folder).values()))


def write(data: Path, output: Path) -> int:
    """Make the list of a data folder; returns the number of words. Without DATA/spelling/ no misspelling is left out.

    Raises InputError if there is no prose, or if a list is missing.
    """
    spelling = find_spelling(data)
    lists = read_lists(spelling) if spelling else {}
    dictionaries = chain(dictionary(), read_dictionaries(data / "words"))
    words = learn(read_prose(data / "prose"), dictionaries, chain.from_iterable(lists.values()))
    known = {word.casefold(): word for word in words}
    forms = read_right_forms(spelling) if spelling else {}
    slips = [(w, r) for w, r in regular_forms(Lexicon.load(), known) if r in known]
    regular = {wrong for wrong, _ in slips}
    slips += [(w, r) for w, r in listed_misspellings(forms, known) if w not in regular]
    slips.sort(key=lambda slip: slip[0])  # lines of one wrong form follow each other
    write_lines(output, [*words, "", *map(" ".join, dict.fromkeys(slips))])
    return len(words)
