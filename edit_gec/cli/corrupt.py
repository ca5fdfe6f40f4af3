"""`edit-gec corrupt`: synthetic errors in clean text, to look at and to compare with real ones.

    edit-gec corrupt prose.txt > pairs.tsv
    edit-gec corrupt prose.txt --compare learners.m2

lab/training/synthetic/corruptor.py makes the errors.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edit_gec.cli.arguments import UsageError, positive


@dataclass(frozen=True)
class Arguments:
    """The arguments of `edit-gec corrupt`."""

    text: Sequence[Path]
    compare: Path | None
    spelling: Path | None
    sentences: int
    rate: float
    seed: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = parser.add_argument
    add("text", nargs="+", type=Path, metavar="TEXT", help="clean text, .txt or .txt.xz, one paragraph per line")
    add(
        "--compare",
        type=Path,
        metavar="M2",
        help="print how often each type of error occurs, next to the real errors of this file",
    )
    add("--spelling", type=Path, metavar="DIR", help="folder of misspelling lists (default: invented misspellings)")
    add(
        "--sentences",
        type=positive,
        default=12_000,
        metavar="N",
        help="number of sentences, taken evenly from the texts (default: 12000)",
    )
    add("--rate", type=float, default=1.0, metavar="R", help="factor for the number of errors (default: 1)")
    add("--seed", type=int, default=1, metavar="N", help="random seed (default: 1)")


def run(arguments: Arguments) -> int:
    """Print tab-separated (wrong, right) pairs, or the comparison. Raises InputError for an unsuitable input."""
    from edit_gec.lab.training.synthetic import comparison
    from edit_gec.lab.training.synthetic.corruptor import Corruptor

    if not arguments.rate >= 0:
        raise UsageError(f"--rate {arguments.rate}: expected 0 or more")
    reference = None if arguments.compare is None else comparison.tally(comparison.from_m2(arguments.compare))
    rng = random.Random(arguments.seed)
    corruptor = Corruptor.load(arguments.spelling)
    clean = comparison.read_clean(arguments.text, arguments.sentences, rng)
    pairs = ((corruptor.corrupt(sentence, rng, arguments.rate), sentence) for sentence in clean)
    if reference is None:
        sys.stdout.writelines(f"{wrong}\t{right}\n" for wrong, right in pairs)
    else:
        sys.stdout.write(comparison.table(comparison.tally(pairs), reference) + "\n")
    return 0
