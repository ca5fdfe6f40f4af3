"""The output of `edit-gec correct`, for each document and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from edit_gec.cli.console import out, out_json, say
from edit_gec.errors import keep_on_one_line
from edit_gec.text import files, render
from edit_gec.text.correction import Correction
from edit_gec.text.counts import format_count
from edit_gec.text.edits import Edit
from edit_gec.text.rdjson import rdjson
from edit_gec.text.sarif import sarif
from edit_gec.version import version

PRINTED = ("text", "findings", "json", "jsonl", "sarif", "github", "rdjsonl")
STRUCTURED = PRINTED[1:]  # these carry kind, type and message themselves


class Report(NamedTuple):
    """A document in a format that prints all documents as one value."""

    path: str
    text: str
    edits: Sequence[Edit]
    refused: Sequence[Edit]
    hints: Sequence[Edit]


@dataclass
class Output:
    """Where corrections go. `form` is one of PRINTED, "write", "diff" or "inline"."""

    form: str
    has_colors: bool
    has_headings: bool
    has_notes: bool  # a line for each edit on standard error
    is_check: bool
    is_quiet: bool
    changed_files: int = 0
    edits: int = 0
    reports: list[Report] = field(default_factory=list)

    def put(self, document: files.Document, correction: Correction) -> None:
        """Write or print one document, and count it. Raises WriteError."""
        edits = correction.edits
        if self.form != "write":
            self._print(document, correction)
        elif edits:
            files.write(document, correction.corrected)
        self.count(len(edits))
        if self.has_notes and self.form not in STRUCTURED:
            for note in render.notes(document.path, document.text, edits, correction.hints if self.is_check else ()):
                say(note)

    def count(self, edits: int) -> None:
        """Count a document and its edits."""
        self.changed_files += edits > 0
        self.edits += edits

    def conclude(self) -> None:
        """Print the formats that are one value, and the totals."""
        if self.form == "json":
            out_json([render.as_json(*each) for each in self.reports], indent=1)
        elif self.form == "sarif":
            out_json(sarif(version(), [(*each[:3], each.hints) for each in self.reports]), indent=1)
        if self.is_quiet:
            return
        if self.form == "write":
            say(f"{format_count(self.changed_files, 'file')} changed, {format_count(self.edits, 'edit')}")
        elif self.changed_files and (self.is_check or self.form == "findings"):
            say(f"{format_count(self.changed_files, 'file')} would change, {format_count(self.edits, 'edit')}")

    def _print(self, document: files.Document, correction: Correction) -> None:
        path = document.path
        text = document.text
        edits, hints = correction.edits, correction.hints
        path = "stdin" if path == "-" else path
        if self.form in ("json", "sarif"):
            self.reports.append(Report(path, text, edits, correction.refused, hints))
        elif self.form in ("jsonl", "rdjsonl"):
            as_own = render.as_json(path, text, edits, correction.refused, hints)
            for line in [as_own] if self.form == "jsonl" else rdjson(path, text, edits, hints):
                out_json(line)
        elif self.form == "github":
            out(render.github(path, text, edits, hints))
        elif self.form == "findings":
            if not (self.is_check and self.is_quiet):
                out("".join(note + "\n" for note in render.notes(path, text, edits, hints, color=self.has_colors)))
        elif self.form == "diff":
            out(_diff(path, document, edits, color=self.has_colors))
        elif self.form == "inline":
            heading = f"==> {keep_on_one_line(path)} <==\n" if self.has_headings else ""
            out(heading + render.inline(text, edits, color=self.has_colors))
        elif not self.is_check:
            out(document.encode(correction.corrected))


def _diff(path: str, document: files.Document, edits: Sequence[Edit], *, color: bool) -> str:
    text = document.text
    if document.bom:  # part of the first line for patch, part of no text for us
        edits = [edit.moved(1) for edit in edits]
        text = "\ufeff" + text
    diff = render.unified_diff(path, text, edits)
    return render.color_diff(diff) if color else diff
