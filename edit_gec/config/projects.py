"""Which settings a file has: those of the nearest settings file, upwards from its folder.

    edit-gec.toml, .edit-gec.toml      the keys at the top level
    pyproject.toml                     in the table [tool.edit-gec]

Of several in one folder the first counts, and a nearer one hides those above it. The user's own words are added. The
command line overrides everything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from edit_gec.config.settings import DEFAULTS, Settings, SettingsFile, parse_file
from edit_gec.config.user_words import WatchedLineFile, user_words
from edit_gec.errors import InputError
from edit_gec.text import files

NAMES = ("edit-gec.toml", ".edit-gec.toml", "pyproject.toml")
_Stamps = tuple[tuple[int, int], ...]  # time of change and size of a settings file and of those that it names


@dataclass
class Projects:
    """The settings of files. A settings file is read again when it has changed.

    `file` replaces the files that would be found; with `isolated` neither these nor the user's words count. `asked`,
    from the command line, overrides all of them. `own` are the user's words.
    """

    file: str | None = None
    isolated: bool = False
    asked: Settings = DEFAULTS
    own: WatchedLineFile = field(default_factory=user_words)
    _known: dict[str, tuple[_Stamps, SettingsFile | None]] = field(default_factory=dict)

    def find_settings(self, path: str) -> Settings:
        """The settings of a file or folder; of "" those of the working folder. Raises InputError for wrong ones."""
        path = os.path.abspath(path or os.curdir)
        own = Settings() if self.isolated else Settings(dictionary=self.own.read())
        return own.override_with(self._project(path).find_settings(path)).override_with(self.asked)

    def find_shared_settings(self, paths: Iterable[str]) -> Settings:
        """The settings of the folder that all these files share. Raises InputError for wrong ones."""
        try:
            return self.find_settings(os.path.commonpath([os.path.abspath(path) for path in paths] or [os.getcwd()]))
        except ValueError:  # different drives, on Windows
            return self.find_settings("")

    def _project(self, path: str) -> SettingsFile:
        if self.file is not None:
            return self._read(self.file) or SettingsFile()
        if self.isolated:
            return SettingsFile()
        found = (self._read(name) for folder in _upwards(path) for name in _settings_files(folder))
        return next((project for project in found if project is not None), SettingsFile())

    def _read(self, path: str) -> SettingsFile | None:
        """The settings file at `path`, None for a pyproject.toml without our table."""
        known = self._known.get(path)
        if known is None or known[0] != _stamps(path, known[1]):
            project = _parse(path)
            known = (_stamps(path, project), project)
            self._known[path] = known
        return known[1]


def _stamps(path: str, project: SettingsFile | None) -> _Stamps:
    """What changes when the settings file does, or one of its dictionaries."""
    stamps = []
    for each in [path, *(project.words_files() if project else ())]:
        try:
            status = os.stat(each)
        except OSError as error:
            raise InputError(f"{each}: cannot read: {error.strerror}; check the path and its permissions") from None
        stamps.append((status.st_mtime_ns, status.st_size))
    return tuple(stamps)


def _upwards(path: str) -> Iterator[str]:
    """The folders that a file is in, or a folder and those that it is in, the nearest first."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    yield folder
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        yield folder


def _settings_files(folder: str) -> Iterator[str]:
    return filter(os.path.isfile, (os.path.join(folder, name) for name in NAMES))


def _parse(path: str) -> SettingsFile | None:
    """The settings file at `path`, None for a pyproject.toml without our table. Raises InputError."""
    text = files.read_settings(path)
    is_project = os.path.basename(path) == "pyproject.toml"
    if is_project and "edit-gec" not in text:  # most have not, and reading TOML costs 20 ms of imports
        return None
    table: Any = _load_toml(path, text)
    if not is_project:
        return parse_file(table, os.path.abspath(path))
    tools = table.get("tool", {})
    if not isinstance(tools, dict):
        raise InputError(f"{path}: tool must be a table, not {str(tools)[:40]!r}")
    table = tools.get("edit-gec")
    if table is not None and not isinstance(table, dict):
        raise InputError(f"{path}: tool.edit-gec must be a table, not {table!r}")
    return None if table is None else parse_file(table, os.path.abspath(path), "[tool.edit-gec]")


def _load_toml(path: str, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError:
        raise InputError(f"{path}: not TOML: nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise InputError(f"{path}: not TOML: {str(error)[:200]}".replace("\n", " ")) from None
