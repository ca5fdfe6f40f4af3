"""Input -> units of work, in order: which files there are, and where they are cut.

    corpus/train.parquet   ->   train-000000.parquet, train-000001.parquet, ...
    corpus/more/a.txt      ->   more/a.txt-000000.jsonl, ...

Parts keep the folders and the order of their files, so splits and subsets that a data set encodes in file names stay
apart.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from edit_gec.corpus import lines, tables
from edit_gec.corpus.records import BrokenFileError, Columns, Cut, Format, Unit
from edit_gec.errors import InputError

HUB_PREFIX = "hub:"
PART_SUFFIXES = {  # the other formats keep the suffix of their file
    Format.TEXT: ".jsonl",
    Format.SAVED: ".parquet",
    Format.HUB: ".parquet",
    Format.PARQUET: ".parquet",
}


class Partition(NamedTuple):
    """The units of a job, the reason for each file that has none, and size and time of change of each file."""

    units: list[Unit]
    broken: dict[str, str]
    stamps: dict[str, list[int]]


class InputFile(NamedTuple):
    """A file or a data set of the input. Its parts are named `stem`, a number and a suffix."""

    format: Format
    path: str
    stem: str


def make_plan(
    source: str, columns: Columns, size: int, config: str | None = None, split: str | None = None
) -> Partition:
    """Cut all of `source` into units of about `size` bytes.

    `config` and `split` choose from a data set. Raises InputError if no file has rows to correct, or if two files
    would become parts of the same name.
    """
    plan = Partition([], {}, {})
    owners: dict[str, str] = {}  # file that each name of parts belongs to
    for found in _find_sources(source, config, split):
        if found.format not in (Format.HUB, Format.SAVED):
            status = os.stat(found.path)
            plan.stamps[found.path] = [status.st_size, status.st_mtime_ns]
        suffix = PART_SUFFIXES.get(found.format) or _suffix(found.path)
        other = owners.setdefault(found.stem + suffix, found.path)
        if other != found.path:
            name = f"{found.stem}-000000{suffix}"
            raise InputError(f"{found.path} and {other} would both become {name}; give one of them at a time")
        try:
            for number, (start, stop, weight, group) in enumerate(_cut(found, size, columns)):
                part = f"{found.stem}-{number:06d}{suffix}"
                plan.units.append(Unit(len(plan.units), found.format, found.path, part, start, stop, group, weight))
        except BrokenFileError as error:
            plan.broken[found.path] = str(error)
    if not plan.units:
        reason = "; ".join(f"{path}: {why}" for path, why in list(plan.broken.items())[:3])
        raise InputError(f"{source}: no rows to correct{f' ({reason})' if reason else ''}; see --column")
    return plan


def _cut(source: InputFile, size: int, columns: Columns) -> Iterator[Cut]:
    if source.format is Format.PARQUET:
        return tables.cut_parquet(source.path, size, columns)
    if source.format is Format.SAVED:
        return tables.cut_saved(source.path, size, columns)
    if source.format is Format.HUB:
        *_, shards = json.loads(source.path)
        return (Cut(shard, shards, 0) for shard in range(shards))
    return lines.cut(source.format, source.path, size, columns)


def _suffix(path: str) -> str:
    name, suffix = os.path.splitext(path)
    return os.path.splitext(name)[1] + suffix if suffix == ".gz" else suffix


def _format_of(path: str) -> Format | None:
    suffix = os.path.splitext(path.removesuffix(".gz"))[1].lower()
    return Format.PARQUET if suffix == ".parquet" else lines.FORMATS.get(suffix)


def _find_sources(source: str, config: str | None, split: str | None) -> Iterator[InputFile]:
    """All files and data sets in `source`. Raises InputError."""
    if source.startswith(HUB_PREFIX):
        name = source.removeprefix(HUB_PREFIX)
        try:
            shards = tables.count_shards(name, config, split)
        except BrokenFileError as error:
            raise InputError(str(error)) from None
        for of_split, count in shards.items():
            yield InputFile(Format.HUB, json.dumps([name, config, of_split, count]), of_split)
    elif os.path.isdir(source):
        yield from _search_folder(source, split)
    else:
        found = _format_of(source)
        if found is None or not os.path.isfile(source):
            known = ", ".join(sorted({*lines.FORMATS, ".parquet"}))
            expected = f"a file ({known}, and .gz of them), a folder of these, a saved data set or {HUB_PREFIX}NAME"
            problem = "not known" if os.path.exists(source) else "not found"
            raise InputError(f"{source}: {problem}; expected {expected}")
        yield InputFile(found, source, _stem(found, os.path.basename(source)))


def _search_folder(source: str, split: str | None) -> Iterator[InputFile]:
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        inside = os.path.relpath(folder, source)
        if "state.json" in names and "dataset_info.json" in names:  # of datasets.save_to_disk
            if split in (None, os.path.basename(folder)):
                stem = os.path.basename(os.path.realpath(folder)) if inside == "." else inside
                yield InputFile(Format.SAVED, folder, stem)
            folders[:] = []
            continue
        for name in sorted(names):
            found = _format_of(name)
            if found and not name.startswith((".", "_")) and name != "dataset_dict.json":
                path = os.path.normpath(os.path.join(inside, name))
                yield InputFile(found, os.path.join(folder, name), _stem(found, path))


def _stem(format: Format, name: str) -> str:
    return name if format is Format.TEXT else name.removesuffix(_suffix(name))


def plan_to_json(plan: Partition) -> dict[str, Any]:
    """The plan as plain values; `plan_from_json` reads them."""
    return {"units": [list(vars(unit).values()) for unit in plan.units], "broken": plan.broken, "stamps": plan.stamps}


def plan_from_json(value: dict[str, Any]) -> Partition:
    """The plan in these values."""
    units = [Unit(number, Format(format), *rest) for number, format, *rest in value["units"]]
    return Partition(units, value["broken"], value["stamps"])
