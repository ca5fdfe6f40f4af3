"""The user's own words, in a file that every front reads and editors write.

~/.config/edit-gec/dictionary.txt    words for all projects, one on each line; may be edited by hand
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from edit_gec.config.settings import words
from edit_gec.errors import InputError
from edit_gec.text import files

if sys.platform != "win32":
    import fcntl

LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+")  # with its end


def config_folder() -> Path:
    """The folder for the user's settings, in XDG_CONFIG_HOME, on Windows in APPDATA, or else in ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or (os.environ.get("APPDATA") if os.name == "nt" else None)
    return Path(base or Path("~/.config").expanduser()) / "edit-gec"


def user_words() -> WatchedLineFile:
    """The file of the user's words, which need not exist."""
    return WatchedLineFile(config_folder() / "dictionary.txt")


class WatchedLineFile:
    """The lines of a file that need not exist, read again when it has changed. Raises InputError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.Lock()  # the page and an editor may add words at the same moment
        self.stamp: tuple[int, int] | None = None
        self.lines: tuple[str, ...] = ()

    def read(self) -> tuple[str, ...]:
        """Its lines without spaces around them, empty ones left out."""
        try:
            status = self.path.stat()
        except OSError:
            self.stamp = None
            self.lines = ()
            return self.lines
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != self.stamp:
            self.lines = words(str(self.path))
            self.stamp = stamp
        return self.lines

    def add(self, line: str) -> bool:
        """Append a line, unless it is there: whether it was added. The file is replaced atomically."""
        with self._alone():
            if line in self.read():
                return False
            document = self._open()
            text = document.text + ("\n" if document.text and not document.text.endswith("\n") else "")
            files.write(document, f"{text}{line}\n")
        return True

    def remove(self, line: str) -> bool:
        """Take a line out: whether it was there. The file is replaced atomically."""
        with self._alone():
            if line not in self.read():
                return False
            document = self._open()
            kept = [each for each in LINE.findall(document.text) if each.strip() != line]
            files.write(document, "".join(kept))
        return True

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread and, where the system can lock files, no other process changes the file in this block."""
        with self.lock, ExitStack() as stack:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if sys.platform != "win32":
                    folder = os.open(self.path.parent, os.O_RDONLY)
                    stack.callback(os.close, folder)
                    fcntl.flock(folder, fcntl.LOCK_EX)  # ends with the process, however that ends
            except OSError as error:
                raise InputError(f"{self.path}: cannot write: {error.strerror}") from None
            self.stamp = None  # what another process wrote within one tick of the clock is read, too
            yield

    def _open(self) -> files.Document:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.open("a").close()
        except OSError as error:
            raise InputError(f"{self.path}: cannot write: {error.strerror}") from None
        return files.read(str(self.path))
