"""Results as a table and as JSON.

    jfleg-dev (754 sentences)   GLEU         95 %    against first
    none                       38.20  36.2 - 40.2
    harper                      44.93  43.1 - 47.0  +6.71 (p 0.001)

The first system of each test set is the one that the others are tested against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from edit_gec.lab.evaluation import errant_score, significance
from edit_gec.lab.evaluation.calibration import Calibration
from edit_gec.lab.evaluation.errant_score import Counts, ErrantScore
from edit_gec.lab.evaluation.evaluate import Result
from edit_gec.text.counts import format_count
from edit_gec.text.tables import align_columns


def compare_with_first(results: Sequence[Result]) -> list[significance.Paired | None]:
    """Each result against the first one of the same test set; None for that one itself."""
    first: dict[str, Result] = {}
    out: list[significance.Paired | None] = []
    for result in results:
        base = first.setdefault(result.test, result)
        out.append(None if base is result else significance.compare_paired(base.stats, result.stats, result.score))
    return out


def format_table(results: Sequence[Result], level: int | None = None) -> str:
    """All results, test set by test set, then details and signatures."""
    tests = compare_with_first(results)
    blocks = []
    for name in dict.fromkeys(r.test for r in results):
        rows = [(r, t) for r, t in zip(results, tests, strict=True) if r.test == name]
        blocks.append(_ranking(rows))
        blocks += [_details(r, level) for r, _ in rows]
        blocks.append("\n".join(f"signature  {r.signature}" for r, _ in rows) + "\n")
    return "\n".join(block for block in blocks if block)


def _ranking(rows: Sequence[tuple[Result, significance.Paired | None]]) -> str:
    first = rows[0][0]
    name = f"{first.test} ({format_count(first.sentences, 'sentence')})"
    cells = [[name, *first.scores, "95 %", "against first", "seconds"]]
    for result, paired in rows:
        cells.append(
            [
                _shorten(result.system),
                *_format_scores(result),
                f"{result.interval[0]:.1f} - {result.interval[1]:.1f}",
                f"{paired.delta:+.2f} (p {paired.p:.3f})" if paired else "",
                f"{result.seconds:.1f}" if result.seconds is not None else "",
            ]
        )
    return _format_columns(cells)


def _format_scores(result: Result) -> list[str]:
    if result.errant:
        counts = result.errant.total
        return [*_percentages(counts), str(counts.tp), str(counts.fp), str(counts.fn)]
    return [f"{v:.2f}" if isinstance(v, float) else str(v) for v in result.scores.values()]


def _percentages(counts: Counts) -> list[str]:
    """P, R and F0.5 in percent. P is a dash if nothing was proposed, and R if there are no gold edits.

    ERRANT counts both as 100; so does F.
    """
    p, r, f = (f"{100 * x:.2f}" for x in counts.prf())
    return [p if counts.tp + counts.fp else "-", r if counts.tp + counts.fn else "-", f]


def _shorten(system: str) -> str:
    """A command by its beginning, a file by its end."""
    if len(system) <= 50:
        return system
    return system[:49] + "…" if "{in}" in system else "…" + system[-49:]


def _format_columns(cells: Sequence[Sequence[str]]) -> str:
    """An aligned table without the columns that are empty in every row."""
    kept = [i for i in range(len(cells[0])) if any(row[i] for row in cells[1:])]
    return "".join(line + "\n" for line in align_columns([[row[i] for i in kept] for row in cells]))


def _details(result: Result, level: int | None) -> str:
    out = []
    if result.errant:
        s = result.errant.split
        out.append(
            f"{_shorten(result.system)}: {s.hit} hits, {s.missed} missed, {s.wrong} right place, another correction, "
            f"{s.over} where nothing was wrong\n"
        )
        if level:
            out.append(_format_types(result.errant, level, result.metric))
    if result.calibration:
        out.append(_format_calibration(result.calibration))
    if result.curve:
        out.append(_format_curve(result))
    return "\n".join(out)


def _format_types(score: ErrantScore, level: int, metric: str) -> str:
    rows = [["type", "TP", "FP", "FN", "P", "R", metric]]
    for name, counts in score.at_level(level).items():
        rows.append([name, str(counts.tp), str(counts.fp), str(counts.fn), *_percentages(counts)])
    return _format_columns(rows)


def _format_calibration(calibration: Calibration) -> str:
    rows = [["confidence", "edits", "mean", "right"]]
    for b in calibration.bins:
        rows.append([f"{b.low:.1f} - {b.high:.1f}", str(b.edits), f"{b.confidence:.3f}", f"{b.right:.3f}"])
    fit = f"calibrated by slope {calibration.slope:.3f}, offset {calibration.offset:.3f} of the log-odds"
    return f"expected calibration error {calibration.ece:.3f}, {fit}\n" + _format_columns(rows)


def _format_curve(result: Result) -> str:
    """The table of the curve, with a note where its first rows cannot differ."""
    rows = [["threshold", "P", "R", result.metric]]
    rows += [[f"{point.threshold:.2f}", *_percentages(point.counts)] for point in result.curve]
    table = _format_columns(rows)
    same = [point.threshold for point in result.curve if point.counts == result.curve[0].counts]
    if len(same) == 1:
        return table
    return table + (
        f"Rows {same[0]:.2f} to {same[-1]:.2f} are equal: no proposed edit has a confidence below {same[-1]:.2f}. "
        "A run leaves out edits below its threshold; --min-confidence 0 keeps them.\n"
    )


def to_data(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The same as plain data, ready for JSON."""
    out = []
    for result, paired in zip(results, compare_with_first(results), strict=True):
        row: dict[str, Any] = {
            "set": result.test,
            "system": result.system,
            "metric": result.metric,
            "sentences": result.sentences,
            "scores": result.scores,
            "interval_95": [round(x, 2) for x in result.interval],
            "seconds": result.seconds and round(result.seconds, 2),
            "signature": result.signature,
        }
        if paired:
            row["against_first"] = {k: round(v, 4) for k, v in paired._asdict().items()}
        if result.errant:
            row["mode"] = errant_score.MODES[result.errant.mode]
            row["split"] = asdict(result.errant.split)
            row["types"] = {k: [n.tp, n.fp, n.fn] for k, n in sorted(result.errant.by_type.items())}
        if result.calibration:
            row["calibration"] = {
                "ece": round(result.calibration.ece, 4),
                "bins": [b._asdict() for b in result.calibration.bins],
            }
        if result.curve:
            names = ("threshold", "P", "R", "F")
            row["curve"] = [dict(zip(names, (t, *n.prf()), strict=True)) for t, n in result.curve]
        out.append(row)
    return out
