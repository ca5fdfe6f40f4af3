"""How sure an edit is: the model's own probabilities, scaled by how often edits of that kind are right.

    log-odds = slope * log-odds(tags) + written_slope * log(written) + stays_slope * log-odds(not stays)
               + offset + the offset of the kind

The model tags and writes in two steps, with a probability for each; the decoder also gives the probability that the
source stays as it is. Edits of spelling and capitals are right more often than edits of grammar, so each kind has an
offset. The numbers are fitted on development text by logistic regression (training/calibrate.py) and lie in the model
folder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from edit_gec.modeling.tagset import INSERT, REPLACE

POWER = 4  # of the norm that combines the confidences of a sentence
NOT_ASKED = 0.5  # probability that the source stays where no decoder said so: its log-odds are 0
MIN_STAYS = 0.02  # smaller probabilities that the source stays count as this, so that their effect has a bound


class Kind(str, Enum):
    """The kind of an edit: kinds are right with different frequencies."""

    REPLACE = "replace"
    INSERT = "insert"
    DELETE = "delete"
    CASE = "case"
    SPELLING = "spelling"

    def __str__(self) -> str:
        return str(self.value)


class Evidence(NamedTuple):
    """What the model says of a change.

    tags       mean probability of its tags, or the probability of its link
    written    probability of what the decoder wrote
    kind       the kind of edit
    stays      probability that the decoder writes what stands there already
    """

    tags: float
    written: float = 1.0
    kind: Kind = Kind.REPLACE
    stays: float = NOT_ASKED


@dataclass(frozen=True)
class Scale:
    """From evidence to confidence; a model folder carries fitted values."""

    slope: float = 1.0
    written_slope: float = 1.0
    stays_slope: float = 0.0
    offset: float = 0.0
    insert_offset: float = 0.0
    delete_offset: float = 0.0
    case_offset: float = 0.0
    spelling_offset: float = 0.0

    @cached_property
    def offsets(self) -> dict[Kind, float]:
        """The offset of each kind; replacements have the common offset only."""
        return {
            Kind.REPLACE: 0.0,
            Kind.INSERT: self.insert_offset,
            Kind.DELETE: self.delete_offset,
            Kind.CASE: self.case_offset,
            Kind.SPELLING: self.spelling_offset,
        }

    def confidence(self, evidence: Evidence) -> float:
        """How often such edits are right, 0 to 1; 0 where the model gives a probability of 0."""
        if evidence.tags <= 0 or evidence.written <= 0:
            return 0.0
        odds = self.slope * log_odds(evidence.tags) + self.written_slope * math.log(evidence.written)
        odds += self.stays_slope * log_odds(1 - max(evidence.stays, MIN_STAYS))
        odds += self.offset + self.offsets[evidence.kind]
        return logistic(odds)


def combine(confidences: Sequence[float]) -> float:
    """How sure the edits of a sentence are together, 0 to 1; 0 for none.

    A norm: the surest edit counts most, and edits that are nearly as sure raise the result.

    >>> [round(combine(each), 2) for each in ([0.45], [0.45, 0.2], [0.45, 0.45, 0.4])]
    [0.45, 0.45, 0.57]
    """
    largest = max(confidences, default=0.0)
    if not largest:
        return 0.0
    norm: float = math.fsum((each / largest) ** POWER for each in confidences) ** (1 / POWER)  # in any order
    return min(1.0, largest * norm)


def log_odds(probability: float) -> float:
    """log(p / (1 - p)), finite also for 0 and 1."""
    probability = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(probability / (1 - probability))


def logistic(odds: float) -> float:
    """The probability that has these log-odds: the inverse of `log_odds`."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def classify(deleted: str, written: str) -> Kind:
    """The kind of a change by the text it removes and the text it writes. Never SPELLING: the lexicon says that.

    >>> [str(classify(*each)) for each in (("", " the"), (" the", ""), (" go", " goes"), (" alot", " A lot"))]
    ['insert', 'delete', 'replace', 'case']
    """
    if not deleted or not written:
        return Kind.DELETE if deleted else Kind.INSERT
    same = "".join(deleted.split()).casefold() == "".join(written.split()).casefold()
    return Kind.CASE if same else Kind.REPLACE


def possible_kinds(tags: Sequence[int], kept: int, deleted: Sequence[int], *, empty: bool = False) -> tuple[Kind, ...]:
    """The kinds that the change behind a kept piece can turn out to be, before anything is written.

    `empty`: the model knows empty slots, so every deletion has a slot that the decoder may fill or leave empty.
    """
    if not deleted:
        return (Kind.INSERT,)
    is_slot = empty or tags[kept] == INSERT or any(tags[piece] == REPLACE for piece in deleted)
    return (Kind.REPLACE, Kind.CASE, Kind.SPELLING, Kind.DELETE) if is_slot else (Kind.DELETE,)
