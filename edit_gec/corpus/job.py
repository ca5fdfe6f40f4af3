"""A unit of work, from its rows to its part of the output, in three stages that may run on different machines.

    load    rows -> chunks -> sentences          CPU
    infer   distinct sentences -> changes        the model
    save    changes -> edits, types -> part      CPU; the part gets its name when it is complete

A row on which a stage fails is set aside with the reason. A stage that fails on every row of a chunk points to a bug or
a broken machine, and stops the job.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from edit_gec.config.settings import DEFAULTS, Settings
from edit_gec.corpus import lines, tables
from edit_gec.corpus.edit_column import edit_to_dict
from edit_gec.corpus.records import BadRow, BrokenFileError, Chunk, Columns, Unit, UnitResult
from edit_gec.errors import EditGecError, WriteError
from edit_gec.runtime.dedup import REMEMBERED
from edit_gec.text.correction import assemble
from edit_gec.text.files import atomic_file

if TYPE_CHECKING:
    from edit_gec.corrector import Window, WindowChanges
    from edit_gec.runtime.dedup import DeduplicatingCorrector
    from edit_gec.text.correction import Correction
    from edit_gec.text.edit_filter import EditFilter
    from edit_gec.text.edits import Edit

A = TypeVar("A")
B = TypeVar("B")
JOB_FOLDER = "__job__"  # readers of data sets skip a folder with underscores
Splitter = Callable[[Chunk], Iterable[Chunk]]


@dataclass(frozen=True)
class Events:
    """Callbacks of a runner, in the process of the driver."""

    on_result: Callable[[UnitResult], None]  # a unit is done
    on_rows: Callable[[int], None]  # number of rows corrected since the last call
    on_message: Callable[[str], None]  # a line for people


@dataclass
class ChunkWork:
    """A chunk on its way through the stages: the windows of each text, then their changes."""

    chunk: Chunk
    windows: list[list[Window]]
    changes: list[list[WindowChanges]] = field(default_factory=list)
    broken: str | None = None  # why the unit ends here although it has more rows
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


@dataclass(frozen=True)
class Job:
    """The work that is done on every unit.

    `folder` is the output. `options` are the arguments of Corrector.load. `settings` say which edits to drop.
    `remember` is the number of sentences whose changes a worker caches. `names_types` adds the ERRANT type of each
    edit. `read_as` is the format of all texts.
    """

    folder: str
    columns: Columns
    options: dict[str, Any]
    settings: Settings = DEFAULTS
    remember: int = REMEMBERED
    names_types: bool = True
    read_as: str = "markdown"

    def load_corrector(self) -> DeduplicatingCorrector:
        """The corrector of a worker. Raises ModelError for a model that cannot be loaded."""
        from edit_gec.corrector import Corrector
        from edit_gec.runtime.dedup import DeduplicatingCorrector

        return DeduplicatingCorrector(Corrector.load(**self.options), self.remember)

    def warm_up(self) -> None:
        """Load what the first chunk would wait for. Raises InputError if the pipeline for types is missing."""
        if self.names_types:
            from edit_gec.runtime import explaining

            explaining.warm_up()

    def load(self, unit: Unit, corrector: DeduplicatingCorrector, split: Splitter | None = None) -> Iterator[ChunkWork]:
        """The chunks of the unit, each split further if `split` is given, with the sentences of their texts."""
        chunks = (tables if unit.format.is_table else lines).read(unit, self.columns)
        prepare = partial(corrector.prepare, format=self.read_as)
        while True:
            begun = time.perf_counter()
            try:
                chunk = next(chunks, None)
            except BrokenFileError as error:
                yield ChunkWork(Chunk([], [], []), [], broken=str(error))
                return
            if chunk is None:
                return
            for part in [chunk] if split is None else split(chunk):
                windows, reasons = _try_each(prepare, [text or "" for text in part.texts])
                yield ChunkWork(part.set_aside(reasons), windows, seconds=time.perf_counter() - begun)
                begun = time.perf_counter()

    def infer(self, work: ChunkWork, corrector: DeduplicatingCorrector) -> ChunkWork:
        """The same chunk with the changes of its sentences."""
        begun = time.perf_counter()
        changes, reasons = _try_each(corrector.predict, work.windows)
        windows = [of_text for of_text, reason in zip(work.windows, reasons, strict=True) if reason is None]
        seconds = work.seconds + time.perf_counter() - begun
        chunk = work.chunk.set_aside(reasons)
        return ChunkWork(chunk, windows, changes, work.broken, corrector.take_counts(), seconds)

    def save(self, unit: Unit, works: Iterable[ChunkWork], corrector: DeduplicatingCorrector) -> UnitResult:
        """Write the part and the rows that are set aside. Raises WriteError."""
        place = os.path.join(self.folder, unit.part)
        counts: Counter[str] = Counter()
        bad: list[BadRow] = []
        broken: str | None = None
        seconds = 0.0
        try:
            with atomic_file(place) as file:
                writer = (tables if unit.format.is_table else lines).Writer(file, unit, self.columns)
                for work in works:
                    begun = time.perf_counter()
                    chunk = self._write(work, writer, corrector, counts)
                    bad += chunk.bad
                    broken = broken or work.broken
                    seconds += work.seconds + time.perf_counter() - begun
                writer.close()
                if not counts["written"]:
                    raise _EmptyPartError
        except _EmptyPartError:
            pass
        except OSError as error:
            raise WriteError(f"{place}: cannot write: {error.strerror or error}") from None
        if bad or not counts["written"]:
            self._write_bad_rows(unit, bad)
        counts["rows"] += len(bad)
        reasons = Counter(row.reason.partition(":")[0] for row in bad)
        return {
            "unit": unit.number,
            "broken": broken,
            "seconds": seconds,
            "reasons": reasons,
            "counts": dict(counts),
            "workers": 1,
        }

    def _write(
        self,
        work: ChunkWork,
        writer: lines.Writer | tables.Writer,
        corrector: DeduplicatingCorrector,
        counts: Counter[str],
    ) -> Chunk:
        """Append the good rows of a chunk to the part and count them; the chunk that remains."""
        texts = [text or "" for text in work.chunk.texts]
        rows = list(zip(texts, work.windows, work.changes, strict=True))
        corrections, reasons = _try_each(lambda some: self._finish(corrector, some), rows)
        chunk = work.chunk.set_aside(reasons)
        counts.update(work.counts)
        if chunk.texts:
            corrected = [
                None if text is None else correction.corrected
                for text, (correction, _) in zip(chunk.texts, corrections, strict=True)
            ]
            writer.write(chunk, corrected, [[edit_to_dict(edit) for edit in edits] for _, edits in corrections])
        for text, (correction, edits) in zip(chunk.texts, corrections, strict=True):
            _count_row(counts, text, correction, edits)
        return chunk

    def _finish(
        self, corrector: DeduplicatingCorrector, rows: Sequence[tuple[str, list[Window], list[WindowChanges]]]
    ) -> list[tuple[Correction, Sequence[Edit]]]:
        """The correction of each row, and its edits with their types."""
        texts, windows, changes = zip(*rows, strict=True) if rows else ((), (), ())
        corrections = corrector.finish(texts, windows, changes)
        edit_filter = self.settings.edit_filter()
        needed = [bool(c.edits) and (self.names_types or edit_filter.needs_types(c.text)) for c in corrections]
        named = _name_types(corrections, needed)
        return [_choose(*each, edit_filter) for each in zip(corrections, named, strict=True)]

    def _write_bad_rows(self, unit: Unit, bad: list[BadRow]) -> None:
        place = bad_rows_path(self.folder, unit.number)
        try:
            with atomic_file(place) as file:
                for row in sorted(bad):
                    line = json.dumps(row._asdict(), ensure_ascii=False)
                    file.write(line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            raise WriteError(f"{place}: cannot write: {error.strerror or error}") from None


def _name_types(corrections: Sequence[Correction], needed: Sequence[bool]) -> list[Sequence[Edit]]:
    """The edits of each correction, with types where they are needed."""
    if not any(needed):
        return [correction.edits for correction in corrections]
    from edit_gec.runtime.explaining import explain_needed

    return explain_needed(corrections, needed)


def _choose(
    correction: Correction, edits: Sequence[Edit], edit_filter: EditFilter
) -> tuple[Correction, Sequence[Edit]]:
    """The correction without the unwanted edits."""
    kept = list(filter(edit_filter.on(correction.text), edits)) if edits else edits
    if len(kept) < len(edits):
        correction = assemble(correction.text, kept, correction.refused)
    return correction, kept


class _EmptyPartError(Exception):
    """Every row was set aside, so the unit has no part."""


def bad_rows_path(folder: str, number: int) -> str:
    """The file for the bad rows of a unit until the job is done."""
    return os.path.join(folder, JOB_FOLDER, "set-aside", f"{number:06d}.jsonl")


def _count_row(counts: Counter[str], text: str | None, correction: Correction, edits: Sequence[Edit]) -> None:
    """Count a written row."""
    counts["rows"] += 1
    counts["written"] += 1
    counts["null"] += text is None
    counts["characters"] += len(text or "")
    counts["edited"] += bool(edits)
    counts["edits"] += len(edits)
    for edit in edits:
        counts[f"type {edit.type or edit.kind or 'unknown'}"] += 1
        counts[f"provenance {edit.provenance}"] += 1
    counts["refused"] += len(correction.refused)


def _try_each(function: Callable[[Sequence[A]], list[B]], rows: Sequence[A]) -> tuple[list[B], list[str | None]]:
    """function(rows), or if that fails, function of each row: the results, and the reason of each row without one.

    An error that does not come from a row itself (of files, memory or installation) is raised, and so is one that
    every row causes.
    """
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
