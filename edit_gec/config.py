r"""[tool.edit-gec] in the nearest pyproject.toml: what a project says once instead of on each command line.

    [tool.edit-gec]
    dictionary = ["kubectl", "Grafana"]     # words to leave alone, or the path of a file with one on each line
    min-confidence = 0.8
    exclude = ["vendor", "docs/old/*.md"]   # from folders; from named files with --force-exclude
    model = "models/my-model"               # a name, or a folder; paths are relative to the pyproject.toml

    >>> parse({"min-confidence": 0.8}, "pyproject.toml").min_confidence
    0.8

Options on the command line win; words add up.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from edit_gec.errors import InputError
from edit_gec.text import files


@dataclass(frozen=True)
class Settings:
    """What the table says; `root` is the folder that its paths and patterns start from.

    `words_file` is where words can be added: the dictionary, if that is a file.
    """

    dictionary: tuple[str, ...] = ()
    min_confidence: float | None = None
    exclude: tuple[str, ...] = ()
    model: str | None = None
    root: str = ""
    words_file: str | None = None


def words(path: str) -> tuple[str, ...]:
    """The words of a dictionary file: one on each line, empty lines ignored. Raises InputError."""
    return tuple(word for line in files.read(path).text.splitlines() if (word := line.strip()))


def parse(table: dict[str, Any], path: str) -> Settings:
    """The settings in the [tool.edit-gec] table of the pyproject.toml at `path`. Raises InputError for a wrong one."""
    where, root = f"{path}: [tool.edit-gec]", os.path.dirname(path)
    known = ("dictionary", "min-confidence", "exclude", "model")
    if unknown := sorted(set(table) - set(known)):
        raise InputError(f"{where} has no setting {unknown[0]!r}; it knows {', '.join(known)}")

    def texts(key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InputError(f"{where} {key} must be a list of strings, not {value!r}")
        return tuple(value)

    dictionary = table.get("dictionary")
    model, confidence = table.get("model"), table.get("min-confidence")
    if model is not None and not isinstance(model, str):
        raise InputError(f"{where} model must be a name or a folder, not {model!r}")
    number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
    if confidence is not None and not (number and 0 <= confidence <= 1):
        raise InputError(f"{where} min-confidence must be a number from 0 to 1, not {confidence!r}")
    if model is not None and os.path.isdir(os.path.join(root, model)):
        model = os.path.join(root, model)
    return Settings(
        dictionary=words(os.path.join(root, dictionary)) if isinstance(dictionary, str) else texts("dictionary"),
        min_confidence=confidence,
        exclude=texts("exclude"),
        model=model,
        root=root,
        words_file=os.path.join(root, dictionary) if isinstance(dictionary, str) else None,
    )


def nearest(paths: Iterable[str]) -> Settings:
    """The settings for these files: of the first pyproject.toml with our table, upwards from the folder they share."""
    try:
        folder = os.path.commonpath([os.path.abspath(path) for path in paths] or [os.getcwd()])
    except ValueError:  # different drives, on Windows
        folder = os.getcwd()
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path) and (table := _table(path)) is not None:
            return parse(table, path)
        if folder == (folder := os.path.dirname(folder)):
            return Settings()


def _table(path: str) -> dict[str, Any] | None:
    """The raw [tool.edit-gec], or None where a pyproject.toml has none. Raises InputError."""
    text = files.read(path).text
    if "edit-gec" not in text:  # most have not, and reading TOML costs 20 ms of imports
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(text.replace("\r\n", "\n")).get("tool", {}).get("edit-gec")
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}".replace("\n", " ")) from None
    if table is not None and not isinstance(table, dict):
        raise InputError(f"{path}: tool.edit-gec must be a table, not {table!r}")
    return table
