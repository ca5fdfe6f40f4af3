"""Are synthetic errors like real ones? The distribution of both, type by type and direction by direction, as a table.

    edit-gec corrupt DATA/prose/*.txt.xz > pairs.tsv
    python profiles/training/error_shares.py pairs.tsv learners.m2

    >>> wrong, right = tokens("He have two cat."), tokens("He has two cats.")
    >>> for change in changes(wrong, right): print(*features(change, right, Lexicon.load()))
    ('type', 'agreement') ('after', 'He have -> has') ('before', 'have -> has two') ('auxiliary', 'have -> has')
    ('type', 'number') ('after', 'two cat -> cats') ('before', 'cat -> cats .') ('number', 'plural missing')

Shares are within the group. The ratio is the sample's share by the reference's. "distance" is the total variation of
the two distributions: 0 where they are the same, 100 where no row occurs in both. "also there" is the share of the
sample whose change, with the word before it ("after") or behind it ("before"), the reference has, too. Only word lists
and inflection tables are needed, no tagger, so that synthetic and learners' sentences are judged alike.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from edit_gec.annotation import m2
from edit_gec.lab.training.synthetic import confusions as c
from edit_gec.lab.training.synthetic.commas import purpose
from edit_gec.lab.training.synthetic.inflections import BASE, ING, PARTICIPLE, PAST, S_FORM, Lexicon
from edit_gec.text.edits import count_shared_ends

LEAST_SHARE = 1.5  # per cent of its group that a row needs, on one side at least, to be shown
GROUPS = (
    "type", "after", "before", "number", "comma missing", "auxiliary", "verb", "preposition missing",
    "preposition superfluous", "preposition replaced", "article replaced", "mark replaced", "word superfluous",
)  # fmt: skip
CONTEXTS = {"after", "before"}  # of a word
_TOKEN = re.compile(r"[^\W_]+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|[^\W_]+|\S", re.IGNORECASE)
_AUXILIARIES = c.BE | c.HAVE | c.DO | c.MODALS | c.word_set("'m 're 've 'll 'd n't ca wo")
_PRONOUNS = (c.SUBJECTS | c.OBJECTS | c.word_set("what whose whom mine yours theirs himself")) - c.DETERMINERS
_AGREEING = {frozenset(pair.split()) for pair in ("is are", "was were", "has have", "does do", "is am", "'s are")}
_FORMS = {BASE: "base", S_FORM: "-s", PAST: "past", PARTICIPLE: "past", ING: "-ing"}


class WordChange(NamedTuple):
    """`wrong`, at place i of the source, became `right`, at place j of the target; "" is nothing."""

    wrong: str
    right: str
    i: int
    j: int


Feature = tuple[str, str]  # a group and a row of it


def tokens(text: str) -> list[str]:
    """Words, clitics and marks: "don't" is "do" and "n't"."""
    return [token.replace("’", "'") for token in _TOKEN.findall(text)]


def changes(source: Sequence[str], target: Sequence[str]) -> list[WordChange]:
    """The cheapest way from source to target, one word at a time."""
    head, tail = count_shared_ends(source, target)
    found = _align(source[head : len(source) - tail], target[head : len(target) - tail])
    return _merged([WordChange(wrong, right, i + head, j + head) for wrong, right, i, j in found])


def _align(source: Sequence[str], target: Sequence[str]) -> list[WordChange]:
    """Levenshtein's alignment with the costs of `_cost`."""
    costs = [[float(j) for j in range(len(target) + 1)]]
    for i, wrong in enumerate(source, 1):
        above = costs[-1]
        row = [float(i)]
        for j, right in enumerate(target, 1):
            row.append(min(above[j - 1] + _cost(wrong, right), above[j] + 1, row[j - 1] + 1))
        costs.append(row)
    found: list[WordChange] = []
    i, j = len(source), len(target)
    while i or j:
        if i and j and costs[i][j] == costs[i - 1][j - 1] + _cost(source[i - 1], target[j - 1]):
            i, j = i - 1, j - 1
            if source[i] != target[j]:
                found.append(WordChange(source[i], target[j], i, j))
        elif i and costs[i][j] == costs[i - 1][j] + 1:
            i -= 1
            found.append(WordChange(source[i], "", i, j))
        else:
            j -= 1
            found.append(WordChange("", target[j], i, j))
    return found[::-1]


@lru_cache(maxsize=200_000)
def _cost(wrong: str, right: str) -> float:
    """Of a replacement, where a loss and a gain cost 1 each."""
    if wrong == right:
        return 0.0
    a, b = wrong.lower(), right.lower()
    if a == b:
        return 0.125
    if a[0].isalnum() != b[0].isalnum():
        return 3.0
    if ratio(a, b) > 60:
        return 0.75
    same_class = not a[0].isalnum() or any(a in words and b in words for words in (c.DETERMINERS, c.PREPOSITIONS))
    return 1.0 if same_class or (a in _AUXILIARIES and b in _AUXILIARIES) else 1.5


def _merged(found: list[WordChange]) -> list[WordChange]:
    """Neighbours with the same letters are one change: "alot" -> "a lot"."""
    merged: list[WordChange] = []
    for change in found:
        if merged and change.i <= merged[-1].i + 1 and change.j <= merged[-1].j + 1:
            last = merged[-1]
            wrong = f"{last.wrong} {change.wrong}".strip()
            right = f"{last.right} {change.right}".strip()
            if _letters(wrong) == _letters(right) and wrong and right:
                merged[-1] = WordChange(wrong, right, last.i, last.j)
                continue
        merged.append(change)
    return merged


def _letters(text: str) -> str:
    return re.sub(r"[\s'-]", "", text.lower())


def features(change: WordChange, target: Sequence[str], lex: Lexicon) -> Iterator[Feature]:
    """The type of the change, and its row within the group of its type that has directions."""
    wrong, right = change.wrong.lower(), change.right.lower()
    kind = _type(change, lex)
    yield "type", kind
    here = [word for word in (wrong, "->", right) if word]
    yield "after", " ".join([*target[max(0, change.j - 1) : change.j], *here])
    yield "before", " ".join([*here, *target[change.j + len(change.right.split()) :][:1]])
    if kind == "comma missing":
        yield kind, purpose([word.lower() for word in target], change.j)
    elif kind in ("preposition missing", "word missing", "auxiliary missing"):
        yield kind, right
    elif kind in ("preposition superfluous", "word superfluous", "auxiliary superfluous"):
        yield kind.replace("auxiliary", "word"), wrong
    elif kind in ("preposition replaced", "article replaced", "mark replaced"):
        yield kind, f"{change.wrong.lower()} -> {right}"
    elif kind == "number" and wrong not in lex.verbs and right not in lex.verbs:
        yield kind, "plural missing" if right in lex.singular else "plural extra"
    elif frozenset((wrong, right)) in _AGREEING:
        yield "auxiliary", f"{wrong} -> {right}"
    elif kind in ("agreement", "verb form, tense") and (slots := _slots(wrong, right, lex)) is not None:
        before = target[change.j - 1].lower() if change.j else ""
        if not (right in lex.nouns and (before in c.DETERMINERS or before in lex.grades)):
            yield "verb", f"{_FORMS[slots[0]]} -> {_FORMS[slots[1]]}"


def _type(change: WordChange, lex: Lexicon) -> str:
    wrong, right = change.wrong.lower(), change.right.lower()
    if not any(ch.isalnum() for ch in wrong + right):
        mark = "comma" if "," in (wrong or right) and not (wrong and right) else "mark"
        return f"{mark} {_loss(change)}"
    if wrong and right:
        return _replacement(wrong, right, lex)
    word = wrong or right
    for name, words in (
        ("article", c.ARTICLES),
        ("determiner", c.DETERMINERS),
        ("preposition", c.PREPOSITIONS),
        ("auxiliary", _AUXILIARIES),
        ("pronoun", _PRONOUNS),
    ):
        if word in words:
            return f"{name} {_loss(change)}"
    return f"word {_loss(change)}"


def _loss(change: WordChange) -> str:
    return "replaced" if change.wrong and change.right else "missing" if change.right else "superfluous"


def _replacement(wrong: str, right: str, lex: Lexicon) -> str:
    """The type of a replaced word."""
    if wrong == right:
        return "case"
    if _letters(wrong) == _letters(right):
        return "apostrophe" if "'" in wrong + right else "joined or split"
    named = _small_word(wrong, right) or _inflection(wrong, right, lex)
    if named:
        return named
    if wrong not in lex and wrong not in c.FUNCTION_WORDS and wrong.isalpha() and ratio(wrong, right) > 60:
        return "spelling"
    return "word class" if right in lex.family(wrong) or wrong in lex.family(right) else "other word"


def _small_word(wrong: str, right: str) -> str | None:
    """The type, where a function word stands for another of its kind."""
    if wrong in c.ARTICLES and right in c.ARTICLES:
        return "article replaced"
    if frozenset((wrong, right)) in _AGREEING:
        return "agreement"
    for name, words in (("determiner", c.DETERMINERS), ("preposition", c.PREPOSITIONS), ("pronoun", _PRONOUNS)):
        if wrong in words and right in words:
            return f"{name} replaced"
    return None


def _inflection(wrong: str, right: str, lex: Lexicon) -> str | None:
    """The type, where a form of a word stands for another form of it."""
    slots = _slots(wrong, right, lex)
    if lex.plural.get(wrong) == right or lex.plural.get(right) == wrong:
        return "number" if slots is None else "number or agreement"
    if slots is not None:
        return "agreement" if set(slots) == {BASE, S_FORM} else "verb form, tense"
    return "verb form, tense" if wrong in _AUXILIARIES and right in _AUXILIARIES else None


def _slots(wrong: str, right: str, lex: Lexicon) -> tuple[int, int] | None:
    """The forms of one verb that two words are."""
    if wrong in c.FUNCTION_WORDS or right in c.FUNCTION_WORDS:
        return None
    for lemma, slot in lex.verbs.get(wrong, ()):
        for other, other_slot in lex.verbs.get(right, ()):
            if lemma == other and slot != other_slot:
                return slot, other_slot
    return None


def tally(pairs: Iterable[tuple[str, str]]) -> Counter[Feature]:
    """How often each row occurs in (wrong, right) sentences."""
    lex = Lexicon.load()
    counts: Counter[Feature] = Counter()
    for wrong, right in pairs:
        target = tokens(right)
        found = changes(tokens(wrong), target)
        moved = _moved(found)
        for change in found:
            if (change.wrong or change.right).lower() in moved and not (change.wrong and change.right):
                counts["type", "order"] += bool(change.right)
            else:
                counts.update(features(change, target, lex))
    return counts


def _moved(found: Sequence[WordChange]) -> set[str]:
    """Words that are lost in one place and gained in another; marks and articles do not move."""
    lost = {change.wrong.lower() for change in found if not change.right}
    return {change.right.lower() for change in found if not change.wrong and len(change.right) > 3} & lost


def from_m2(path: Path) -> Iterator[tuple[str, str]]:
    """(wrong, right) sentences of an M2 file, by its first annotator. Raises InputError where it is malformed."""
    for sentence in m2.read_m2(path):
        edits = sentence.annotators[min(sentence.annotators)]
        yield " ".join(sentence.tokens), " ".join(m2.apply_edits(sentence.tokens, edits))


def table(sample: Counter[Feature], reference: Counter[Feature]) -> str:
    """Rows of every group, the reference's most frequent first."""
    lines = [f"{'group':24}{'row':32}{'sample %':>9}{'reference %':>13}{'ratio':>7}{'sample':>8}{'reference':>11}"]
    for group in GROUPS:
        ours, theirs = (Counter({n: c for (g, n), c in counts.items() if g == group}) for counts in (sample, reference))
        a, b = (100 / max(1, each.total()) for each in (ours, theirs))
        names = sorted(ours | theirs, key=lambda name: (-theirs[name], name))
        for name in names:
            if max(a * ours[name], b * theirs[name]) >= LEAST_SHARE:
                quotient = f"{a * ours[name] / (b * theirs[name]):.2f}" if theirs[name] else "-"
                counts = f"{ours[name]:8}{theirs[name]:11}"
                lines.append(f"{group:24}{name:32}{a * ours[name]:9.1f}{b * theirs[name]:13.1f}{quotient:>7}{counts}")
        lines.append(f"{group:24}{'distance':32}{sum(abs(a * ours[n] - b * theirs[n]) for n in names) / 2:9.1f}")
        if group in CONTEXTS:
            lines.append(f"{group:24}{'also there':32}{a * sum(ours[name] for name in theirs):9.1f}")
    return "\n".join(lines)


def main(pairs: str, learners: str) -> None:
    lines = Path(pairs).read_text(encoding="utf-8").splitlines()
    sample = tally((wrong, right) for wrong, _, right in (line.partition("\t") for line in lines))
    sys.stdout.write(table(sample, tally(from_m2(Path(learners)))) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
