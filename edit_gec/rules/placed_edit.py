"""An edit and where it would be made: what checks look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from edit_gec.text.edits import Edit
from edit_gec.text.sentences import Sentence


class Words(Protocol):
    """The words of the language."""

    def knows(self, word: str) -> bool:
        """Whether it is one of them."""

    def is_common_slip(self, word: str) -> bool:
        """Whether it is a misspelling of a common one."""


@dataclass(frozen=True)
class PlacedEdit:
    """An edit, and where it would be made. margin: log-odds above those that any edit needs."""

    document: str
    sentence: Sentence
    edit: Edit
    words: Words | None
    margin: float = 0.0

    def knows(self, word: str) -> bool:
        """Whether it is a word of the language."""
        return self.words is not None and self.words.knows(word)

    def is_new(self, word: str) -> bool:
        """Whether it is no word of the language, nor a misspelling of a common one."""
        return self.words is not None and not self.words.knows(word) and not self.words.is_common_slip(word)

    @cached_property
    def old(self) -> str:
        """What is replaced, without spaces around it."""
        return self.edit.original.strip()

    @cached_property
    def new(self) -> str:
        """What replaces it."""
        return self.edit.replacement.strip()

    @cached_property
    def before(self) -> str:
        """80 characters of the document."""
        return self.document[max(0, self.edit.start - 80) : self.edit.start]

    @cached_property
    def after(self) -> str:
        """80 characters of the document."""
        return self.document[self.edit.end : self.edit.end + 80]

    @cached_property
    def is_first(self) -> bool:
        """Whether the edit is at the start of a block."""
        return self.sentence.first and self.edit.start <= self.sentence.offsets[0]
