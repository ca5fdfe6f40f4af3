r"""Text, JSONL and CSV: rows are bytes that are copied as they are, with two columns added at their end.

    {"id": 1.0, "text": "She go."}   ->   {"id": 1.0, "text": "She go.", "corrected": "She goes.", "edits": [...]}

A unit is a range of bytes that begins with a row and ends with one; a compressed file (.gz) is one unit. A row that
cannot be read is set aside with the reason and reading goes on at the next line.
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
from typing import IO, Any

from edit_gec.corpus.records import CHUNK_BYTES, CHUNK_ROWS, LONGEST_ROW, Bad, BrokenError, Chunk, Columns, Unit

KINDS = {
    ".txt": "text", ".text": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv",
    ".tsv": "csv",
}  # fmt: skip
_BOM = b"\xef\xbb\xbf"
_OTHER_MARKS = (b"\xff\xfe", b"\xfe\xff")

Row = tuple[bytes, list[str] | str | None]  # as it stands in the file; of CSV its fields, or why it has none


class _BadRow(Exception):
    """Why a row cannot be read."""


class _TooLong(bytes):
    """The beginning of a line that is longer than LONGEST_ROW; `length` is that of all of it."""

    length: int


# ---------------------------------------------------------------- bytes -> rows


def _open(path: str) -> IO[bytes]:
    """The file behind any byte order mark. Raises BrokenError for what is not UTF-8 from the start."""
    file: IO[bytes] = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")  # type: ignore[assignment]
    start = file.read(3)
    if start.startswith(_OTHER_MARKS):
        file.close()
        raise BrokenError("UTF-16 or UTF-32, UTF-8 is wanted: iconv -t UTF-8")
    file.seek(len(_BOM) if start == _BOM else 0)
    return file


def _lines(file: IO[bytes], stop: int | None) -> Iterator[bytes]:
    """Lines up to the offset `stop`."""
    at = file.tell()
    while stop is None or at < stop:
        line = file.readline(LONGEST_ROW + 1)
        if not line:
            return
        at += len(line)
        if len(line) > LONGEST_ROW and not line.endswith(b"\n"):
            line = _TooLong(line[:1000])
            line.length = LONGEST_ROW + 1
            while rest := file.readline(LONGEST_ROW):
                line.length += len(rest)
                at += len(rest)
                if rest.endswith(b"\n"):
                    break
        yield line


def _length(raw: bytes) -> int:
    return raw.length if isinstance(raw, _TooLong) else len(raw)


def _csv_rows(lines: Iterator[bytes], delimiter: str) -> Iterator[Row]:
    """Rows of CSV, which may span lines; of one that cannot be parsed only the first line is given up."""
    csv.field_size_limit(LONGEST_ROW)
    waiting: deque[bytes] = deque()

    def feed(taken: list[bytes]) -> Iterator[str]:
        size = 0
        while size <= LONGEST_ROW and (line := waiting.popleft() if waiting else next(lines, None)) is not None:
            if isinstance(line, _TooLong) and taken:  # a row of its own
                return waiting.appendleft(line)
            taken.append(line)
            if isinstance(line, _TooLong):
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
            yield taken[0], None
        except csv.Error as error:
            yield taken[0], f"not CSV: {error}"
            waiting.extendleft(reversed(taken[1:]))
        else:
            yield b"".join(taken), fields


def _delimiter(path: str) -> str:
    return "\t" if path.removesuffix(".gz").endswith(".tsv") else ","


def _rows(kind: str, path: str, file: IO[bytes], stop: int | None = None) -> Iterator[Row]:
    lines = _lines(file, stop)
    return _csv_rows(lines, _delimiter(path)) if kind == "csv" else ((line, None) for line in lines)


# ---------------------------------------------------------------- file -> units


def cut(kind: str, path: str, size: int, columns: Columns) -> Iterator[tuple[int, int | None, int]]:
    """(start, stop, bytes) of units of about `size` bytes. Raises BrokenError where no row can be read."""
    try:
        with _open(path) as file:
            if kind == "csv":
                _header(path, file, columns)
            elif kind == "jsonl":
                _not_an_array(file)
            whole = os.path.getsize(path)
            if path.endswith(".gz"):
                yield 0, None, whole
                return
            start = file.tell()
            ends = _csv_ends(path, file) if kind == "csv" else _line_ends(file, size)
            for end in ends:
                if end - start >= size or end >= whole > start:
                    yield start, end, end - start
                    start = end
    except (OSError, EOFError, zlib.error) as error:
        raise BrokenError(f"cannot read: {getattr(error, 'strerror', None) or error}") from None


def _not_an_array(file: IO[bytes]) -> None:
    start = file.tell()
    if file.read(1000).lstrip().startswith(b"["):
        raise BrokenError("a JSON array, one object on each line is wanted: jq -c '.[]'")
    file.seek(start)


def _line_ends(file: IO[bytes], size: int) -> Iterator[int]:
    """Offsets behind lines, about `size` apart, the end of the file last."""
    while True:
        file.seek(size - 1, os.SEEK_CUR)
        while (block := file.readline(LONGEST_ROW)) and not block.endswith(b"\n"):
            pass
        if not block:
            break
        yield file.tell()
    yield file.seek(0, os.SEEK_END)


def _csv_ends(path: str, file: IO[bytes]) -> Iterator[int]:
    """Offsets behind rows: only a parser knows which line ends are inside quotes."""
    at = file.tell()
    for raw, _ in _csv_rows(_lines(file, None), _delimiter(path)):
        at += _length(raw)
        yield at


def _header(path: str, file: IO[bytes], columns: Columns) -> tuple[bytes, list[str]]:
    """The first row of a CSV file, leaving the file behind it. Raises BrokenError unless it has the text's column."""
    begun = file.tell()
    raw, names = next(_csv_rows(_lines(file, None), _delimiter(path)), (b"", None))
    if not isinstance(names, list):
        raise BrokenError(f"no header: {names or 'the file is empty'}")
    file.seek(begun + _length(raw))
    if columns.text not in names:
        raise BrokenError(f"no column {columns.text!r} among {', '.join(names)}")
    for name in (columns.corrected, columns.edits):
        if name in names:
            raise BrokenError(f"has a column {name!r} already")
    return raw, names


# ---------------------------------------------------------------- rows -> texts


def _text(raw: bytes, _: Any) -> str:
    return _decoded(raw).rstrip("\n").removesuffix("\r")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _BadRow(f"not UTF-8: byte {error.start + 1} is 0x{raw[error.start]:02x}") from None


def _of_json(columns: Columns) -> Callable[[bytes, Any], str | None]:
    def parse(raw: bytes, _: Any) -> str | None:
        try:
            row = json.loads(_text(raw, None))
        except (ValueError, RecursionError) as error:
            raise _BadRow(f"not JSON: {error}") from None
        if not isinstance(row, dict):
            raise _BadRow(f"no JSON object: {type(row).__name__}")
        for name in (columns.corrected, columns.edits):
            if name in row:
                raise _BadRow(f"has a column already: {name!r}")
        if columns.text not in row:
            raise _BadRow(f"no column {columns.text!r}: {', '.join(row)}"[:200])
        text = row[columns.text]
        if not isinstance(text, str | None):
            raise _BadRow(f"not a string: {columns.text!r} is {type(text).__name__}")
        return text

    return parse


def _of_csv(names: Sequence[str], columns: Columns) -> Callable[[bytes, Any], str]:
    at = names.index(columns.text)

    def parse(raw: bytes, fields: Any) -> str:
        _decoded(raw)
        if isinstance(fields, str):
            raise _BadRow(fields)
        if len(fields) != len(names):
            raise _BadRow(f"wrong number of fields: {len(fields)}, {len(names)} are wanted")
        return str(fields[at])

    return parse


def read(unit: Unit, columns: Columns) -> Iterator[Chunk]:
    """The rows of a unit. Raises BrokenError, after all that could be read, where the file breaks off."""
    chunk, number, size = Chunk([], [], []), 0, 0
    try:
        with _open(unit.path) as file:
            parse: Callable[[bytes, Any], str | None] = _text if unit.kind == "text" else _of_json(columns)
            if unit.kind == "csv":
                parse = _of_csv(_header(unit.path, file, columns)[1], columns)
            if unit.stop is not None:
                file.seek(unit.start)
            for raw, fields in _rows(unit.kind, unit.path, file, unit.stop):
                if unit.kind != "text" and not raw.strip():
                    continue  # an empty line is no row
                _add(chunk, number, raw, fields, parse)
                number += 1
                size += len(raw)
                if number % CHUNK_ROWS == 0 or size >= CHUNK_BYTES:
                    yield chunk
                    chunk, size = Chunk([], [], []), 0
    except (OSError, EOFError, zlib.error) as error:
        yield chunk
        raise BrokenError(f"cannot read on: {getattr(error, 'strerror', None) or error}") from None
    yield chunk


def _add(
    chunk: Chunk, number: int, raw: bytes, fields: list[str] | str | None, parse: Callable[[bytes, Any], str | None]
) -> None:
    try:
        if isinstance(raw, _TooLong):
            raise _BadRow(f"too long: {raw.length:,} bytes, at most {LONGEST_ROW:,} are read")
        chunk.texts.append(parse(raw, fields))
        chunk.rows.append(raw)
        chunk.numbers.append(number)
    except _BadRow as reason:
        chunk.bad.append(Bad(number, str(reason), raw.decode("utf-8", "backslashreplace")))


# ---------------------------------------------------------------- rows -> bytes


class Writer:
    """Writes rows of these formats with the two columns behind them."""

    def __init__(self, file: IO[bytes], unit: Unit, columns: Columns) -> None:
        self.unit, self.columns = unit, columns
        self.zipped = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if unit.part.endswith(".gz") else None
        self.file: Any = self.zipped or file
        self.begun = False

    def write(self, chunk: Chunk, corrected: Sequence[str | None], edits: Sequence[list[dict[str, Any]]]) -> None:
        """Append rows; `corrected` and `edits` have one entry for each."""
        if self.unit.kind == "csv" and not self.begun:
            with _open(self.unit.path) as source:
                header, _ = _header(self.unit.path, source, self.columns)
            self.file.write(self._with_fields(header, [self.columns.corrected, self.columns.edits]))
        self.begun = True
        for raw, text, new, found in zip(chunk.rows, chunk.texts, corrected, edits, strict=True):
            if self.unit.kind == "csv":
                self.file.write(self._with_fields(raw, [new or "", json.dumps(found, ensure_ascii=False)]))
            else:
                added = {self.columns.corrected: new, self.columns.edits: found}
                row = _json({self.columns.text: text}) if self.unit.kind == "text" else raw.strip()
                self.file.write(row[:-1].rstrip() + b", " + _json(added)[1:] + b"\n")

    def close(self) -> None:
        """Finish the file, which stays open."""
        if self.zipped is not None:
            self.zipped.close()

    def _with_fields(self, raw: bytes, fields: list[str]) -> bytes:
        line = io.StringIO()
        csv.writer(line, delimiter=_delimiter(self.unit.path), lineterminator="").writerow(["", *fields])
        row = raw.rstrip(b"\r\n")
        return row + line.getvalue().encode() + (raw[len(row) :] or b"\n")


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")  # \ud800, as JSON writes it
