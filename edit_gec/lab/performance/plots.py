"""Plots of the results of `edit-gec bench` and `edit-gec profile`, each next to its JSON.

Plots of `bench` need only the JSON; the timeline of a profile also shows one run of each system.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.speculative.theory import best_gamma, expected_tokens
from edit_gec.text.files import atomic_file
from edit_gec.tracing import STAGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from edit_gec.lab.performance.stages import TimedRun

GAMMAS = (1, 3, 5, 7, 10, 24)  # curves of the picture of expected tokens
COSTS = (0.01, 0.02, 0.05, 0.1, 0.2)  # and of the best gamma
ALPHAS = [n / 200 for n in range(199)]


def plot_latency(result: Mapping[str, Any], beside: Path) -> list[Path]:
    """Milliseconds of a sentence against its pieces, a line for each system."""
    rows = {name: row["latency"]["sentences"] for name, row in result["systems"].items() if "latency" in row}
    if not rows:
        return []
    figure, (axes,) = _figure(result, 1)
    for name, points in rows.items():
        xs, ys = zip(*sorted(points), strict=True)
        axes.plot(xs, [1000 * y for y in ys], ".-", label=_label(name, result), color=_color(name), lw=1)
    axes.set(xlabel="pieces of the sentence", ylabel="ms", yscale="log")
    _finish(axes)
    return [_save(figure, beside, "latency")]


def plot_speculation(result: Mapping[str, Any], beside: Path) -> list[Path]:
    """Leviathan's figures 2 and 3 with what was measured: tokens a pass, and the best gamma, against alpha."""
    figure, (tokens, gammas, gains) = _figure(result, 3)
    for gamma in GAMMAS:
        tokens.plot(ALPHAS, [expected_tokens(a, gamma) for a in ALPHAS], color="0.75", lw=1)
        tokens.annotate(f"γ {gamma}", (ALPHAS[-1], expected_tokens(ALPHAS[-1], gamma)), fontsize=7, color="0.5")
    for c in COSTS:
        best_of = [best_gamma(a, c, 24) for a in ALPHAS]
        gammas.plot(ALPHAS, best_of, color="0.75", lw=1)
        middle = next(n for n, gamma in enumerate(best_of) if gamma >= 9)  # where the curves lie apart
        gammas.annotate(f"c {c:g}", (ALPHAS[middle], best_of[middle]), fontsize=7, color="0.5")
    for name in dict.fromkeys(row["drafter"] for row in result["rows"]):
        for temperature, mark in ((0, "o"), (1, "^")):
            rows = [r for r in result["rows"] if r["drafter"] == name and r["temperature"] == temperature]
            if not rows:
                continue
            style = {"color": _color(name), "ls": "none", "marker": mark, "ms": 4}
            tokens.plot([r["alpha"] for r in rows], [r["tokens_per_pass"] for r in rows], **style)
            best = max(rows, key=lambda row: float(row["gain"]))
            gammas.plot([best["alpha"]], [best["gamma"]], **style, label=f"{name}, T = {temperature}")
            gains.plot([r["predicted_gain"] for r in rows], [r["gain"] for r in rows], **style)
    highest = max(r["gain"] for r in result["rows"])
    gains.plot([0, highest], [0, highest], color="0.75", lw=1)
    tokens.set(xlabel="α", ylabel="tokens a pass", ylim=(0.8, 26), yscale="log", title="figure 2")
    gammas.set(xlabel="α", ylabel="γ with the largest gain", ylim=(-0.5, 26), title="figure 3")
    gains.set(xlabel="gain by the theory", ylabel="measured gain", title="wall clock")
    _finish(gammas)
    for axes in (tokens, gains):
        axes.grid(alpha=0.3)
    return [_save(figure, beside, "theory")]


# ---------------------------------------------------------------- a profile


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
    figure = _tall_figure(2 + 0.6 * len(systems), _title(profile))
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
    figure = _tall_figure(1.2 + 0.9 * len(typical), f"{_title(profile)}: one run of median length")
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


def _tall_figure(height: float, title: str) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), layout="constrained")
    figure.suptitle(title, fontsize=10)
    return figure


# ---------------------------------------------------------------- shared


def _figure(result: Mapping[str, Any], panels: int) -> tuple[Figure, list[Axes]]:
    """A figure without a window: there may be no display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7 if panels == 1 else 5.2 * panels, 4.8), layout="constrained")
    m = result["machine"]
    settings = f"{result['dtype']}, {result['threads']} threads"
    what = f"{result['kind']}, {result['size']} models, {m['name']}, {settings}, {result['date']}"
    figure.suptitle(what, fontsize=9)
    return figure, [figure.add_subplot(1, panels, n + 1) for n in range(panels)]


def _label(name: str, result: Mapping[str, Any]) -> str:
    return name + (" (steps replayed)" if result["systems"][name].get("replayed") else "")


def _color(name: str) -> Any:
    """The same for a system or drafter in all pictures."""
    from matplotlib import colormaps

    from edit_gec.lab.performance.speculation import DRAFTERS
    from edit_gec.lab.performance.systems import SYSTEMS

    names = [*(system.name for system in SYSTEMS), *DRAFTERS]
    return colormaps["tab20"]((names.index(name) if name in names else -1) % 20)  # an older result has others


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def _save(figure: Figure, beside: Path, what: str) -> Path:
    path = beside.with_name(f"{beside.stem}-{what}.png")
    with atomic_file(path) as file:
        figure.savefig(file, dpi=120, format="png")
    return path
