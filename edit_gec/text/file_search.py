"""The files of a folder that are corrected: of supported formats, and neither excluded nor ignored by git.

Patterns are those of .gitignore: a name matches at every depth, a path from its root, `*` no slash, `!` negates.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from edit_gec.errors import InputError
from edit_gec.text import formats
from edit_gec.text.files import MOST_SETTINGS

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST_STARS = 4  # of a pattern: time grows with the length of a name to this power
_STARS = re.compile(r"\*+(?:/\*+)*")
SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "site-packages"))  # hidden ones are skipped anyway


@dataclass(frozen=True)
class Patterns:
    """Patterns for paths below the folder `root`."""

    lines: tuple[str, ...]
    root: str = ""

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        from pathspec import GitIgnoreSpec

        with warnings.catch_warnings():  # of `re`, about brackets as git does not read them
            warnings.simplefilter("ignore")
            return GitIgnoreSpec.from_lines(self.lines)

    def check(self) -> None:
        """Raises InputError for a pattern that cannot be read."""
        for line in self.lines:
            if len(_STARS.findall(line)) > MOST_STARS:
                raise InputError(f"{line[:60]!r} has more than {MOST_STARS} of * and **, which can take for ever")
        try:
            bool(self.lines and self._spec)
        except (ValueError, re.error, OverflowError, RecursionError) as error:
            raise InputError(f"{error}; expected patterns as in .gitignore") from None

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the last pattern that fits the path includes it (True) or takes it back (False); None for none."""
        if not self.lines:
            return None
        name = os.path.relpath(path, self.root or os.curdir).replace(os.sep, "/")
        if name.startswith("../") or name in (".", ".."):
            return None
        return self._spec.check_file(name + "/" * is_folder).include

    def fit_below(self, path: str) -> bool:
        """Whether the patterns include this path, or one of the folders that it is in up to the root."""
        if not self.lines:
            return False
        parts = os.path.relpath(path, self.root or os.curdir).split(os.sep)
        above = (os.path.join(self.root or os.curdir, *parts[:n]) for n in range(1, len(parts)))
        return any(self.verdict(folder, is_folder=True) for folder in above) or bool(
            self.verdict(path, is_folder=os.path.isdir(path))
        )


NOTHING = Patterns(())


@dataclass(frozen=True)
class Search:
    """How folders are searched: exclusions besides those of .gitignore, and whether `code` is included."""

    exclude: Patterns = NOTHING
    code: bool = False

    def find(self, folder: str) -> Iterator[str]:
        """Files of formats that are understood under a folder, sorted.

        No hidden ones, symbolic links, virtual environments or packages, and nothing that is left out. Raises
        InputError, once the rest is found, for a folder that cannot be read or has no such file.
        """
        unreadable: list[OSError] = []
        found = False
        ignored = {folder: self._ignored_above(folder)}
        for here, folders, names in os.walk(folder, onerror=unreadable.append):
            rules = [*ignored.pop(here, ()), *self._ignored_in(here)]
            folders[:] = [name for name in sorted(folders) if self._enters(here, name, rules)]
            ignored.update((os.path.join(here, name), rules) for name in folders)
            for name in sorted(names):
                path = os.path.join(here, name)
                if self._takes(path, rules):
                    found = True
                    yield path
        for error in unreadable:
            raise InputError(f"{error.filename}: cannot read folder: {error.strerror}; check its permissions")
        if not found:
            suffixes = ", ".join(formats.suffixes())
            raise InputError(
                f"{folder}: no text files ({suffixes}) in this folder that are not left out; name files to correct"
            )

    def _enters(self, here: str, name: str, rules: Sequence[Patterns]) -> bool:
        path = os.path.join(here, name)
        return (
            not name.startswith(".")
            and name not in SKIPPED_FOLDERS
            and not os.path.exists(os.path.join(path, "pyvenv.cfg"))
            and not self._leaves_out(path, rules, is_folder=True)
        )

    def _takes(self, path: str, rules: Sequence[Patterns]) -> bool:
        name = os.path.basename(path)
        if name.startswith(".") or formats.format_of(name) not in formats.searched(code=self.code):
            return False
        if not formats.is_understood(formats.find_format(path=name)):
            return False
        return os.path.isfile(path) and not os.path.islink(path) and not self._leaves_out(path, rules, is_folder=False)

    def _leaves_out(self, path: str, rules: Sequence[Patterns], *, is_folder: bool) -> bool:
        verdicts = (each.verdict(path, is_folder=is_folder) for each in reversed(rules))
        by_git = next((verdict for verdict in verdicts if verdict is not None), False)
        return by_git or bool(self.exclude.verdict(path, is_folder=is_folder))

    def _ignored_in(self, folder: str) -> list[Patterns]:
        return _read_patterns(folder, os.path.join(folder, ".gitignore"))

    def _ignored_above(self, folder: str) -> list[Patterns]:
        """What git ignores from the root of the repository down to the folder, which is not included."""
        above: list[str] = []
        here = os.path.abspath(folder)
        while not os.path.exists(os.path.join(here, ".git")):
            if here == os.path.dirname(here):
                return []  # in no repository
            here = os.path.dirname(here)
            above.insert(0, here)
        own = _read_patterns(here, os.path.join(here, ".git", "info", "exclude"))
        return own + [rules for each in above for rules in self._ignored_in(each)]


def _read_patterns(root: str, path: str) -> list[Patterns]:
    if not os.path.isfile(path):  # there is none, as in most folders; and a device would have no end
        return []
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = tuple(file.read(MOST_SETTINGS).split("\n"))
    except OSError:
        return []
    return [Patterns(tuple(filter(_is_pattern, lines)), root)]


def _is_pattern(line: str) -> bool:
    """Whether git takes the line for a pattern that can be matched in time; others are passed over in silence."""
    try:
        Patterns((line,)).check()
    except InputError:
        return False
    return True
