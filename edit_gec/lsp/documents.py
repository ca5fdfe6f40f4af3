"""Documents as the editor has them, updated change by change, each with its marks.

A check takes longer than a keystroke. The marks of the last check move with every change, and marks that the change
touches are dropped. Fixes and hovers therefore always fit the text in the editor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from edit_gec.lsp.positions import LineIndex
from edit_gec.text.edits import Edit, narrow


@dataclass(frozen=True)
class Mark:
    """A correction in a document: text[start:end], in code points, becomes `replacement`, or one of the `alternatives`.

    `edit` is the edit as found. If it only inserts or only deletes, the mark also covers the word next to it. `key`
    identifies the correction by its sentence, wherever the sentence stands. A hint (`is_hint`) has too low a confidence
    to be made.
    """

    start: int
    end: int
    replacement: str
    edit: Edit
    key: str
    alternatives: tuple[str, ...] = ()
    is_hint: bool = False


class Document(TextDocument):
    """One open document."""

    marks: tuple[Mark, ...] = ()
    _line_index: LineIndex | None = None

    @property
    def line_index(self) -> LineIndex:
        """The lines of the current text."""
        if self._line_index is None:
            self._line_index = LineIndex(self.source, encoding_name(self.position_codec.encoding))
        return self._line_index

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Replace a part of the text, or all of it, and move the marks."""
        text = self.source
        new = change.text
        if isinstance(change, types.TextDocumentContentChangePartial):
            first = change.range.start
            last = change.range.end
            start = self.line_index.offset(first.line, first.character)
            end = max(start, self.line_index.offset(last.line, last.character))
            self._source = text[:start] + new + text[end:]
        else:
            start, end, new = narrow(text, 0, len(text), new)
            self._source = change.text
        self._line_index = None
        self.marks = move_marks(self.marks, text, start, end, new)


class Documents(Workspace):
    """The open documents."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(doc_uri, source, version, language_id, position_codec=self.position_codec)


def encoding_name(encoding: types.PositionEncodingKind | str | None) -> str:
    """utf-8, utf-16 or utf-32; utf-16 for an editor that names none."""
    return str(getattr(encoding, "value", encoding) or "utf-16")


def move_marks(marks: tuple[Mark, ...], text: str, start: int, end: int, new: str) -> tuple[Mark, ...]:
    """The marks after text[start:end] has become `new`. Marks that the change touches are dropped.

    A mark next to the change stays unless the change extends a word: a comma after a word and a word after a space do
    not.
    """
    shift = len(new) - (end - start)
    before = start + (new != "" and not (text[start - 1 : start].isalnum() and new[0].isalnum()))
    after = end - (new != "" and not (text[end : end + 1].isalnum() and new[-1].isalnum()))
    return tuple(  # `before`: marks that end earlier stay
        mark if mark.end < before else replace(mark, start=mark.start + shift, end=mark.end + shift)
        for mark in marks
        if mark.end < before or mark.start > after
    )
