"""A unit of work, from its rows to its part of the output, in three stages that may run on different machines.

    load    rows -> chunks -> sentences          CPU
    infer   distinct sentences -> changes        the model
    save    changes -> edits, types -> part      CPU; the part is renamed to its name when it is whole

A row that one of the stages fails on is set aside with the reason; a stage that fails on all rows is a fault of ours or
of the machine, and stops the job.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from edit_gec.corpus import lines, tables
from edit_gec.corpus.records import Bad, BrokenError, Chunk, Columns, Unit
from edit_gec.errors import EditGecError, WriteError

if TYPE_CHECKING:
    from edit_gec.runtime.dedup import DeduplicatingCorrector
    from edit_gec.speculative.window_corrector import ModelWindow, SentenceChanges
    from edit_gec.text.correction import Correction
    from edit_gec.text.edits import Edit

A = TypeVar("A")
B = TypeVar("B")
PARTIAL = ".partial"
JOB = "__job__"  # a folder that readers of data sets leave out
TABLES = ("parquet", "saved", "hub")
Watch = Callable[[Chunk], Iterable[Chunk]]


@dataclass
class Work:
    """A chunk on its way: the windows of each text, then what changes in them."""

    chunk: Chunk
    windows: list[list[ModelWindow]]
    found: list[list[SentenceChanges]] = field(default_factory=list)
    broken: str | None = None  # why nothing follows, though the unit has more
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


@dataclass(frozen=True)
class Job:
    """What is done to every unit. `folder` is the output."""

    folder: str
    columns: Columns
    types: bool

    def warm_up(self) -> None:
        """Load what the first chunk would wait for. Raises InputError where the types' pipeline is missing."""
        if self.types:
            from edit_gec.annotation.explain import explain
            from edit_gec.text.edits import Edit

            explain("She go home.", [Edit(4, 6, "go", "goes", 1.0)])

    def load(self, unit: Unit, once: DeduplicatingCorrector, watch: Watch | None = None) -> Iterator[Work]:
        """The unit's chunks with their sentences; where somebody watches, a row at a time."""
        chunks = (tables.read if unit.kind in TABLES else lines.read)(unit, self.columns)
        while True:
            begun = time.perf_counter()
            try:
                chunk = next(chunks, None)
            except BrokenError as error:
                yield Work(Chunk([], [], []), [], broken=str(error))
                return
            if chunk is None:
                return
            for some in [chunk] if watch is None else watch(chunk):
                windows, reasons = _each(once.prepare, [text or "" for text in some.texts])
                yield Work(some.without(reasons), windows, seconds=time.perf_counter() - begun)
                begun = time.perf_counter()

    def infer(self, work: Work, once: DeduplicatingCorrector) -> Work:
        """The same chunk with what changes in its sentences."""
        begun = time.perf_counter()
        found, reasons = _each(once.predict, work.windows)
        windows = [of_text for of_text, reason in zip(work.windows, reasons, strict=True) if reason is None]
        spent = work.seconds + time.perf_counter() - begun
        return Work(work.chunk.without(reasons), windows, found, work.broken, once.take_counts(), spent)

    def save(self, unit: Unit, works: Iterable[Work], once: DeduplicatingCorrector) -> dict[str, Any]:
        """Write the part and what was set aside; the line of the journal. Raises WriteError."""
        place = os.path.join(self.folder, unit.part)
        counts: Counter[str] = Counter()
        bad: list[Bad] = []
        broken, seconds = None, 0.0
        try:
            with whole(place) as file:
                writer = (tables.Writer if unit.kind in TABLES else lines.Writer)(file, unit, self.columns)
                for work in works:
                    begun = time.perf_counter()
                    chunk = self._write(work, writer, once, counts)
                    bad += chunk.bad
                    broken = broken or work.broken
                    seconds += work.seconds + time.perf_counter() - begun
                writer.close()
                if not counts["written"]:
                    raise _EmptyError
            if bad:
                self._set_aside(unit, bad)
        except _EmptyError:
            self._set_aside(unit, bad)
        except OSError as error:
            raise WriteError(f"{place}: cannot write: {error.strerror or error}") from None
        counts["rows"] += len(bad)
        reasons = Counter(each.reason.partition(":")[0] for each in bad)
        return {"unit": unit.number, "broken": broken, "seconds": seconds, "reasons": reasons, "counts": counts}

    def _write(self, work: Work, writer: Any, once: DeduplicatingCorrector, counts: Counter[str]) -> Chunk:
        """Append a chunk's good rows to the part and count them."""
        texts = [text or "" for text in work.chunk.texts]
        rows = list(zip(texts, work.windows, work.found, strict=True))
        corrections, reasons = _each(lambda some: self._finish(once, some), rows)
        chunk = work.chunk.without(reasons)
        counts.update(work.counts)
        if chunk.texts:
            new = [
                None if text is None else correction.corrected
                for text, (correction, _) in zip(chunk.texts, corrections, strict=True)
            ]
            writer.write(chunk, new, [[plain(edit) for edit in edits] for _, edits in corrections])
        counts["rows"] += len(chunk.texts)
        counts["written"] += len(chunk.texts)
        for text, (correction, edits) in zip(chunk.texts, corrections, strict=True):
            counts["null"] += text is None
            counts["characters"] += len(text or "")
            counts["edited"] += bool(edits)
            counts["edits"] += len(edits)
            for edit in edits:
                counts[f"type {edit.type or 'unknown'}"] += 1
                counts[f"provenance {edit.provenance}"] += 1
            counts["refused"] += len(correction.refused)
        return chunk

    def _finish(
        self, once: DeduplicatingCorrector, rows: Sequence[tuple[str, list[ModelWindow], list[SentenceChanges]]]
    ) -> list[tuple[Correction, Sequence[Edit]]]:
        texts, windows, found = zip(*rows, strict=True) if rows else ((), (), ())
        corrections = once.finish(texts, windows, found)
        if not self.types or not any(correction.edits for correction in corrections):
            return [(correction, correction.edits) for correction in corrections]
        from edit_gec.annotation.explain import explain, spacy_memory_zone

        with spacy_memory_zone():
            return [(correction, explain(correction.text, correction.edits)) for correction in corrections]

    def _set_aside(self, unit: Unit, bad: list[Bad]) -> None:
        with whole(set_aside_path(self.folder, unit.number)) as file:
            for each in sorted(bad):
                line = json.dumps({"row": each.row, "reason": each.reason, "data": each.data}, ensure_ascii=False)
                file.write(line.encode("utf-8", "backslashreplace") + b"\n")


class _EmptyError(Exception):
    """No row was good: there is no part."""


def set_aside_path(folder: str, number: int) -> str:
    """Where a unit's bad rows are until the job is done."""
    return os.path.join(folder, JOB, "set-aside", f"{number:06d}.jsonl")


def plain(edit: Edit) -> dict[str, Any]:
    """An edit as the output has it; offset and length count code points of the text."""
    return {
        "offset": edit.start,
        "length": edit.end - edit.start,
        "original": edit.original,
        "replacement": edit.replacement,
        "type": edit.type,
        "confidence": edit.confidence,
        "provenance": edit.provenance,
    }


def revert(corrected: str, edits: Iterable[dict[str, Any]]) -> str:
    """The text before the edits, from the two columns alone.

    >>> revert("She goes home.", [{"offset": 4, "length": 2, "original": "go", "replacement": "goes"}])
    'She go home.'
    """
    pieces, done, shift = [], 0, 0
    for edit in edits:
        at = edit["offset"] + shift
        pieces += [corrected[done:at], edit["original"]]
        done = at + len(edit["replacement"])
        shift += len(edit["replacement"]) - edit["length"]
    return "".join([*pieces, corrected[done:]])


def _each(function: Callable[[Sequence[A]], list[B]], rows: Sequence[A]) -> tuple[list[B], list[str | None]]:
    """function(rows), or where that fails row by row: the results there are, and for each row why it has none."""
    try:
        return function(rows), [None] * len(rows)
    except (OSError, MemoryError, EditGecError, ModuleNotFoundError):
        raise
    except Exception:
        results: list[B] = []
        reasons: list[str | None] = []
        for row in rows:
            try:
                results += function([row])
                reasons.append(None)
            except Exception as error:
                if type(error).__name__ == "OutOfMemoryError":  # torch's, of a GPU
                    raise
                reasons.append(f"correction failed: {error!r}")
        if len(rows) > 1 and not results:
            raise
        return results, reasons


@contextlib.contextmanager
def whole(place: str) -> Iterator[IO[bytes]]:
    """A new file that gets its name when the block ends well, and is gone otherwise."""
    folder, name = os.path.split(place)
    os.makedirs(folder, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[-60:]}.", suffix=PARTIAL, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(descriptor, 0o666 & ~_umask())  # mkstemp's are for the owner only
            os.fsync(descriptor)
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def leftovers(folder: str) -> Iterator[Path]:
    """Files that were being written when a job was killed."""
    return Path(folder).rglob(f".*{PARTIAL}")
