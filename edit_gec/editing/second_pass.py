r"""A second reading: what was changed is read once more as it now stands, for errors that hid behind the first.

    source    She go to home by yesterday.
    first     (4, 6, "went")                                read again: She went to home by yesterday.
    second    (8, 11, ""), (16, 19, "")                     places in that
    both      (4, 6, "went"), (6, 9, ""), (14, 17, "")      places in the source

Few sentences are changed, so few are read twice; a sentence that was left alone stays so. As its first errors were
surely some, the others need less confidence there (`Thresholds.second_pass_factor`) and pass no gate.

The second reading also says what it thinks of the first one's words. Where they are no better than what stood there it
doubts them, too, which counts against the sentence (`holds`): if too little confidence is left, nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edit_gec.editing.confidence import combine, log_odds, logistic
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.text.edits import Change, changed, whole_words

LITTLE = 0.02  # doubt that counts for nothing


def shifted(changes: Sequence[Change], by: int) -> list[Change]:
    """The changes in a text that begins `by` characters later."""
    return [(start + by, end + by, new, sure) for start, end, new, sure in changes]


def written(changes: Sequence[Change]) -> Iterator[tuple[int, int]]:
    """Where what they write stands, once the changes of a text are made."""
    shift = 0
    for start, end, new, _ in changes:
        yield start + shift, start + shift + len(new)
        shift += len(new) - (end - start)


def text_of(window: Pieces) -> str:
    """The part of its sentence that a window covers."""
    return window.source[window.starts[0] : window.ends[-1]]


def edited(pieces: Pieces, changes: Sequence[Change], tokens: Tokens) -> Pieces:
    """A sentence, or a window of one, as it stands after its changes."""
    return tokens.encode(changed(text_of(pieces), shifted(changes, -pieces.starts[0])))


def holds(
    pieces: Pieces, first: Sequence[Change], again: Pieces, doubts: Sequence[float], gate: float, confirm: float
) -> bool:
    """Whether the changes of a sentence hold, now that what they make of it, `again`, was read.

    `doubts` [S] say of the sentinel and each piece of `again` how probable it is that it does not simply stay. Each
    change loses `confirm` times the log-odds of the largest doubt in or beside what it wrote, as far as they are above
    those of LITTLE; together (confidence.combine) the changes must still reach the gate.
    """
    if not confirm:
        return True
    spans = [(0, 0), *zip(again.starts, again.ends, strict=True)]  # the sentinel comes first
    left = []
    for (*_, sure), (begin, end) in zip(first, written(shifted(first, -pieces.starts[0])), strict=True):
        beside = [doubt for doubt, (a, b) in zip(doubts, spans, strict=True) if a <= end and b >= begin]
        odds = log_odds(sure) - confirm * (log_odds(max([LITTLE, *beside])) - log_odds(LITTLE))
        left.append(logistic(odds))
    return combine(left) >= gate


def both(pieces: Pieces, first: Sequence[Change], again: Sequence[Change]) -> list[Change]:
    """The changes of a sentence, and of what `edited` made of it, as changes of the sentence."""
    start = pieces.starts[0]
    return shifted(compose(text_of(pieces), shifted(first, -start), again), start)


@dataclass
class _Stretch:
    """A stretch of the text between the readings, by how much the first made it longer, and what changes it."""

    start: int
    end: int
    growth: int
    first: list[Change]
    second: list[Change]


def compose(source: str, first: Sequence[Change], again: Sequence[Change]) -> list[Change]:
    """The changes of `source` that do what `first` and then, in the changed text, `again` do.

    Those that meet, or change the same word, become one, which is as sure as the less sure of them; what comes out as
    it went in is none.

    >>> compose("a bad idea", [(2, 5, "good", 0.9)], [(0, 6, "the best", 0.5), (11, 11, ".", 0.7)])
    [(0, 5, 'the best', 0.5), (10, 10, '.', 0.7)]
    """
    if not again:
        return list(first)
    between = changed(source, first)
    stretches: list[_Stretch] = []
    for each in _alone(between, first, again):
        last = stretches[-1] if stretches else None
        apart = last is None or each.start > last.end or (each.start == last.end and not (each.second or last.second))
        if last is None or apart:
            stretches.append(each)
        else:
            last.end = max(last.end, each.end)
            last.growth += each.growth
            last.first += each.first
            last.second += each.second
    changes: list[Change] = []
    shift = 0
    for stretch in stretches:
        start = stretch.start - shift
        shift += stretch.growth
        end = stretch.end - shift
        if not stretch.second:
            changes += stretch.first
            continue
        second = sorted(stretch.second, key=lambda change: change[:2])
        text = changed(between[stretch.start : stretch.end], shifted(second, -stretch.start))
        if text != source[start:end]:
            changes.append((start, end, text, min(sure for *_, sure in stretch.first + second)))
    return changes


def _alone(between: str, first: Sequence[Change], second: Sequence[Change]) -> list[_Stretch]:
    """Each change alone, in the order of the text between the readings; those of the second with the words they cut."""
    alone = [
        _Stretch(start, end, len(change[2]) - (change[1] - change[0]), [change], [])
        for change, (start, end) in zip(first, written(first), strict=True)
    ]
    for change in second:
        start, end, _ = whole_words(between, *change[:3])
        alone.append(_Stretch(start, end, 0, [], [change]))
    return sorted(alone, key=lambda stretch: stretch.start)
