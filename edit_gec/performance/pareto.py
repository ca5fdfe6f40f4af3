"""Quality of systems, from result files of `edit-gec score`, for the picture of speed against quality.

edit5=profiles/score/edit5-mini.json              the first F0.5 in the file
harper=profiles/score/baselines.json:wi-3k:harper that of the set wi-3k, of the system with "harper" in its name
t5=target.json                                    also of all systems that write the target's greedy output
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from edit_gec.errors import InputError

METRIC = "F0.5"


def read_quality(given: Sequence[str], systems: Mapping[str, Any]) -> tuple[dict[str, float], str]:
    """F0.5 by system, and the name of the set, which must be one. Raises InputError for what does not fit."""
    found: dict[str, float] = {}
    sets: set[str] = set()
    for each in given:
        system, _, place = each.partition("=")
        if system not in systems:
            raise InputError(f"--quality {each}: the result has no system {system!r}, but {', '.join(systems)}")
        path, name, part = (*place.split(":"), "", "")[:3]
        entry = _entry(path, name, part)
        sets.add(str(entry["set"]))
        found[system] = float(entry["scores"][METRIC])
    if "t5" in found:
        for name, row in systems.items():
            if row.get("exact") or name == "edit5 + t5":
                found.setdefault(name, found["t5"])
    if len(sets) > 1:
        raise InputError(f"--quality: scores on {' and '.join(sorted(sets))} cannot be in one picture; name one set")
    return found, f"{METRIC}, {''.join(sets)}"


def _entry(path: str, name: str, part: str) -> Mapping[str, Any]:
    try:
        entries = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read it as a result of edit-gec score --format json: {error}") from None
    for entry in entries if isinstance(entries, list) else []:
        if METRIC in entry.get("scores", {}) and name in ("", entry.get("set")) and part in entry.get("system", ""):
            return entry  # type: ignore[no-any-return]
    raise InputError(f"{path}: no {METRIC} of set {name or 'any'} and system {part or 'any'}")
