"""Logits -> tags: greedy after a bonus for KEEP.

A word is deleted whole unless a real stem of it stays. Of a repeated word exactly one copy is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import eq

import numpy as np

from edit_gec.editing.alignment import STEM_CHARACTERS, word_ranges
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import Pieces, Tokens

MAX_KEEP_BIAS = 1e4  # a larger bias changes nothing, and infinity would make a softmax NaN


def tag_probabilities(logits: np.ndarray, keep_bias: float) -> list[list[float]]:
    """Softmax of the logits [S, 4] after the bonus for KEEP; plain lists [S][4], which Python reads fastest."""
    bonus = np.zeros(4, np.float32)
    bonus[KEEP] = min(keep_bias, MAX_KEEP_BIAS)
    return softmax(logits + bonus).tolist()  # type: ignore[no-any-return]


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    probabilities: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return probabilities


def choose_tags(probabilities: list[list[float]], sentence: Pieces, tokens: Tokens) -> list[int]:
    """Greedy tags [length], sentinel first; whole words where the pieces of a word disagree without a real stem.

    Changes the probabilities of repeated words.
    """
    length = len(sentence) + 1
    tags = [max(range(4), key=p.__getitem__) for p in probabilities[:length]]
    if tags[0] in (DELETE, REPLACE):
        tags[0] = KEEP
    doubled = any(map(eq, sentence.ids, sentence.ids[1:]))
    if all(t == KEEP for t in tags) and not doubled:
        return tags
    ranges = word_ranges(sentence.ids, tokens)
    for start, end in ranges:
        if end - start > 1 and not _is_whole(tags[start + 1 : end + 1], sentence, start, tokens):
            _decide_word(tags, probabilities, start + 1, end + 1)
    _delete_repeated(tags, probabilities, sentence, ranges)
    return tags


def _is_whole(tags: list[int], sentence: Pieces, start: int, tokens: Tokens) -> bool:
    """Whether a word is kept, deleted, or loses only an ending after a real stem."""
    deleted = [t in (DELETE, REPLACE) for t in tags]
    kept = deleted.index(True) if True in deleted else len(deleted)
    if not all(deleted[kept:]):
        return False
    stem = sum(len(tokens.surface(p).lstrip(b" ")) for p in sentence.ids[start : start + kept])
    return kept in (0, len(deleted)) or stem >= STEM_CHARACTERS - 1


def _decide_word(tags: list[int], probabilities: list[list[float]], start: int, end: int) -> None:
    """Tag all pieces of a word alike, by their mean probabilities."""
    mean = [sum(p[t] for p in probabilities[start:end]) / (end - start) for t in range(4)]
    if mean[DELETE] + mean[REPLACE] > 0.5:
        tags[start:end] = [DELETE if mean[DELETE] > mean[REPLACE] else REPLACE] * (end - start)
    else:
        tags[start:end] = [KEEP] * (end - start - 1) + [INSERT if tags[end - 1] == INSERT else KEEP]


def _delete_repeated(
    tags: list[int], probabilities: list[list[float]], sentence: Pieces, ranges: Sequence[tuple[int, int]]
) -> None:
    """Delete one copy of a repeated word ("the the").

    The deletion mass of both copies is assigned to the second, in the probabilities too: exactly one is removed.
    """
    for (start, end), (again, stop) in pairwise(ranges):
        word = sentence.text(start, end).strip().casefold()
        if not word.isalpha() or sentence.text(again, stop).casefold() != " " + word:
            continue
        first = probabilities[start + 1 : end + 1]
        second = probabilities[again + 1 : stop + 1]
        gone = sum(sum(p[DELETE] + p[REPLACE] for p in of_word) / len(of_word) for of_word in (first, second))
        if gone > 0.5:
            tags[start + 1 : stop + 1] = [KEEP] * (end - start) + [DELETE] * (stop - again)
            for p in second:
                p[:] = [max(0.0, 1 - gone), min(1.0, gone), 0.0, 0.0]
