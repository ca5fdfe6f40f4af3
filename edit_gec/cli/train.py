"""`edit-gec train`: all stages of a recipe, one after the other; the same command resumes where it stopped.

    edit-gec train --recipe models/edit5-mini/recipe.toml --data DATA

What a recipe says is in lab/training/recipe.py, what happens in lab/training/run.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edit_gec.cli.arguments import data_folder, option
from edit_gec.cli.console import out, say


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The arguments of `edit-gec train`."""

    recipe: Path = option("--recipe", type=Path, required=True, metavar="FILE", help="recipe.toml of a model folder")
    data: Path = option(
        "--data", type=data_folder, default="", metavar="DIR", help="corpora (default: $EDIT_GEC_DATA, or data)"
    )
    runs: Path = option(
        "--runs", type=Path, default=Path("models/.runs"), metavar="DIR", help="checkpoints (default: models/.runs)"
    )
    device: str = option("--device", choices=("cpu", "cuda"), default="cpu", help="what trains (default: cpu)")
    init: Path | None = option(
        "--init", type=Path, metavar="DIR", help="start from this T5 checkpoint (Hugging Face folder)"
    )


def run(arguments: Arguments) -> int:
    """Train, and print the folder of the model. Raises InputError."""
    from edit_gec.lab.training.run import train

    finished = train(
        arguments.recipe, arguments.data, arguments.runs, device=arguments.device, init=arguments.init, say=say
    )
    out(f"{finished}\n")
    return 0
