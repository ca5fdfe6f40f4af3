"""Distillation: a model's corrections of erroneous sentences as training pairs for another (Kim and Rush 2016).

    edit-gec distil --target t5-mini --data DATA --output DATA/greedy/t5-mini.tsv --pairs 20000

    [[stage]]                         # then in the recipe of the model that learns from it
    name = "distilled"
    real = 1.0
    edits = "greedy"

With a target the corrections are its own text, verified at a fraction of what plain decoding costs. A draft is accepted
where it equals the target's output, so the drafter learns from that output rather than from references (Zhou et al.
2023); a source that the target does not finish stays as it is. Without a target they are EdiT5's own at its
thresholds. They omit errors that EdiT5 cannot correct, and a T5 that is trained on them accepts more drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.text.files import write_lines

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

CHUNK = 256  # sentences that are corrected together, in batches of similar length


def distil(corrector: Corrector, sources: Iterator[str], count: int) -> Iterator[tuple[str, str]]:
    """`count` pairs of a source and its correction, without empty ones and those with line breaks or tabs."""
    while count > 0 and (chunk := list(islice(sources, CHUNK))):
        for correction in corrector.correct_batch(chunk, lines=True, markup=False):
            source, text = correction.text, correction.corrected
            if count > 0 and text and not {*source, *text} & {"\t", "\n", "\r"}:
                count -= 1
                yield source, text


def write_pairs(pairs: Iterator[tuple[str, str]], output: Path, name: str, say: Callable[[int], None]) -> int:
    """Write pairs to a .tsv, whole or not at all; returns their number, and says it now and then."""

    def lines() -> Iterator[str]:
        for count, (source, target) in enumerate(pairs, start=1):
            yield f"{name}\t{source}\t{target}"
            if count % 1000 == 0:
                say(count)

    return write_lines(output, lines())
