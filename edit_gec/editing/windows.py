"""Sentences cut to what the model reads at once.

a sentence of 300 pieces  ->  windows of 128, 121 and 51: they end before a word
a window of 90 pieces     ->  for a target that reads 64: 47 and 43, cut after a comma near the middle
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.text.edits import Change

CLAUSE_MARKS = frozenset(",;:")


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


def fitting_windows(window: Pieces, fits: Callable[[str], bool]) -> Iterator[Pieces]:
    """The parts of a window that a reader with another limit can read: halves, and halves of these.

    `fits` says whether a text is short enough. A single piece is not cut.
    """
    if len(window) < 2 or fits(window.covered):
        yield window
        return
    for half in halve_window(window):
        yield from fitting_windows(half, fits)


def halve_window(window: Pieces) -> tuple[Pieces, Pieces]:
    """A window of two pieces or more, cut near the middle: after a clause mark, else before a word, else anywhere."""
    middle = len(window) // 2
    near = sorted(range(max(1, middle // 2), len(window) - middle // 2), key=lambda n: abs(n - middle))
    words = [n for n in near if window.source[window.starts[n] : window.starts[n] + 1].isspace()]
    clauses = (n for n in words if window.source[window.ends[n - 1] - 1] in CLAUSE_MARKS)
    cut = next(clauses, words[0] if words else middle)
    return window.window(0, cut), window.window(cut, len(window))


def leave_cuts(changes: Iterable[Change], window: Pieces) -> list[Change]:
    """The changes of a window without those of the first or the last word next to a cut in its sentence.

    A target takes a part for a sentence: it gives it a capital letter or a full stop.
    """
    first, last = window.starts[0], window.ends[-1]
    begins_inside, ends_inside = first > 0, last < len(window.source)
    return [
        change
        for change in changes
        if not (begins_inside and not window.source[first : change.start].strip())
        and not (ends_inside and not window.source[change.end : last].strip())
    ]
