"""Precision against recall over the thresholds of confidence, a line for each system: pr.png.

edit-gec score --benchmark wi-3k --min-confidence 0 --curve --system edit-gec --format json > curve.json
python profiles/score/frontier.py curve.json profiles/score/pr.png
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from matplotlib import pyplot


def main(results: str, picture: str) -> None:
    figure, axes = pyplot.subplots(figsize=(6, 5))
    for row in json.loads(Path(results).read_text(encoding="utf-8")):
        p, r = row["scores"]["P"], row["scores"]["R"]
        label = f"{row['system'][:40]}, {row['set']} ({row['metric']} {row['scores'][row['metric']]:.1f})"
        points = [(100 * point["R"], 100 * point["P"]) for point in row.get("curve", ()) if point["R"]]
        (line,) = axes.plot(*zip(*(points or [(r, p)]), strict=True), ".-", label=label)
        axes.plot([r], [p], "o", color=line.get_color())
    axes.set(xlabel="recall (%)", ylabel="precision (%)", xlim=(0, None), ylim=(0, 102))
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
