"""Rules: errors that a pattern sees. A rule is a row of a table with its proof; without one it does not load.

    name   could-of
    when   (Could|Should|Would|Might|Must)(n't)? <of>(?! course)
    write  have
    wrong  It must of been late. -> It must have been late.
    right  You could of course have gone.

    >>> for found in find_rules("It must of been late."): print(found.start, found.end, found.texts, found.rule)
    8 10 ('have',) could-of

`when` is a regular expression in which

    <of>            is what is replaced: whole words
    Could           is either case: "could", too. Words in small letters are just those
    n't             takes either apostrophe, "'" or "’"
    (a|b)           is a group that captures nothing
    {job}           is a word of a list in words.rules, {Job} in either case
    {verb.past}     is a word of a column of verb.tsv
    {subject}       is one of the patterns in patterns.rules

and begins and ends at the ends of words, unless it says otherwise.

`write` has one text or several. {verb.base} is the word in another column of the row that matched, {Name} the matched
word with a capital, {it} all that is replaced, "a(n)" the article that fits what follows. `unless` is a pattern that
does not end, but for a space, right before <>. `key` has words of which every match has one; by default those in <>.
`wrong` are sentences that change, each with what becomes of it; `right` are sentences that no rule changes.

A rule proposes an edit but never decides on it: the tags must doubt the words at least a little, and the decoder
compares the proposal with the source (editing/spelling.py). Only a row with the field `sure` needs no model, which does
not know rare set phrases (editing/obvious.py). Rules are right far more often than the model believes, so
on the scale of confidence they have an offset of their own, and what the model says counts less
(editing/confidence.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from edit_gec.errors import EditGecError
from edit_gec.rules.doubled import find_doubled
from edit_gec.rules.words import FOLDER, column, fragment, look_up
from edit_gec.text.rows import read_rows

TABLES = ("spelling", "agreement", "forms", "phrases", "set_phrases")  # files of this folder
DOUBLED = "doubled"  # the name of what stands twice
BEFORE = 80  # characters that `unless` reads
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|i:)|[()<>']|\{[A-Za-z.]+\}|[A-Za-z]+")
_FIELD = re.compile(r"\{([A-Za-z.]+)\}")
_WORD = re.compile("[a-z]+")
_START = r"(?<![\w'’-])"
_END = r"(?![\w'’-])"
_APOSTROPHE = "['’]"


class Found(NamedTuple):
    """text[start:end], whole words, what may stand there instead, and the name of the rule that says so.

    first, last: where all that the rule looks at begins and ends.
    """

    start: int
    end: int
    texts: tuple[str, ...]
    rule: str
    first: int
    last: int


@dataclass(frozen=True)
class Rule:
    """A row of a table; the module says what its fields mean."""

    name: str
    when: str
    write: tuple[str, ...]
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    unless: str = ""
    key: str = ""
    sure: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """`when`, compiled when a sentence first needs it."""
        return re.compile(_translate(self.when))

    @cached_property
    def refuses(self) -> re.Pattern[str] | None:
        """What may not stand before."""
        return re.compile(f"(?:{_translate(self.unless, whole=False)})\\s\\Z") if self.unless else None

    def words(self) -> set[str]:
        """Every match has one of them."""
        inside = self.key or re.sub(r"\\.|\[[^]]*\]", " ", re.split("<(?![!=])|(?<!<)>", self.when)[1])
        found = set(_WORD.findall(_FIELD.sub(" ", inside).lower()))
        return found.union(*(_key_words(*each) for each in re.findall(_FIELD.pattern + r"(\w*)", inside)))

    def find(self, text: str) -> Iterator[Found]:
        """What the rule finds in a sentence, in order."""
        for match in self.pattern.finditer(text):
            old = match["it"]
            start, end = match.span("it")
            if len(old) > 1 and old.isupper():
                continue  # an abbreviation, or all of it in capitals
            if self.refuses and self.refuses.search(text, max(0, start - BEFORE), start):
                continue
            filled = (_fill(each, match) for each in self.write)
            texts = tuple(_with_case(each, old) for each in filled if each)
            if texts and old not in texts:
                yield Found(start, end, texts, self.name, *match.span())


@cache
def _key_words(name: str, ending: str) -> frozenset[str]:
    """The words of a list or column with an ending; of a phrase the longest word is enough."""
    texts = (f"{words}{ending}".lower() for words in column(name.lower()))
    return frozenset(text if text.isalpha() else max(_WORD.findall(text), key=len) for text in texts)


def find_rules(text: str, *, sure: bool = False) -> list[Found]:
    """What the rules find in a sentence, only the `sure` ones or all; in order, of those that overlap the first one,
    and the longest of these."""
    found = sorted(find_all(text, sure=sure), key=lambda each: (each.start, -each.end, each.texts))
    kept: list[Found] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def find_all(text: str, *, sure: bool = False) -> Iterator[Found]:
    """Everything that each of these rules finds in a sentence."""
    for start, end, word in () if sure else find_doubled(text):
        yield Found(start, end, (word,), DOUBLED, start, end)
    index = _index(sure)
    for number in {number for word in set(_WORD.findall(text.lower())) for number in index.get(word, ())}:
        yield from load_rules()[number].find(text)


@cache
def load_rules() -> tuple[Rule, ...]:
    """The rows of all tables. Raises EditGecError for a row without both kinds of sentences."""
    return tuple(read_rule(row) for name in TABLES for row in read_rows(FOLDER / f"{name}.rules"))


def read_rule(row: dict[str, list[str]]) -> Rule:
    """A row of a table as a rule. Raises EditGecError where a sentence of either kind is missing."""
    (name,) = row["name"]
    for kind in ("wrong", "right"):
        if kind not in row:
            raise EditGecError(f"rule {name}: no sentence under {kind!r}; expected its proof, one at least")
    write, wrong, right = (tuple(row[field]) for field in ("write", "wrong", "right"))
    when, unless, key = (" ".join(row.get(field, [])) for field in ("when", "unless", "key"))
    return Rule(name, when, write, wrong, right, unless, key, sure="sure" in row)


@cache
def _index(sure: bool) -> dict[str, list[int]]:
    """Word in small letters -> the numbers of the rules, only sure ones or all, that it can match."""
    index: dict[str, list[int]] = {}
    for number, rule in enumerate(load_rules()):
        for word in rule.words() if rule.sure or not sure else ():
            index.setdefault(word, []).append(number)
    return index


def _translate(when: str, *, whole: bool = True) -> str:
    """The regular expression of a pattern of a table; `whole`: it ends at the ends of words."""
    groups: list[str] = []
    named: set[str] = set()
    closed = ""  # the group that ends where the pattern does
    parts = []
    for part in re.split(f"({_TOKEN.pattern})", when):
        if part == ")":
            closed = groups.pop()
        elif part:
            closed = ""
        if part.startswith("("):
            groups.append(part)
        parts.append(_translate_token(part, named))
    pattern = "".join(parts)
    if not whole:
        return pattern
    starts = not re.match(r"\^|\(\?|\(\^|\(\\b|\(?\{(?:subject|open|clause|begin)\}", when)
    ends = not (when.endswith(("$", "{end}")) or closed == "(?=")
    return (_START if starts else "") + pattern + (_END if ends else "")


def _translate_token(token: str, named: set[str]) -> str:
    simple = {"(": "(?:", "<": "(?P<it>", ">": ")", "'": _APOSTROPHE}
    if token in simple:
        return simple[token]
    if token.isalpha() and len(token) > 1 and token[0].isupper():
        return f"[{token[0]}{token[0].lower()}]{token[1:]}"
    return _choose(token[1:-1], named) if token.startswith("{") and token[1:2].isalpha() else token


def _choose(name: str, named: set[str]) -> str:
    """A pattern for the words of a list or column, captured under its name when it first comes."""
    pattern = fragment(name)
    if pattern is not None:
        return _translate(pattern, whole=False)
    words = "|".join(sorted(map(re.escape, column(name.lower())), key=len, reverse=True)).replace("'", _APOSTROPHE)
    either = f"(?i:{words})" if name[0].isupper() else words
    group = name.lower().replace(".", "_")
    is_new = group not in named
    named.add(group)
    return f"(?P<{group}>{either})" if is_new else f"(?:{either})"


def _fill(text: str, match: re.Match[str]) -> str:
    """A text of `write`, its fields filled in; "" where a field has no word in this match."""
    fields = {name: _value(name, match) for name in _FIELD.findall(text)}
    if not all(fields.values()):
        return ""
    filled = _FIELD.sub(lambda field: fields[field[1]], text)
    return re.sub(r"\ba\(n\)(?= [aeiou])", "an", filled).replace("a(n)", "a")


def _value(name: str, match: re.Match[str]) -> str:
    table, _, wanted = name.lower().partition(".")
    for group, word in match.groupdict().items():
        if word is not None and group.partition("_")[0] == table:
            given = group.partition("_")[2]
            found = look_up(table, given, wanted, word.lower().replace("’", "'")) if wanted else word
            return found.capitalize() if name[0].isupper() else found
    return ""


def _with_case(new: str, old: str) -> str:
    return new[0].upper() + new[1:] if old[0].isupper() else new


# ---------------------------------------------------------------- proof


def disprove(rule: Rule) -> Iterator[str]:
    """What is not as the sentences of a rule say: those that should change and do not, or otherwise; right ones that
    the rule changes."""
    for sentence in rule.wrong:
        before, _, after = sentence.partition(" -> ")
        made = _apply(before, [*rule.find(before)])
        if after not in made:
            yield f"{rule.name}: {before!r} becomes {made}, not {after!r}"
    for sentence in (*rule.right, *(each.partition(" -> ")[2] for each in rule.wrong)):
        if found := find_rules(sentence):
            yield f"{rule.name}: {sentence!r} is right, but {found}"


def _apply(text: str, found: Sequence[Found]) -> list[str]:
    """The text with what was found, by each place of the proposals."""
    made = []
    for place in range(max((len(each.texts) for each in found), default=0)):
        changed = text
        for each in reversed(found):
            changed = changed[: each.start] + each.texts[min(place, len(each.texts) - 1)] + changed[each.end :]
        made.append(changed)
    return made
