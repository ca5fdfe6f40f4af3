"""Compare verified output with the target's own, token by token, and measure how close each difference was.

In fp32 nothing differs: `Target.choose` settles ties by a reading of their own. In bf16 a pass over many tokens rounds
differently from a step over one, so where two tokens are almost equally likely the other one may win. Such flips are
reported with their margins: the difference of the two logits in plain decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from edit_gec.speculative.causal_target import CausalTarget
from edit_gec.speculative.target import Target


@dataclass(frozen=True)
class Flip:
    """The first difference in a sentence: its place, and how much the target preferred its own token."""

    sentence: int
    position: int
    margin: float  # difference of logits


def find_flips(
    target: Target | CausalTarget,
    sentences: Sequence[str],
    own: Sequence[Sequence[int]],
    verified: Sequence[Sequence[int]],
) -> list[Flip]:
    """The first difference of each sentence whose `verified` output is not the target's `own`."""
    found = []
    for number, (sentence, expected, given) in enumerate(zip(sentences, own, verified, strict=True)):
        if list(expected) == list(given):
            continue
        pairs = list(zip(expected, given, strict=False))
        at = next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs) - 1)
        logits = target.next_logits(sentence, expected[:at]).float()
        found.append(Flip(number, at, float(logits[expected[at]] - logits[given[at]])))
    return found


def summarize_flips(sentences: int, found: Sequence[Flip]) -> dict[str, Any]:
    """Plain values for JSON."""
    margins = sorted(flip.margin for flip in found)
    same = sentences - len(found)
    return {"identical": same, "sentences": sentences, "margins": margins, "largest_margin": max(margins, default=0.0)}
