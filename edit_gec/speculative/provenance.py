"""Who proposed an edit: the drafter, the target, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edit_gec.text.edits import Edit, Provenance


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
    return (a.start < b.end and b.start < a.end) or a.start == b.start
