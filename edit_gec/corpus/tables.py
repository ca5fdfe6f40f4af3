"""Parquet, saved Hugging Face data sets and those of the hub: rows are Arrow tables that gain two columns.

    text: string   ->   text: string, corrected: string, edits: list<struct<offset, length, original, ...>>

All other columns, their types and the data set's features stay as they are. A unit is a slice of a row group (Parquet),
of the rows (a folder of `save_to_disk`), or one shard of a data set that is streamed (hub). `datasets` does the last
two; files of Parquet are read without it, so that a broken one is told from a good one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any

from edit_gec.corpus.records import CHUNK_BYTES, CHUNK_ROWS, BrokenError, Chunk, Columns, Unit

if TYPE_CHECKING:
    import pyarrow

EDIT_FIELDS = {
    "offset": "int64",
    "length": "int64",
    "original": "string",
    "replacement": "string",
    "type": "string",
    "confidence": "float64",
    "provenance": "string",
}

Cut = tuple[int, int | None, int, int]  # start, stop, group, bytes


# ---------------------------------------------------------------- table -> units


def cut_parquet(path: str, size: int, columns: Columns) -> Iterator[Cut]:
    """Slices of row groups of about `size` bytes. Raises BrokenError for what cannot be read or has no such column."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _check(file.schema_arrow, columns)
            groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
            sizes = [(group.num_rows, group.total_byte_size) for group in groups]
    except (pyarrow.ArrowException, OSError) as error:
        raise BrokenError(f"not readable as Parquet: {_first_line(error)}") from None
    for group, (rows, weight) in enumerate(sizes):
        for start, stop in _slices(rows, math.ceil(weight / size)):
            yield start, stop, group, weight * (stop - start) // rows


def cut_saved(path: str, size: int, columns: Columns) -> Iterator[Cut]:
    """Slices of a data set that `datasets` saved. Raises BrokenError."""
    data = _saved(path)
    _check(data.data.schema, columns)
    weight = int(data.data.nbytes)
    for start, stop in _slices(len(data), math.ceil(weight / size)):
        yield start, stop, 0, weight * (stop - start) // len(data)


def hub_splits(name: str, config: str | None, split: str | None) -> dict[str, int]:
    """Number of shards of each split of a data set on the hub, or in a local folder. Raises BrokenError."""
    import datasets

    try:
        found = datasets.load_dataset(name, config, split=split, streaming=True)
    except Exception as error:  # of many libraries
        raise BrokenError(f"datasets cannot load {name}: {_first_line(error)}") from None
    splits = found if isinstance(found, dict) else {split or "train": found}
    return {str(name): int(data.num_shards) for name, data in splits.items()}


def _slices(rows: int, parts: int) -> Iterator[tuple[int, int]]:
    parts = max(1, min(rows, parts))
    ends = [rows * n // parts for n in range(parts + 1)]
    return ((start, stop) for start, stop in zip(ends, ends[1:], strict=False) if stop > start)


def _check(schema: pyarrow.Schema, columns: Columns) -> None:
    import pyarrow

    if columns.text not in schema.names:
        raise BrokenError(f"no column {columns.text!r} among {', '.join(schema.names)}")
    for name in (columns.corrected, columns.edits):
        if name in schema.names:
            raise BrokenError(f"has a column {name!r} already")
    kind = schema.field(columns.text).type
    kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
    types = pyarrow.types
    if not any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)):
        raise BrokenError(f"column {columns.text!r} is {kind}, text is wanted")


@lru_cache(maxsize=2)
def _saved(path: str) -> Any:
    import datasets

    try:
        return datasets.load_from_disk(path)
    except Exception as error:
        raise BrokenError(f"datasets cannot load it: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


# ---------------------------------------------------------------- units -> chunks


def read(unit: Unit, columns: Columns) -> Iterator[Chunk]:
    """The rows of a unit. Raises BrokenError, after all that could be read, where the file breaks off."""
    tables = {"parquet": _read_parquet, "saved": _read_saved, "hub": _read_hub}[unit.kind](unit)
    first = 0
    while True:
        try:
            table = next(tables)
            if not first:
                _check(table.schema, columns)
        except StopIteration:
            return
        except BrokenError:
            raise
        except Exception as error:  # pyarrow's, and with `datasets` those of any file system and format
            raise BrokenError(f"cannot read on: {_first_line(error)}") from None
        yield _chunk(table, first, columns)
        first += table.num_rows


def _chunk(table: pyarrow.Table, first: int, columns: Columns) -> Chunk:
    column, numbers = table.column(columns.text), list(range(first, first + table.num_rows))
    try:
        return Chunk(table, column.to_pylist(), numbers)
    except UnicodeDecodeError:  # Arrow does not look at the bytes of a string
        texts, reasons = zip(*(_text(value) for value in column), strict=True)
        return Chunk(table, list(texts), numbers).without(reasons)


def _text(value: pyarrow.Scalar[Any]) -> tuple[str | None, str | None]:
    try:
        return value.as_py(), None
    except UnicodeDecodeError as error:
        data = bytes(error.object).decode("utf-8", "backslashreplace")
        return data, f"not UTF-8: byte {error.start + 1} is 0x{error.object[error.start]:02x}"


def _rows(unit: Unit, rows: int) -> int:
    """Rows at a time, of `rows` that have the unit's size."""
    return max(1, min(CHUNK_ROWS, rows * CHUNK_BYTES // max(1, unit.size)))


def _read_parquet(unit: Unit) -> Iterator[pyarrow.Table]:
    import pyarrow
    import pyarrow.parquet

    assert unit.stop is not None
    with pyarrow.parquet.ParquetFile(unit.path) as file:
        at = 0
        for batch in file.iter_batches(_rows(unit, unit.stop - unit.start), row_groups=[unit.group]):
            begin, end = max(unit.start - at, 0), min(unit.stop - at, batch.num_rows)
            at += batch.num_rows
            if begin < end:
                yield pyarrow.Table.from_batches([batch.slice(begin, end - begin)])
            if at >= unit.stop:
                return


def _read_saved(unit: Unit) -> Iterator[pyarrow.Table]:
    assert unit.stop is not None
    data, step = _saved(unit.path).with_format("arrow"), _rows(unit, unit.stop - unit.start)
    for start in range(unit.start, unit.stop, step):
        yield data[start : min(start + step, unit.stop)]


def _read_hub(unit: Unit) -> Iterator[pyarrow.Table]:
    import datasets

    name, config, split, _ = json.loads(unit.path)
    data = datasets.load_dataset(name, config, split=split, streaming=True)
    return iter(data.shard(unit.stop, unit.start).with_format("arrow").iter(batch_size=512))


# ---------------------------------------------------------------- chunks -> Parquet


class Writer:
    """Writes tables with the two columns behind their own, as Parquet."""

    def __init__(self, file: IO[bytes], unit: Unit, columns: Columns) -> None:
        self.file, self.columns = file, columns
        self.writer: Any = None

    def write(self, chunk: Chunk, corrected: Sequence[str | None], edits: Sequence[list[dict[str, Any]]]) -> None:
        """Append rows; `corrected` and `edits` have one entry for each."""
        import pyarrow
        import pyarrow.parquet

        table: pyarrow.Table = chunk.rows
        table = table.append_column(self.columns.corrected, pyarrow.array(corrected, pyarrow.string()))
        table = table.append_column(self.columns.edits, pyarrow.array(edits, _edits_type()))
        if self.writer is None:
            schema = table.schema.with_metadata(_metadata(table.schema.metadata or {}, self.columns))
            self.writer = pyarrow.parquet.ParquetWriter(self.file, schema)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        """Finish the file, which stays open."""
        if self.writer is not None:
            self.writer.close()


def _edits_type() -> pyarrow.DataType:
    import pyarrow

    fields = [(name, getattr(pyarrow, kind)()) for name, kind in EDIT_FIELDS.items()]
    return pyarrow.list_(pyarrow.struct(fields))


def _metadata(metadata: dict[bytes, bytes], columns: Columns) -> dict[bytes, bytes]:
    """The table's metadata; what `datasets` says there of its columns must say it of the new ones, too."""
    if b"huggingface" not in metadata:
        return metadata
    about = json.loads(metadata[b"huggingface"])
    features = about.get("info", {}).get("features")
    if isinstance(features, dict):
        value = {name: {"dtype": kind, "_type": "Value"} for name, kind in EDIT_FIELDS.items()}
        features[columns.corrected] = {"dtype": "string", "_type": "Value"}
        features[columns.edits] = [value]  # which `datasets` reads before and after version 4
    return {**metadata, b"huggingface": json.dumps(about).encode()}
