"""Other replacements for an edit, and hints: words that are surely wrong, where no replacement is sure enough.

    I recieved a mail.              recieved -> received         or: relieved
    She go to school every day.     no edit, but a hint: goes    or: went, will go

Nothing here runs unless it is asked for (`Corrector.suggest`). A sentence is then encoded once more, and each place is
tagged alone, so that what is proposed there does not depend on the edits elsewhere.

    a misspelt word    the candidates of the lexicon, as spelling.py ranks them
    anything else      the likeliest first pieces of the insertion decoder, each completed greedily
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from edit_gec.backends.network import Network, ScoringRequest, never_written
from edit_gec.editing.confidence import EvidenceKind, classify
from edit_gec.editing.decode import SentenceState, decide_tags, tag_confidences
from edit_gec.editing.document_edits import Projection
from edit_gec.editing.insertion import InsertionDecoder, Slot, cut_rows, open_slots
from edit_gec.editing.plan import Plan, spans
from edit_gec.editing.pointer import keep_order
from edit_gec.editing.spelling import classify_respelling, has_name, rank_candidates
from edit_gec.editing.tags import tag_probabilities
from edit_gec.editing.thresholds import Thresholds
from edit_gec.editing.windows import readable_windows
from edit_gec.modeling.tagset import INSERT, KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, Pieces, Tokens
from edit_gec.text.correction import Correction, assemble
from edit_gec.text.edits import Change, Edit, apply_changes, resolve_overlaps
from edit_gec.text.sentences import Sentence

MOST = 3  # alternatives of an edit
FIRST_PIECES = 6  # of the decoder, for each place
LONGEST = 8  # pieces of what is written
MOST_PLACES = 8  # that are written together: MAX_ROWS rows at most
LEAST_SHARE = 0.02  # probability of what is written
HINT_DOUBT = 0.95  # probability of a change from which on a place without an edit gets a hint (profiles/LOG.md)
LONGEST_HINT = 6  # pieces of the source in a hint


class Place(NamedTuple):
    """Pieces first..last (half-open, without the sentinel) that are replaced; none: something is inserted before
    piece `first`."""

    first: int
    last: int


class Written(NamedTuple):
    """What may stand at a place, and its probability."""

    ids: tuple[int, ...]
    probability: float
    kind: EvidenceKind | None = None


class Option(NamedTuple):
    """A change of a sentence and what else may stand there, the likeliest first."""

    change: Change
    others: tuple[Change, ...]


class Options(NamedTuple):
    """What may stand in the edited spans of a sentence, and where it has hints; no document plays a part."""

    others: Mapping[tuple[int, int], tuple[Change, ...]]
    hints: tuple[Option, ...]


class Suggested(NamedTuple):
    """The edits of a sentence with their alternatives, and its hints."""

    edits: tuple[Edit, ...]
    hints: tuple[Edit, ...]


@dataclass(frozen=True)
class Suggester:
    """Finds alternatives and hints in the sentences of a text. `hint_doubt`: the probability of a change from which on
    there is a hint."""

    network: Network
    tokens: Tokens
    thresholds: Thresholds
    projection: Projection
    hint_doubt: float = HINT_DOUBT

    def extend(self, correction: Correction, sentences: Iterable[Sentence]) -> Correction:
        """A correction with the alternatives and hints of its text's sentences."""
        edits = {edit.span: edit for edit in correction.edits}
        hints = [*correction.hints]
        for sentence in sentences:
            inside = [edit for edit in edits.values() if sentence.holds(edit)]
            suggested = self.suggest(correction.text, sentence, inside, hints=True)
            edits.update((edit.span, edit) for edit in suggested.edits)
            hints += suggested.hints
        return assemble(correction.text, edits.values(), correction.refused, hints)

    def suggest(self, text: str, sentence: Sentence, edits: Sequence[Edit], *, hints: bool) -> Suggested:
        """The edits of a sentence of `text` with up to MOST alternatives each, the likeliest first; hints elsewhere in
        the sentence, if they are asked for.

        A hint is an edit that is not sure enough to be made: its replacement is the likeliest.
        """
        places = tuple(map(sentence.span_of, edits))
        *_, options = Options({}, ()), *self.read(sentence.text, places, hints=hints)
        return self.project(text, sentence, edits, options)

    def read(self, sentence: str, edited: Sequence[tuple[int, int]], *, hints: bool) -> Iterator[Options]:
        """What may stand in the edited spans of a sentence, and in others, after every few of them: the last is all."""
        places = sorted(edited)
        others: dict[tuple[int, int], tuple[Change, ...]] = {}
        offered: tuple[Option, ...] = ()
        pieces = self.tokens.encode(sentence) if edited or hints else None
        for window in readable_windows(pieces, self.tokens, self.network.config.max_pieces) if pieces else ():
            first, last = (bisect_left(places, (edge,)) for edge in (window.starts[0], window.ends[-1] + 1))
            read = Reading(self, window)
            inside = [(span, place) for span in places[first:last] if (place := find_place(window, *span))]
            for part in cut_rows(inside, MOST_PLACES):
                written = read.write([place for _, place in part])
                for (span, place), texts in zip(part, written, strict=True):
                    others[span] = tuple(filter(None, (read.change(place, each) for each in texts)))
                yield Options(others, offered)
            if hints:
                offered += tuple(self._find_hints(read, [place for _, place in inside]))
            yield Options(others, offered)

    def _find_hints(self, read: Reading, taken: Sequence[Place]) -> Iterator[Option]:
        """The hints of one window; `taken` are the places of its edits."""
        doubted = [
            (place, doubt)
            for place, doubt in read.doubted()
            if all(place.last < other.first or place.first > other.last for other in taken)
        ]
        texts = read.write([place for place, _ in doubted])
        for (place, doubt), written in zip(doubted, texts, strict=True):
            changes = [(each, change) for each in written if (change := read.change(place, each))]
            if changes and changes[0][0].ids:  # what is only deleted is an error in every second case
                (best, change), *_ = changes
                sure = min(
                    read.confidence(place, doubt, best), self.thresholds.threshold
                )  # the second reading doubts it
                yield Option(change._replace(confidence=sure), tuple(change for _, change in changes[1:]))

    def project(self, text: str, sentence: Sentence, edits: Sequence[Edit], options: Options) -> Suggested:
        """The options of a sentence as alternatives and hints in its text; what is no edit there is left out."""
        found = tuple(
            replace(edit, alternatives=self._alternatives(text, sentence, edit, options.others.get(span, ())))
            for edit, span in zip(edits, map(sentence.span_of, edits), strict=True)
        )
        hints: list[Edit] = []
        for change, others in options.hints:
            made = self._choose(text, sentence, change)
            if len(made) == 1 and all(made[0].end < edit.start or made[0].start > edit.end for edit in edits):
                found_others = self._alternatives(text, sentence, made[0], others)
                hints.append(replace(made[0], confidence=round(change.confidence, 4), alternatives=found_others))
        return Suggested(found, tuple(resolve_overlaps(hints)))

    def _choose(self, text: str, sentence: Sentence, change: Change) -> list[Edit]:
        """The edits that a change makes in its document, however sure it is."""
        return self.projection.choose(text, sentence, [change._replace(confidence=1.0)])

    def _alternatives(self, text: str, sentence: Sentence, edit: Edit, changes: Sequence[Change]) -> tuple[str, ...]:
        """What the changes of the sentence write in the place of an edit, other than the edit itself. Nothing where it
        takes the marks of a title along."""
        if not sentence.holds(edit):
            return ()
        others: dict[str, None] = {}
        for change in changes:
            parts = self._choose(text, sentence, change)
            if parts and all(edit.start <= part.start and part.end <= edit.end for part in parts):
                other = apply_changes(edit.original, [part.moved(-edit.start) for part in parts])
                others[other.strip() if edit.original.strip() == edit.original != "" else other] = None
        return tuple(each for each in others if each not in (edit.original, edit.replacement))[:MOST]


class Reading:
    """A window of a sentence behind the encoder, and what may be written into it."""

    def __init__(self, suggester: Suggester, pieces: Pieces) -> None:
        self.network = suggester.network
        self.tokens = suggester.tokens
        self.thresholds = suggester.thresholds
        self.lexicon = suggester.projection.spelling
        self.pieces = pieces
        self.hint_doubt = suggester.hint_doubt
        self.source = self.network.encode([self.tokens.wrap(pieces.ids)])

    @cached_property
    def state(self) -> SentenceState:
        """The tags, as the first pass chooses them."""
        probabilities = tag_probabilities(self.network.tag(self.source)[0], self.thresholds.keep_bias)
        return decide_tags(self.pieces, probabilities, self.tokens, self.lexicon)

    def doubted(self) -> Iterator[tuple[Place, float]]:
        """The places that are tagged as wrong for sure, with the probability."""
        state = self.state
        if not state.is_english:
            return
        for kept, doubt in tag_confidences(state.gaps, state.probabilities).items():
            deleted = state.gaps[kept]
            place = Place(deleted[0] - 1, deleted[-1]) if deleted else Place(kept, kept)  # the sentinel comes first
            if doubt >= self.hint_doubt and len(deleted) <= LONGEST_HINT:
                yield place, doubt

    def write(self, places: Sequence[Place]) -> list[list[Written]]:
        """What may stand at each place, the likeliest first."""
        return [written for part in cut_rows(places, MOST_PLACES) for written in self._write_together(part)]

    def _write_together(self, places: Sequence[Place]) -> list[list[Written]]:
        states = [self._tagged(place) for place in places]
        tags = [state.all_tags for state in states]
        ranks = [state.all_ranks for state in states]
        memory = self.network.remember(self.source, [0] * len(places), tags, ranks)
        decoder = InsertionDecoder(memory, self.tokens)
        slots = [open_slots(state.tags, state.order.pieces, row)[0] for row, state in enumerate(states)]
        respelt = [self._respell(decoder, *each) for each in zip(slots, places, strict=True)]
        left = [slot for slot, known in zip(slots, respelt, strict=True) if not known]
        free = iter(write_likeliest(decoder, left, self.network))
        return [known or next(free) for known in respelt]

    def _tagged(self, place: Place) -> SentenceState:
        """The sentence with this place tagged, and nothing else."""
        tags: list[int] = [KEEP] * (len(self.pieces) + 1)
        tags[place.first + 1 : place.last + 1] = [REPLACE] * (place.last - place.first)
        if place.first == place.last:
            tags[place.first] = INSERT
        return SentenceState(self.pieces, tags, [], keep_order(tags))

    def _respell(self, decoder: InsertionDecoder, slot: Slot, place: Place) -> list[Written]:
        """What a misspelt word may stand for; [] where the place is no such word."""
        gap = self.lexicon.gap_candidates(self.pieces, *place) if self.lexicon and place.first < place.last else []
        if len(gap) != 1:
            return []
        is_name = self.lexicon is not None and has_name(self.lexicon, self.pieces, *place)
        ranked = [each for each in rank_candidates(decoder, slot, gap[0]) if each[1] >= LEAST_SHARE]
        letters = self.pieces.text(*place).strip()
        elided = [each for each in ranked if "'" in each[0].text and each[0].text.replace("'", "") == letters]
        return [
            Written(tuple(self.tokens.ids(each.text)), share, classify_respelling([each], is_name=is_name))
            for each, share in elided or ranked  # where an apostrophe is missing, no letter is wrong
        ]

    def change(self, place: Place, written: Written) -> Change | None:
        """What is written at a place as a change of the sentence; None where it stands there already."""
        order = self._tagged(place).order.pieces
        insertions = ((place.first + 1, written.ids),) if written.ids else ()
        made = spans(Plan(len(self.pieces) + 1, tuple(order), insertions), self.pieces, self.tokens)
        return Change(made[0].start, made[0].end, made[0].text, written.probability) if made else None

    def confidence(self, place: Place, doubt: float, written: Written) -> float:
        """How sure the change is that writes this at a place, as users see it."""
        removed = self.pieces.text(*place)
        kind = written.kind or classify(removed, self.tokens.decode(written.ids), self.pieces.before(place.first))
        own = self.thresholds.confidence(self.state.evidence(doubt, written=written.probability, kind=kind))
        return self.thresholds.judge([own])[0]


def find_place(pieces: Pieces, start: int, end: int) -> Place | None:
    """The place of a span of the sentence in a window of it; None where it lies in another one."""
    first = bisect_right(pieces.ends, start)
    last = bisect_left(pieces.starts, end) if start < end else first
    begin = pieces.starts[0]
    stop = pieces.ends[-1]
    return Place(first, last) if begin <= start <= end <= stop and first <= last else None


def write_likeliest(decoder: InsertionDecoder, slots: Sequence[Slot], network: Network) -> list[list[Written]]:
    """What the decoder may write into each slot: its likeliest first pieces, each completed greedily."""
    if not slots:
        return []
    names = [decoder.tokens.slot(slot.index) for slot in slots]
    size = network.config.vocab_size
    asked = [(n, piece) for n in range(len(slots)) for piece in range(size)]
    opening = ScoringRequest([[name] for name in names], [(n, 0) for n in range(len(slots))], asked)
    scores = decoder.attach(slots).score(opening).reshape(len(slots), size)
    scores[:, never_written(network.config)] = -np.inf
    likeliest = np.argsort(-scores)[:, :FIRST_PIECES].tolist()
    rows = [_Row(n, [piece], float(scores[n, piece])) for n, of_slot in enumerate(likeliest) for piece in of_slot]
    _complete(decoder, slots, [row for row in rows if row.pieces != [EOS]])
    written: list[list[Written]] = [[] for _ in slots]
    for row in sorted(rows, key=lambda row: -row.log_probability):
        share = float(np.exp(row.log_probability))
        if row.pieces[-1] == EOS and share >= LEAST_SHARE:
            written[row.slot].append(Written(tuple(row.pieces[:-1]), share))
    return written


@dataclass
class _Row:
    """A text that grows in a slot; it is done when it ends with EOS."""

    slot: int
    pieces: list[int]
    log_probability: float


def _complete(decoder: InsertionDecoder, slots: Sequence[Slot], rows: list[_Row]) -> None:
    """Go on greedily from the first piece of each row."""
    if not rows:
        return
    writing = decoder.attach([slots[row.slot] for row in rows])
    numbers = list(range(len(rows)))
    writing.begin(numbers)
    writing.step(numbers, [decoder.tokens.slot(slots[row.slot].index) for row in rows])
    while rows:
        values, choices = writing.step(numbers, [row.pieces[-1] for row in rows])
        for row, choice, value in zip(rows, choices, values, strict=True):
            row.pieces.append(choice)
            row.log_probability += value
        going = [
            n for n, row in enumerate(rows) if row.pieces[-1] != EOS and len(row.pieces) < LONGEST
            and row.log_probability > np.log(LEAST_SHARE)
        ]  # fmt: skip
        if len(going) < len(rows):
            rows, numbers = [rows[n] for n in going], [numbers[n] for n in going]
            writing.keep(going)
