"""The M2 format: tokenised sentences, each with the edits of one or more annotators.

    S He go home .
    A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0
    A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

Offsets count tokens, half-open. The `noop` line of a sentence that an annotator left
alone is read as an empty list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from edit_gec.errors import InputError

DETECTION_ONLY = {"UNK", "Um"}  # an error without a correction


class M2Edit(NamedTuple):
    """Tokens [start, end) become `correction` (tokens joined by a space, empty for a deletion)."""

    start: int
    end: int
    type: str
    correction: str


@dataclass
class M2Sentence:
    """One block: the tokens and, in file order, each annotator's edits."""

    tokens: list[str]
    annotators: dict[int, list[M2Edit]] = field(default_factory=dict)


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 text file without line ends. Raises InputError where it is absent or not UTF-8."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8; convert it first, e.g. with iconv -t UTF-8") from None
    # Only \n ends a line: U+2028 and its like are part of a sentence.
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def read_m2(path: str | Path) -> list[M2Sentence]:
    """The sentences of an M2 file. Raises InputError with block and line where it is malformed."""
    sentences: list[M2Sentence] = []
    current: M2Sentence | None = None
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number} (sentence {len(sentences)})"
        if not line.strip():
            current = None
        elif line == "S" or line.startswith("S "):
            if current is not None:
                raise InputError(f"{where}: a second S line in one block; separate sentences by an empty line")
            current = M2Sentence(line[2:].split())
            sentences.append(current)
        elif line.startswith("A ") and current is not None:
            annotator, edit = _parse(line, len(current.tokens), where)
            edits = current.annotators.setdefault(annotator, [])
            if edit is not None:
                edits.append(edit)
        else:
            raise InputError(f"{where}: expected 'S tokens' or 'A start end|||type|||...', found {line[:40]!r}")
    if not sentences:
        raise InputError(f"{path}: no sentences; is it an M2 file?")
    for sentence in sentences:
        sentence.annotators = sentence.annotators or {0: []}
    return sentences


def _parse(line: str, length: int, where: str) -> tuple[int, M2Edit | None]:
    cells = line[2:].split("|||")
    try:
        start, end = (int(x) for x in cells[0].split())
        kind = cells[1]
        correction = cells[2]
        annotator = int(cells[-1])
    except (ValueError, IndexError):
        raise InputError(
            f"{where}: expected 'A start end|||type|||correction|||REQUIRED|||-NONE-|||annotator', found {line[:60]!r}"
        ) from None
    if kind == "noop":
        return annotator, None
    if not 0 <= start <= end <= length:
        raise InputError(f"{where}: edit {start} {end} is outside the sentence of {length} tokens")
    return annotator, M2Edit(start, end, kind, "" if correction == "-NONE-" else correction)


def check_overlap(edits: Sequence[M2Edit], where: str) -> None:
    """Raises InputError where two edits change the same token: no sentence can be the result of both."""
    ordered = sorted(e for e in edits if e.type not in DETECTION_ONLY)
    for left, right in pairwise(ordered):
        if right.start < left.end:
            raise InputError(
                f"{where}: edits {left.start} {left.end} and {right.start} {right.end} overlap; keep one of them"
            )


def apply_edits(tokens: Sequence[str], edits: Iterable[M2Edit]) -> list[str]:
    """The corrected tokens; detection-only edits change nothing."""
    out = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.type not in DETECTION_ONLY:
            out += [*tokens[at : edit.start], *edit.correction.split()]
            at = edit.end
    return out + list(tokens[at:])


def format_m2(sentences: Iterable[M2Sentence]) -> str:
    """The text of an M2 file, as ERRANT writes it."""
    blocks = []
    for sentence in sentences:
        lines = [" ".join(["S", *sentence.tokens])]
        for annotator, edits in sentence.annotators.items():
            if not edits:
                lines.append(f"A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||{annotator}")
            for e in edits:
                lines.append(f"A {e.start} {e.end}|||{e.type}|||{e.correction}|||REQUIRED|||-NONE-|||{annotator}")
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)
