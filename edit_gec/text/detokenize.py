"""Tokens of a corpus -> the text that a writer would have typed, with the place of every token in it.

    It is n't mine , said Ann .   ->   It isn't mine, said Ann.

Whether a corpus splits "well-known" in three is a property of the whole corpus: `splits_hyphens` tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# A token in a tokenised corpus -> the text that a writer would have typed.
WRITTEN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
SUFFIX = re.compile(r"(n't|n’t|['’](s|m|d|re|ve|ll|S|M|D|RE|VE|LL))$")
NO_SPACE_BEFORE = re.compile(r"([,;:!?%)\]}’”]|\.+|…)$")
NO_SPACE_AFTER = re.compile(r"[(\[{$£€#‘“]$")
SPLIT_WORDS = {("can", "not"), ("gon", "na"), ("wan", "na"), ("got", "ta")}


@dataclass(frozen=True)
class RawSentence:
    """Raw text of a tokenised sentence; token i was written at characters [spans[i][0], spans[i][1])."""

    text: str
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


def detokenize(tokens: Sequence[str], split_hyphens: bool = True) -> RawSentence:
    """Join tokens as English is written; loses nothing, since each token keeps its place.

    `split_hyphens` tells whether the corpus splits well-known in three; its lone hyphens then join both neighbours.
    """
    text = ""
    spans = []
    is_open = {'"': False, "'": False}
    glue = True  # the next token follows without a space
    for i, token in enumerate(tokens):
        written = WRITTEN.get(token, token)
        before = tokens[i - 1] if i else ""
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        inner = before[-1:].isalnum() and after[:1].isalnum() and (written == "/" or (written == "-" and split_hyphens))
        possessive = written == "'" and before.endswith("s") and not (is_open["'"] or "'" in tokens[i + 1 :])
        closes = is_open.get(written, False) or possessive
        if not (glue or inner or closes or _joins_left(written, before)):
            text += " "
        spans.append((len(text), len(text) + len(written)))
        text += written
        glue = inner or bool(NO_SPACE_AFTER.match(written))
        if written in is_open and not possessive:
            is_open[written] = not is_open[written]
            glue = is_open[written]
    return RawSentence(text, tuple(tokens), tuple(spans))


def _joins_left(token: str, before: str) -> bool:
    return bool(NO_SPACE_BEFORE.match(token) or SUFFIX.match(token) or (before.lower(), token.lower()) in SPLIT_WORDS)


def splits_hyphens(sentences: Sequence[Sequence[str]]) -> bool:
    """Does this corpus write 'well - known' (spaCy) or 'well-known' (Penn Treebank)? New text must follow it."""
    whole = sum(bool(re.fullmatch(r"[A-Za-z]+-[A-Za-z]+", t)) for s in sentences for t in s)
    apart = sum(t == "-" for s in sentences for t in s)
    return apart >= whole
