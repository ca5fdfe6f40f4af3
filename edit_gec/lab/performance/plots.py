"""The picture of a profile, next to its JSON: the stages of each system. The traces have the timelines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.text.files import atomic_file
from edit_gec.tracing import STAGES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_stages(profile: Mapping[str, Any], beside: Path) -> list[Path]:
    """Draw the time of each system by stage, next to the file of the profile."""
    path = beside.with_name(f"{beside.stem}-stages.png")
    with atomic_file(path) as file:
        _bars(profile).savefig(file, dpi=120, format="png")
    return [path]


def _bars(profile: Mapping[str, Any]) -> Figure:
    """Stacked bars: milliseconds of each stage."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure  # without a window: there may be no display
    from matplotlib.patches import Patch

    systems, s = profile["systems"], profile["settings"]
    colors: dict[str, Any] = {name: colormaps["tab20"](n % 20) for n, name in enumerate(STAGES)}
    figure = Figure(figsize=(9, 2 + 0.6 * len(systems)), layout="constrained")
    title = f"{' + '.join(s['models'])}, {s['dtype']}, {s['mode']}, {profile['machine']['name']}"
    figure.suptitle(title, fontsize=10)
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
