"""Sentences cut to what the model reads at once.

a sentence of 300 pieces  ->  windows of 128, 121 and 51: they end before a word
"""

from __future__ import annotations

from collections.abc import Iterator

from edit_gec.modeling.tokenizer import Pieces, Tokens


def cut_windows(pieces: Pieces, tokens: Tokens, longest: int) -> Iterator[Pieces]:
    """The windows of a sentence, `longest` pieces at most, cut at spaces where there are any."""
    start = 0
    while len(pieces) - start > longest:
        end = start + longest
        spaces = (n for n in range(end, start + longest // 2, -1) if tokens.starts_word(pieces.ids[n]))
        end = next(spaces, end)
        yield pieces.window(start, end)
        start = end
    if start < len(pieces):
        yield pieces.window(start, len(pieces))


def readable_windows(pieces: Pieces, tokens: Tokens, longest: int) -> list[Pieces]:
    """The windows of a sentence without those that lie inside a word.

    Windows without a word boundary (base64, long URLs) are skipped: they are not prose, and they are slow, with one
    piece per character.
    """
    windows = list(cut_windows(pieces, tokens, longest))
    if len(windows) == 1:
        return windows
    return [window for window in windows if any(map(tokens.starts_word, window.ids[1:]))]
