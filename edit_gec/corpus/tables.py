"""Parquet, saved Hugging Face data sets and data sets of the hub: Arrow tables, to which two columns are added.

    text: string   ->   text: string, corrected: string, edits: list<struct<offset, length, original, ...>>

All other columns, their types and the data set's features stay as they are. A unit is a slice of a row group (Parquet),
a slice of the rows (a folder of `save_to_disk`) or one shard of a streamed data set (hub). `datasets` reads the last
two. Parquet files are read without it, so that a broken file does not stop the others.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

from edit_gec.corpus.edit_column import EDIT_FIELDS
from edit_gec.corpus.records import CHUNK_BYTES, CHUNK_ROWS, BrokenFileError, Chunk, Columns, Cut, Format, Unit

if TYPE_CHECKING:
    import pyarrow

HUB_BATCH_ROWS = 512


# ---------------------------------------------------------------- table -> units


def cut_parquet(path: str, size: int, columns: Columns) -> Iterator[Cut]:
    """Slices of row groups of about `size` bytes. Raises BrokenFileError for an unreadable file or a missing column."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _check_columns(file.schema_arrow, columns)
            groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
            sizes = [(group.num_rows, group.total_byte_size) for group in groups]
    except (pyarrow.ArrowException, OSError) as error:
        raise BrokenFileError(f"not readable as Parquet: {_first_line(error)}") from None
    for group, (rows, weight) in enumerate(sizes):
        for start, stop in _cut_evenly(rows, math.ceil(weight / size)):
            yield Cut(start, stop, weight * (stop - start) // rows, group)


def cut_saved(path: str, size: int, columns: Columns) -> Iterator[Cut]:
    """Slices of a saved data set. Raises BrokenFileError if it cannot be loaded or lacks the column."""
    data = _load_saved(path)
    _check_columns(data.data.schema, columns)
    weight = int(data.data.nbytes)
    for start, stop in _cut_evenly(len(data), math.ceil(weight / size)):
        yield Cut(start, stop, weight * (stop - start) // len(data))


def count_shards(name: str, config: str | None, split: str | None) -> dict[str, int]:
    """Shards of each split of a data set on the hub, or in a local folder. Raises BrokenFileError."""
    import datasets

    try:
        found = datasets.load_dataset(name, config, split=split, streaming=True)
    except Exception as error:  # many libraries raise many kinds
        raise BrokenFileError(f"datasets cannot load {name}: {_first_line(error)}") from None
    splits = found if isinstance(found, dict) else {split or "train": found}
    return {str(name): int(data.num_shards) for name, data in splits.items()}


def _cut_evenly(rows: int, parts: int) -> Iterator[tuple[int, int]]:
    parts = max(1, min(rows, parts))
    ends = [rows * n // parts for n in range(parts + 1)]
    return ((start, stop) for start, stop in pairwise(ends) if stop > start)


def _check_columns(schema: pyarrow.Schema, columns: Columns) -> None:
    import pyarrow

    if columns.text not in schema.names:
        raise BrokenFileError(f"no column {columns.text!r} among {', '.join(schema.names)}")
    for name in (columns.corrected, columns.edits):
        if name in schema.names:
            raise BrokenFileError(f"has a column {name!r} already")
    kind = schema.field(columns.text).type
    kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
    types = pyarrow.types
    if not any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)):
        raise BrokenFileError(f"column {columns.text!r} is {kind}, expected text")


@lru_cache(maxsize=2)
def _load_saved(path: str) -> Any:
    import datasets

    try:
        return datasets.load_from_disk(path)
    except Exception as error:
        raise BrokenFileError(f"datasets cannot load it: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


# ---------------------------------------------------------------- units -> chunks


def read(unit: Unit, columns: Columns) -> Iterator[Chunk]:
    """The rows of a unit. Raises BrokenFileError, after all rows that can be read, if the file breaks off."""
    readers = {Format.PARQUET: _read_parquet, Format.SAVED: _read_saved, Format.HUB: _read_hub}
    tables = readers[unit.format](unit)
    first = 0
    while True:
        try:
            table = next(tables)
            if not first:
                _check_columns(table.schema, columns)
        except StopIteration:
            return
        except BrokenFileError:
            raise
        except Exception as error:  # pyarrow's, and with `datasets` those of any file system and format
            raise BrokenFileError(f"cannot read on: {_first_line(error)}") from None
        yield _make_chunk(table, first, columns)
        first += table.num_rows


def _make_chunk(table: pyarrow.Table, first: int, columns: Columns) -> Chunk:
    column = table.column(columns.text)
    numbers = list(range(first, first + table.num_rows))
    try:
        return Chunk(table, column.to_pylist(), numbers)
    except UnicodeDecodeError:  # Arrow does not check the bytes of a string
        texts, reasons = zip(*(_decode(value) for value in column), strict=True)
        return Chunk(table, list(texts), numbers).set_aside(reasons)


def _decode(value: pyarrow.Scalar[Any]) -> tuple[str | None, str | None]:
    """The text of a row, or the reason why it has none."""
    try:
        return value.as_py(), None
    except UnicodeDecodeError as error:
        data = bytes(error.object).decode("utf-8", "backslashreplace")
        return data, f"not UTF-8: byte {error.start + 1} is 0x{error.object[error.start]:02x}"


def _chunk_rows(unit: Unit, rows: int) -> int:
    """How many of the unit's `rows` make a chunk."""
    return max(1, min(CHUNK_ROWS, rows * CHUNK_BYTES // max(1, unit.size)))


def _read_parquet(unit: Unit) -> Iterator[pyarrow.Table]:
    import pyarrow
    import pyarrow.parquet

    assert unit.stop is not None
    with pyarrow.parquet.ParquetFile(unit.path) as file:
        at = 0
        for batch in file.iter_batches(_chunk_rows(unit, unit.stop - unit.start), row_groups=[unit.group]):
            begin = max(unit.start - at, 0)
            end = min(unit.stop - at, batch.num_rows)
            at += batch.num_rows
            if begin < end:
                yield pyarrow.Table.from_batches([batch.slice(begin, end - begin)])
            if at >= unit.stop:
                return


def _read_saved(unit: Unit) -> Iterator[pyarrow.Table]:
    assert unit.stop is not None
    data = _load_saved(unit.path).with_format("arrow")
    step = _chunk_rows(unit, unit.stop - unit.start)
    for start in range(unit.start, unit.stop, step):
        yield data[start : min(start + step, unit.stop)]


def _read_hub(unit: Unit) -> Iterator[pyarrow.Table]:
    import datasets

    name, config, split, _ = json.loads(unit.path)
    data = datasets.load_dataset(name, config, split=split, streaming=True)
    return iter(data.shard(unit.stop, unit.start).with_format("arrow").iter(batch_size=HUB_BATCH_ROWS))


# ---------------------------------------------------------------- chunks -> Parquet


class Writer:
    """Writes tables as Parquet, with the two columns after their own. `close` finishes the bytes, not the file."""

    def __init__(self, file: IO[bytes], unit: Unit, columns: Columns) -> None:
        self.file = file
        self.columns = columns
        self.writer: Any = None

    def write(self, chunk: Chunk, corrected: Sequence[str | None], edits: Sequence[list[dict[str, Any]]]) -> None:
        """Append rows; `corrected` and `edits` have one entry for each row."""
        import pyarrow
        import pyarrow.parquet

        table: pyarrow.Table = chunk.rows
        table = table.append_column(self.columns.corrected, pyarrow.array(corrected, pyarrow.string()))
        table = table.append_column(self.columns.edits, pyarrow.array(edits, _edits_type()))
        if self.writer is None:
            schema = table.schema.with_metadata(_extend_metadata(table.schema.metadata or {}, self.columns))
            self.writer = pyarrow.parquet.ParquetWriter(self.file, schema)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        """Write the footer of the Parquet file. The file stays open."""
        if self.writer is not None:
            self.writer.close()


def _edits_type() -> pyarrow.DataType:
    import pyarrow

    fields = [(name, getattr(pyarrow, kind)()) for name, kind in EDIT_FIELDS.items()]
    return pyarrow.list_(pyarrow.struct(fields))


def _extend_metadata(metadata: dict[bytes, bytes], columns: Columns) -> dict[bytes, bytes]:
    """The table's metadata. Where `datasets` describes its columns there, the new ones are described too."""
    if b"huggingface" not in metadata:
        return metadata
    about = json.loads(metadata[b"huggingface"])
    features = about.get("info", {}).get("features")
    if isinstance(features, dict):
        value = {name: {"dtype": kind, "_type": "Value"} for name, kind in EDIT_FIELDS.items()}
        features[columns.corrected] = {"dtype": "string", "_type": "Value"}
        features[columns.edits] = [value]  # a form that `datasets` reads before and after version 4
    return {**metadata, b"huggingface": json.dumps(about).encode()}
