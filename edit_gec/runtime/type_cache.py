"""Edits of sentences -> ERRANT type, message and reason of each; what was named before is remembered.

    ErrorTypeCache().name([("She go home.", (Edit(4, 6, "go", "goes", 0.9),))])       in steps, at the end:
    [[("R:VERB:SVA", "subject-verb agreement: 'go' -> 'goes'", "The verb agrees with ...")]]

The sentences of a call are parsed together, which costs 3 ms for each of 16 and 10 ms for one alone. They are joined
to one document with blank lines; sentences of different clients never are.
Overlong sentences, and those with overlong words, are not parsed and get no type.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from edit_gec.annotation.explain import explain, parseable, spacy_memory_zone
from edit_gec.runtime.fair_thread import Steps
from edit_gec.runtime.recent import Recent
from edit_gec.text.edits import Edit

Job = tuple[str, tuple[Edit, ...]]  # a sentence, and edits with positions in it


class ErrorType(NamedTuple):
    """The ERRANT type of an edit, a message about it and a reason; None where the sentence was not parsed."""

    type: str | None = None
    message: str | None = None
    reason: str | None = None


REMEMBERED = 10_000  # sentences
TOGETHER = 16  # are parsed together
_GAP = "\n\n"


class ErrorTypeCache:
    """Types and messages of the edits of the last 10,000 sentences. To be used from one thread."""

    def __init__(self) -> None:
        self.known: Recent[tuple[str, Job], list[ErrorType]] = Recent(REMEMBERED)

    def name(self, jobs: Sequence[Job], client: str = "") -> Steps[list[list[ErrorType]]]:
        """Type, message and reason of each edit of each sentence, TOGETHER sentences in a step. What was named for one
        client is not remembered for others.

        Raises InputError where ERRANT is missing.
        """
        named: list[list[ErrorType]] = []
        for begin in range(0, len(jobs), TOGETHER):
            named += self._name_together(jobs[begin : begin + TOGETHER], client)
            yield
        return named

    def _name_together(self, jobs: Sequence[Job], client: str) -> list[list[ErrorType]]:
        known = {job: found for job in jobs if (found := self.known.get((client, job))) is not None}
        new = [job for job in dict.fromkeys(jobs) if job not in known]
        known.update((job, [ErrorType()] * len(job[1])) for job in new if not parseable(job[0]))
        new = [job for job in new if job not in known]
        known.update(zip(new, _explained(new), strict=True))
        for job in jobs:
            if parseable(job[0]):  # a text of 50,000 characters would be kept, too
                self.known.put((client, job), known[job])
        return [known[job] for job in jobs]


def _explained(jobs: Sequence[Job]) -> list[list[ErrorType]]:
    shifted: list[Edit] = []
    at = 0
    for source, edits in jobs:
        shifted += [edit.moved(at) for edit in edits]
        at += len(source) + len(_GAP)
    if not jobs:
        return []
    with spacy_memory_zone():
        named = iter(explain(_GAP.join(source for source, _ in jobs), shifted))
    return [
        [ErrorType(edit.type, edit.message, edit.reason) for edit in islice(named, len(edits))] for _, edits in jobs
    ]
