"""What somebody chose to leave alone, kept in files of theirs: words, and single corrections.

    ~/.config/edit-gec/dictionary.txt    words for all projects, one on each line, to be edited by hand as well
    ~/.config/edit-gec/ignored.txt       a hash for each ignored correction: of its sentence and of what it changes

A project's own words are those of [tool.edit-gec] (config.py), which the command line and hooks obey too. Files are
read when they have changed, so that editors that run side by side agree.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from edit_gec import config
from edit_gec.errors import InputError
from edit_gec.text import files
from edit_gec.text.edits import Edit


def folder() -> Path:
    """The folder for settings of this user: XDG_CONFIG_HOME, on Windows APPDATA, or ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME") or (os.environ.get("APPDATA") if os.name == "nt" else None)
    return Path(base or Path.home() / ".config") / "edit-gec"


def key(sentence: str, start: int, edit: Edit) -> str:
    """What names a correction: `start` is where it stands in its sentence. The text cannot be had back from it."""
    return sha256("\0".join((sentence, str(start), edit.original, edit.replacement)).encode()).hexdigest()[:16]


class Lines:
    """The lines of a file that need not be there, read anew when it has changed. Raises InputError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp: tuple[int, int] | None = None
        self.lines: frozenset[str] = frozenset()

    def read(self) -> frozenset[str]:
        """Its lines without blanks around them."""
        try:
            status = self.path.stat()
        except OSError:
            self.stamp, self.lines = None, frozenset()
            return self.lines
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != self.stamp:
            self.lines, self.stamp = frozenset(config.words(str(self.path))), stamp
        return self.lines

    def add(self, line: str) -> None:
        """Append a line that is not there yet; the file is replaced atomically."""
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


class Memory:
    """The user's words and ignored corrections, and the settings of the projects that documents are in."""

    def __init__(self, where: Path) -> None:
        self.own = Lines(where / "dictionary.txt")
        self.ignored = Lines(where / "ignored.txt")

    def project(self, path: str) -> config.Settings:
        """The settings for a document; a path of "" has those of the working folder. Raises InputError."""
        return config.nearest([path] if path else [])

    def words(self, project: config.Settings) -> frozenset[str]:
        """The words to leave alone in a document of this project, case folded."""
        return frozenset(word.casefold() for word in self.own.read().union(project.dictionary))

    def add_word(self, word: str, project: config.Settings | None) -> None:
        """Leave a word alone from now on, everywhere or in one project. Raises InputError."""
        if project is None:
            return self.own.add(word)
        if project.words_file is None:
            raise InputError("this project has no file of words: set dictionary = 'words.txt' in [tool.edit-gec]")
        Lines(Path(project.words_file)).add(word)
