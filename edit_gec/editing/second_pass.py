r"""The second pass: a changed sentence is read once more, for errors that hid behind the first ones.

    source    She go to home by yesterday.
    first     (4, 6, "went")                                read again: She went to home by yesterday.
    second    (8, 11, ""), (16, 19, "")                     places in that
    merged    (4, 6, "went"), (6, 9, ""), (14, 17, "")      places in the source

Few sentences are changed, so few are read twice; a sentence without changes stays as it is. The first pass has
established that the sentence contains errors, so the second uses a lower threshold and no sentence gate.

The second pass also scores the inserted words. If it would change them again, the confidence of the first change is
reduced; if too little is left of it to pass the gate, the sentence is left unchanged (`is_confirmed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from edit_gec.editing.confidence import combine, log_odds, logistic
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.text.edits import Change, apply_changes, expand_to_words
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.editing.decode import Prediction
    from edit_gec.editing.thresholds import Thresholds

    Predict = Callable[[Sequence[Pieces], Thresholds], list[Prediction]]

DOUBT_FLOOR = 0.02  # doubt that counts for nothing


@dataclass(frozen=True)
class SecondPass:
    """Reads changed sentences again; `predict` makes the plans of one batch, `longest` is how many pieces it reads."""

    predict: Predict
    tokens: Tokens
    thresholds: Thresholds
    longest: int

    def apply(self, sentences: Sequence[Pieces], first: Sequence[list[Change]]) -> list[list[Change]]:
        """The changes of each sentence, those of the second pass among them."""
        found = list(first)
        if not self.thresholds.second_pass_factor:
            return found
        changed = [n for n, changes in enumerate(first) if changes]
        with span(Stage.TOKENIZE):
            again = {n: apply_to_pieces(sentences[n], first[n], self.tokens) for n in changed}
        again = {n: pieces for n, pieces in again.items() if 0 < len(pieces) <= self.longest}
        predictions = self.predict(list(again.values()), self._laxer()) if again else []
        with span(Stage.REALIZE):
            for (n, pieces), prediction in zip(again.items(), predictions, strict=True):
                found[n] = self._merge(sentences[n], first[n], pieces, prediction)
        return found

    def _laxer(self) -> Thresholds:
        least = self.thresholds.min_confidence * self.thresholds.second_pass_factor
        return replace(self.thresholds, min_confidence=least, sentence_gate=0.0)

    def _merge(self, sentence: Pieces, first: Sequence[Change], again: Pieces, prediction: Prediction) -> list[Change]:
        gate, penalty = self.thresholds.sentence_gate, self.thresholds.second_pass_penalty
        if not is_confirmed(sentence, first, again, prediction.doubts, gate, penalty):
            return []
        return merge_passes(sentence, first, list(prediction.changes(again, self.tokens)))


def changes_of(windows: Sequence[Pieces], predictions: Sequence[Prediction], tokens: Tokens) -> list[list[Change]]:
    """What the plans change in their windows."""
    with span(Stage.REALIZE):
        return [list(each.changes(window, tokens)) for window, each in zip(windows, predictions, strict=True)]


def shift(changes: Sequence[Change], by: int) -> list[Change]:
    """The changes in a text that begins `by` characters later."""
    return [(start + by, end + by, new, sure) for start, end, new, sure in changes]


def written_spans(changes: Sequence[Change]) -> Iterator[tuple[int, int]]:
    """Where the replacements stand, once the changes of a text are made."""
    growth = 0
    for start, end, new, _ in changes:
        yield start + growth, start + growth + len(new)
        growth += len(new) - (end - start)


def text_of(window: Pieces) -> str:
    """The part of its sentence that a window covers."""
    return window.source[window.starts[0] : window.ends[-1]]


def apply_to_pieces(pieces: Pieces, changes: Sequence[Change], tokens: Tokens) -> Pieces:
    """A sentence, or a window of one, as it stands after its changes."""
    return tokens.encode(apply_changes(text_of(pieces), shift(changes, -pieces.starts[0])))


def is_confirmed(
    pieces: Pieces, first: Sequence[Change], again: Pieces, doubts: Sequence[float], gate: float, penalty: float
) -> bool:
    """Whether the changes of a sentence stand, now that `again`, what they make of it, was read.

    `doubts` [S] are the probabilities that the sentinel and each piece of `again` do not simply stay. Each change
    loses `penalty` times the log-odds of the largest doubt in or beside what it wrote, as far as they are above those
    of DOUBT_FLOOR; together (confidence.combine) the changes must still reach the gate.
    """
    if not penalty:
        return True
    spans = [(0, 0), *zip(again.starts, again.ends, strict=True)]  # the sentinel comes first
    left = []
    for (*_, sure), (begin, end) in zip(first, written_spans(shift(first, -pieces.starts[0])), strict=True):
        beside = [doubt for doubt, (a, b) in zip(doubts, spans, strict=True) if a <= end and b >= begin]
        odds = log_odds(sure) - penalty * (log_odds(max([DOUBT_FLOOR, *beside])) - log_odds(DOUBT_FLOOR))
        left.append(logistic(odds))
    return combine(left) >= gate


def merge_passes(pieces: Pieces, first: Sequence[Change], again: Sequence[Change]) -> list[Change]:
    """The changes of a sentence, and of what `apply_to_pieces` made of it, as changes of the sentence."""
    start = pieces.starts[0]
    return shift(compose(text_of(pieces), shift(first, -start), again), start)


@dataclass
class _Stretch:
    """A stretch of the text between the passes, by how much the first made it longer, and what changes it."""

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
    between = apply_changes(source, first)
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
    growth = 0
    for stretch in stretches:
        start = stretch.start - growth
        growth += stretch.growth
        end = stretch.end - growth
        if not stretch.second:
            changes += stretch.first
            continue
        second = sorted(stretch.second, key=lambda change: change[:2])
        text = apply_changes(between[stretch.start : stretch.end], shift(second, -stretch.start))
        if text != source[start:end]:
            changes.append((start, end, text, min(sure for *_, sure in stretch.first + second)))
    return changes


def _alone(between: str, first: Sequence[Change], second: Sequence[Change]) -> list[_Stretch]:
    """Each change alone, in the order of the text between the passes; those of the second with the words they cut."""
    alone = [
        _Stretch(start, end, len(change[2]) - (change[1] - change[0]), [change], [])
        for change, (start, end) in zip(first, written_spans(first), strict=True)
    ]
    for change in second:
        start, end, _ = expand_to_words(between, *change[:3])
        alone.append(_Stretch(start, end, 0, [], [change]))
    return sorted(alone, key=lambda stretch: stretch.start)
