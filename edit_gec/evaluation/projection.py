"""A corrected raw text -> back on the tokens of the corpus that the raw text was made of.

    tokens     It is n't mine , said Ann .        raw   It isn't mine, said Ann.
    corrected  It isn't mine, said Anna.    ->   tokens  It is n't mine , said Anna .

Only the words that the system changed are tokenised again, so text that it left alone never counts as an edit.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from edit_gec.text.detokenize import RawSentence

# Pieces of text that a difference is made of: a word, a run of spaces, or one other character.
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
    """The corrected sentence as tokens; tokens in text that did not change are the reference's own."""
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


def diff_words(before: str, after: str) -> list[tuple[int, int, int, int]]:
    """Where two texts differ, in whole words: characters [i, j) of `before` became [k, m) of `after`."""
    a, b = PIECE.findall(before), PIECE.findall(after)
    starts_a, starts_b = _starts(a), _starts(b)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return [
        (starts_a[i], starts_a[j], starts_b[k], starts_b[m])
        for op, i, j, k, m in matcher.get_opcodes()
        if op != "equal"
    ]


def _starts(pieces: list[str]) -> list[int]:
    out = [0]
    for piece in pieces:
        out.append(out[-1] + len(piece))
    return out


def _touched(raw: RawSentence, corrected: str) -> list[tuple[int, int, str]]:
    """Changed stretches as (first token, last token + 1, corrected text of just those tokens), left to right.

    A change that touches a token's edge takes the whole token: a comma put right after a word is tokenised with it.
    """
    groups: list[list[int]] = []  # first, last, characters [i, j) of raw and [k, m) of corrected
    ends = {end for _, end in raw.spans}
    for i, j, k, m in diff_words(raw.text, corrected):
        if not corrected[k:m].strip() and not raw.text[i:j].strip() and (j > i and m > k or i == j and i in ends):
            continue  # spaces that no token can see
        first = sum(end < i for _, end in raw.spans)
        last = sum(start <= j for start, _ in raw.spans)
        if groups and first < groups[-1][1]:
            groups[-1][1], groups[-1][3], groups[-1][5] = max(last, groups[-1][1]), j, m
        else:
            groups.append([first, last, i, j, k, m])
    out = []
    for first, last, i, j, k, m in groups:
        # Characters of the outer tokens that did not change belong to the replacement too.
        left = raw.text[raw.spans[first][0] : i] if first < last else ""
        right = raw.text[j : raw.spans[last - 1][1]] if first < last else ""
        out.append((first, last, left + corrected[k:m] + right))
    return out
