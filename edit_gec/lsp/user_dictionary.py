"""What the user ignores, in files of the user: words, and single corrections.

    ~/.config/edit-gec/dictionary.txt    words for all projects, one on each line; may be edited by hand
    ~/.config/edit-gec/ignored.txt       a hash for each ignored correction: of its sentence and of what it changes

The words of a project are in [tool.edit-gec] (config.py), for the command line and hooks too. A file is read again
when it has changed, so editors that run side by side agree.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from edit_gec import config
from edit_gec.errors import InputError
from edit_gec.text import files
from edit_gec.text.edits import Edit


def config_folder() -> Path:
    """The folder for the user's settings, in XDG_CONFIG_HOME, on Windows in APPDATA, or else in ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or (os.environ.get("APPDATA") if os.name == "nt" else None)
    return Path(base or Path.home() / ".config") / "edit-gec"


def correction_key(sentence: str, start: int, edit: Edit) -> str:
    """A hash that identifies a correction at `start` of its sentence. The text cannot be restored from it."""
    return sha256("\0".join((sentence, str(start), edit.original, edit.replacement)).encode()).hexdigest()[:16]


class WatchedLineFile:
    """The lines of a file that need not exist, read again when it has changed. Raises InputError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp: tuple[int, int] | None = None
        self.lines: frozenset[str] = frozenset()

    def read(self) -> frozenset[str]:
        """Its lines without spaces around them, empty ones left out."""
        try:
            status = self.path.stat()
        except OSError:
            self.stamp = None
            self.lines = frozenset()
            return self.lines
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != self.stamp:
            self.lines = frozenset(config.words(str(self.path)))
            self.stamp = stamp
        return self.lines

    def add(self, line: str) -> None:
        """Append a line unless it is there; the file is replaced atomically."""
        if line in self.read():
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.open("a").close()
        except OSError as error:
            raise InputError(f"{self.path}: cannot write: {error.strerror}") from None
        document = files.read(str(self.path))
        text = document.text + ("\n" if document.text and not document.text.endswith("\n") else "")
        files.write(document, f"{text}{line}\n")


class UserDictionary:
    """The user's words and ignored corrections, with the settings of the projects that documents are in."""

    def __init__(self, folder: Path) -> None:
        self.own = WatchedLineFile(folder / "dictionary.txt")
        self.ignored = WatchedLineFile(folder / "ignored.txt")

    def project(self, path: str) -> config.Settings:
        """The settings for the document at this path; for "" those of the working folder. Raises InputError."""
        return config.nearest([path] if path else [])

    def words(self, project: config.Settings) -> frozenset[str]:
        """The words to ignore in a document of this project, case folded."""
        return frozenset(word.casefold() for word in self.own.read().union(project.dictionary))

    def add_word(self, word: str, project: config.Settings | None) -> None:
        """Ignore a word from now on, everywhere or in one project. Raises InputError."""
        if project is None:
            return self.own.add(word)
        if project.words_file is None:
            raise InputError("this project has no file of words: set dictionary = 'words.txt' in [tool.edit-gec]")
        WatchedLineFile(Path(project.words_file)).add(word)
