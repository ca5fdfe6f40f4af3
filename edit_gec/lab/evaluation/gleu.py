"""GLEU: n-gram overlap with a reference, minus the n-grams of the source that the reference dropped.

    source      He go home .       reference  He goes home .
    hypothesis  He go home .       1-grams: 3 right (He home .) - 1 kept by mistake (go) = 2 of 4

Napoles et al. 2015, 2016 and the 2017 fix of the brevity penalty: n = 1..4, corpus level. With several references the
score is the mean over 500 draws of one reference per sentence. As in the JFLEG script, the seed of draw j is 101 j.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from edit_gec.errors import InputError

ORDER = 4
DRAWS = 500


def count_ngrams(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Counts [sentences, references, 2 + 2 ORDER]: both lengths, then right and possible n-grams for each n.

    `references` holds one list per annotator, each as long as `sources`.
    """
    for name, lines in [("hypotheses", hypotheses), *((f"reference {i}", r) for i, r in enumerate(references))]:
        if len(lines) != len(sources):
            raise InputError(f"{len(sources)} sources but {len(lines)} {name}; same set, same order?")
    rows = []
    for i, (source, hypothesis) in enumerate(zip(sources, hypotheses, strict=True)):
        grams_s, grams_h = _ngrams(source.split()), _ngrams(hypothesis.split())
        rows.append([_row(grams_s, grams_h, _ngrams(ref[i].split())) for ref in references])
    return np.array(rows, dtype=np.int64)


def _ngrams(tokens: list[str]) -> list[Counter[tuple[str, ...]]]:
    return [Counter(zip(*(tokens[k:] for k in range(n)), strict=False)) for n in range(1, ORDER + 1)]


def _row(source: list[Any], hypothesis: list[Any], reference: list[Any]) -> list[int]:
    length = hypothesis[0].total()
    row = [length, reference[0].total()]
    for n, (s, h, r) in enumerate(zip(source, hypothesis, reference, strict=True)):
        dropped = Counter({gram: count for gram, count in s.items() if gram not in r})
        row += [max((h & r).total() - (h & dropped).total(), 0), max(length - n, 0)]
    return row


def score_totals(totals: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """GLEU in 0..100 from summed statistics [..., 2 + 2 ORDER]; 0 where an n-gram order has no match."""
    right, possible = totals[..., 2::2], totals[..., 3::2]
    nonzero = (totals > 0).all(axis=-1)
    safe_right = np.where(right > 0, right, 1)
    safe_possible = np.where(possible > 0, possible, 1)
    log_precision = np.log(safe_right / safe_possible).mean(axis=-1)
    brevity = np.minimum(0, 1 - totals[..., 1] / np.maximum(totals[..., 0], 1))
    return np.where(nonzero, 100 * np.exp(brevity + log_precision), 0.0)


def draw_references(sentences: int, references: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The reference taken for each sentence in each draw, [draws, sentences]; one draw where there is no choice."""
    if references == 1:
        return np.zeros((1, sentences), dtype=np.int64)
    out = []
    for j in range(DRAWS):
        generator = random.Random(j * 101)
        out.append([generator.randint(0, references - 1) for _ in range(sentences)])
    return np.array(out)


def mean_gleu(stats: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    """Corpus GLEU in 0..100 of statistics [N, R, 2 + 2 ORDER]."""
    taken = draw_references(*stats.shape[:2])
    rows = np.arange(len(stats))
    return float(np.mean([score_totals(stats[rows, one].sum(axis=0)) for one in taken]))
