"""Confidence intervals of scores and paired tests between systems, by resampling sentences.

A metric is a matrix of per-sentence statistics [N, K] and a function from their sum [..., K] to a score [...]:
tp, fp, fn for F0.5, n-gram counts for GLEU, 0 or 1 for false alarms.

    bootstrap_interval(stats, f_score)      ->  (31.2, 35.9)                      95 % interval
    compare_paired(stats_a, stats_b, ...)  ->  Paired(delta=1.4, low=0.3, high=2.6, p=0.012)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Metric = Callable[[Array], Array]
RESAMPLES, SEED = 1000, 12345
CHUNK = 64  # resamples at a time: [64, N] stays small for every set we know


class Paired(NamedTuple):
    """Score of b minus score of a, its 95 % bootstrap interval, and the two-sided p of approximate randomisation."""

    delta: float
    low: float
    high: float
    p: float


def f_score(totals: Array) -> Array:
    """F0.5 in 0..100 from summed tp, fp, fn; the conventions of ERRANT (nothing proposed: precision 1)."""
    tp, fp, fn = (totals[..., i].astype(float) for i in range(3))
    p = np.where(fp > 0, tp / np.maximum(tp + fp, 1), 1.0)
    r = np.where(fn > 0, tp / np.maximum(tp + fn, 1), 1.0)
    denominator = 0.25 * p + r
    return np.where(p + r > 0, 125 * p * r / np.where(denominator > 0, denominator, 1), 0.0)


def rate_per_100(totals: Array) -> Array:
    """Changed sentences per 100, from summed (changed, sentences)."""
    return 100.0 * totals[..., 0] / np.maximum(totals[..., 1], 1)


def _resampled(stats: Array, resamples: int, seed: int) -> Array:
    """Sums over `resamples` draws of N sentences with replacement, [resamples, K]."""
    generator = np.random.default_rng(seed)
    n = len(stats)
    sums = []
    for at in range(0, resamples, CHUNK):
        weights = generator.multinomial(n, np.full(n, 1 / n), size=min(CHUNK, resamples - at))
        sums.append(weights @ stats)
    return np.concatenate(sums)


def bootstrap_interval(
    stats: Array, score: Metric, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float]:
    """The 95 % percentile interval of the score."""
    low, high = np.percentile(score(_resampled(stats, resamples, seed)), [2.5, 97.5])
    return float(low), float(high)


def compare_paired(a: Array, b: Array, score: Metric, resamples: int = RESAMPLES, seed: int = SEED) -> Paired:
    """Is b better than a on the same sentences? Both [N, K], same order."""
    delta = float(score(b.sum(axis=0)) - score(a.sum(axis=0)))
    # The same seed draws the same sentences for both.
    spread = score(_resampled(b, resamples, seed)) - score(_resampled(a, resamples, seed))
    low, high = np.percentile(spread, [2.5, 97.5])
    generator = np.random.default_rng(seed)
    more = 0
    total = a.sum(axis=0)
    difference = b - a
    for at in range(0, resamples, CHUNK):
        swap = generator.integers(0, 2, size=(min(CHUNK, resamples - at), len(a)))
        moved = swap @ difference  # what changes hands when the outputs of the drawn sentences are swapped
        shuffled = score(b.sum(axis=0) - moved) - score(total + moved)
        more += int((np.abs(shuffled) >= abs(delta) - 1e-9).sum())
    return Paired(delta, float(low), float(high), (more + 1) / (resamples + 1))
