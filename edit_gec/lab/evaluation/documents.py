"""False alarms and damage in whole documents: what a corrector changes in well-edited files.

    edit-gec score --documents DIR --system edit-gec

                  files  words  edits  per 1,000  structure  end mark  ...
    markdown         12  9,120     41        4.5        0.0       1.2
    rst               4  3,010      9        3.0        0.0       0.7
    all              16 12,130     50        4.1        0.0       1.1

In well-edited files nearly every edit is a false alarm. Rates are edits per 1,000 words of prose: words outside code,
markup, math and addresses. An edit of kind `structure` breaks a document; there should be none.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.lab.evaluation.edit_kinds import AlarmKind, TextEdit, classify_edit, find_edits
from edit_gec.lab.evaluation.prose_mask import FORMATS, mask_markup
from edit_gec.lab.evaluation.systems import ScoredSystem
from edit_gec.text import files, formats
from edit_gec.text.counts import format_count
from edit_gec.text.tables import align_columns
from edit_gec.text.words import HYPHENATED_WORD
from edit_gec.version import version


@dataclass(frozen=True)
class SourceDocument:
    """A file of the folder: its relative path, format and text."""

    path: str
    format: str
    text: str

    @cached_property
    def mask(self) -> bytearray:
        """1 for every character that is not prose."""
        return mask_markup(self.text, self.format)

    @cached_property
    def words(self) -> int:
        """Words of prose."""
        return sum(not any(self.mask[m.start() : m.end()]) for m in HYPHENATED_WORD.finditer(self.text))


class FoundEdit(NamedTuple):
    """An edit of one of the documents."""

    document: SourceDocument
    edit: TextEdit
    kind: AlarmKind

    @property
    def line(self) -> int:
        """The line of its first character, from 1."""
        return self.document.text.count("\n", 0, self.edit.start) + 1

    @property
    def shown(self) -> str:
        """The line with the edit marked as in a word diff: "the [-teh-]{+the+} end"."""
        text = self.document.text
        start, end, new = self.edit
        before = text[text.rfind("\n", 0, start) + 1 : start]
        after = text[end : end + 200].partition("\n")[0]
        return f"{before}[-{text[start:end]}-]{{+{new}+}}{after}".strip().replace("\n", "⏎")


@dataclass(frozen=True)
class DocumentScore:
    """All edits of one system in the documents that it read; `not_read` counts those of other formats."""

    name: str
    system: str
    documents: Sequence[SourceDocument]
    edits: Sequence[FoundEdit]
    not_read: int
    signature: str

    def rates(self, name: str | None = None) -> dict[str, float]:
        """Edits per 1,000 words of prose: of each kind, and all; in the documents of a format, or in all of them."""
        kinds = Counter(e.kind for e in self.edits if name in (None, e.document.format))
        words = max(sum(d.words for d in self.documents if name in (None, d.format)), 1)
        return {"all": 1000 * kinds.total() / words} | {k.value: 1000 * kinds[k] / words for k in AlarmKind}


def read_documents(folder: str | Path) -> list[SourceDocument]:
    """The documents of a folder in order of their paths; files of other formats are skipped.

    Raises InputError where there are none.
    """
    root = Path(folder)
    found = []
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name = formats.format_of(str(path))
        if name in FORMATS:
            text = files.read(str(path)).text
            found.append(SourceDocument(path.relative_to(root).as_posix(), name, text))
    if not found:
        raise InputError(f"{folder}: no documents in it; expected files of these formats: {', '.join(FORMATS)}")
    return found


def score_documents(folder: str | Path, system: ScoredSystem) -> DocumentScore:
    """Count what a system changes in the documents of a folder; a command runs once a file."""
    documents = read_documents(folder)
    corrected = _correct_documents(Path(folder), documents, system)
    return _count_edits(folder, str(system), system.name, documents, corrected)


def compare_folders(folder: str | Path, corrected: str | Path) -> DocumentScore:
    """Count the differences between a folder and a corrected copy. A file that the copy lacks counts as unchanged."""
    documents = read_documents(folder)
    copies = [Path(corrected, document.path) for document in documents]
    texts = [
        files.read(str(copy)).text if copy.is_file() else document.text
        for document, copy in zip(documents, copies, strict=True)
    ]
    return _count_edits(folder, Path(corrected).name, str(corrected), documents, texts)


def _correct_documents(folder: Path, documents: Sequence[SourceDocument], system: ScoredSystem) -> list[str | None]:
    """The corrected texts; None for a document whose format the system does not read."""
    if system.name == "none":
        return [document.text for document in documents]
    if system.is_ours:
        read = [document for document in documents if _is_understood(document.path)]
        made = system.corrector.correct_batch([d.text for d in read], formats=[d.format for d in read])
        by_path = {document.path: correction.corrected for document, correction in zip(read, made, strict=True)}
        return [by_path.get(document.path) for document in documents]
    with tempfile.TemporaryDirectory() as made_in:
        texts: list[str | None] = []
        for number, document in enumerate(documents):
            made_file = Path(made_in, f"{number}-{Path(document.path).name}")
            system.run_command(folder / document.path, made_file)
            texts.append(files.read(str(made_file)).text)
        return texts


def _is_understood(path: str) -> bool:
    """Whether `edit-gec correct` would rewrite this file."""
    try:
        formats.check(path, writing=True)
    except formats.FormatError:
        return False
    return True


def _count_edits(
    folder: str | Path,
    who: str,
    system: str,
    documents: Sequence[SourceDocument],
    corrected: Sequence[str | None],
) -> DocumentScore:
    read = [(document, text) for document, text in zip(documents, corrected, strict=True) if text is not None]
    edits = [
        FoundEdit(document, edit, classify_edit(document.text, document.mask, document.format, edit))
        for document, text in read
        for edit in find_edits(document.text, text)
    ]
    name = Path(folder).resolve().name
    digest = hashlib.sha256("\0".join(part for d in documents for part in (d.path, d.text)).encode()).hexdigest()[:8]
    signature = f"DOCUMENTS|per:1000 words|set:{name}:{digest}|sys:{who}|edit-gec:{version()}"
    return DocumentScore(name, system, [document for document, _ in read], edits, corrected.count(None), signature)


def format_table(scores: Sequence[DocumentScore]) -> str:
    """For people: a row for each format, the edits that damage a document, and the signature."""
    return "\n".join(_format_score(score) for score in scores)


def _format_score(score: DocumentScore) -> str:
    rows = [["", "files", "words", "edits", "per 1,000", *(kind.value for kind in AlarmKind)]]
    for name in [*dict.fromkeys(document.format for document in score.documents), None]:
        documents = [d for d in score.documents if name in (None, d.format)]
        edits = sum(name in (None, e.document.format) for e in score.edits)
        rates = (f"{rate:.2f}" if rate else "0" for rate in score.rates(name).values())
        rows.append([name or "all", str(len(documents)), str(sum(d.words for d in documents)), str(edits), *rates])
    lines = [f"{score.name}, {score.system}", *align_columns(rows)]
    if score.not_read:
        lines.append(f"left out: {format_count(score.not_read, 'file')} of a format that the system does not read")
    for found in score.edits:
        if found.kind is AlarmKind.STRUCTURE:
            lines.append(f"damaged: {found.document.path}:{found.line}: {found.shown}")
    return "\n".join([*lines, f"signature  {score.signature}", ""])


def to_data(scores: Sequence[DocumentScore]) -> list[dict[str, Any]]:
    """The same as plain data with every edit, ready for JSON."""
    out = []
    for score in scores:
        names = dict.fromkeys(document.format for document in score.documents)
        out.append(
            {
                "set": score.name,
                "system": score.system,
                "metric": "documents",
                "files": len(score.documents),
                "words": sum(document.words for document in score.documents),
                "not_read": score.not_read,
                "per_1000_words": {k: round(v, 3) for k, v in score.rates().items()},
                "formats": {name: {k: round(v, 3) for k, v in score.rates(name).items()} for name in names},
                "edits": [
                    {"path": e.document.path, "line": e.line, "kind": e.kind.value, "shown": e.shown}
                    for e in score.edits
                ],
                "signature": score.signature,
            }
        )
    return out
