"""`edit-gec distil`: what a model makes of erroneous sentences, as training pairs for another (Kim and Rush 2016).

    edit-gec distil --target t5-mini --data DATA --output DATA/greedy/t5-mini.tsv --pairs 20000

    [[stage]]                         # then in the recipe of whoever learns from it
    name = "distilled"
    real = 1.0
    edits = "greedy"

Both ways: a drafter that does not sample is accepted where it says exactly what the target says, so it learns the
target's own greedy outputs, not the references (Zhou et al. 2023); EdiT5 drafts and the target verifies, so the pairs
cost a fraction of what plain decoding takes. Without --target they are EdiT5's own corrections at its thresholds: a T5
that learns from them too is spared errors that nobody could correct, and writes what EdiT5 drafts more often.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

CHUNK = 256  # sentences that are verified together, in batches of similar length


def distil(corrector: Corrector, sources: Iterator[str], count: int) -> Iterator[tuple[str, str]]:
    """`count` pairs of a source and what is made of it: by the corrector's target, token by token its own greedy
    output, or by the corrector itself if it has none.

    Left out: what the target cannot read or does not finish, and what would break a line of the file.
    """
    pairs = of_edit5 if corrector.verifier is None else of_target
    while count > 0 and (chunk := list(islice(sources, CHUNK))):
        for source, text in pairs(corrector, chunk):
            if count > 0 and text and not {*source, *text} & {"\t", "\n", "\r"}:
                count -= 1
                yield source, text


def of_edit5(corrector: Corrector, sources: list[str]) -> Iterator[tuple[str, str]]:
    """Sources and their corrections."""
    for correction in corrector.correct_batch(sources, lines=True, markup=False):
        yield correction.text, correction.corrected


def of_target(corrector: Corrector, sources: list[str]) -> Iterator[tuple[str, str]]:
    """Sources and the greedy outputs of the target, without those that it cannot read or does not finish."""
    from edit_gec.speculative.decode import verify
    from edit_gec.speculative.drafters import edit5_drafter

    assert corrector.verifier is not None
    target = corrector.verifier.target
    readable = [source for source in sources if target.fits(source)]
    drafter = edit5_drafter(target, corrector.model, corrector.tokens, corrector.options)
    outputs, statistics = verify(target, drafter, readable)
    for source, output, trace in zip(readable, outputs, statistics.traces, strict=True):
        if trace.finished:
            yield source, target.text(output)


def write(pairs: Iterator[tuple[str, str]], output: Path, name: str, say: Callable[[int], None]) -> int:
    """Write pairs to a .tsv, whole or not at all; returns their number, and says it now and then."""
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(output.name + ".partial")
    count = 0
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        for source, target in pairs:
            file.write(f"{name}\t{source}\t{target}\n")
            count += 1
            if count % 1000 == 0:
                say(count)
    os.replace(partial, output)
    return count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edit-gec distil`."""
    parser.add_argument("--target", help="the T5 that is learnt from; without it, the EdiT5 itself")
    parser.add_argument("--model", default="edit5-mini", help="the EdiT5 that drafts or writes (default: edit5-mini)")
    parser.add_argument("--min-confidence", type=float, help="of the EdiT5's edits (default: the model's own)")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EDIT_GEC_DATA", "data")), help="corpora")
    parser.add_argument("--output", type=Path, required=True, help=".tsv in a folder below the data folder")
    parser.add_argument("--pairs", type=int, default=20_000, help="how many (default: 20000)")
    parser.add_argument("--rate", type=float, default=1.0, help="of synthetic errors (default: 1)")
    parser.add_argument("--real", type=float, default=0.08, help="share of sources from real edits (default: 0.08)")
    parser.add_argument("--clean", type=float, default=0.12, help="share of clean sources (default: 0.12)")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--device", default="cpu")


def run(args: argparse.Namespace) -> int:
    """`edit-gec distil`: returns the exit status."""
    import sys

    from edit_gec.corrector import Corrector
    from edit_gec.training.pairs import Pairs
    from edit_gec.training.recipe import Recipe, Stage

    if args.pairs < 1:
        raise InputError(f"--pairs {args.pairs}: expected at least 1")
    corrector = Corrector.load(args.model, target=args.target, device=args.device, min_confidence=args.min_confidence)
    stage = Stage("distil", 1, rate=args.rate, real=args.real, clean=args.clean)
    texts = Pairs(corrector.folder, args.data, Recipe("distil"), stage, 0).draw_texts(random.Random(args.seed))
    pairs = distil(corrector, (source for source, _ in texts), args.pairs)
    count = write(pairs, args.output, Path(args.target or args.model).name, lambda n: _say(f"{n} pairs"))
    sys.stdout.write(f"{args.output}: {count} pairs\n")
    return 0


def _say(line: str) -> None:
    import sys

    sys.stderr.write(line + "\n")
