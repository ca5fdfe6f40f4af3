"""Who proposed an edit: the drafter, the target, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from edit_gec.text.edits import Edit


class Provenance(str, Enum):
    """What became of a drafted edit when the target verified the sentence; the value is what results show."""

    ACCEPTED = "agree"  # drafter and target make the same edit
    REVISED = "target changed"  # the target edits the same place in another way
    ADDED = "target only"  # the drafter does not edit this place
    REJECTED = "target refused"  # the target leaves the place alone

    __str__ = str.__str__


def attribute_provenance(drafted: Sequence[Edit], verified: Sequence[Edit]) -> tuple[list[Edit], list[Edit]]:
    """The target's edits, each with its provenance, and the drafted edits that the target rejected."""
    exact = {(edit.start, edit.end, edit.replacement) for edit in drafted}
    edits = []
    for edit in verified:
        if (edit.start, edit.end, edit.replacement) in exact:
            provenance = Provenance.ACCEPTED
        elif any(edits_touch(edit, other) for other in drafted):
            provenance = Provenance.REVISED
        else:
            provenance = Provenance.ADDED
        edits.append(replace(edit, provenance=provenance))
    rejected = [edit for edit in drafted if not any(edits_touch(edit, other) for other in verified)]
    return edits, [replace(edit, provenance=Provenance.REJECTED) for edit in rejected]


def edits_touch(a: Edit, b: Edit) -> bool:
    """Whether two edits overlap, or begin at the same place."""
    return a.start < b.end and b.start < a.end or a.start == b.start
