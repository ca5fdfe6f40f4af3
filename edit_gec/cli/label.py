"""`edit-gec label`: edits with their confidence, by a corrector with a judge.

    edit-gec label noisy.txt.xz --output DATA/labelled             text that nobody edited
    edit-gec label pairs.tsv --pairs --output DATA/labelled        sentences and corrections, some of them false

lab/training/label.py says what is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edit_gec.catalog import DEFAULT_JUDGE, DEFAULT_MODEL
from edit_gec.cli.arguments import option, positive
from edit_gec.cli.console import say


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The arguments of `edit-gec label`."""

    files: Sequence[Path] = option(
        nargs="+", type=Path, metavar="FILE", help="a sentence a line: .txt, .tsv (last column), .xz"
    )
    output: Path = option(
        "--output", type=Path, required=True, metavar="DIR", help="folder of edits.tsv; a rerun goes on"
    )
    pairs: bool = option(
        "--pairs", action="store_true", help="judge the edits from the last column but one to the last"
    )
    model: str = option("--model", default=DEFAULT_MODEL, metavar="NAME|PATH", help=f"EdiT5 (default: {DEFAULT_MODEL})")
    judge: str = option(
        "--judge", default=DEFAULT_JUDGE, metavar="NAME|PATH", help=f"language model (default: {DEFAULT_JUDGE})"
    )
    dtype: str = option(
        "--dtype", default="float32", choices=("float32", "bfloat16"), help="of the judge (default: float32)"
    )
    threads: int | None = option("--threads", type=positive, metavar="N", help="CPU threads (default: all cores)")


def run(arguments: Arguments) -> int:
    """Label all files. Raises InputError for unreadable files, and for lines that are no pairs."""
    from edit_gec.corrector import Corrector
    from edit_gec.lab.training.label import JudgedPairs, Proposals, label
    from edit_gec.speculative.judged import Judged

    how = {"dtype": arguments.dtype, "threads": arguments.threads, "verify": "judge"}
    corrector = Corrector.load(arguments.model, target=arguments.judge, **how)  # type: ignore[arg-type]
    labeller: Proposals | JudgedPairs = Proposals(corrector)
    if arguments.pairs and isinstance(corrector.predictor, Judged):
        labeller = JudgedPairs(corrector.predictor.judge, corrector.edit5.tokens)
    for counts in label(labeller, arguments.files, arguments.output):
        say("edit-gec: " + ", ".join(f"{count:,} {kind}" for kind, count in counts.items()))
    return 0
