"""The target's output tokens -> changes of the text that it read.

A plan aligns the source's tokens with the output. Kept tokens are copied from the text by offset, so what only the
tokenizer's normalisation changed is no edit. Nor is a replacement that only swaps quotes or folds spaces. What the
target wrote with <unk> has no text, and the place is left as it was.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from edit_gec.editing.alignment import align
from edit_gec.editing.plan import Plan, spans
from edit_gec.modeling.tokenizer import Pieces, Vocabulary
from edit_gec.text.edits import Change

_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "“": '"', "”": '"', "«": '"', "»": '"', "„": '"'})


def find_changes(
    window: Pieces, source: str, output: Sequence[int], probabilities: Sequence[float], tokens: Vocabulary
) -> Iterator[Change]:
    """What an output, </s> included, changes in a window whose text is `source`; `tokens` are the target's.

    `probabilities` are those of the output's tokens. A change is as sure as the least probable of its tokens, the one
    that follows it included.
    """
    pieces = shift_to_sentence(tokens.encode(source), window)
    ending = tokens.text_of_end(output[-1])
    written = [*output[:-1], *ending]
    probabilities = [*probabilities, *[probabilities[-1]] * len(ending)]
    if not pieces.ids or list(pieces.ids) == written:  # nothing that the target can read, or nothing changed
        return
    plan = align(pieces.ids, written, tokens)
    at, new = output_positions(plan, len(written))
    for start, end, text, (first, last) in spans(plan, pieces, tokens):
        original = window.source[start:end]
        text = keep_edge_spaces(original, text)
        has_unknown = any(output[n] == tokens.unknown and n in new for n in range(at[first] + 1, at[last]))
        confidence = min(probabilities[at[first] + 1 : at[last] + 1])
        if not has_unknown and fold(text) != fold(original):
            yield Change(start, end, text, confidence)


def shift_to_sentence(pieces: Pieces, window: Pieces) -> Pieces:
    """Pieces of a window's text with offsets in the window's sentence."""
    shift = window.starts[0]
    starts = tuple(n + shift for n in pieces.starts)
    ends = tuple(n + shift for n in pieces.ends)
    return replace(pieces, source=window.source, starts=starts, ends=ends)


def output_positions(plan: Plan, end: int) -> tuple[dict[int, int], set[int]]:
    """The position of each kept piece in the output (-1: the sentinel) and the positions of new pieces.

    The output's </s> is at `end`.

    >>> output_positions(Plan(4, (0, 1, 3), ((2, (7, 8)),)), 4)   # the second of three pieces became 7 8
    ({0: -1, 1: 0, 3: 3, 4: 4}, {1, 2})
    """
    inserted = dict(plan.insertions)
    at: dict[int, int] = {}
    new: set[int] = set()
    here = -1
    for k, piece in enumerate(plan.order, start=1):
        at[piece] = here
        count = len(inserted.get(k, ()))
        new.update(range(here + 1, here + 1 + count))
        here += 1 + count
    return {**at, plan.length: end}, new


def keep_edge_spaces(original: str, text: str) -> str:
    """The replacement with the original's own white space at both ends, which tokenizers fold, line ends included.

    >>> keep_edge_spaces("  was", " were"), keep_edge_spaces("was", " were")
    ('  were', ' were')
    """
    if not original.strip() or not text.strip():
        return text
    before = len(original) - len(original.lstrip())
    if before and text != text.lstrip():
        text = original[:before] + text.lstrip()
    after = len(original) - len(original.rstrip())
    if after and text != text.rstrip():
        text = text.rstrip() + original[-after:]
    return text


def fold(text: str) -> str:
    """The text as a tokenizer may normalise it: compatibility forms, straight quotes, single spaces."""
    text = unicodedata.normalize("NFKC", text.translate(_QUOTES))
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    if not text.strip():
        return before
    return before + " ".join(text.split()) + after
