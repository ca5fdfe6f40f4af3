"""Documents as the editor has them, kept in step change by change, each with what is marked in it.

A check takes longer than a key stroke. What it found before is moved along with every change, and dropped where the
change touches it, so that fixes and hovers always fit the text that the editor has at that moment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from edit_gec.lsp.positions import Lines
from edit_gec.text.edits import Edit


@dataclass(frozen=True)
class Mark:
    """Something to correct: text[start:end] of the document, in code points, by `replacement`.

    `edit` is what the checker found; the mark covers at least one word where that is an insertion or a deletion.
    `key` says what is corrected in which sentence, wherever that stands.
    """

    start: int
    end: int
    replacement: str
    edit: Edit
    key: str


class Document(TextDocument):
    """One open document."""

    marks: tuple[Mark, ...] = ()
    _lines: Lines | None = None

    @property
    def places(self) -> Lines:
        """The lines of the text as it is now."""
        if self._lines is None:
            self._lines = Lines(self.source, encoding_name(self.position_codec.encoding))
        return self._lines

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Replace a part of the text, or all of it, and move the marks."""
        text, new = self.source, change.text
        if isinstance(change, types.TextDocumentContentChangePartial):
            begin, stop = change.range.start, change.range.end
            start = self.places.offset(begin.line, begin.character)
            end = max(start, self.places.offset(stop.line, stop.character))
            self._source = text[:start] + new + text[end:]
        else:
            start, end, new = _difference(text, new)
            self._source = change.text
        self._lines = None
        self.marks = moved(self.marks, start, end, len(new))


class Documents(Workspace):
    """The open documents."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(doc_uri, source, version, language_id, position_codec=self.position_codec)


def encoding_name(encoding: types.PositionEncodingKind | str | None) -> str:
    """utf-8, utf-16 or utf-32; an editor that names none means utf-16."""
    return str(getattr(encoding, "value", encoding) or "utf-16")


def moved(marks: tuple[Mark, ...], start: int, end: int, length: int) -> tuple[Mark, ...]:
    """The marks after text[start:end] has become `length` characters; what the change touches is gone."""
    by = length - (end - start)
    return tuple(
        mark if mark.end < start else replace(mark, start=mark.start + by, end=mark.end + by)
        for mark in marks
        if mark.end < start or mark.start > end
    )


def _difference(old: str, new: str) -> tuple[int, int, str]:
    """The part of `old` that differs, and what stands there in `new`."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    return head, len(old) - tail, new[head : len(new) - tail]
