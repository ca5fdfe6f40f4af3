"""Putting together what is checked of a document, part by part, from its beginning to its end."""

from __future__ import annotations

from edit_gec.text.annotated import NOWHERE, Annotated


class View:
    """The view of one document in the making; what is not put in is left out."""

    def __init__(self, document: str) -> None:
        self.document = document
        self.parts: list[str] = []
        self.offsets: list[int] = []

    def text(self, start: int, end: int) -> None:
        """document[start:end]."""
        self.parts.append(self.document[start:end])
        self.offsets += range(start, end)

    def stand_in(self, text: str) -> None:
        """Characters in the place of something that is left out."""
        self.parts.append(text)
        self.offsets += [NOWHERE] * len(text)

    def done(self) -> Annotated:
        """The view."""
        return Annotated(self.document, "".join(self.parts), self.offsets)
