"""Types, messages and reasons of the edits of many texts, for those who correct without a server.

explain_needed(corrections, [True, False])  ->  the edits of each, explained where that is needed
"""

from __future__ import annotations

from collections.abc import Sequence

from edit_gec.annotation.explain import explain, spacy_memory_zone
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Edit


def warm_up() -> None:
    """Load what the first explanation would wait for. Raises InputError if ERRANT or its pipeline is missing."""
    explain("She go home.", [Edit(4, 6, "go", "goes", 1.0)])


def explain_needed(corrections: Sequence[Correction], needed: Sequence[bool]) -> list[Sequence[Edit]]:
    """The edits of each correction, with types, messages and reasons where they are needed."""
    with spacy_memory_zone():
        return [
            explain(correction.text, correction.edits) if needs else correction.edits
            for correction, needs in zip(corrections, needed, strict=True)
        ]
