"""Whether 8 of 10 edits with confidence 0.8 are right: reliability table and expected calibration error.

confidence   edits   mean confidence   right
0.8 - 0.9      120              0.86    0.81
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from edit_gec.annotation.m2 import M2Edit
from edit_gec.text.detokenize import RawSentence
from edit_gec.text.edits import Change

RIDGE = 1e-3  # penalty on the squared weights of the logistic regression


class Bin(NamedTuple):
    """Edits with confidence in [low, high): their number, their mean confidence, and the share that is right."""

    low: float
    high: float
    edits: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """Expected calibration error: the gap between confidence and share right, averaged over edits.

    A Platt scaling by `slope` and `offset` would reduce the gap. editing/confidence.py calibrates the model itself.
    """

    ece: float
    bins: list[Bin]
    slope: float = 1.0
    offset: float = 0.0


def pair_confidences(
    raw: RawSentence, changes: Sequence[Change], hypothesis: Sequence[M2Edit], reference: Sequence[M2Edit]
) -> list[tuple[float, bool]]:
    """(confidence, right) for each ERRANT edit of one sentence.

    An ERRANT edit can join several of the system's changes. It gets the lowest of their confidences.
    """
    gold = {(e.start, e.end, e.correction) for e in reference}
    out = []
    for edit in hypothesis:
        parts = changes_of_edit(raw, changes, edit)
        if parts:
            out.append((min(c.confidence for c in parts), (edit.start, edit.end, edit.correction) in gold))
    return out


def changes_of_edit(raw: RawSentence, changes: Sequence[Change], edit: M2Edit) -> list[Change]:
    """The system's changes, in code points of the raw text, that an ERRANT edit of its tokens covers."""
    start = raw.spans[edit.start][0] if edit.start < len(raw.spans) else len(raw.text)
    end = raw.spans[edit.end - 1][1] if edit.end else 0
    low = min(start, end)
    high = max(start, end)
    return [change for change in changes if change.start <= high and change.end >= low]


def measure_calibration(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> Calibration:
    """Bin (confidence, right) pairs by confidence; empty bins are left out."""
    table = []
    gap = 0.0
    for k in range(bins):
        inside = [(c, ok) for c, ok in pairs if min(int(c * bins), bins - 1) == k]
        if inside:
            confidence = sum(c for c, _ in inside) / len(inside)
            right = sum(ok for _, ok in inside) / len(inside)
            table.append(Bin(k / bins, (k + 1) / bins, len(inside), confidence, right))
            gap += len(inside) * abs(confidence - right)
    return Calibration(gap / len(pairs) if pairs else 0.0, table, *fit_platt(pairs))


def fit_logistic(
    rows: Sequence[Sequence[float]], right: Sequence[bool], known: Sequence[float] | None = None
) -> list[float]:
    """Weights of a logistic regression, one per feature, fitted by Newton's method.

    `known` are log-odds that are added to each row's. A small ridge penalty keeps the weights finite where the features
    separate right from wrong.
    """
    import numpy as np

    x = np.array(rows, float)  # [N, F]
    y = np.array(right, float)  # [N]
    given = np.zeros(len(y)) if known is None else np.array(known, float)  # [N]
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ weights + given, -30, 30)))
        curvature = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curvature, x.T @ (y - p) - RIDGE * weights)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return [float(weight) for weight in weights]


def fit_platt(pairs: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Slope and offset of the log-odds that make (confidence, right) most likely (Platt 1999)."""
    if len({ok for _, ok in pairs}) < 2:
        return 1.0, 0.0
    clipped = [min(max(c, 1e-4), 1 - 1e-4) for c, _ in pairs]
    slope, offset = fit_logistic([[math.log(c / (1 - c)), 1.0] for c in clipped], [ok for _, ok in pairs])
    return slope, offset
