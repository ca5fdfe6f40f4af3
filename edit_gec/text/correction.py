"""The result for one text: the corrected text, its edits, and the forms in which to show them.

>>> correction = Correction("She go.\\n", "She goes.\\n", (Edit(4, 6, "go", "goes", 0.97),))
>>> str(correction)
'She goes.\\n'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.text import render, sarif
from edit_gec.text.edits import Edit, Places, apply, resolve_overlaps
from edit_gec.tracing import Stage, span
from edit_gec.version import version

PATH = "text"  # the path to print for a text that comes from no file


@dataclass(frozen=True)
class Correction:
    """A text, its corrected form and the edits between them (code points of `text`).

    `refused` are edits that EdiT5 drafted and a target rejected. `hints` are edits of errors that are shown on purpose
    and of titles that something refers to, and, where they were asked for (`Corrector.suggest`), of words that are
    surely wrong and have no sure replacement. Neither are in `corrected`.
    `str` gives the corrected text.
    """

    text: str
    corrected: str
    edits: tuple[Edit, ...]
    refused: tuple[Edit, ...] = ()
    hints: tuple[Edit, ...] = ()

    def __str__(self) -> str:
        return self.corrected

    def _repr_html_(self) -> str:
        """The text with its edits marked, for notebooks."""
        return render.html(self.text, self.edits)

    def diff(self, path: str = PATH) -> str:
        """A unified diff of the file at `path`, "" where nothing changes."""
        return render.unified_diff(path, self.text, self.edits)

    def to_dict(self, unit: str = "codepoint") -> dict[str, Any]:
        """Text, corrected text and edits as plain JSON values; spans are counted in `unit` as in `Edit.to_dict`."""
        places = Places(self.text)
        return {
            "text": self.text,
            "corrected": self.corrected,
            "edits": [edit.to_dict(unit, places) for edit in self.edits],
            "refused": [edit.to_dict(unit, places) for edit in self.refused],
            "hints": [edit.to_dict(unit, places) for edit in self.hints],
        }

    def to_json(self, path: str = PATH) -> str:
        """One line of JSON, as `edit-gec correct --format jsonl` writes it: edits with offsets in all units."""
        return json.dumps(render.as_json(path, self.text, self.edits, self.refused, self.hints), ensure_ascii=False)

    def to_sarif(self, path: str = PATH) -> str:
        """A SARIF 2.1.0 log with a result for each edit, and a note for each hint."""
        return json.dumps(sarif.sarif(version(), [(path, self.text, self.edits, self.hints)]), ensure_ascii=False)


class SentenceEdits(NamedTuple):
    """The edits of one sentence, in code points of its text, the drafted ones that a target refused, and hints."""

    text: int  # which of the texts
    edits: list[Edit]
    refused: list[Edit]
    hints: list[Edit]


def assemble(text: str, edits: Iterable[Edit], refused: Iterable[Edit] = (), hints: Iterable[Edit] = ()) -> Correction:
    """The corrected text; of two edits that overlap after projection the more confident one wins."""
    chosen = tuple(resolve_overlaps(edits))
    return Correction(text, apply(text, chosen), chosen, *(tuple(resolve_overlaps(each)) for each in (refused, hints)))


def assemble_texts(texts: Sequence[str], found: Iterable[SentenceEdits]) -> list[Correction]:
    """The correction of each text from the edits of its sentences."""
    parts: list[tuple[list[Edit], ...]] = [([], [], []) for _ in texts]
    for sentence in found:
        for part, edits in zip(parts[sentence.text], sentence[1:], strict=True):
            part += edits
    with span(Stage.DETOKENIZE):
        return [assemble(text, *each) for text, each in zip(texts, parts, strict=True)]


def assemble_part(text: str, start: int, end: int, found: Iterable[SentenceEdits]) -> Correction:
    """The correction of text[start:end]; edits that reach out of it are left out."""

    def move(edits: Iterable[Edit]) -> list[Edit]:
        return [edit.moved(-start) for edit in edits if start <= edit.start and edit.end <= end]

    inside = [SentenceEdits(0, *map(move, sentence[1:])) for sentence in found]
    return assemble_texts([text[start:end]], inside)[0]


def check_text(text: str) -> str:
    """The text. Raises InputError for anything but a string."""
    if not isinstance(text, str):
        raise InputError(f"text: expected a string, not {type(text).__name__}")
    return text


def check_correction(correction: Correction) -> Correction:
    """The correction. Raises InputError for anything else."""
    if not isinstance(correction, Correction):
        raise InputError(f"correction: expected what correct() gives, not {type(correction).__name__}")
    return correction


def check_texts(texts: Iterable[str]) -> Iterator[str]:
    """The texts one by one. Raises InputError for a single string, and for an item that is not a string."""
    if isinstance(texts, str):
        raise InputError("texts: expected several texts, not one string; put it in a list, or use correct()")
    if isinstance(texts, Mapping) or not isinstance(texts, Iterable):
        raise InputError(f"texts: expected a list or another iterable of strings, not {type(texts).__name__}")
    return map(check_text, texts)
