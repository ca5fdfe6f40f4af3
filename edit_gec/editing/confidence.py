"""How sure an edit is: the model's own probabilities, scaled by how often edits of that kind are right.

    own log-odds = slope * log-odds(tags) + written_slope * log(written) + stays_slope * log-odds(not stays)
                   - rare_slope * rare + offset + the offset of the kind
    log-odds     = final_slope * (own log-odds - doubt_slope * doubt + neighbour_slope * support) + final_offset

The model tags and writes in two steps, with a probability for each; the decoder also gives the probability that the
source stays as it is. Edits of spelling and capitals are right more often than edits of grammar, so each kind has an
offset. What a rule proposes is right nearly as often where the model doubts it, so there the three terms of the model
count less. Three terms come from the sentence around an edit: the share of rare words, numbers and marks, because what
is written in everyday words has more errors than what a trade or a science writes; the doubt of the second pass about
the inserted words; and the support of the most confident other edit, because a sentence with one error often has more.
The final slope and offset are monotone: they calibrate the scale, so that 0.5 means one in two.

The result is the confidence that users see, and the only number that thresholds are compared with. All slopes and
offsets are fitted on development text (lab/training/calibrate.py) and lie in the model folder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from typing import NamedTuple

from edit_gec.editing.connectives import follows_connective

NOT_ASKED = 0.5  # probability that the source stays where no decoder computed it: log-odds of 0
MIN_WRITTEN = 1e-6  # smaller probabilities of what is written count as this
MIN_STAYS = 0.02  # smaller probabilities that the source stays count as this, so that their effect has a bound
IMPOSSIBLE = 1e-9  # no edit of a smaller confidence is made, whatever supports it
CERTAIN_WEIGHT = 0.1  # of the model's terms where a rule proposes the edit; fits on five sets give 0.09 to 0.18
CALM = 0.02  # doubt of the second pass up to which nothing is subtracted
NO_SUPPORT = -2.0  # log-odds above which an edit supports others
MOST_SUPPORT = 2.5  # the most that it can add


class EvidenceKind(str, Enum):
    """The kind of an edit: kinds are right with different frequencies."""

    REPLACE = "replace"
    INSERT = "insert"
    DELETE = "delete"
    CASE = "case"
    SPELLING = "spelling"  # an unknown word becomes a known one
    LISTED = "listed"  # it is a listed misspelling with one right form
    NAME = "name"  # it has a capital inside a sentence, so it is more likely a name
    CERTAIN = "certain"  # a rule proposes it (rules/engine.py)
    CONNECTIVE = "connective"  # a comma after a connective (connectives.py)

    def __str__(self) -> str:
        return str(self.value)


RELIABLE = frozenset((EvidenceKind.CERTAIN, EvidenceKind.LISTED))  # right nearly as often where the model doubts them
MISSPELT = frozenset((EvidenceKind.SPELLING, EvidenceKind.LISTED, EvidenceKind.NAME))


class Evidence(NamedTuple):
    """What the model says of a change.

    tags       mean probability of its tags, or the probability of its link
    written    probability of what the decoder wrote
    kind       the kind of edit
    stays      probability that the decoder writes what is there already
    rare       share of its sentence that is rare words, numbers and marks (lexicon.py: rare_share)
    """

    tags: float
    written: float = 1.0
    kind: EvidenceKind = EvidenceKind.REPLACE
    stays: float = NOT_ASKED
    rare: float = 0.0


@dataclass(frozen=True)
class Scale:
    """From evidence to confidence; a model folder carries fitted values.

    The offset of a kind is the field of its name; replacements have the common offset only.
    """

    slope: float = 1.0
    written_slope: float = 1.0
    stays_slope: float = 0.0
    offset: float = 0.0
    insert_offset: float = 0.0
    delete_offset: float = 0.0
    case_offset: float = 0.0
    spelling_offset: float = 0.0
    listed_offset: float = 0.0
    name_offset: float = 0.0
    certain_offset: float = 0.0
    connective_offset: float = 0.0
    rare_slope: float = 0.0
    doubt_slope: float = 0.0
    neighbour_slope: float = 0.0
    final_slope: float = 1.0
    final_offset: float = 0.0

    def confidence(self, evidence: Evidence) -> float:
        """How often such edits are right, 0 to 1, without the sentence around them; 0 where the model gives 0."""
        if evidence.tags <= 0 or evidence.written <= 0:
            return 0.0
        tags, written, stays = weigh(evidence)
        odds = self.slope * tags + self.written_slope * written + self.stays_slope * stays
        odds -= self.rare_slope * evidence.rare
        return logistic(odds + self.offset + getattr(self, f"{evidence.kind}_offset", 0.0))

    def judge(self, own: Sequence[float], doubts: Sequence[float] = (), others: Sequence[float] = ()) -> list[float]:
        """The confidence of each edit of a sentence, from the confidence that each has on its own (`confidence`).

        `doubts` are those of the second pass about each edit, if there was one. `others` are edits that only support
        these. An edit with a confidence of 0 keeps it.
        """
        doubted = [self.doubted(sure, doubt) for sure, doubt in zip_longest(own, doubts, fillvalue=CALM)]
        support = [max(0.0, min(MOST_SUPPORT, odds - NO_SUPPORT)) for odds in (*doubted, *map(log_odds, others))]
        judged = []
        for n, (sure, odds) in enumerate(zip(own, doubted, strict=True)):
            most = max((each for place, each in enumerate(support) if place != n), default=0.0)
            odds = self.final_slope * (odds + self.neighbour_slope * most) + self.final_offset
            judged.append(logistic(odds) if sure >= IMPOSSIBLE else 0.0)
        return judged

    def doubted(self, own: float, doubt: float) -> float:
        """The log-odds of an edit after the second pass, whose doubt can only lower them."""
        return log_odds(own) - self.doubt_slope * (log_odds(max(doubt, CALM)) - log_odds(CALM))

    @property
    def most_supported(self) -> float:
        """By how much the edits of a sentence can raise the log-odds of another one."""
        return self.final_slope * self.neighbour_slope * MOST_SUPPORT


def weigh(evidence: Evidence) -> tuple[float, float, float]:
    """The terms of the model: log-odds of the tags, log of what is written, log-odds that the source does not stay."""
    weight = CERTAIN_WEIGHT if evidence.kind in RELIABLE else 1.0
    written = math.log(max(evidence.written, MIN_WRITTEN))
    return weight * log_odds(evidence.tags), weight * written, weight * log_odds(1 - max(evidence.stays, MIN_STAYS))


def supports(own: float) -> bool:
    """Whether an edit of this confidence raises that of others in its sentence."""
    return log_odds(own) > NO_SUPPORT


def log_odds(probability: float) -> float:
    """log(p / (1 - p)), finite also for 0 and 1."""
    probability = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(probability / (1 - probability))


def logistic(odds: float) -> float:
    """The probability that has these log-odds: the inverse of `log_odds`."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def classify(deleted: str, written: str, before: str = "") -> EvidenceKind:
    """The kind of a change by the text it removes, the text it writes, and the text before it. Never one of
    MISSPELT or CERTAIN: those come from the lexicon and the rules.

    >>> [str(classify(*each)) for each in (("", " the"), (" the", ""), (" go", " goes"), (" alot", " A lot"))]
    ['insert', 'delete', 'replace', 'case']
    >>> str(classify("", ",", "However"))
    'connective'
    """
    if not deleted and written.strip() == "," and follows_connective(before):
        return EvidenceKind.CONNECTIVE
    if not deleted or not written:
        return EvidenceKind.DELETE if deleted else EvidenceKind.INSERT
    same = "".join(deleted.split()).casefold() == "".join(written.split()).casefold()
    return EvidenceKind.CASE if same else EvidenceKind.REPLACE


def possible_kinds(deleted: Sequence[int], before: str, *, certain: bool = False) -> tuple[EvidenceKind, ...]:
    """The kinds that the change where these pieces go can turn out to be, before anything is written.

    `before` is the text up to it. `certain`: a rule proposes something there.
    """
    if not deleted:
        return (EvidenceKind.INSERT, EvidenceKind.CONNECTIVE) if follows_connective(before) else (EvidenceKind.INSERT,)
    kinds = (EvidenceKind.REPLACE, EvidenceKind.CASE, EvidenceKind.DELETE, *MISSPELT)
    return (*kinds, EvidenceKind.CERTAIN) if certain else kinds
