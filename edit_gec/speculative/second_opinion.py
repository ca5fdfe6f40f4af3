"""What a T5 thinks of the edits that EdiT5 proposes. It writes nothing of its own.

    source    She go to school .
    edited    She goes to school .
    gain      log p(goes to) - log p(go to)         at this place, given the source; one pass for both texts

The confidence of an edit is one number from both models (`JointScale`), and the only one that a threshold is compared
with. The T5 is not asked about edits that EdiT5 is sure of. It reads an edit in its sentence. Of a sentence that is too
long for it, it reads the longest stretch around the edit that it can. So no sentence is left out, and no output can be
endless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import torch

from edit_gec.editing.confidence import log_odds, logistic
from edit_gec.editing.predictor import Window
from edit_gec.editing.second_pass import shift
from edit_gec.errors import ModelError
from edit_gec.modeling.config import read_config
from edit_gec.modeling.tokenizer import EOS, Pieces
from edit_gec.speculative.ragged_cache import RaggedDecoder
from edit_gec.speculative.target import Target
from edit_gec.text.edits import Change, apply_changes
from edit_gec.tracing import Stage, span

MOST_GAIN = 8.0  # of log-probability, in either direction; more counts as this
NO_GAIN = 0.0  # of an edit that the T5 cannot read
BELOW_SURE = 0.001  # a T5 lifts no edit above those that EdiT5 is sure of
MOST_ROWS = 64  # texts of one pass
KEY = "second_opinion"  # of config.json


@dataclass(frozen=True)
class JointScale:
    """From EdiT5's confidence and the T5's gain to one confidence; a T5 folder carries fitted values.

    log-odds = log-odds(EdiT5's confidence) + gain_slope * gain + offset

    That is below `sure`. From there on EdiT5's own confidence counts. `min_confidence` is the default threshold.
    """

    gain_slope: float = 0.0
    offset: float = 0.0
    sure: float = 1.0
    min_confidence: float = 0.5

    def confidence(self, first: float, gain: float) -> float:
        """How often such edits are right, 0 to 1. `first` is EdiT5's confidence."""
        if first >= self.sure:
            return first
        most = max(-MOST_GAIN, min(MOST_GAIN, gain))
        joint = logistic(log_odds(first) + self.gain_slope * most + self.offset)
        return min(joint, self.sure - BELOW_SURE)

    def lowest_first(self, confidence: float) -> float:
        """The confidence of EdiT5 below which no gain lifts an edit to this confidence."""
        if confidence > self.sure - BELOW_SURE:
            return confidence
        return min(self.sure, logistic(log_odds(confidence) - self.gain_slope * MOST_GAIN - self.offset))

    @classmethod
    def load(cls, folder: Path) -> JointScale | None:
        """The scale in config.json of a T5 folder; None where there is none. Raises ModelError for wrong entries."""
        entries: Any = read_config(folder).get(KEY)
        if entries is None:
            return None
        names = [field.name for field in fields(cls)]
        if not isinstance(entries, dict) or not set(names) <= set(entries):
            raise ModelError(f"{folder / 'config.json'}: {KEY} {entries!r}; expected numbers for {', '.join(names)}")
        values = {name: entries[name] for name in names}
        if not all(isinstance(value, int | float) for value in values.values()):
            raise ModelError(f"{folder / 'config.json'}: {KEY} {entries!r}; expected numbers for {', '.join(names)}")
        scale = cls(**values)
        shares = (scale.sure, scale.min_confidence)
        if scale.gain_slope < 0 or not all(0 < share <= 1 for share in shares):
            expected = "gain_slope not below 0, sure and min_confidence above 0 up to 1"
            raise ModelError(f"{folder / 'config.json'}: {KEY} {entries!r}; expected {expected}")
        return scale


class SecondOpinion:
    """A T5 that judges the edits of an EdiT5 (judged.py), and counts of what it judged. Several threads may use one."""

    reads_before = False

    def __init__(self, target: Target, scale: JointScale) -> None:
        self.target = target
        self.scale = scale
        self.edits = self.refused = self.unread = self.passes = 0
        self._counting = Lock()

    def summary(self) -> dict[str, int]:
        """What it did, for JSON: edits that it was asked about, those refused, those that it could not read, passes."""
        return {"edits": self.edits, "refused": self.refused, "unread": self.unread, "passes": self.passes}

    def lowest_proposed(self, threshold: float) -> float:
        """The confidence of EdiT5 below which no gain lifts an edit to this threshold."""
        return self.scale.lowest_first(threshold)

    def judge(
        self, windows: Sequence[Window], proposed: Sequence[Sequence[Change]], threshold: float
    ) -> list[list[Change]]:
        """The changes of each window whose joint confidence reaches the threshold, with that confidence."""
        places = [(n, change) for n, changes in enumerate(proposed) for change in changes]
        unsure = [each for each in places if each[1].confidence < self.scale.sure]
        gains = self.gains([(windows[n].pieces, change) for n, change in unsure])
        gain_of = dict(zip(unsure, gains, strict=True))
        judged: list[list[Change]] = [[] for _ in windows]
        for n, change in places:
            joint = self.scale.confidence(change.confidence, gain_of.get((n, change), NO_GAIN))
            if joint >= threshold:
                judged[n].append(change._replace(confidence=joint))
        with self._counting:
            self.edits += len(unsure)
            self.refused += len(places) - sum(map(len, judged))
        return judged

    def gains(self, edits: Sequence[tuple[Pieces, Change]]) -> list[float]:
        """log p(what each change writes) - log p(what is there); NO_GAIN where the T5 cannot read the change."""
        with span(Stage.TARGET_TOKENIZE):
            questions = [find_question(self.target, *edit) for edit in edits]
        asked = {n: question for n, question in enumerate(questions) if question}
        gains = [NO_GAIN] * len(edits)
        groups = list(_group_by_source(asked))
        for group in groups:
            for n, gain in zip(group, measure_gains(self.target, [asked[n] for n in group]), strict=True):
                gains[n] = gain
        with self._counting:
            self.unread += len(edits) - len(asked)
            self.passes += len(groups)
        return gains


class Question(NamedTuple):
    """Which of two texts does the T5 find more likely as the correction of the first?"""

    source: str
    edited: str


def find_question(target: Target, pieces: Pieces, change: Change) -> Question | None:
    """A sentence without and with a change, or the longest stretch around the change that the target can read.

    None if it cannot read even the words of the change.
    """
    longest = len(pieces)
    while longest:
        start, end = find_stretch(pieces, change, longest)
        text = pieces.source[start:end]
        question = Question(text, apply_changes(text, shift([change], -start)))
        if target.fits(question.source) and target.fits(question.edited):
            return question
        longest = longest * 3 // 4 if end - start > change.end - change.start else 0
    return None


def find_stretch(pieces: Pieces, change: Change, longest: int) -> tuple[int, int]:
    """Start and end of the text around a change, of about so many pieces, whole words; all of it if it is that short.

    It contains the change, which may be longer.
    """
    count = len(pieces)
    if count <= longest:
        return pieces.starts[0], pieces.ends[-1]
    middle = next((n for n in range(count) if 2 * pieces.ends[n] >= change.start + change.end), count - 1)
    first = max(0, min(middle - longest // 2, count - longest))
    start = min(pieces.starts[first], change.start)
    end = max(pieces.ends[first + longest - 1], change.end)
    text = pieces.source
    while first and start < change.start and not text[start - 1].isspace():
        start += 1
    while change.end < end < pieces.ends[-1] and not text[end].isspace():
        end -= 1
    return start, end


@torch.inference_mode()
def measure_gains(target: Target, questions: Sequence[Question]) -> list[float]:
    """log p(edited) - log p(source), given the source, of what differs and the token after it; all in one pass."""
    sources = list(dict.fromkeys(question.source for question in questions))
    encoded = target.encode_shared(sources)
    texts = [*sources, *(question.edited for question in questions)]
    rows = [[*target.tokens.ids(text), EOS] for text in texts]
    number = {source: n for n, source in enumerate(sources)}
    with span(Stage.VERIFY):
        decoder = RaggedDecoder(target.model)
        decoder.add_rows(encoded.states, encoded.mask)
        decoder.keep([*range(len(sources)), *(number[question.source] for question in questions)])
        hidden = decoder.forward([[target.start, *row[:-1]] for row in rows])  # [N, d]
        compared = []
        for n, question in enumerate(questions, len(sources)):
            place = number[question.source]
            ours, theirs = find_difference(rows[n], rows[place])
            compared += [(n, ours), (place, theirs)]
        chances = _log_probabilities(target, hidden, rows, compared)
    return [edited - source for edited, source in zip(chances[::2], chances[1::2], strict=True)]


def _log_probabilities(
    target: Target, hidden: torch.Tensor, rows: Sequence[Sequence[int]], spans: Sequence[tuple[int, range]]
) -> list[float]:
    """The log-probability of each span, a row and positions in it; hidden [N, d] of all positions, row after row."""
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row))
    at = [starts[row] + n for row, positions in spans for n in positions]
    if not at:
        return [0.0] * len(spans)
    tokens = [rows[row][n] for row, positions in spans for n in positions]
    logits = target.model.logits(hidden[torch.tensor(at, device=hidden.device)]).float()  # [M, V]
    chosen = logits.log_softmax(-1).gather(1, torch.tensor(tokens, device=hidden.device)[:, None])[:, 0].tolist()
    each: Iterator[float] = iter(chosen)
    return [sum(next(each) for _ in positions) for _, positions in spans]


def find_difference(a: Sequence[int], b: Sequence[int]) -> tuple[range, range]:
    """Where two rows of tokens differ, each with the token after that; empty where they are the same.

    >>> find_difference([5, 6, 7, 1], [5, 8, 9, 7, 1])
    (range(1, 3), range(1, 4))
    >>> find_difference([5, 1], [5, 1])
    (range(0, 0), range(0, 0))
    """
    if list(a) == list(b):
        return range(0), range(0)
    shorter = min(len(a), len(b))
    start = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    same = next((n for n in range(shorter - start) if a[-1 - n] != b[-1 - n]), shorter - start)
    return range(start, min(len(a), len(a) - same + 1)), range(start, min(len(b), len(b) - same + 1))


def _group_by_source(questions: Mapping[int, Question]) -> Iterator[list[int]]:
    """The numbers of the questions in groups of at most MOST_ROWS texts, sources of similar length together."""
    group: list[int] = []
    sources: set[str] = set()
    for number in sorted(questions, key=lambda n: (len(questions[n].source), questions[n].source)):
        source = questions[number].source
        if len(group) + len(sources | {source}) + 1 > MOST_ROWS:
            yield group
            group = []
            sources = set()
        group.append(number)
        sources.add(source)
    if group:
        yield group
