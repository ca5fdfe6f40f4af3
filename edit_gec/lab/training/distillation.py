"""Distillation: a model's corrections of erroneous sentences as training pairs for another (Kim and Rush 2016).

    edit-gec distil --target t5-mini --data DATA --output DATA/greedy/t5-mini.tsv --pairs 20000

    [[stage]]                         # then in the recipe of the model that learns from it
    name = "distilled"
    real = 1.0
    edits = "greedy"

With a target the pairs are its own greedy outputs. A draft is accepted where it equals the target's output, so the
drafter learns from that output rather than from references (Zhou et al. 2023). EdiT5 drafts and the target verifies,
which costs a fraction of plain decoding. Without a target the pairs are EdiT5's own corrections at its thresholds. They
omit errors that EdiT5 cannot correct, and a T5 that is trained on them accepts more drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
from edit_gec.text.files import write_lines

CHUNK = 256  # sentences that are verified together, in batches of similar length


def distil(corrector: Corrector, sources: Iterator[str], count: int) -> Iterator[tuple[str, str]]:
    """`count` pairs of a source and its correction: the greedy output of the corrector's target, or the corrector's own
    output if it has no target.

    Sentences that the target cannot read or does not finish are left out, and so are those with line breaks.
    """
    pairs = decode_sources if corrector.predictor.is_exact else correct_sources
    while count > 0 and (chunk := list(islice(sources, CHUNK))):
        for source, text in pairs(corrector, chunk):
            if count > 0 and text and not {*source, *text} & {"\t", "\n", "\r"}:
                count -= 1
                yield source, text


def correct_sources(corrector: Corrector, sources: list[str]) -> Iterator[tuple[str, str]]:
    """Sources and their corrections."""
    for correction in corrector.correct_batch(sources, lines=True, markup=False):
        yield correction.text, correction.corrected


def decode_sources(corrector: Corrector, sources: list[str]) -> Iterator[tuple[str, str]]:
    """Sources and the greedy outputs of the target, without those that it cannot read or does not finish.

    A target may read misspelt words as the word list corrects them (verifier.py). Its output is then that for the
    respelt source.
    """
    from edit_gec.speculative.decode import verify
    from edit_gec.speculative.drafters import make_edit5_drafter
    from edit_gec.speculative.verified import Verified

    assert isinstance(corrector.predictor, Verified)
    edit5, verifier = corrector.edit5, corrector.predictor.verifier
    target = verifier.target
    readable = [source for source in sources if target.fits(source)]
    read = respell_sources(corrector, readable) if verifier.profile.respelt else readable
    pairs = [pair for pair in zip(readable, read, strict=True) if target.fits(pair[1])]
    drafter = make_edit5_drafter(target, edit5.model, edit5.tokens, edit5.thresholds)
    outputs, statistics = verify(target, drafter, [text for _, text in pairs])
    for (source, _), output, trace in zip(pairs, outputs, statistics.traces, strict=True):
        if trace.finished:
            yield source, target.text(output)


def respell_sources(corrector: Corrector, sources: Sequence[str]) -> list[str]:
    """The sources, with the misspelt words that the corrector doubts as its word list corrects them. Sources that the
    corrector cannot read at once stay as they are."""
    from edit_gec.editing.respelling import respell

    edit5 = corrector.edit5
    windows = [edit5.tokens.encode(source) for source in sources]
    places = [n for n, window in enumerate(windows) if 0 < len(window) <= edit5.network.config.max_pieces]
    read = list(sources)
    for batch in edit5.group_by_length([windows[n] for n in places], corrector.batch_size) if places else ():
        numbers = [places[n] for n in batch]
        some = [windows[n] for n in numbers]
        respelt = respell(some, edit5.predict_plans(some), edit5.tokens)
        for n, window in zip(numbers, respelt.windows, strict=True):
            read[n] = window.covered
    return read


def write_pairs(pairs: Iterator[tuple[str, str]], output: Path, name: str, say: Callable[[int], None]) -> int:
    """Write pairs to a .tsv, whole or not at all; returns their number, and says it now and then."""

    def lines() -> Iterator[str]:
        for count, (source, target) in enumerate(pairs, start=1):
            yield f"{name}\t{source}\t{target}"
            if count % 1000 == 0:
                say(count)

    return write_lines(output, lines())
