"""Titles that stand above a line of marks: where an edit makes one too long for its marks, they grow with it.

She dont go          She doesn't go      one edit of both lines: alone, the one of the title would turn it into
-----------    ->    --------------      text in AsciiDoc and bring a warning in reStructuredText
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from edit_gec.text.edits import Edit, apply_changes
from edit_gec.text.parts import line_end
from edit_gec.text.sentences import Sentence

_MARKS = re.compile(r"[ \t]*(?P<marks>(?P<mark>[!-/:-@\[-`{-~])(?P=mark)+)[ \t]*\Z")


def keep_marks(text: str, sentence: Sentence, edits: Sequence[Edit]) -> list[Edit]:
    """The edits of a sentence; those of a title as one edit with its marks, where they must change, too."""
    if not (edits and sentence.is_underlined):
        return [*edits]
    begin = text.rfind("\n", 0, sentence.offsets[0]) + 1
    end = line_end(text, sentence.offsets[-1])
    below = _find_marks(text, end + 1, line_end(text, end + 1)) if end < len(text) else None
    if below is None:
        return [*edits]
    ordered = sorted(edits, key=lambda edit: edit.span)
    title = len(text[begin:end].strip())
    grown = sum(len(edit.replacement) - len(edit.original) for edit in ordered)
    length = len(below["marks"])
    is_near = abs(length - title) < 2
    if length >= title + grown and not (is_near and abs(length - title - grown) > 1):
        return [*edits]
    above = _find_marks(text, text.rfind("\n", 0, max(0, begin - 1)) + 1, begin - 1) if begin else None
    lines = [below] if above is None or above["marks"] != below["marks"] else [above, below]
    new = below["mark"] * (length + grown)
    marks = [Edit(*line.span("marks"), line["marks"], new, ordered[0].confidence) for line in lines]
    changes = sorted([*ordered, *marks], key=lambda edit: edit.span)
    start, stop = changes[0].start, changes[-1].end
    written = apply_changes(text[start:stop], [each.moved(-start) for each in changes])
    least = min(edit.confidence for edit in ordered)
    return [
        replace(ordered[0], start=start, end=stop, original=text[start:stop], replacement=written, confidence=least)
    ]


def _find_marks(text: str, start: int, end: int) -> re.Match[str] | None:
    """The marks of the line text[start:end], None where it has other characters."""
    return _MARKS.match(text, start, end - (text[end - 1 : end] == "\r"))
