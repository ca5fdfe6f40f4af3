"""`edit-gec distil`: a model's corrections of erroneous sentences, as training pairs for another model.

    edit-gec distil --target t5-mini --data DATA --output DATA/greedy/t5-mini.tsv --pairs 20000

lab/training/distillation.py says why, and how the other model learns from them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

from edit_gec.catalog import DEFAULT_MODEL
from edit_gec.cli.arguments import ModelOptions, check_target, confidence, data_folder, option, positive
from edit_gec.cli.console import out, say
from edit_gec.text.counts import format_count


@dataclass(frozen=True, kw_only=True)
class Arguments(ModelOptions):
    """The arguments of `edit-gec distil`."""

    output: Path = option(
        "--output", type=Path, required=True, metavar="FILE", help="file to write, .tsv, in a subfolder of --data"
    )
    data: Path = option(
        "--data", type=data_folder, default="", metavar="DIR", help="corpora (default: $EDIT_GEC_DATA, or data)"
    )
    pairs: int = option("--pairs", type=positive, default=20_000, metavar="N", help="number of pairs (default: 20000)")
    rate: float = option(
        "--rate", type=float, default=1.0, metavar="R", help="factor for the number of synthetic errors (default: 1)"
    )
    real: float = option(
        "--real", type=confidence, default=0.08, metavar="S",
        help="share of sources that are real erroneous sentences (default: 0.08)",
    )  # fmt: skip
    clean: float = option(
        "--clean", type=confidence, default=0.12, metavar="S", help="share of sources without errors (default: 0.12)"
    )
    seed: int = option("--seed", type=int, default=2, metavar="N", help="random seed (default: 2)")


def run(arguments: Arguments) -> int:
    """Write the pairs. Raises InputError, UsageError."""
    from edit_gec.cli.loading import load_corrector
    from edit_gec.lab.training.distillation import distil, write_pairs
    from edit_gec.lab.training.pairs import Pairs
    from edit_gec.lab.training.recipe import Recipe, TrainingStage

    check_target(arguments)
    exact = {"verify": "exact"} if arguments.target else {}
    corrector = load_corrector(replace(arguments, set=[*arguments.set, *exact.items()]))
    stage = TrainingStage("distil", 1, rate=arguments.rate, real=arguments.real, clean=arguments.clean)
    texts = Pairs(corrector.folder, arguments.data, Recipe("distil"), stage, 0).draw_texts(
        random.Random(arguments.seed)
    )
    pairs = distil(corrector, (source for source, _ in texts), arguments.pairs)
    name = Path(arguments.target or arguments.model or DEFAULT_MODEL).name
    written = write_pairs(pairs, arguments.output, name, lambda done: say(format_count(done, "pair")))
    out(f"{arguments.output}: {format_count(written, 'pair')}\n")
    return 0
