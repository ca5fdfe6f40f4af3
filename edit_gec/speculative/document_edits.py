"""Changes of a sentence -> edits of its document: those of EdiT5, or those of a target with their provenance."""

from __future__ import annotations

from edit_gec.editing.document_edits import Projection
from edit_gec.speculative.provenance import attribute_provenance
from edit_gec.speculative.window_corrector import SentenceChanges
from edit_gec.text.edits import Edit
from edit_gec.text.sentences import Sentence
from edit_gec.tracing import Stage, span


def project_changes(
    text: str, sentence: Sentence, changes: SentenceChanges, projection: Projection, min_confidence: float
) -> tuple[list[Edit], list[Edit]]:
    """The edits of a sentence in its text, and the drafted edits that a target refused.

    A target's edits need `min_confidence`; without a target all drafted edits are taken, obvious errors are corrected,
    and no edit is refused.
    """
    with span(Stage.REALIZE):
        drafted = projection.choose(text, sentence, changes.drafted)
        respelt = projection.respell(text, sentence)
    if changes.verified is None:
        return projection.add_obvious(text, sentence, drafted + respelt), []
    with span(Stage.ALIGN):
        sure = [change for change in changes.verified if change.confidence >= min_confidence]
        edits, refused = attribute_provenance(drafted, projection.project(text, sentence, sure))
        return edits + respelt, refused
