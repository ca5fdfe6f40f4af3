r"""Text files: read them exactly, replace them atomically.

    >>> decode("a.txt", b"\xef\xbb\xbfShe go.\r\n")
    Document(path='a.txt', text='She go.\r\n', encoding='utf-8', bom=b'\xef\xbb\xbf', stamp=None)
    >>> decode("a.txt", b"caf\xe9 \n")
    Traceback (most recent call last):
    edit_gec.errors.InputError: a.txt: byte 4 (0xe9) on line 1 is not UTF-8; convert it first: iconv -f LATIN1 -t UTF-8

Line ends are never translated, and a byte order mark decides the encoding and is kept: decoding and encoding give the
same bytes. Files that cannot be handled raise an InputError that names the file.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

from edit_gec.errors import InputError, WriteError

if sys.platform != "win32":
    import fcntl

MOST_BYTES = 64 * 2**20  # of a document: all of it is in memory
MOST_SETTINGS = 4_000_000  # bytes of a file of settings, patterns or words
PARTIAL_SUFFIX = ".partial"  # of a file that is not finished; its name begins with a dot
_LEFT_OVER = re.compile(rf"\..*\.[0-9a-f]{{16}}{re.escape(PARTIAL_SUFFIX)}", re.DOTALL)
_LEFT_OVER_AFTER_S = 60  # without a write; who writes it holds its lock by then

_ENCODINGS = {  # UTF-32 before UTF-16: its little-endian mark begins with the other's
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

Stamp = tuple[int, int, int]  # inode, size, time of change: whether a file is still the one that was read


class BinaryFileError(InputError):
    """Not text. An error for a file that was named, skipped in a folder that was searched."""


@dataclass(frozen=True)
class Document:
    """A text, where it came from and how its bytes were written."""

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    stamp: Stamp | None = None

    def encode(self, text: str) -> bytes:
        """The bytes of a file like this one with another text."""
        return self.bom + text.encode(self.encoding)


def decode(path: str, data: bytes, stamp: Stamp | None = None) -> Document:
    """The document in these bytes. Raises BinaryFileError for NUL, InputError for bytes that are not text."""
    bom = next((mark for mark in _ENCODINGS if data.startswith(mark)), b"")
    encoding = _ENCODINGS.get(bom, "utf-8")
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        place = error.start + len(bom)
        if b"\0" in data and encoding == "utf-8":
            raise BinaryFileError(f"{path}: binary file (NUL byte at {data.index(0)}); give a text file") from None
        line = data.count(b"\n", 0, place) + 1
        wanted = f"byte {place + 1} (0x{data[place]:02x}) on line {line} is not {encoding.upper()}"
        raise InputError(f"{path}: {wanted}; convert it first: iconv -f LATIN1 -t UTF-8") from None
    if "\0" in text:
        raise BinaryFileError(f"{path}: binary file (NUL character at {text.index(chr(0))}); give a text file")
    return Document(path, text, encoding, bom, stamp)


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns


def read(path: str) -> Document:
    """The document in a file; pipes and devices work too. Raises InputError, also for more than MOST_BYTES."""
    try:
        with open(path, "rb") as file:
            return read_stream(path, file, _stamp(os.fstat(file.fileno())))
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror}; check the path and its permissions") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path!r}: cannot read: {error}") from None  # a NUL in the name


def read_settings(path: str) -> str:
    """The text of a file of settings, patterns or words, with line breaks as \n.

    Raises InputError, also for what is no regular file, which could be waited for or have no end, and for more than
    MOST_SETTINGS bytes.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot read: {reason}; check the path and its permissions") from None
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: cannot read: not a regular file")
    if status.st_size > MOST_SETTINGS:
        raise InputError(f"{path}: has {status.st_size} bytes; expected {MOST_SETTINGS} at most")
    return read(path).text.replace("\r\n", "\n").replace("\r", "\n")


def read_stream(path: str, stream: IO[bytes], stamp: Stamp | None = None) -> Document:
    """The document in a stream. Raises InputError, also for more than MOST_BYTES; OSError where reading fails."""
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        most = f"longer than {MOST_BYTES >> 20} MiB, the most that one document may have"
        raise InputError(f"{path}: {most}; split it, or correct its lines as rows with edit-gec corpus")
    return decode(path, data, stamp)


def write(document: Document, text: str) -> None:
    """Give the document's file this text, whole or not at all: whatever interrupts it, the old or the new file stays.

    Keeps encoding, mode, and where permitted the owner; follows symbolic links; hard links to the old file keep the
    old text. Raises WriteError, with the file untouched, when it is read-only, no regular file, changed since it was
    read, or when the disk is full.
    """
    path = os.path.realpath(document.path)
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise WriteError(
                f"{document.path}: cannot write: not a regular file; correct it to standard output instead"
            )
        # Renaming over a read-only file would succeed: the folder's permissions decide, but its owner said no.
        if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
            raise WriteError(f"{document.path}: cannot write: read-only; file unchanged")
        if document.stamp is not None and _stamp(status) != document.stamp:
            raise WriteError(f"{document.path}: changed on disk while it was corrected; file left alone, run again")
        atomic_write(path, document.encode(text), like=status)
        sweep(os.path.dirname(path))
    except OSError as error:
        raise WriteError(f"{document.path}: cannot write: {error.strerror}; file unchanged") from None


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str], like: os.stat_result | None = None) -> Iterator[IO[bytes]]:
    """A file to write that replaces the one at `path` when the block ends without an error, and is gone otherwise.

    It is written next to its place, reaches the disk, and is then renamed: a reader, or a machine that loses power,
    finds the old bytes or the new ones, never a part. Missing folders are made. `like` is the status of the old file,
    whose mode and, where permitted, owner the new one gets. Raises OSError, also if the old file is another by then.
    A process that is killed in the block leaves the unfinished file, without a lock: `sweep` removes it.
    """
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f".{name[-40:]}.{os.urandom(8).hex()}{PARTIAL_SUFFIX}")
    mode = 0o666 if like is None else 0o600  # until it has the other's, nobody else may read it
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            _lock(file)
            yield file
            file.flush()
            if like is not None:
                _copy_owner_and_mode(file.fileno(), like)
            os.fsync(file.fileno())
        if like is not None and _stamp(os.stat(path)) != _stamp(like):  # writing took a while
            raise OSError(errno.ESTALE, "changed on disk while it was corrected")
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed or the process ends, however that ends: whether nobody else has it locked."""
    with contextlib.suppress(OSError):  # also of file systems without locks
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


@cache  # once in each folder: a listing takes as long as the folder is full
def sweep(folder: str) -> None:
    """Remove the unfinished files of processes that were killed while they wrote into a folder, as far as possible."""
    entries: list[os.DirEntry[str]] = []
    with contextlib.suppress(OSError):
        entries += os.scandir(folder)
    for entry in entries:
        if _LEFT_OVER.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            with contextlib.suppress(OSError), open(entry.path, "r+b") as file:  # some systems lock what is written
                is_old = os.fstat(file.fileno()).st_mtime < time.time() - _LEFT_OVER_AFTER_S
                if is_old and _lock(file):
                    os.unlink(entry.path)


def atomic_write(path: str | os.PathLike[str], data: bytes, like: os.stat_result | None = None) -> None:
    """Replace the file at `path` by these bytes, or leave it as it is: see `atomic_file`. Raises OSError."""
    with atomic_file(path, like) as file:
        file.write(data)


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> int:
    """Replace the file at `path` by these lines, all of them or none; returns their number. Raises OSError."""
    count = 0
    with atomic_file(path) as file:
        for line in lines:
            file.write(f"{line}\n".encode())
            count += 1
    return count


def write_json(path: str | os.PathLike[str], value: Any, *, indent: int = 2) -> None:
    """Replace the file at `path` by this value as JSON, or leave it as it is. Raises OSError."""
    atomic_write(path, f"{json.dumps(value, indent=indent)}\n".encode())


def _copy_owner_and_mode(descriptor: int, status: os.stat_result) -> None:
    if not hasattr(os, "fchown"):  # on Windows
        return
    for owner in (status.st_uid, -1):  # only root may give files away; the group can be kept by its members
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, owner, status.st_gid)
            break
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))  # after chown, which clears the set-id bits


def _sync_folder(folder: str) -> None:
    """Make the rename last through a power cut; some file systems cannot, and the file is whole either way."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
