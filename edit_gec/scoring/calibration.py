"""Is a confidence of 0.8 right in 8 of 10 edits? Reliability table and expected calibration error.

confidence   edits   mean confidence   right
0.8 - 0.9      120              0.86    0.81
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from edit_gec.scoring.m2 import M2Edit
from edit_gec.scoring.project import Raw
from edit_gec.scoring.systems import Change


class Bin(NamedTuple):
    """Edits with confidence in [low, high): how many, their mean confidence, the share that was right."""

    low: float
    high: float
    edits: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """ECE: the gap between confidence and share right, averaged over edits.

    slope and offset of the log-odds would calibrate it: a model folder carries them in its thresholds.
    """

    ece: float
    bins: list[Bin]
    slope: float = 1.0
    offset: float = 0.0


def outcomes(
    raw: Raw, changes: Sequence[Change], hypothesis: Sequence[M2Edit], reference: Sequence[M2Edit]
) -> list[tuple[float, bool]]:
    """(confidence, right) for each ERRANT edit of one sentence.

    An ERRANT edit can join several of the system's changes; it is as sure as the least sure of them.
    """
    gold = {(e.start, e.end, e.correction) for e in reference}
    out = []
    for edit in hypothesis:
        start = raw.spans[edit.start][0] if edit.start < len(raw.spans) else len(raw.text)
        end = raw.spans[edit.end - 1][1] if edit.end else 0
        low, high = min(start, end), max(start, end)
        near = [c.confidence for c in changes if c.start <= high and c.end >= low]
        if near:
            out.append((min(near), (edit.start, edit.end, edit.correction) in gold))
    return out


def calibrate(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> Calibration:
    """Bin (confidence, right) pairs by confidence; empty bins are left out."""
    table, gap = [], 0.0
    for k in range(bins):
        inside = [(c, ok) for c, ok in pairs if min(int(c * bins), bins - 1) == k]
        if inside:
            confidence = sum(c for c, _ in inside) / len(inside)
            right = sum(ok for _, ok in inside) / len(inside)
            table.append(Bin(k / bins, (k + 1) / bins, len(inside), confidence, right))
            gap += len(inside) * abs(confidence - right)
    return Calibration(gap / len(pairs) if pairs else 0.0, table, *fit(pairs))


def fit(pairs: Sequence[tuple[float, bool]], steps: int = 25) -> tuple[float, float]:
    """Slope and offset of the log-odds that make (confidence, right) most likely (Platt 1999), by Newton's method."""
    odds = [math.log(min(max(c, 1e-4), 1 - 1e-4) / (1 - min(max(c, 1e-4), 1 - 1e-4))) for c, _ in pairs]
    slope, offset = 1.0, 0.0
    for _ in range(steps if len({ok for _, ok in pairs}) == 2 else 0):
        g0 = g1 = 0.0
        h00 = h11 = 1e-3  # a little ridge: separable pairs have no finite optimum
        h01 = 0.0
        for x, (_, ok) in zip(odds, pairs, strict=True):
            p = 1 / (1 + math.exp(-max(-30.0, min(30.0, slope * x + offset))))
            weight = p * (1 - p)
            g0, g1 = g0 + ok - p, g1 + (ok - p) * x
            h00, h01, h11 = h00 + weight, h01 + weight * x, h11 + weight * x * x
        determinant = h00 * h11 - h01 * h01
        offset += (h11 * g0 - h01 * g1) / determinant
        slope += (h00 * g1 - h01 * g0) / determinant
    return slope, offset
