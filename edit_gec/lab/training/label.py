"""Labelled text: what a corrector with a judge proposes in text that nobody edited, with its confidence.

    label(corrector, [Path("noisy.txt.xz")], Path("DATA/labelled"))

        labelled/edits.tsv     file, edits as JSON [[start, end, replacement, confidence], ...], sentence
        labelled/state.json    what is done: the same call goes on from there

Training draws each edit with its confidence (labelled_text.py): a soft label. Sentences without a proposal teach
nothing and are only counted (break-it-fix-it, Yasunaga and Liang 2021; LM-Critic, Yasunaga et al. 2021). Files have
a sentence a line, or a last column of a tab-separated line.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.errors import InputError
from edit_gec.text.files import write_json

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.text.correction import Correction

EDITS, STATE = "edits.tsv", "state.json"
CHUNK = 256  # sentences between two states
FEWEST_WORDS, MOST_WORDS = 4, 60


def label(corrector: Corrector, files: Sequence[Path], output: Path) -> Iterator[dict[str, int]]:
    """Label the sentences of files, or go on with that; yields counts of sentences after each chunk.

    Raises InputError for a file that cannot be read, and for an output that another call made.
    """
    output.mkdir(parents=True, exist_ok=True)
    state = read_state(output, files)
    corrector = corrector.with_settings(0.0, None)
    for path in files:
        sentences = islice(read_sentences(path), state["done"].get(path.name, 0), None)
        while chunk := list(islice(sentences, CHUNK)):
            corrections = corrector.correct_batch([text for text in chunk if is_usable(text)], lines=True, markup=False)
            proposed = [correction for correction in corrections if correction.edits]
            append(output / EDITS, "".join(format_line(path.name, correction) for correction in proposed), state)
            state["done"][path.name] = state["done"].get(path.name, 0) + len(chunk)
            counts = state["counts"]
            counts["read"] = counts.get("read", 0) + len(corrections)
            counts["with edits"] = counts.get("with edits", 0) + len(proposed)
            write_json(output / STATE, state)
            yield dict(counts)


def format_line(name: str, correction: Correction) -> str:
    """A line of the output."""
    edits = [[edit.start, edit.end, edit.replacement, round(edit.confidence, 3)] for edit in correction.edits]
    return f"{name}\t{json.dumps(edits, ensure_ascii=False)}\t{correction.text}\n"


def append(path: Path, lines: str, state: dict[str, Any]) -> None:
    """Add lines to the output, whose length the state then has; they are on the disk before it."""
    content = lines.encode()
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    state["bytes"] += len(content)


def read_state(output: Path, files: Sequence[Path]) -> dict[str, Any]:
    """What is done; the output loses what was written after it. Raises InputError for the state of another call."""
    names = [path.name for path in files]
    if len({*names}) < len(names):
        raise InputError("two files of one name: expected different ones, by which the state knows what is done")
    path = output / STATE
    state: dict[str, Any] = {"files": names, "done": {}, "bytes": 0, "counts": {}}
    if path.exists():
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            state = {name: type(empty)(read[name]) for name, empty in state.items()}
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{path}: not a state ({error}); delete {output} to begin anew") from None
        if state["files"] != names:
            raise InputError(f"{path}: made with other files; take another folder, or delete this one")
    with (output / EDITS).open("ab") as file:
        if file.tell() < state["bytes"]:
            raise InputError(f"{file.name}: shorter than {path} says; delete {output} to begin anew")
        file.truncate(state["bytes"])
    return state


def read_sentences(path: Path) -> Iterator[str]:
    """The last column of each line of a file, plain or .xz. Raises InputError for one that cannot be read."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\r\n").rpartition("\t")[2].strip()
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise InputError(f"{path}: not readable ({error}); expected UTF-8 text, or that as .xz") from None


def is_usable(text: str) -> bool:
    """A sentence of a usual length."""
    return FEWEST_WORDS <= len(text.split()) <= MOST_WORDS
