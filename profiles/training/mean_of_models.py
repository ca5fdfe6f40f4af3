"""The mean of two EdiT5 models of one shape, with what t5-mini reads of them left as it is.

    python profiles/training/mean_of_models.py models/edit5-mini RUN --share 0.6 --output FOLDER

FOLDER gets a copy of the first model with 0.6 of the second one's weights wherever a T5 that stands on the first 8
layers does not see it. Thresholds and graphs are the first one's: calibrate and export afterwards.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch

from edit_gec.errors import InputError
from edit_gec.lab.training.entry import run_main
from edit_gec.modeling.config import read_config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.shared_encoder import is_shared_with_t5
from edit_gec.text.files import write_json


def average(first: EdiT5, second: EdiT5, share: float, shared_layers: int) -> None:
    """Move the weights of the first model that no T5 shares towards those of the second.

    Raises InputError for models of two shapes.
    """
    others = dict(second.named_parameters())
    if {n: p.shape for n, p in first.named_parameters()} != {n: p.shape for n, p in others.items()}:
        raise InputError("two models of different shapes have no mean; give models of one recipe")
    with torch.no_grad():
        for name, parameter in first.named_parameters():
            if not is_shared_with_t5(name, shared_layers):
                parameter.lerp_(others[name], share)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the mean of two models; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("first", type=Path, help="model folder")
    add("second", type=Path, help="another one, a later stage of the first")
    add("--share", type=float, required=True, help="of the second one, 0 to 1")
    add("--shared-layers", type=int, default=8, help="encoder layers that a T5 reads and that stay (default: 8)")
    add("--output", type=Path, required=True, help="folder of the mean; it must not exist")
    args = parser.parse_args(argv)
    if args.output.exists():
        raise InputError(f"{args.output} is there already; name a new folder")
    first = EdiT5.load(args.first)
    average(first, EdiT5.load(args.second), args.share, args.shared_layers)
    shutil.copytree(args.first, args.output)
    first.save(args.output, small=True)
    made = read_config(args.output)
    write_json(args.output / "config.json", {**read_config(args.first), **made})
    return 0


if __name__ == "__main__":
    run_main(main)
