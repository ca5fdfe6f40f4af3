"""Long texts in stretches: what is read of one is let go before the next, only edits are kept.

    for before, stretch, left in cut_stretches(sentences): ...      some sentences, how many come before them and after

The pieces and logits of a text take some 160 bytes for each of its characters, its edits hardly one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from edit_gec.text.edits import Edit
from edit_gec.text.sentences import Sentence

STRETCH_CHARACTERS = 200_000  # of the sentences in a stretch

Progress = Callable[[int, int], None]  # how much is done, of how much
NumberedSentence = tuple[int, Sentence]  # with the number of its text


class Found(NamedTuple):
    """A text, its edits so far, and the drafted ones that a target refused."""

    text: str
    edits: list[Edit]
    refused: list[Edit]

    def between(self, start: int, end: int) -> Found:
        """The same of text[start:end]; edits that begin before it are left out."""
        edits, refused = (
            [replace(e, start=e.start - start, end=e.end - start) for e in side if start <= e.start and e.end <= end]
            for side in (self.edits, self.refused)
        )
        return Found(self.text[start:end], edits, refused)


def cut_stretches(sentences: Sequence[NumberedSentence]) -> Iterator[tuple[int, Sequence[NumberedSentence], int]]:
    """Stretches of the sentences, STRETCH_CHARACTERS each, with how many come before and after."""
    begin = characters = 0
    for end, (_, sentence) in enumerate(sentences, start=1):
        characters += len(sentence.text)
        if characters >= STRETCH_CHARACTERS or end == len(sentences):
            yield begin, sentences[begin:end], len(sentences) - end
            begin, characters = end, 0


def shift_progress(progress: Progress, before: int, within: int, left: int) -> Progress:
    """Progress of a stretch as that of the whole, in sentences: before it, in it, behind it."""
    return lambda done, of: progress(before + done * within // of, before + within + left)
