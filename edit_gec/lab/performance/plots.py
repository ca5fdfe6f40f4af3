"""Pictures of a profile, next to its JSON: the stages of each system, and the timeline of one run of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.text.files import atomic_file
from edit_gec.tracing import STAGES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from edit_gec.lab.performance.stages import TimedRun


def plot_profile(profile: Mapping[str, Any], typical: Mapping[str, TimedRun], beside: Path) -> list[Path]:
    """Time of each system by stage, and its steps in order; `typical` is one run of each system."""
    drawn = {"stages": _bars(profile), "timeline": _timeline(profile, typical)}
    return [_save(figure, beside, name) for name, figure in drawn.items()]


def _stage_colors() -> dict[str, Any]:
    """One colour for each stage, the same in all pictures; steps dark and light in turn would hide their number."""
    from matplotlib import colormaps

    return {name: colormaps["tab20"](n % 20) for n, name in enumerate(STAGES)}


def _title(profile: Mapping[str, Any]) -> str:
    s = profile["settings"]
    return f"{' + '.join(s['models'])}, {s['dtype']}, {s['mode']}, {profile['machine']['name']}"


def _bars(profile: Mapping[str, Any]) -> Figure:
    """Stacked bars: milliseconds of each stage."""
    from matplotlib.patches import Patch

    systems = profile["systems"]
    colors = _stage_colors()
    figure = _figure(2 + 0.6 * len(systems), _title(profile))
    axes = figure.add_subplot()
    for row, own in enumerate(systems.values()):
        left = 0.0
        for stage in own["stages"]:
            axes.barh(row, stage["ms"], left=left, color=colors[stage["name"]], height=0.7)
            left += stage["ms"]
        axes.barh(row, own["unattributed_ms"], left=left, color="lightgray", height=0.7)
        axes.text(left + own["unattributed_ms"], row, f" {own['total_ms']:.1f} ms", va="center", fontsize=8)
    axes.set_yticks(range(len(systems)), list(systems))
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set_xlabel("milliseconds per text")
    used = [name for name in STAGES if any(s["name"] == name for own in systems.values() for s in own["stages"])]
    handles = [Patch(color=color) for color in (*(colors[name] for name in used), "lightgray")]
    figure.legend(handles, [*used, "unattributed"], fontsize=7, ncols=6, loc="outside lower center")
    return figure


def _timeline(profile: Mapping[str, Any], typical: Mapping[str, TimedRun]) -> Figure:
    """The timeline of the run of median length, a block per step."""
    colors = _stage_colors()
    figure = _figure(1.2 + 0.9 * len(typical), f"{_title(profile)}: one run of median length")
    for row, (name, run) in enumerate(typical.items(), start=1):
        axes = figure.add_subplot(len(typical), 1, row)
        blocks = [(1000 * (span.begun - run.begun), 1000 * (span.ended - span.begun)) for span in run.spans]
        faces = [colors[span.name] for span in run.spans]
        axes.broken_barh(blocks, (0, 1), facecolors=faces, edgecolors="white", linewidth=0.4)
        axes.set_xlim(0, 1000 * run.total_s)
        axes.set_yticks([0.5], [name], fontsize=8)
        axes.tick_params(axis="x", labelsize=7)
    axes.set_xlabel("milliseconds; each row on a scale of its own", fontsize=8)
    return figure


def _figure(height: float, title: str) -> Figure:
    """A figure without a window: there may be no display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), layout="constrained")
    figure.suptitle(title, fontsize=10)
    return figure


def _save(figure: Figure, beside: Path, what: str) -> Path:
    path = beside.with_name(f"{beside.stem}-{what}.png")
    with atomic_file(path) as file:
        figure.savefig(file, dpi=120, format="png")
    return path
