"""`edit-gec corrupt`: synthetic errors in clean text, as training sees them.

    edit-gec corrupt prose.txt > pairs.tsv

lab/training/synthetic/corruptor.py makes the errors by rule, lab/training/synthetic/breaker.py with a model.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from edit_gec.cli.arguments import UsageError, option, positive


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The arguments of `edit-gec corrupt`."""

    text: Sequence[Path] = option(
        nargs="+", type=Path, metavar="TEXT", help="clean text, .txt or .txt.xz, one paragraph per line"
    )
    spelling: Path | None = option(
        "--spelling", type=Path, metavar="DIR", help="folder of misspelling lists (default: invented misspellings)"
    )
    breaker: Path | None = option(
        "--breaker", type=Path, metavar="DIR", help="model that makes the errors (default: errors by rule)"
    )
    sentences: int = option(
        "--sentences", type=positive, default=12_000, metavar="N",
        help="number of sentences, taken evenly from the texts (default: 12000)",
    )  # fmt: skip
    rate: float = option(
        "--rate", type=float, default=1.0, metavar="R", help="factor for the number of errors (default: 1)"
    )
    seed: int = option("--seed", type=int, default=1, metavar="N", help="random seed (default: 1)")


def run(arguments: Arguments) -> int:
    """Print tab-separated (wrong, right) pairs. Raises InputError for an unsuitable input."""
    from edit_gec.lab.training.clean_prose import draw_clean

    if not arguments.rate >= 0:
        raise UsageError(f"--rate {arguments.rate}: expected 0 or more")
    rng = random.Random(arguments.seed)
    sentences = draw_clean(arguments.text, arguments.sentences, rng)
    for wrong, right in zip(corrupt(sentences, arguments, rng), sentences, strict=True):
        sys.stdout.write(f"{wrong}\t{right}\n")
    return 0


def corrupt(sentences: Sequence[str], arguments: Arguments, rng: random.Random) -> Iterable[str]:
    """The sentences with errors, by a model where one is named, else by rule. Raises InputError for its folders."""
    if arguments.breaker:
        from edit_gec.lab.training.synthetic.breaker import Breaker

        return Breaker.load(arguments.breaker, arguments.seed).corrupt(sentences, arguments.rate)
    from edit_gec.lab.training.synthetic.corruptor import Corruptor

    corruptor = Corruptor.load(arguments.spelling)
    return (corruptor.corrupt(sentence, rng, arguments.rate) for sentence in sentences)
