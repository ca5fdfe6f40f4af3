"""Corrected raw text -> the tokens of the corpus that the raw text comes from.

    tokens     It is n't mine , said Ann .        raw   It isn't mine, said Ann.
    corrected  It isn't mine, said Anna.    ->   tokens  It is n't mine , said Anna .

Only words that the system changed are tokenised again, so unchanged text never counts as an edit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any, NamedTuple

from edit_gec.text.detokenize import RawSentence

# Units of a difference: a word, a run of spaces, or one other character.
PIECE = re.compile(r"\w+|\s+|[^\w\s]")


@cache
def _tokenizer(split_hyphens: bool) -> Any:
    import spacy
    from spacy.util import compile_infix_regex

    nlp: Any = spacy.blank("en")
    if not split_hyphens:
        infixes = [rule for rule in nlp.Defaults.infixes if "-|–|—" not in rule]
        nlp.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    return nlp.tokenizer


def project_to_tokens(raw: RawSentence, corrected: str, split_hyphens: bool = True) -> list[str]:
    """The corrected sentence as tokens. Unchanged text keeps the tokens of the reference."""
    out: list[str] = []
    at = 0
    for first, last, replacement in _touched(raw, corrected):
        out += raw.tokens[at:first]
        new = [t.text for t in _tokenizer(split_hyphens)(replacement) if not t.is_space]
        old = [raw.text[slice(*span)] for span in raw.spans[first:last]]
        out += _restore(list(raw.tokens[first:last]), old, new)
        at = last
    return out + list(raw.tokens[at:])


def _restore(tokens: list[str], written: list[str], new: list[str]) -> list[str]:
    """`new`, with the corpus's own form (`` for ") wherever a written token stayed the same."""
    out: list[str] = []
    for op, i, j, k, m in SequenceMatcher(None, written, new, autojunk=False).get_opcodes():
        out += tokens[i:j] if op == "equal" else new[k:m]
    return out


class WordChange(NamedTuple):
    """Characters [start, end) of one text became [new_start, new_end) of another."""

    start: int
    end: int
    new_start: int
    new_end: int


def diff_words(before: str, after: str) -> list[WordChange]:
    """Where two texts differ, in whole words."""
    a = PIECE.findall(before)
    b = PIECE.findall(after)
    starts_a = _starts(a)
    starts_b = _starts(b)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return [
        WordChange(starts_a[i], starts_a[j], starts_b[k], starts_b[m])
        for operation, i, j, k, m in matcher.get_opcodes()
        if operation != "equal"
    ]


def _starts(pieces: list[str]) -> list[int]:
    out = [0]
    for piece in pieces:
        out.append(out[-1] + len(piece))
    return out


@dataclass
class _TouchedTokens:
    """Tokens [first, last) that a change touches, and the change in characters of both texts."""

    first: int
    last: int
    change: WordChange


def _touched(raw: RawSentence, corrected: str) -> list[tuple[int, int, str]]:
    """Changed stretches as (first token, last token + 1, corrected text of just those tokens), left to right.

    A change that touches a token's edge takes the whole token: a comma put right after a word is tokenised with it.
    """
    stretches: list[_TouchedTokens] = []
    for change in diff_words(raw.text, corrected):
        if _is_invisible(raw, corrected, change):
            continue
        first = sum(end < change.start for _, end in raw.spans)
        last = sum(start <= change.end for start, _ in raw.spans)
        if stretches and first < stretches[-1].last:
            open_one = stretches[-1]
            open_one.last = max(last, open_one.last)
            open_one.change = open_one.change._replace(end=change.end, new_end=change.new_end)
        else:
            stretches.append(_TouchedTokens(first, last, change))
    return [(each.first, each.last, _replacement(raw, corrected, each)) for each in stretches]


def _is_invisible(raw: RawSentence, corrected: str, change: WordChange) -> bool:
    """Whether a change only concerns spaces outside all tokens."""
    start, end, new_start, new_end = change
    if corrected[new_start:new_end].strip() or raw.text[start:end].strip():
        return False
    both_have_spaces = end > start and new_end > new_start
    return both_have_spaces or (start == end and any(start == stop for _, stop in raw.spans))


def _replacement(raw: RawSentence, corrected: str, stretch: _TouchedTokens) -> str:
    """The corrected text of a stretch, with the unchanged characters of its outer tokens."""
    new = corrected[stretch.change.new_start : stretch.change.new_end]
    if stretch.first == stretch.last:
        return new
    left = raw.text[raw.spans[stretch.first][0] : stretch.change.start]
    right = raw.text[stretch.change.end : raw.spans[stretch.last - 1][1]]
    return left + new + right
