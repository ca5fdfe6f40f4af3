"""A target's changes as edits of their document, each with who proposed it: the drafter, the target, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from edit_gec.editing.document_edits import ProjectedEdits, Projection
from edit_gec.editing.predictor import WindowChanges
from edit_gec.text.edits import Edit, Provenance, edits_touch
from edit_gec.text.sentences import Sentence
from edit_gec.text.titles import keep_marks
from edit_gec.tracing import Stage, span


@dataclass(frozen=True)
class VerifiedProjection(Projection):
    """How the changes of a target become edits: all of them, because its text is exact."""

    def to_edits(self, text: str, sentence: Sentence, found: WindowChanges) -> ProjectedEdits:
        """The target's edits in a sentence of the text, and those that were drafted and that it refuses."""
        with span(Stage.REALIZE):
            drafted = self.choose(text, sentence, found.drafted)
            respelt = self.respell(text, sentence)
        with span(Stage.ALIGN):
            edits, refused = attribute_provenance(drafted, self.project(text, sentence, found.changes))
            edits = keep_marks(text, sentence, edits + respelt)
            return ProjectedEdits(edits, refused, self.find_hints(text, sentence, found.changes, edits))


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
