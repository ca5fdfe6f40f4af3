r"""British and American spelling: variants of the same word, and which side writes which.

    >>> keep_spelling("the colour are", "the color is", None)
    'the colour is'
    >>> [change.replacement for change in find_other_side("We analyzed its behavior.", "en-GB", str.isalpha)]
    ['analysed', 'behaviour']

A correction never changes the side of a word, unless a dialect is asked for. The families are the closed lists of
dialect.tsv, with the endings that each takes; only verbs in -ise are open, and there a word list must know the American
form. British -ize (Oxford) is right in en-GB. Pairs that mean different things on one side ("tyre" and "tire", "metre"
and "meter") are changed towards the other only, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from edit_gec.errors import InputError
from edit_gec.rules.words import FOLDER, word_set
from edit_gec.text.edits import Change, Edit, Provenance, fit_to_words
from edit_gec.text.rows import read_table
from edit_gec.text.words import WORD

DIALECTS = ("en-GB", "en-US")
CONFIDENCE = 0.95  # of a change that a rule makes
Known = Callable[[str], bool]  # whether a word in lower case is on a list

_ENDINGS = {  # by their name in dialect.tsv: colour -> colours, coloured ...
    "-": [""],
    "our": " s ed ing er ers ful fully less able ably al ally ly y ite ites itism hood hoods ings".split(" "),
    "re": ["", "s"],
    "doubled": "ed ing er ers ings ors or able ous ously".split(),  # before them British English doubles an l
}
_ISE = re.compile(r"(\w{3,})i([sz])(e|ed|er|ers|es|ing|ings|able|ation|ations|ational|ationally)")
_YSE = re.compile(r"(\w*(?:anal|paral|catal|dial|hydrol|electrol|breathal))y([sz])(e|ed|er|ers|es|ing)")
_COLLECTIVE = re.compile(
    r"(?<!\bin )(?<!\bof )(?<!\bat )(?<!\bfrom )\b(?:the|our|my|your|his|her|their|this|that)\s+"
    r"(?:team|government|family|committee|staff|company|band|police|crew|council|board|public|media|audience|couple|"
    r"department|club|crowd|class|party|majority|minority|group|management|jury|press|union|firm|bank|squad|army|navy|"
    r"choir|orchestra|cabinet|parliament|opposition|ministry|community|university|side)\s+\Z",
    re.IGNORECASE,
)
_NUMBERS = {"are": "is", "were": "was", "have": "has", "do": "does", "aren't": "isn't", "weren't": "wasn't",
            "haven't": "hasn't", "don't": "doesn't"}  # fmt: skip


def check_dialect(dialect: str | None) -> None:
    """Raise InputError unless it is one of DIALECTS, or None."""
    if dialect not in (None, *DIALECTS):
        raise InputError(f"dialect {dialect!r}: expected {' or '.join(DIALECTS)}")


class _Spellings(NamedTuple):
    """Words in lower case -> how the other side spells them; and all variants -> the American one."""

    to_american: dict[str, str]
    to_british: dict[str, str]
    shared: dict[str, str]


def _pairs(use: str) -> Iterator[tuple[str, str]]:
    """British and American forms with this use."""
    for british, american, endings, its_use in read_table(FOLDER / "dialect.tsv")[1:]:
        for ending in _ENDINGS[endings] if its_use == use else ():
            yield f"{british}{ending}", f"{american}{ending}"


@cache
def _parts() -> tuple[tuple[str, str], ...]:
    return tuple(_pairs("part"))


@cache
def _spellings() -> _Spellings:
    both, one_way, never = (dict(_pairs(use)) for use in ("both", "to-us", "never"))
    to_british = {american: british for british, american in both.items()}
    shared = {word: american for british, american in (both | one_way | never).items() for word in (british, american)}
    return _Spellings(both | one_way, to_british, shared)


def keep_spelling(old: str, new: str, dialect: str | None, is_known: Known = lambda word: False) -> str:
    """What may replace `old` where `new` is proposed: the side of each word stays, or becomes that of the dialect.

    American forms in -ize are taken only where the word `is_known`.
    """
    before = WORD.findall(old)
    after = list(WORD.finditer(new))
    forms = [_shared_form(word) for word in before], [_shared_form(word[0]) for word in after]
    kept: dict[int, str] = {}
    for i, j, length in SequenceMatcher(None, *forms, autojunk=False).get_matching_blocks():
        for n in range(length):
            was = before[i + n]
            now = after[j + n][0]
            if was.lower() != now.lower() and (dialect is None or _own(was.lower(), dialect, is_known) != now.lower()):
                kept[j + n] = was
    parts = []
    done = 0
    for number, word in enumerate(after):
        chosen = kept.get(number, word[0])
        own = dialect and _own(chosen.lower(), dialect, is_known)
        parts += [new[done : word.start()], _with_case(own, chosen) if own else chosen]
        done = word.end()
    return "".join([*parts, new[done:]])


def find_other_side(text: str, dialect: str, is_known: Known) -> Iterator[Change]:
    """The words of a sentence that the dialect spells in another way. Names, capitals within the sentence, stay."""
    for word in WORD.finditer(text):
        if not (word[0].islower() or (word.start() == 0 and word[0].istitle())):
            continue
        if own := _own(word[0].lower(), dialect, is_known):
            yield Change(*word.span(), _with_case(own, word[0]), CONFIDENCE, Provenance.RULE)


def keep_side(text: str, edit: Edit, dialect: str | None, is_known: Known) -> Edit | None:
    """The edit of a text with the spellings that `keep_spelling` chooses; None where nothing is left to change.

    Nor is the verb after the name of a group made singular, unless the dialect is American.
    """
    before = text[max(0, edit.start - 40) : edit.start]
    if dialect != "en-US" and _is_number_of_group(before, edit.original, edit.replacement):
        return None
    kept = keep_spelling(edit.original, edit.replacement, dialect, is_known)
    if kept == edit.replacement:
        return edit
    start, end, new = fit_to_words(text, edit.start, edit.end, kept)
    if text[start:end] == new:
        return None
    return replace(edit, start=start, end=end, original=text[start:end], replacement=new)


def _is_number_of_group(before: str, old: str, new: str) -> bool:
    """Whether an edit only makes the verb after the name of a group singular: "the team are" is right in Britain."""
    return _NUMBERS.get(old.lower()) == new.lower() and _COLLECTIVE.search(before) is not None


def _with_case(word: str, like: str) -> str:
    return word.upper() if like.isupper() and len(like) > 1 else word.capitalize() if like[0].isupper() else word


def _shared_form(word: str) -> str:
    """One form for all variants of a word: the American one."""
    stem = re.split("['’]", word)[0]
    return _shared_stem(stem.lower()) + word[len(stem) :].lower().replace("’", "'")


def _shared_stem(word: str) -> str:
    if word in _spellings().shared:
        return _spellings().shared[word]
    for british, american in _parts():
        if british in word:
            return word.replace(british, american)
    return _swap_s(word, "z") or word


def _swap_s(word: str, letter: str) -> str | None:
    """A word in -ise or -yse with the other letter; None for other words."""
    found = _YSE.fullmatch(word)
    if found is None:
        found = _ISE.fullmatch(word)
        if found is None or found[1] in word_set("not_ise"):  # nobody writes "advertize"
            return None
    return word[: found.start(2)] + letter + word[found.end(2) :]


def _own(word: str, dialect: str, is_known: Known) -> str | None:
    """How the dialect spells a word that the other side spells like this; None where it is right as it is."""
    stem = re.split("['’]", word)[0]
    own = _to_british(stem) if dialect == "en-GB" else _to_american(stem, is_known)
    return own and own + word[len(stem) :]


def _to_british(word: str) -> str | None:
    if found := _spellings().to_british.get(word):
        return found
    for british, american in _parts():
        if american in word and british not in word:
            return word.replace(american, british)
    return _swap_s(word, "s") if (match := _YSE.fullmatch(word)) and match[2] == "z" else None


def _to_american(word: str, is_known: Known) -> str | None:
    if found := _spellings().to_american.get(word):
        return found
    for british, american in _parts():
        if british in word:
            return word.replace(british, american)
    match = _YSE.fullmatch(word)
    if match:
        return _swap_s(word, "z") if match[2] == "s" and match[3] != "es" else None  # two "analyses"
    match = _ISE.fullmatch(word)
    other = _swap_s(word, "z") if match and match[2] == "s" else None
    return other if other is not None and is_known(other) else None
