"""What `edit-gec correct` reads: named files, files found in folders, standard input, each with its settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from edit_gec.cli.console import say
from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings
from edit_gec.errors import EditGecError, InputError
from edit_gec.text import files, formats
from edit_gec.text.file_search import Patterns, Search

STDIN = "-"
GROUP_CHARACTERS = 200_000  # files corrected in one call: small ones share batches, memory stays bounded


@dataclass(frozen=True)
class InputDocument:
    """A document, its format and its settings."""

    document: files.Document
    format: str
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class InputReading:
    """How files are found and read. `skips` says which files not to read."""

    lines: bool
    read_as: str | None
    stdin_filename: str | None
    code: bool  # in folders too
    writing: bool
    force_exclude: bool
    is_verbose: bool
    skips: Callable[[str], bool]


class Inputs:
    """The requested documents. A file that cannot be read gives one line on standard error and sets `has_failed`."""

    def __init__(self, names: Sequence[str], projects: Projects, reading: InputReading) -> None:
        self.projects = projects
        self.reading = reading
        self.has_failed = False
        self.paths = list(self._find(names or [STDIN]))  # (path, whether it was named and not found in a folder)
        self.size = sum(map(_size, (path for path, _ in self.paths)))  # in bytes, of what has a size

    def groups(self) -> Iterator[list[InputDocument]]:
        """Documents that are corrected together."""
        group: list[InputDocument] = []
        characters = 0
        for source in self._sources():
            if group and len(source.document.text) >= GROUP_CHARACTERS:  # a long one comes alone
                yield group
                group = []
                characters = 0
            group.append(source)
            characters += len(source.document.text)
            if characters >= GROUP_CHARACTERS:
                yield group
                group = []
                characters = 0
        if group:
            yield group

    def fail(self, error: EditGecError) -> None:
        """Say what went wrong, and go on."""
        say(f"edit-gec: {error}")
        self.has_failed = True

    def _find(self, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
        seen = set()
        for name in names:
            try:
                is_folder = os.path.isdir(name)
                for path in self._search(name) if is_folder else [name]:
                    real = os.path.realpath(path)
                    if real in seen or (not is_folder and self._leaves_out(path)) or self._is_unwanted(path):
                        continue
                    seen.add(real)
                    yield path, not is_folder
            except EditGecError as error:
                self.fail(error)

    def _search(self, folder: str) -> Iterator[str]:
        """The files of a folder; a nearer settings file may exclude more."""
        if self._leaves_out(folder):
            return
        settings = self.projects.find_settings(folder)
        exclude = Patterns(settings.exclude, settings.root)
        search = Search(exclude, code=self.reading.code)
        for path in search.find(folder):
            nearer = self.projects.find_settings(path)
            if nearer.root == settings.root or not Patterns(nearer.exclude, nearer.root).fit_below(path):
                yield path

    def _leaves_out(self, name: str) -> bool:
        """Whether a search from the settings' folder would not come to this name, and that counts for named files."""
        if not self.reading.force_exclude or name == STDIN:
            return False
        settings = self.projects.find_settings(name)
        left_out = Patterns(settings.exclude, settings.root).fit_below(name)
        if left_out:
            self._note(f"skipped {name}: excluded in the settings")
        return left_out

    def _is_unwanted(self, path: str) -> bool:
        return path != STDIN and os.path.isfile(path) and self.reading.skips(path)

    def _note(self, line: str) -> None:
        if self.reading.is_verbose:
            say(line)

    def _sources(self) -> Iterator[InputDocument]:
        for path, named in self.paths:
            try:
                document = _read_stdin() if path == STDIN else files.read(path)
                if named and not self.reading.lines:
                    self._check_format(path)
                yield InputDocument(document, self._format(path), self.projects.find_settings(self._name(path)))
            except formats.FormatError as error:
                if self.reading.force_exclude:
                    self._note(f"skipped {error}")
                else:
                    self.fail(error)
            except files.BinaryFileError as error:
                if named:
                    self.fail(error)
                else:
                    self._note(f"skipped {error}")
            except EditGecError as error:
                self.fail(error)

    def _name(self, path: str) -> str:
        """The name that tells format and settings."""
        return (self.reading.stdin_filename or "") if path == STDIN else path

    def _check_format(self, path: str) -> None:
        """Raises FormatError for a file, or a name of standard input, that must not be corrected."""
        name = self._name(path)
        reading = self.reading
        if reading.read_as == "code" and not formats.is_understood(self._format(path)):
            what = name or "standard input"
            raise formats.FormatError(f"{what}: cannot tell the language of code by this name; use --stdin-filename")
        if name and reading.read_as is None:
            is_forced = reading.force_exclude and path != STDIN
            formats.check(name, writing=is_forced or reading.writing)
            if is_forced:
                formats.check_searched(name, code=reading.code)

    def _format(self, path: str) -> str:
        """What a document is read as: by its name, or as --read-as says; an unknown one as Markdown."""
        name = self._name(path)
        forced = self.reading.read_as
        if forced == "code":
            return f"code/{os.path.basename(name)}"
        known = forced or formats.find_format(path=name)
        return known if known and formats.is_understood(known) else "markdown"


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:  # standard input, or what reading will complain of
        return 0


def _read_stdin() -> files.Document:
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file or pipe a text in")
    if sys.stdin.isatty():
        say("edit-gec: reading from the terminal; end with Ctrl-D")
    return files.read_stream(STDIN, sys.stdin.buffer)
