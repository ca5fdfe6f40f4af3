"""How sure an edit is: the model's own probabilities, weighed by how often edits of that kind are right.

    log-odds = slope * log-odds(tags) + written_slope * log(written) + stays_slope * log-odds(not stays)
               + offset + the kind's own offset

The model tags and writes in two steps, and is sure of each in its own way; the decoder also says how probable it is
that the source stays as it is. It is wrong about misspelt words and capitals less often than about grammar. The
numbers, a handful, are fitted on development text by logistic regression (training/calibrate.py) and lie in the
model folder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from edit_gec.modeling.tagset import INSERT, REPLACE

POWER = 4  # of the norm by which the edits of a sentence count together
UNKNOWN = 0.5  # probability that the source stays, of a decoder that was never asked: it counts for nothing
FIRMEST = 0.02  # probabilities that the source stays below this count as this: what is not yet written has a bound
REPLACED, INSERTED, DELETED, CASE, SPELLING = ("replace", "insert", "delete", "case", "spelling")


class Evidence(NamedTuple):
    """What the model says of a change: mean probability of its tags (or of its link), of what was written there, and of
    writing what stands there."""

    tags: float
    written: float = 1.0
    kind: str = REPLACED
    stays: float = UNKNOWN


@dataclass(frozen=True)
class Scale:
    """From evidence to confidence; a model folder carries what was fitted for it."""

    slope: float = 1.0
    written_slope: float = 1.0
    stays_slope: float = 0.0
    offset: float = 0.0
    insert_offset: float = 0.0
    delete_offset: float = 0.0
    case_offset: float = 0.0
    spelling_offset: float = 0.0

    def confidence(self, evidence: Evidence) -> float:
        """How often such edits are right, 0 to 1; 0 for what the model holds impossible."""
        if evidence.tags <= 0 or evidence.written <= 0:
            return 0.0
        odds = self.slope * log_odds(evidence.tags) + self.written_slope * math.log(evidence.written)
        odds += self.stays_slope * log_odds(1 - max(evidence.stays, FIRMEST))
        odds += self.offset + getattr(self, f"{evidence.kind}_offset", 0.0)  # "replace" has none of its own
        return logistic(odds)


def together(confidences: Sequence[float]) -> float:
    """How sure the edits of a sentence are together, 0 to 1: a norm, so that the surest counts most, and two that are
    nearly as sure for more than one alone. 0 where there are none.

    >>> [round(together(each), 2) for each in ([0.45], [0.45, 0.2], [0.45, 0.45, 0.4])]
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
    """The probability that has these log-odds: the other way of `log_odds`."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def kind_of(deleted: str, written: str) -> str:
    """The kind of a change by the text it takes and the text it gives; of a word from the list it is known before.

    >>> kind_of("", " the"), kind_of(" the", ""), kind_of(" go", " goes"), kind_of(" alot", " A lot")
    ('insert', 'delete', 'replace', 'case')
    """
    if not deleted or not written:
        return DELETED if deleted else INSERTED
    same = "".join(deleted.split()).casefold() == "".join(written.split()).casefold()
    return CASE if same else REPLACED


def possible_kinds(tags: Sequence[int], kept: int, deleted: Sequence[int], *, empty: bool = False) -> tuple[str, ...]:
    """The kinds that a change behind a kept piece can come to have, before anything is written.

    `empty`: what is deleted is a slot in any case, which the decoder may leave empty.
    """
    if not deleted:
        return (INSERTED,)
    opened = empty or tags[kept] == INSERT or any(tags[piece] == REPLACE for piece in deleted)
    return (REPLACED, CASE, SPELLING, DELETED) if opened else (DELETED,)
