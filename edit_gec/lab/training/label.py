"""Training pairs from what people write: a corrector with a judge corrects, and only what it is sure of is kept.

    label(corrector, [Path("noisy.txt.xz")], Path("labelled"), Bounds(take=0.8, leave=0.15))

        labelled/pairs.tsv     file, source, target: every edit at least `take` sure, no other one likely
        labelled/clean.txt     sentences in which no edit is `leave` likely
        labelled/state.json    what is done: the same call goes on from there

A sentence between the bounds teaches nothing certain and is passed over (break-it-fix-it, Yasunaga and Liang 2021;
LM-Critic, Yasunaga et al. 2021). Files have a sentence a line, or a last column of a tab-separated line.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.errors import InputError
from edit_gec.text.files import write_json

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.text.correction import Correction

PAIRS, CLEAN, STATE = "pairs.tsv", "clean.txt", "state.json"
CHUNK = 256  # sentences between two states
FEWEST_WORDS, MOST_WORDS = 4, 60
MOST_CHANGED = 0.4  # of the characters: beyond that a pair teaches to rewrite


@dataclass(frozen=True)
class Bounds:
    """take: the lowest confidence of an edit that is kept. leave: the confidence from which an edit is likely."""

    take: float = 0.8
    leave: float = 0.15

    def __post_init__(self) -> None:
        if not 0 < self.leave <= self.take <= 1:
            raise InputError(f"take {self.take:g}, leave {self.leave:g}: expected 0 < leave <= take <= 1")

    def judge(self, correction: Correction) -> str | None:
        """The target of a pair, the text itself where it is clean, None where nothing is certain."""
        edits = correction.edits
        if not edits:
            return correction.text
        changed = sum(max(len(edit.original), len(edit.replacement)) for edit in edits)
        if min(edit.confidence for edit in edits) < self.take or changed > MOST_CHANGED * len(correction.text):
            return None
        return correction.corrected


def label(corrector: Corrector, files: Sequence[Path], output: Path, bounds: Bounds) -> Iterator[dict[str, int]]:
    """Label the sentences of files, or go on with that; yields counts after each chunk.

    Raises InputError for a file that cannot be read, and for an output that another call made.
    """
    output.mkdir(parents=True, exist_ok=True)
    state = read_state(output, files, bounds)
    corrector = corrector.with_settings(bounds.leave, None)
    for path in files:
        sentences = islice(read_sentences(path), state["done"].get(path.name, 0), None)
        while chunk := list(islice(sentences, CHUNK)):
            corrections = corrector.correct_batch([text for text in chunk if is_usable(text)], lines=True, markup=False)
            for correction in corrections:
                target = bounds.judge(correction)
                kind = "passed" if target is None else "clean" if target == correction.text else "pairs"
                state["counts"][kind] = state["counts"].get(kind, 0) + 1
                if kind == "pairs":
                    append(output / PAIRS, f"{path.name}\t{correction.text}\t{target}\n", state)
                elif kind == "clean":
                    append(output / CLEAN, f"{correction.text}\n", state)
            state["done"][path.name] = state["done"].get(path.name, 0) + len(chunk)
            for name in state["bytes"]:
                with (output / name).open("ab") as file:
                    os.fsync(file.fileno())  # before the state, which says that it is there
            write_json(output / STATE, state)
            yield dict(state["counts"])


def append(path: Path, line: str, state: dict[str, Any]) -> None:
    """Add a line to an output, whose length the state then has."""
    content = line.encode()
    with path.open("ab") as file:
        file.write(content)
    state["bytes"][path.name] = state["bytes"].get(path.name, 0) + len(content)


def read_state(output: Path, files: Sequence[Path], bounds: Bounds) -> dict[str, Any]:
    """What is done; outputs lose what was written after it. Raises InputError for the state of another call."""
    if len({path.name for path in files}) < len(files):
        raise InputError("two files of one name: expected different ones, by which the state knows what is done")
    wanted = {"files": [path.name for path in files], "take": bounds.take, "leave": bounds.leave}
    path = output / STATE
    state: dict[str, Any] = {**wanted, "done": {}, "bytes": {}, "counts": {}}
    if path.exists():
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path}: not a state ({error}); delete {output} to begin anew") from None
        if {name: state.get(name) for name in wanted} != wanted:
            raise InputError(f"{path}: made with other files or bounds; take another folder, or delete this one")
    for name in (PAIRS, CLEAN):
        with (output / name).open("ab") as file:
            if file.tell() < (written := state["bytes"].get(name, 0)):
                raise InputError(f"{file.name}: shorter than {path} says; delete {output} to begin anew")
            file.truncate(written)
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
