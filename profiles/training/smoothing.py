"""Find the powers of two by which norms of a decoder-only model divide in int8 (backends/causal_weights.py).

    python profiles/training/smoothing.py --model models/smollm2 --text TEXT.txt
    edit-gec export models/smollm2

Each line of the text is read as the judge reads it, after its prompt. A dimension that is often large in the input of a
matrix gets a large power, unless its weights are large, too (SmoothQuant, equation 4). In float32 the outputs are the
same with any powers; run it again for weights that differ much.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from edit_gec.backends.causal_weights import SMOOTHED_BY, SMOOTHING
from edit_gec.errors import InputError
from edit_gec.lab.training.entry import run_main
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.modeling.causal_lm import CausalLM, causal_visibility
from edit_gec.modeling.config import read_config
from edit_gec.speculative.judge import plain_prompt
from edit_gec.speculative.prompt import KEY
from edit_gec.text.files import atomic_write

ALPHA = 0.75  # how much of a dimension's size goes to the weights: gains move by 0.18 nat, with 0.5 by 0.28 (LOG.md)
MOST_LINES = 16


def find_exponents(model: CausalLM, rows: Iterable[Sequence[int]]) -> dict[str, Tensor]:
    """The exponents [d] in int8 of each norm of each layer, by its name; `rows` are ids of texts."""
    largest: dict[str, Tensor] = {}
    hooks = []
    matrices = {
        f"layers.{n}.{norm}.weight": model.get_submodule(f"layers.{n}.{matrix}")
        for n in range(len(model.layers))
        for matrix, norm in SMOOTHED_BY.items()
    }
    for name, module in matrices.items():

        def watch(_: torch.nn.Module, inputs: tuple[Tensor, ...], name: str = name) -> None:
            found = inputs[0].abs().flatten(0, -2).amax(0)
            largest[name] = torch.maximum(found, largest.get(name, found))

        hooks.append(module.register_forward_pre_hook(watch))
    with torch.inference_mode():
        for row in rows:
            model(torch.tensor([[*row]]), torch.arange(len(row))[None], causal_visibility([len(row)]))
    for hook in hooks:
        hook.remove()
    return {name: _balance(found, matrices[name].state_dict()["weight"]) for name, found in largest.items()}


def _balance(inputs: Tensor, weight: Tensor) -> Tensor:
    """Exponents from the largest inputs [d] and the matrix [N, d]; their mean is about 0."""
    sizes = [each.clamp(min=1e-5).log2() for each in (inputs, weight.abs().amax(0))]
    wanted = ALPHA * sizes[0] - (1 - ALPHA) * sizes[1]
    return (wanted - wanted.mean()).round().clamp(-127, 127).to(torch.int8)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the exponents into the folder of the model; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python profiles/training/smoothing.py", description="Find powers of two for int8."
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of a decoder-only model")
    parser.add_argument(
        "--text", type=Path, required=True, help=f"a sentence in each line; the first {MOST_LINES} count"
    )
    args = parser.parse_args(argv)
    lines = [line for line in args.text.read_text(encoding="utf-8").splitlines() if line.strip()][:MOST_LINES]
    if not lines:
        raise InputError(f"{args.text}: no text")
    tokens = BytePairs.load(args.model)
    given = read_config(args.model).get(KEY)
    prompt = plain_prompt(given, tokens) if given else None
    begin = () if tokens.begin is None else (tokens.begin,)
    rows = [(*begin, *tokens.encode((prompt.fill(line) if prompt else "") + line).ids) for line in lines]
    exponents = find_exponents(load_causal(args.model), rows)
    atomic_write(args.model / SMOOTHING, save(exponents))
    sys.stderr.write(f"{len(lines)} sentences -> {args.model / SMOOTHING}; now edit-gec export {args.model}\n")
    return 0


if __name__ == "__main__":
    run_main(main)
