"""Input -> units of work, in order: which files there are, and where they are cut.

    corpus/train.parquet   ->   train-000000.parquet, train-000001.parquet, ...
    corpus/more/a.txt      ->   more/a.txt-000000.jsonl, ...

Parts lie and sort as their files do, so that the splits and subsets that data sets keep in file names stay apart.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from edit_gec.corpus import lines, tables
from edit_gec.corpus.records import BrokenError, Columns, Unit
from edit_gec.errors import InputError

HUB = "hub:"
SUFFIX = {"text": ".jsonl", "saved": ".parquet", "hub": ".parquet", "parquet": ".parquet"}  # of parts; or the file's


class Plan(NamedTuple):
    """The units of a job, files that none could be made of with the reason, and size and time of each file."""

    units: list[Unit]
    broken: dict[str, str]
    stamps: dict[str, list[int]]


def plan(source: str, columns: Columns, size: int, config: str | None = None, split: str | None = None) -> Plan:
    """Cut all of `source` into units of about `size` bytes. Raises InputError where there is nothing to do."""
    units: list[Unit] = []
    broken: dict[str, str] = {}
    stamps: dict[str, list[int]] = {}
    parts: dict[str, str] = {}
    for kind, path, stem in _sources(source, config, split, broken):
        if kind not in ("hub", "saved"):
            status = os.stat(path)
            stamps[path] = [status.st_size, status.st_mtime_ns]
        suffix = SUFFIX.get(kind) or _suffix(path)
        if (other := parts.setdefault(stem + suffix, path)) != path:
            raise InputError(f"{path} and {other} would both become {stem}-000000{suffix}; give one of them at a time")
        try:
            for n, (start, stop, group, weight) in enumerate(_cut(kind, path, size, columns)):
                units.append(Unit(len(units), kind, path, f"{stem}-{n:06d}{suffix}", start, stop, group, weight))
        except BrokenError as error:
            broken[path] = str(error)
    if not units:
        reason = "; ".join(f"{path}: {why}" for path, why in list(broken.items())[:3])
        raise InputError(f"{source}: no rows to correct{f' ({reason})' if reason else ''}; see --column")
    return Plan(units, broken, stamps)


def _cut(kind: str, path: str, size: int, columns: Columns) -> Iterator[tables.Cut]:
    if kind == "parquet":
        return tables.cut_parquet(path, size, columns)
    if kind == "saved":
        return tables.cut_saved(path, size, columns)
    if kind == "hub":
        *_, shards = json.loads(path)
        return ((n, shards, 0, 0) for n in range(shards))
    return ((start, stop, 0, weight) for start, stop, weight in lines.cut(kind, path, size, columns))


def _suffix(path: str) -> str:
    name, suffix = os.path.splitext(path)
    return os.path.splitext(name)[1] + suffix if suffix == ".gz" else suffix


def _kind(path: str) -> str | None:
    suffix = os.path.splitext(path.removesuffix(".gz"))[1].lower()
    return "parquet" if suffix == ".parquet" else lines.KINDS.get(suffix)


def _sources(
    source: str, config: str | None, split: str | None, broken: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    """(kind, path, stem of the parts) of all that is in `source`. Raises InputError."""
    if source.startswith(HUB):
        try:
            shards = tables.hub_splits(source.removeprefix(HUB), config, split)
        except BrokenError as error:
            raise InputError(str(error)) from None
        for name, count in shards.items():
            yield "hub", json.dumps([source.removeprefix(HUB), config, name, count]), name
    elif os.path.isdir(source):
        yield from _in_folder(source, split, broken)
    elif (kind := _kind(source)) is None or not os.path.isfile(source):
        known = ", ".join(sorted({*lines.KINDS, ".parquet"}))
        wanted = f"a file ({known}, and .gz of them), a folder of these, a saved data set or {HUB}NAME"
        raise InputError(f"{source}: {'not known' if os.path.exists(source) else 'not found'}; {wanted} is wanted")
    else:
        yield kind, source, _stem(kind, os.path.basename(source))


def _in_folder(source: str, split: str | None, broken: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        inside = os.path.relpath(folder, source)
        if "state.json" in names and "dataset_info.json" in names:  # of datasets.save_to_disk
            if split in (None, os.path.basename(folder)):
                yield "saved", folder, os.path.basename(os.path.realpath(folder)) if inside == "." else inside
            folders[:] = []
            continue
        for name in sorted(names):
            if (kind := _kind(name)) and not name.startswith((".", "_")) and name != "dataset_dict.json":
                yield kind, os.path.join(folder, name), _stem(kind, os.path.normpath(os.path.join(inside, name)))


def _stem(kind: str, name: str) -> str:
    return name if kind == "text" else name.removesuffix(_suffix(name))


def as_json(plan: Plan) -> dict[str, Any]:
    """Plain values, and back with `from_json`."""
    return {"units": [list(vars(unit).values()) for unit in plan.units], "broken": plan.broken, "stamps": plan.stamps}


def from_json(value: dict[str, Any]) -> Plan:
    """The plan in these values."""
    return Plan([Unit(*fields) for fields in value["units"]], value["broken"], value["stamps"])
