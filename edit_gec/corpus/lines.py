r"""Text, JSONL and CSV: rows are bytes that are copied as they are, with two columns added at their end.

    {"id": 1.0, "text": "She go."}   ->   {"id": 1.0, "text": "She go.", "corrected": "She goes.", "edits": [...]}

A unit is a range of bytes that begins and ends between two rows; a compressed file (.gz) is one unit. A row that
cannot be read is set aside with the reason, and reading continues at the next line.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from edit_gec.corpus.records import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    MAX_ROW_BYTES,
    BadRow,
    BrokenFileError,
    Chunk,
    Columns,
    Cut,
    Format,
    Unit,
)

FORMATS = {
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".json": Format.JSONL,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
}
_BOM = b"\xef\xbb\xbf"
_LINE_END = "\r\n"  # csv quotes a field that holds a character of it
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Row(NamedTuple):
    """A row as its bytes in the file. Of CSV also its fields, or the reason why it has none."""

    raw: bytes
    fields: list[str] | str | None = None


Parser = Callable[[Row], "str | None"]  # a row -> its text; raises _RowError


class _RowError(Exception):
    """Why a row cannot be read."""


class _LineTooLong(bytes):
    """The beginning of a line of more than MAX_ROW_BYTES; `length` is that of the whole line."""

    length: int


# ---------------------------------------------------------------- bytes -> rows


def _open(path: str) -> IO[bytes]:
    """Open a file and skip its byte order mark. Raises BrokenFileError if the mark says UTF-16 or UTF-32."""
    file: IO[bytes] = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")  # type: ignore[assignment]
    start = file.read(3)
    if start.startswith(_UTF16_MARKS):
        file.close()
        raise BrokenFileError("UTF-16 or UTF-32, expected UTF-8: iconv -t UTF-8")
    file.seek(len(_BOM) if start == _BOM else 0)
    return file


def _read_lines(file: IO[bytes], stop: int | None) -> Iterator[bytes]:
    """Lines up to the offset `stop`, or to the end of the file."""
    at = file.tell()
    while stop is None or at < stop:
        line = file.readline(MAX_ROW_BYTES + 1)
        if not line:
            return
        at += len(line)
        if len(line) > MAX_ROW_BYTES and not line.endswith(b"\n"):
            long = _skip_line(file, line)
            at += long.length - len(line)
            line = long
        yield line


def _skip_line(file: IO[bytes], begun: bytes) -> _LineTooLong:
    """Skip the rest of a line that is too long. `begun` is what has been read of it."""
    line = _LineTooLong(begun[:1000])
    line.length = len(begun)
    while rest := file.readline(MAX_ROW_BYTES):
        line.length += len(rest)
        if rest.endswith(b"\n"):
            break
    return line


def _length(raw: bytes) -> int:
    return raw.length if isinstance(raw, _LineTooLong) else len(raw)


def _parse_csv(lines: Iterator[bytes], delimiter: str) -> Iterator[Row]:
    """Rows of CSV, which may span lines. Of a row that cannot be parsed only the first line is given up."""
    csv.field_size_limit(MAX_ROW_BYTES)
    waiting: deque[bytes] = deque()

    def feed(taken: list[bytes]) -> Iterator[str]:
        size = 0
        while size <= MAX_ROW_BYTES and (line := waiting.popleft() if waiting else next(lines, None)) is not None:
            if isinstance(line, _LineTooLong) and taken:  # a row of its own
                return waiting.appendleft(line)
            taken.append(line)
            if isinstance(line, _LineTooLong):
                return
            size += len(line)
            yield line.decode("utf-8", "surrogateescape")

    while True:
        taken: list[bytes] = []
        try:
            fields = next(csv.reader(feed(taken), delimiter=delimiter, strict=True))
        except StopIteration:
            if not taken:
                return
            yield Row(taken[0])
        except csv.Error as error:
            yield Row(taken[0], f"not CSV: {error}")
            waiting.extendleft(reversed(taken[1:]))
        else:
            yield Row(b"".join(taken), fields)


def _delimiter(path: str) -> str:
    return "\t" if path.removesuffix(".gz").endswith(".tsv") else ","


def _read_rows(format: Format, path: str, file: IO[bytes], stop: int | None = None) -> Iterator[Row]:
    lines = _read_lines(file, stop)
    return _parse_csv(lines, _delimiter(path)) if format == Format.CSV else map(Row, lines)


# ---------------------------------------------------------------- file -> units


def cut(format: Format, path: str, size: int, columns: Columns) -> Iterator[Cut]:
    """Cut a file into units of about `size` bytes. Raises BrokenFileError if no row can be read."""
    try:
        with _open(path) as file:
            if format == Format.CSV:
                _read_header(path, file, columns)
            elif format == Format.JSONL:
                _refuse_array(file)
            length = os.path.getsize(path)
            if path.endswith(".gz"):
                yield Cut(0, None, length)
                return
            start = file.tell()
            ends = _find_csv_ends(path, file) if format == Format.CSV else _find_line_ends(file, size)
            for end in ends:
                if end - start >= size or end >= length > start:
                    yield Cut(start, end, end - start)
                    start = end
    except (OSError, EOFError, zlib.error) as error:
        raise BrokenFileError(f"cannot read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _refuse_array(file: IO[bytes]) -> None:
    start = file.tell()
    if file.read(1000).lstrip().startswith(b"["):
        raise BrokenFileError("a JSON array, expected one object on each line: jq -c '.[]'")
    file.seek(start)


def _find_line_ends(file: IO[bytes], size: int) -> Iterator[int]:
    """Offsets of line ends about `size` bytes apart; the last is the end of the file."""
    while True:
        file.seek(size - 1, os.SEEK_CUR)
        while (block := file.readline(MAX_ROW_BYTES)) and not block.endswith(b"\n"):
            pass
        if not block:
            break
        yield file.tell()
    yield file.seek(0, os.SEEK_END)


def _find_csv_ends(path: str, file: IO[bytes]) -> Iterator[int]:
    """Offsets of row ends: only a parser knows which line ends are inside quotes."""
    end = file.tell()
    for row in _parse_csv(_read_lines(file, None), _delimiter(path)):
        end += _length(row.raw)
        yield end


def _read_header(path: str, file: IO[bytes], columns: Columns) -> tuple[bytes, list[str]]:
    """Bytes and names of the first row of a CSV file. Reading continues after it.

    Raises BrokenFileError if the column of texts is missing, or a column to add exists already.
    """
    begun = file.tell()
    raw, names = next(_parse_csv(_read_lines(file, None), _delimiter(path)), Row(b""))
    if not isinstance(names, list):
        raise BrokenFileError(f"no header: {names or 'the file is empty'}")
    file.seek(begun + _length(raw))
    if columns.text not in names:
        raise BrokenFileError(f"no column {columns.text!r} among {', '.join(names)}")
    for name in (columns.corrected, columns.edits):
        if name in names:
            raise BrokenFileError(f"has a column {name!r} already")
    return raw, names


# ---------------------------------------------------------------- rows -> texts


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _RowError(f"not UTF-8: byte {error.start + 1} is 0x{raw[error.start]:02x}") from None


def _parse_text(row: Row) -> str:
    return _decode(row.raw).rstrip("\n").removesuffix("\r")


def _json_parser(columns: Columns) -> Parser:
    def parse(row: Row) -> str | None:
        try:
            value = json.loads(_parse_text(row))
        except (ValueError, RecursionError) as error:
            raise _RowError(f"not JSON: {error}") from None
        if not isinstance(value, dict):
            raise _RowError(f"no JSON object: {type(value).__name__}")
        for name in (columns.corrected, columns.edits):
            if name in value:
                raise _RowError(f"has a column already: {name!r}")
        if columns.text not in value:
            raise _RowError(f"no column {columns.text!r}: {', '.join(value)}"[:200])
        text = value[columns.text]
        if not isinstance(text, str | None):
            raise _RowError(f"not a string: {columns.text!r} is {type(text).__name__}")
        return text

    return parse


def _csv_parser(names: Sequence[str], columns: Columns) -> Parser:
    place = names.index(columns.text)

    def parse(row: Row) -> str:
        _decode(row.raw)
        if not isinstance(row.fields, list):
            raise _RowError(row.fields or "not CSV")
        if len(row.fields) != len(names):
            raise _RowError(f"wrong number of fields: {len(row.fields)}, expected {len(names)}")
        return row.fields[place]

    return parse


def read(unit: Unit, columns: Columns) -> Iterator[Chunk]:
    """The rows of a unit. Raises BrokenFileError, after all rows that can be read, if the file breaks off."""
    chunk = Chunk([], [], [])
    number = 0
    size = 0
    try:
        with _open(unit.path) as file:
            parse = _parse_text if unit.format == Format.TEXT else _json_parser(columns)
            if unit.format == Format.CSV:
                parse = _csv_parser(_read_header(unit.path, file, columns)[1], columns)
            if unit.stop is not None:
                file.seek(unit.start)
            for row in _read_rows(unit.format, unit.path, file, unit.stop):
                if unit.format != Format.TEXT and not row.raw.strip():
                    continue  # an empty line is no row
                _add_row(chunk, number, row, parse)
                number += 1
                size += len(row.raw)
                if number % CHUNK_ROWS == 0 or size >= CHUNK_BYTES:
                    yield chunk
                    chunk = Chunk([], [], [])
                    size = 0
    except (OSError, EOFError, zlib.error) as error:
        yield chunk
        raise BrokenFileError(f"cannot read on: {_reason(error)}") from None
    yield chunk


def _add_row(chunk: Chunk, number: int, row: Row, parse: Parser) -> None:
    """Add a row to the chunk; to its bad rows if the row cannot be read."""
    try:
        if isinstance(row.raw, _LineTooLong):
            raise _RowError(f"too long: {row.raw.length:,} bytes, at most {MAX_ROW_BYTES:,} are read")
        chunk.texts.append(parse(row))
        chunk.rows.append(row.raw)
        chunk.numbers.append(number)
    except _RowError as reason:
        chunk.bad.append(BadRow(number, str(reason), row.raw.decode("utf-8", "backslashreplace")))


# ---------------------------------------------------------------- rows -> bytes


class Writer:
    """Writes rows with the two columns after their own. `close` finishes the bytes, not the file."""

    def __init__(self, file: IO[bytes], unit: Unit, columns: Columns) -> None:
        self.unit = unit
        self.columns = columns
        self.zipped = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if unit.part.endswith(".gz") else None
        self.file: Any = self.zipped or file
        self.has_header = False

    def write(self, chunk: Chunk, corrected: Sequence[str | None], edits: Sequence[list[dict[str, Any]]]) -> None:
        """Append rows; `corrected` and `edits` have one entry for each row."""
        if self.unit.format == Format.CSV and not self.has_header:
            with _open(self.unit.path) as source:
                header, _ = _read_header(self.unit.path, source, self.columns)
            self.file.write(self._append_fields(header, [self.columns.corrected, self.columns.edits]))
        self.has_header = True
        for raw, text, new, found in zip(chunk.rows, chunk.texts, corrected, edits, strict=True):
            if self.unit.format == Format.CSV:
                self.file.write(self._append_fields(raw, [new or "", json.dumps(found, ensure_ascii=False)]))
            else:
                added = {self.columns.corrected: new, self.columns.edits: found}
                row = _to_json({self.columns.text: text}) if self.unit.format == Format.TEXT else raw.strip()
                self.file.write(row[:-1].rstrip() + b", " + _to_json(added)[1:] + b"\n")

    def close(self) -> None:
        """Write the end of a compressed file. The file stays open."""
        if self.zipped is not None:
            self.zipped.close()

    def _append_fields(self, raw: bytes, fields: list[str]) -> bytes:
        line = io.StringIO()
        writer = csv.writer(line, delimiter=_delimiter(self.unit.path), lineterminator=_LINE_END)
        writer.writerow(["", *fields])
        row = raw.rstrip(b"\r\n")
        return row + line.getvalue().removesuffix(_LINE_END).encode() + (raw[len(row) :] or b"\n")


def _to_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")  # \ud800, as JSON writes it
