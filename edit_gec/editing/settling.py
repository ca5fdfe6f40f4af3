"""What was changed is read until nothing changes: correcting a corrected text changes nothing.

    I enioy to hear it.       enioy -> enjoy
    I enjoy to hear it.       to hear -> hearing
    I enjoy hearing it.       nothing: both are edits of the first text

A sentence is read again as it stands in its document after its edits, which may have made several sentences of it.
Where the second pass (second_pass.py) has read just that and found nothing, it is not read once more. A sentence that
still changes after READINGS of them, because edits undo each other, stays as it was.

What is to be read is yielded, so that all sentences of a text, or of many callers, are read together.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from edit_gec.editing.document_edits import ProjectedEdits, Projection, name_kinds
from edit_gec.editing.predictor import WindowChanges
from edit_gec.editing.second_pass import compose
from edit_gec.rules.usage import Excerpt
from edit_gec.text.edits import Change, Edit, Provenance, apply_changes, resolve_overlaps
from edit_gec.text.sentences import Sentence, move, revise

if TYPE_CHECKING:
    from typing import TypeAlias

Settling: TypeAlias = "Generator[list[Sentence], list[WindowChanges], ProjectedEdits]"

READINGS = 4  # of what was changed
AROUND = 1_000  # characters of the document that are seen on both sides of a sentence: checks look at lines near it


def settle(
    projection: Projection, text: str, sentence: Sentence, found: WindowChanges, readings: int = READINGS
) -> Settling:
    """The edits of a sentence of the text, from its changes and those of the sentences that are yielded."""
    first = projection.to_edits(text, sentence, found)
    edits = resolve_overlaps(first.edits)
    if not (edits and readings):
        return first
    begin = max(0, min(sentence.offsets[0], edits[0].start) - AROUND)
    source = text[begin : max(sentence.offsets[-1], edits[-1].end) + AROUND]
    edits = [edit.moved(-begin) for edit in edits]
    placed = move(sentence, -begin)
    for _ in range(readings):
        parts = revise(placed, edits)
        if not parts:
            return first
        is_read = found.is_read and [part.text for part in parts] == [apply_changes(sentence.text, found.changes)]
        changes = [WindowChanges(())] if is_read else (yield parts)
        again = Excerpt.of(text, source, apply_changes(source, edits))
        more = [
            edit
            for part, each in zip(parts, changes, strict=True)
            for edit in resolve_overlaps(projection.to_edits(again, part, each).edits)
        ]
        if not more:
            return first._replace(edits=[edit.moved(begin) for edit in edits])
        edits = _join(source, edits, more)
    return first._replace(edits=[])


def _to_change(edit: Edit) -> Change:
    return Change(*edit.span, edit.replacement, edit.confidence, Provenance(edit.provenance))


def _join(source: str, first: Sequence[Edit], again: Sequence[Edit]) -> list[Edit]:
    """Edits of a text, and edits of what they make of it, as edits of the text."""
    known = {(*edit.span, edit.replacement): edit for edit in first}
    changes = compose(source, list(map(_to_change, first)), list(map(_to_change, again)))
    made = [Edit(start, end, source[start:end], new, sure, provenance) for start, end, new, sure, provenance in changes]
    return name_kinds(source, (known.get((*edit.span, edit.replacement), edit) for edit in made))


def settle_together(
    sentences: Sequence[Settling], read: Callable[[Sequence[Sentence]], Sequence[WindowChanges]]
) -> list[ProjectedEdits]:
    """The edits of sentences; what they must read is read together."""
    steps = [go_on(each) for each in sentences]
    while waiting := {n: step for n, step in enumerate(steps) if isinstance(step, list)}:
        found = iter(read([part for parts in waiting.values() for part in parts]))
        for n, parts in waiting.items():
            steps[n] = go_on(sentences[n], [next(found) for _ in parts])
    return [step for step in steps if isinstance(step, ProjectedEdits)]


def go_on(settling: Settling, found: list[WindowChanges] | None = None) -> list[Sentence] | ProjectedEdits:
    """The sentences that are to be read next, after what was `found` in those before; or the edits, once they are
    known."""
    try:
        return next(settling) if found is None else settling.send(found)
    except StopIteration as end:
        edits: ProjectedEdits = end.value
        return edits
