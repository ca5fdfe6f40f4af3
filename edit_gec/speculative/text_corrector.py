"""Changes of windows -> edits of their texts: the stage `finish` of corrector.py (7).

Without a target the drafted edits are made. With one its own are made, and each says whether EdiT5 had drafted it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from edit_gec.editing.document_edits import Projection
from edit_gec.speculative.provenance import attribute_provenance
from edit_gec.speculative.window_corrector import ModelWindow, SentenceChanges, WindowCorrector, join_changes
from edit_gec.text.correction import SentenceEdits
from edit_gec.text.dialect import check_dialect
from edit_gec.text.titles import keep_marks
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from edit_gec.editing.alternatives import Suggester
    from edit_gec.text.edits import Edit
    from edit_gec.text.sentences import Sentence


T = TypeVar("T", bound="TextCorrector")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextCorrector(WindowCorrector):
    """A WindowCorrector that knows what edits of a text must respect.

    dictionary: words to leave alone, case folded. dialect: the spelling to enforce; None accepts British and American.
    """

    dictionary: frozenset[str] = frozenset()
    dialect: str | None = None

    def with_settings(self: T, min_confidence: float | None, dialect: str | None) -> T:
        """A copy with another threshold and dialect; None keeps the current one.

        Raises InputError for a threshold out of range, and for an unknown dialect.
        """
        check_dialect(dialect)
        given = {} if min_confidence is None else {"min_confidence": min_confidence}
        return replace(self.with_thresholds(**given), dialect=dialect or self.dialect)

    @property
    def projection(self) -> Projection:
        """What decides which changes become edits, and where in the text."""
        return Projection(self.spelling, self.dictionary, self.dialect, self.thresholds.min_confidence)

    def suggester(self) -> Suggester:
        """What finds alternatives and hints, sentence by sentence."""
        from edit_gec.editing.alternatives import Suggester

        return Suggester(self.network, self.tokens, self.thresholds, self.projection)

    def project(
        self, texts: Sequence[str], windows: Sequence[ModelWindow], changes: Sequence[SentenceChanges]
    ) -> list[SentenceEdits]:
        """The changes of windows as edits of their texts, one entry for each sentence."""
        found = []
        for _, parts in groupby(
            zip(windows, changes, strict=True), key=lambda part: (part[0].text, id(part[0].sentence))
        ):
            of_sentence = [*parts]
            window, _ = of_sentence[0]
            whole = join_changes([each for _, each in of_sentence])
            edits = self.to_document_edits(texts[window.text], window.sentence, whole)
            found.append(SentenceEdits(window.text, *edits))
        return found

    def to_document_edits(
        self, text: str, sentence: Sentence, changes: SentenceChanges
    ) -> tuple[list[Edit], list[Edit]]:
        """The changes of a sentence as edits of its text, and the drafted edits that a target refused.

        A target's edits need `verified_confidence`. Without a target all drafted edits are taken, obvious errors are
        corrected, and no edit is refused.
        """
        projection = self.projection
        with span(Stage.REALIZE):
            drafted = projection.choose(text, sentence, changes.drafted)
            respelt = projection.respell(text, sentence)
        if changes.verified is None:
            return keep_marks(text, sentence, projection.add_obvious(text, sentence, drafted + respelt)), []
        with span(Stage.ALIGN):
            sure = [change for change in changes.verified if change.confidence >= self.verified_confidence]
            edits, refused = attribute_provenance(drafted, projection.project(text, sentence, sure))
            return keep_marks(text, sentence, edits + respelt), refused
