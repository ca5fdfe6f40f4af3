r"""The settings of a file: read key by key, added up from several places.

dictionary = ["kubectl", "Grafana"]     # words to leave alone, or the path of a file with one on each line
ignore = ["PUNCT", "R:DET", "case"]     # kinds of edits, and types of ERRANT (these need edit-gec[score])
ignore-regex = ["\\{\\{.*?\\}\\}"]      # what matches stays as it is
min-confidence = 0.8                    # or strictness = "high"
dialect = "en-GB"                       # or "en-US"
exclude = ["vendor", "docs/old/*.md"]   # patterns as in .gitignore; for named files with --force-exclude
model = "models/my-model"               # a name, or a folder; paths are relative to the settings file
verify = "judge"                        # and the other keywords of `Corrector.load` that RUN names: precision, ...

[[overrides]]                           # for some files; of several that fit, the last one counts
paths = ["docs/*.md"]
min-confidence = 0.5

>>> parse({"min-confidence": 0.8}, "edit-gec.toml").min_confidence
0.8
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from edit_gec.config.load_settings import STRICTNESS, LoadSettings
from edit_gec.errors import InputError, did_you_mean
from edit_gec.rules.dialect import DIALECTS
from edit_gec.text import files
from edit_gec.text.edit_filter import EditFilter
from edit_gec.text.expressions import check_expressions
from edit_gec.text.file_search import Patterns
from edit_gec.text.kinds import parse_names


@dataclass(frozen=True)
class Settings:
    """The settings of a file. `root` is the folder to which its patterns are relative.

    Of `min_confidence` and `strictness` there is one at most: both say how sure an edit must be. `run` are keywords of
    Corrector.load, which are the same for all files. `words_file` is the file to which words can be added: the
    dictionary, if that is a file.
    """

    dictionary: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    ignore_regex: tuple[str, ...] = ()
    min_confidence: float | None = None
    strictness: str | None = None
    dialect: str | None = None
    exclude: tuple[str, ...] = ()
    model: str | None = None
    run: Mapping[str, Any] = field(default_factory=dict)
    root: str = ""
    words_file: str | None = None

    def override_with(self, upper: Settings) -> Settings:
        """These settings, overridden by `upper`: lists are joined, single values are replaced."""
        sure = self if upper.threshold is None else upper
        return Settings(
            dictionary=self.dictionary + upper.dictionary,
            ignore=self.ignore + upper.ignore,
            ignore_regex=self.ignore_regex + upper.ignore_regex,
            min_confidence=sure.min_confidence,
            strictness=sure.strictness,
            dialect=upper.dialect or self.dialect,
            exclude=self.exclude + upper.exclude,
            model=self.model if upper.model is None else upper.model,
            run={**self.run, **upper.run},
            root=upper.root or self.root,
            words_file=upper.words_file or self.words_file,
        )

    @property
    def threshold(self) -> float | str | None:
        """How sure an edit must be: a confidence, the name of a preset, or None for the model's own."""
        return self.min_confidence if self.strictness is None else self.strictness

    def edit_filter(self) -> EditFilter:
        """Which edits are wanted, as dictionary, ignore and ignore_regex say."""
        return EditFilter(
            frozenset(word.casefold() for word in self.dictionary),
            parse_names(self.ignore),
            self.ignore_regex,
        )


DEFAULTS = Settings()


@dataclass(frozen=True)
class Override:
    """Settings for the files that one of the patterns fits."""

    paths: Patterns
    settings: Settings


@dataclass(frozen=True)
class SettingsFile:
    """A settings file: its settings, and those for some files only."""

    settings: Settings = DEFAULTS
    overrides: tuple[Override, ...] = ()

    def words_files(self) -> list[str]:
        """The dictionaries that are files."""
        named = (each.words_file for each in (self.settings, *(override.settings for override in self.overrides)))
        return [path for path in named if path is not None]

    def find_settings(self, path: str) -> Settings:
        """The settings of a file."""
        found = self.settings
        for override in self.overrides:
            if override.paths.fit_below(path):
                found = found.override_with(override.settings)
        return found


# ---------------------------------------------------------------- reading


def words(path: str) -> tuple[str, ...]:
    """The words of a dictionary file: one on each line, empty lines ignored. Raises InputError."""
    return tuple(word for line in files.read_settings(path).split("\n") if (word := line.strip()))


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"must be a list of strings, not {value!r}")
    return tuple(value)


def _patterns(value: Any) -> tuple[str, ...]:
    lines = _strings(value)
    Patterns(lines).check()
    return lines


def _names(value: Any) -> tuple[str, ...]:
    names = _strings(value)
    parse_names(names)
    return names


def _expressions(value: Any) -> tuple[str, ...]:
    patterns = _strings(value)
    check_expressions(patterns)
    return patterns


def _confidence(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InputError(f"must be a number from 0 to 1, not {value!r}")
    return value


def _dialect(value: Any) -> str:
    if value not in DIALECTS:
        raise InputError(f"must be {' or '.join(map(repr, DIALECTS))}, not {value!r}")
    return str(value)


def _strictness(value: Any) -> str:
    if value not in STRICTNESS:
        raise InputError(f"must be one of {', '.join(STRICTNESS)}, not {value!r}")
    return str(value)


def read_run_setting(pair: str) -> tuple[str, Any]:
    """A setting of RUN from "key=value", by the name of its keyword. Raises InputError.

    >>> read_run_setting("batch-size=8")
    ('batch_size', 8)
    """
    key, has_value, value = pair.partition("=")
    if key not in RUN or not has_value:
        raise InputError(f"expected KEY=VALUE with one of {', '.join(RUN)}, not {pair!r}")
    return key.replace("-", "_"), _run_setting(key, int(value) if value.isascii() and value.isdecimal() else value)


def _run_setting(key: str, value: Any) -> Any:
    """The value of a key of RUN."""
    name = key.replace("-", "_")
    if key not in ("threads", "batch-size") and not isinstance(value, str):
        raise InputError(f"{key} {value!r}: expected a name or a text")
    if isinstance(value, int) and value > LARGEST:
        raise InputError(f"{key} {value}: expected {LARGEST} at most")
    return getattr(LoadSettings("", **{name: value}), name)


_READERS: dict[str, Callable[[Any], Any]] = {  # key -> how its value is read; dictionary and model need the folder
    "ignore": _names,
    "ignore-regex": _expressions,
    "min-confidence": _confidence,
    "strictness": _strictness,
    "dialect": _dialect,
    "exclude": _patterns,
}
# Keywords of Corrector.load. A target is none of them: the settings of a stranger's folder must not fetch a model.
RUN = (
    "verify", "backend", "precision", "device", "dtype", "threads", "batch-size", "target-prefix", "target-prompt",
)  # fmt: skip
LARGEST = 1024  # threads, and sentences of a batch: the settings of a stranger's folder must not take all memory
KEYS = ("dictionary", *_READERS, "model", *RUN, "overrides")
_FOR_SOME = tuple(key for key in KEYS if key not in ("exclude", "model", *RUN, "overrides"))


def parse(table: dict[str, Any], path: str, where: str = "") -> Settings:
    """The settings in a table of the file at `path`, without overrides; `where` names the table.

    Raises InputError for an unknown key or a wrong value.
    """
    place = f"{path}: {where}".rstrip(": ")
    root = os.path.dirname(path)
    return replace(_parse(table, place, root, KEYS), root=root)


def parse_file(table: dict[str, Any], path: str, where: str = "") -> SettingsFile:
    """The settings file at `path`. Raises InputError as `parse` does."""
    place = f"{path}: {where}".rstrip(": ")
    root = os.path.dirname(path)
    overrides = table.get("overrides", [])
    if not isinstance(overrides, list) or not all(isinstance(each, dict) for each in overrides):
        raise InputError(f"{place} overrides must be tables, each begun by [[overrides]]")
    found = []
    for number, each in enumerate(overrides, 1):
        here = f"{place} overrides {number}"
        rest = {key: value for key, value in each.items() if key != "paths"}
        if not each.get("paths"):
            raise InputError(f'{here}: name the files that it is for, paths = ["docs/*.md"]')
        paths = _read(_patterns, each["paths"], f"{here} paths")
        found.append(Override(Patterns(paths, root), _parse(rest, here, root, _FOR_SOME)))
    return SettingsFile(parse(table, path, where), tuple(found))


def _parse(table: dict[str, Any], place: str, root: str, known: Iterable[str]) -> Settings:
    if unknown := sorted(set(table) - set(known)):
        meant = did_you_mean(unknown[0], known)
        raise InputError(f"{place} has no setting {unknown[0]!r}{meant or '; it knows ' + ', '.join(known)}")
    if {"min-confidence", "strictness"} <= set(table):
        raise InputError(f"{place} has min-confidence and strictness; expected one, both say how sure an edit must be")
    values = {
        key.replace("-", "_"): _read(read, table[key], f"{place} {key}")
        for key, read in _READERS.items()
        if key in table
    }
    dictionary = table.get("dictionary", [])
    model = table.get("model")
    if isinstance(dictionary, str):
        values["words_file"] = os.path.join(root, dictionary)
        values["dictionary"] = words(values["words_file"])
    else:
        values["dictionary"] = _read(_strings, dictionary, f"{place} dictionary")
    if model is not None and not isinstance(model, str):
        raise InputError(f"{place} model must be a name or a folder, not {model!r}")
    if model is not None and os.path.isdir(os.path.join(root, model)):
        model = os.path.join(root, model)
    run = {key.replace("-", "_"): _read(partial(_run_setting, key), table[key], place) for key in RUN if key in table}
    return Settings(**values, model=model, run=run)


def _read(reader: Callable[[Any], Any], value: Any, place: str) -> Any:
    try:
        return reader(value)
    except InputError as error:
        raise InputError(f"{place} {error}") from None
