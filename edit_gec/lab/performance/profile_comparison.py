"""Two profiles side by side: what changed between them, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.text.tables import align_columns

ALIKE = ("models", "device", "dtype", "mode", "texts", "replayed")  # settings that decide what is timed
FIGURES = ("total", "encoder", "decoder", "overhead")


class FigureChange(NamedTuple):
    """A figure of both profiles, in milliseconds; `is_clear`: beyond what the runs of either differ by."""

    system: str
    what: str
    before: float
    after: float
    is_clear: bool


def list_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FigureChange]:
    """All figures that both profiles have. A change is clear if it is larger than both spreads of the total.

    Raises InputError for profiles of other models, settings or machines, which say nothing about each other.
    """
    for where in ("machine", "settings"):
        for name in ("name", "threads") if where == "machine" else ALIKE:
            given = [profile[where].get(name) for profile in (old, new)]
            if given[0] != given[1]:
                raise InputError(f"these profiles differ in {name}: {given[0]} and {given[1]}; measure alike")
    systems = [name for name in new["systems"] if name in old["systems"]]
    if not systems:
        raise InputError("these profiles have no system in common")
    for system in systems:
        before, after = old["systems"][system], new["systems"][system]
        spread = max(each["total_p95_ms"] / each["total_ms"] for each in (before, after))
        stages = [{stage["name"]: stage["ms"] for stage in each["stages"]} for each in (before, after)]
        pairs = {name: (before[f"{name}_ms"], after[f"{name}_ms"]) for name in FIGURES}
        pairs |= {name: (stages[0][name], ms) for name, ms in stages[1].items() if name in stages[0]}
        for what, (a, b) in pairs.items():
            yield FigureChange(system, what, a, b, is_clear=a > 0 and not 1 / spread <= b / a <= spread)


def format_comparison(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """A row for each figure: before, after, their ratio, and a mark where the change is clear."""
    rows = [["", "before ms", "after ms", "ratio", ""]]
    system = ""
    for change in list_changes(old, new):
        if change.system != system:
            system = change.system
            rows.append([system.upper(), "", "", "", ""])
        ratio = f"x{change.after / change.before:.2f}" if change.before else ""
        mark = "" if not change.is_clear else "slower" if change.after > change.before else "faster"
        rows.append([change.what, f"{change.before:.2f}", f"{change.after:.2f}", ratio, mark])
    of = [f"{profile['date']} ({profile['machine'].get('commit') or 'no commit'})" for profile in (old, new)]
    return "\n".join([f"{of[0]} -> {of[1]}", *align_columns(rows)]) + "\n"
