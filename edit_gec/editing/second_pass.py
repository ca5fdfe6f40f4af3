r"""The second pass: a changed sentence is read again, for errors that hid behind the first ones.

    source    She go to home by yesterday.
    first     (4, 6, "went")                                read again: She went to home by yesterday.
    second    (8, 11, ""), (16, 19, "")                     places in that
    merged    (4, 6, "went"), (6, 9, ""), (14, 17, "")      places in the source

Few sentences are changed, so few are read twice. Sentences without changes are not read again, nor are sentences in
which only spaces change: text that is spaced like tokens ("Hello , world .") says nothing about other errors.

The second pass also scores the inserted words. If it doubts them, the confidence of the change that wrote them falls;
other changes keep theirs. Where the second pass is confident what to write instead ("sientist" becomes "scientist", and
that "scientists"), the doubt is settled, and the two changes become one. Changes of the second pass are supported by
those of the first (confidence.Scale.judge) and must pass the same threshold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from edit_gec.editing.confidence import CALM, logistic
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.rules.engine import DOUBLED, Found
from edit_gec.text.edits import Change, Provenance, apply_changes, expand_to_words, trim
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.editing.decode import Prediction
    from edit_gec.editing.thresholds import Thresholds

    Predict = Callable[[Sequence[Pieces], Thresholds], list[Prediction]]


class ReadTwice(NamedTuple):
    """What is changed in a sentence; `is_read`: the second pass read just that, and alone nothing in it changes."""

    changes: tuple[Change, ...]
    is_read: bool


@dataclass(frozen=True)
class SecondPass:
    """Reads changed sentences again; `predict` plans one batch of at most `longest` pieces a sentence."""

    predict: Predict
    tokens: Tokens
    thresholds: Thresholds
    longest: int

    def apply(self, sentences: Sequence[Pieces], plans: Sequence[Prediction]) -> list[ReadTwice]:
        """The changes of each sentence after both passes, with their final confidence."""
        is_read: set[int] = set()
        first = changes_of(sentences, plans, self.tokens)
        read_twice = range(len(first)) if self.thresholds.reads_twice else ()
        changed = [n for n in read_twice if not is_spacing(sentences[n].source, first[n])]
        with span(Stage.TOKENIZE):
            again = {n: apply_to_pieces(sentences[n], first[n], self.tokens) for n in changed}
        again = {n: pieces for n, pieces in again.items() if 0 < len(pieces) <= self.longest}
        read = self.predict(list(again.values()), self.thresholds.for_second_pass()) if again else []
        with span(Stage.REALIZE):
            found = [judge(changes, plan, self.thresholds) for changes, plan in zip(first, plans, strict=True)]
            for (n, pieces), prediction in zip(again.items(), read, strict=True):
                doubts = doubts_beside(sentences[n], first[n], plans[n].doubts, pieces, prediction.doubts)
                support = [self.thresholds.doubted(c.confidence, d) for c, d in zip(first[n], doubts, strict=True)]
                by_model = [odds for c, odds in zip(first[n], support, strict=True) if c.provenance != Provenance.RULE]
                others = [*map(logistic, by_model), *plans[n].refused]
                proposed = list(prediction.changes(pieces, self.tokens))
                more = judge(proposed, prediction, self.thresholds, (), others)
                more = keep_certain(sentences[n], first[n], pieces.source, more, plans[n].found)
                start = sentences[n].starts[0]
                made = shift(first[n], -start)
                doubts = settle(pieces.source, doubts, made, more)
                found[n] = judge(first[n], plans[n], self.thresholds, doubts)
                if len(found[n]) == len(first[n]) and not more and not judge(proposed, prediction, self.thresholds):
                    is_read.add(n)
                if found[n]:
                    more = leave_out(pieces.source, made, shift(found[n], -start), more)
                    found[n] = merge_passes(sentences[n], found[n], more)
        return [ReadTwice(tuple(changes), n in is_read) for n, changes in enumerate(found)]


def judge(
    changes: Sequence[Change],
    plan: Prediction,
    thresholds: Thresholds,
    doubts: Sequence[float] = (),
    others: Sequence[float] = (),
) -> list[Change]:
    """The changes that a plan makes in its sentence, with their final confidence, without those below the threshold.

    `doubts` has one entry per change, if they were read again; `others` are changes elsewhere that support these.
    What a rule proposes supports nothing: every writer makes such errors, and the model is careless beside them
    ("The childrens were waiting at the bus stop" -> "waiting for the bus stop").
    """
    ruled = [change.provenance == Provenance.RULE for change in changes]
    own = [change.confidence for change in changes]
    model = [0.0 if by_rule else value for value, by_rule in zip(own, ruled, strict=True)]
    every, free = (thresholds.judge(each, doubts, [*plan.refused, *others]) for each in (own, model))
    sure = (each[0] if by_rule else each[1] for by_rule, *each in zip(ruled, every, free, strict=True))
    judged = [change._replace(confidence=value) for change, value in zip(changes, sure, strict=True)]
    return [change for change in judged if change.confidence >= thresholds.threshold]


def is_spacing(source: str, changes: Sequence[Change]) -> bool:
    """Whether a sentence has no changes, or only changes of spaces next to punctuation.

    >>> is_spacing("I do n't , do you", [Change(2, 8, "don't", 0.9), Change(8, 9, "", 0.9)])
    True
    >>> is_spacing("I come every day", [Change(7, 16, "everyday", 0.9)])
    False
    """
    return all(_is_gap(source[max(0, each.start - 1) : each.end + 1], source, each) for each in changes)


def _is_gap(around: str, source: str, change: Change) -> bool:
    same = "".join(source[change.start : change.end].split()) == "".join(change.replacement.split())
    return same and not "".join(around.split()).isalnum()  # two words that become one are a change of words


def changes_of(windows: Sequence[Pieces], predictions: Sequence[Prediction], tokens: Tokens) -> list[list[Change]]:
    """What the plans change in their windows."""
    with span(Stage.REALIZE):
        return [list(each.changes(window, tokens)) for window, each in zip(windows, predictions, strict=True)]


def shift(changes: Sequence[Change], by: int) -> list[Change]:
    """The changes in a text that begins `by` characters later."""
    return [change._replace(start=change.start + by, end=change.end + by) for change in changes]


def written_spans(changes: Sequence[Change]) -> Iterator[tuple[int, int]]:
    """Where the replacements stand, once the changes of a text are made."""
    growth = 0
    for change in changes:
        start = change.start + growth
        yield start, start + len(change.replacement)
        growth += growth_of(change)


def growth_of(change: Change) -> int:
    """How many characters longer the change makes its text."""
    return len(change.replacement) - (change.end - change.start)


def apply_to_pieces(pieces: Pieces, changes: Sequence[Change], tokens: Tokens) -> Pieces:
    """A sentence, or a window of one, as it stands after its changes."""
    return tokens.encode(apply_changes(pieces.covered, shift(changes, -pieces.starts[0])))


def doubts_beside(
    pieces: Pieces, first: Sequence[Change], before: Sequence[float], again: Pieces, doubts: Sequence[float]
) -> list[float]:
    """For each change of a sentence, the largest doubt about what it wrote, and about a piece next to it as far as the
    first reading did not doubt that piece.

    `again` is what the changes make of the sentence. `before` and `doubts` [S] are the probabilities, in the first and
    in the second reading, that the sentinel and each piece do not simply stay.
    """
    start = pieces.starts[0]
    ends = dict(zip((0, *(end - start for end in pieces.ends)), before, strict=False))
    starts = dict(zip((begin - start for begin in pieces.starts), before[1:], strict=False))
    spans = [(0, 0), *zip(again.starts, again.ends, strict=True)]  # the sentinel comes first
    placed = [(a, b, doubt) for doubt, (a, b) in zip(doubts, spans, strict=True)]
    found = []
    changes = shift(first, -start)
    for change, (begin, end) in zip(changes, written_spans(changes), strict=True):
        written = [doubt for a, b, doubt in placed if a < end and b > begin]
        left = [doubt - ends.get(change.start, 0.0) for _, b, doubt in placed if b == begin]
        right = [doubt - starts.get(change.end, 0.0) for a, _, doubt in placed[1:] if a == end]
        found.append(max([CALM, *written, *left, *right]))
    return found


def settle(between: str, doubts: Sequence[float], first: Sequence[Change], again: Sequence[Change]) -> list[float]:
    """The doubts about the changes that made the text `between`, without those about words that `again` changes, too.

    >>> first = [Change(0, 8, "scientist", 0.5), Change(9, 12, "has", 0.5)]
    >>> settle("scientist has it", [0.9, 0.9], first, [Change(9, 9, "s", 0.7)])
    [0.02, 0.9]
    """
    words = [expand_to_words(between, *change[:3]) for change in again]
    return [
        CALM if any(start < end and stop > begin for start, stop, _ in words) else doubt
        for doubt, (begin, end) in zip(doubts, written_spans(first), strict=True)
    ]


def keep_certain(
    sentence: Pieces, first: Sequence[Change], between: str, again: Sequence[Change], found: Sequence[Found]
) -> list[Change]:
    """The changes of the text `between`, which `first` made, without those that replace what a rule wrote, of those
    that `found` something in the sentence: "We was there." has become "We were there.", and does not become "We are".
    What stood there may come back."""
    written = list(_written_by_rules(sentence.covered, shift(first, -sentence.starts[0]), found))
    return [change for change in again if all(_leaves(between, change, *each) for each in written)]


def _leaves(between: str, change: Change, begin: int, stop: int, old: str) -> bool:
    """Whether a change leaves a rule's work alone, restores what stood there, or takes all of it away."""
    if not change.replacement.strip():
        start, end, _ = trim(between, change.start, change.end, "")
        return end <= begin or start >= stop or (start <= begin + 1 and stop <= end + 1)
    start, end, new = expand_to_words(between, *change[:3])
    return end <= begin or start >= stop or new.strip() == old or new.casefold() == between[start:end].casefold()


def _written_by_rules(text: str, changes: Sequence[Change], found: Sequence[Found]) -> Iterator[tuple[int, int, str]]:
    """Where the words that rules propose stand once the changes of the text are made, with what these rules look at,
    and what stood in place of the words. A word that stood twice may still be wrong ("He go go home")."""
    for change, (begin, _) in zip(changes, written_spans(changes), strict=True):
        for start, end, proposals, name, first, last in found:
            if name != DOUBLED and change.start <= start and end <= change.end:
                new = re.search(rf"(?<!\w)(?:{'|'.join(map(re.escape, proposals))})(?!\w)", change.replacement)
                if new:
                    yield begin + new.start() - (start - first), begin + new.end() + last - end, text[start:end]


def leave_out(between: str, first: Sequence[Change], kept: Sequence[Change], again: Sequence[Change]) -> list[Change]:
    """Changes of the text `between`, which `first` made, as changes of the text that `kept` of them make.

    A change that touches one that is not kept, or the same word, is dropped.

    >>> first = [Change(0, 1, "An", 0.9), Change(2, 3, "xyz", 0.2)]
    >>> for change in leave_out("An xyz c d", first, first[:1], [Change(3, 6, "x", 0.8), Change(7, 8, "k", 0.8)]):
    ...     print(*change[:4])
    5 6 k 0.8
    """
    stand = {change[:2] for change in kept}
    gone = [
        (begin, end, growth_of(change))
        for change, (begin, end) in zip(first, written_spans(first), strict=True)
        if change[:2] not in stand
    ]
    left: list[Change] = []
    for change in again:
        start, end, _ = expand_to_words(between, *change[:3])
        if all(end < begin or start > stop for begin, stop, _ in gone):
            left.append(*shift([change], -sum(growth for _, stop, growth in gone if stop < start)))
    return left


def merge_passes(pieces: Pieces, first: Sequence[Change], again: Sequence[Change]) -> list[Change]:
    """The changes of a sentence, and of what `apply_to_pieces` made of it, as changes of the sentence."""
    start = pieces.starts[0]
    return shift(compose(pieces.covered, shift(first, -start), again), start)


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

    Changes that meet, or change the same word, are merged and take the lower confidence; a merged change that restores
    the source is dropped.

    >>> again = [Change(0, 6, "the best", 0.5), Change(11, 11, ".", 0.7)]
    >>> for change in compose("a bad idea", [Change(2, 5, "good", 0.9)], again): print(*change[:4])
    0 5 the best 0.5
    10 10 . 0.7
    """
    if not again:
        return list(first)
    first = [Change(*trim(source, *change[:3]), *change[3:]) for change in first]  # neighbours do not meet
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
        second = sorted(stretch.second, key=lambda change: (change.start, change.end))
        text = apply_changes(between[stretch.start : stretch.end], shift(second, -stretch.start))
        if text != source[start:end]:
            sure = min(change.confidence for change in stretch.first + second)
            by_rules = all(change.provenance == Provenance.RULE for change in stretch.first + second)
            changes.append(Change(start, end, text, sure, Provenance.RULE if by_rules else Provenance.EDIT5))
    return changes


def _alone(between: str, first: Sequence[Change], second: Sequence[Change]) -> list[_Stretch]:
    """Each change alone, in the order of the text between the passes; those of the second with the words they cut."""
    alone = [
        _Stretch(start, end, growth_of(change), [change], [])
        for change, (start, end) in zip(first, written_spans(first), strict=True)
    ]
    for change in second:
        start, end, _ = expand_to_words(between, change.start, change.end, change.replacement)
        alone.append(_Stretch(start, end, 0, [], [change]))
    return sorted(alone, key=lambda stretch: stretch.start)
