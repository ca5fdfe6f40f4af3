"""Train an MLP speculator (edit_gec/speculative/mlp_speculator.py) for a frozen target.

Two stages: teacher-forced on reference corrections, then on the target's own outputs.

    python -m edit_gec.lab.training.mlp_speculator --target t5-mini --pairs DATA/some.tsv --output models/.runs/mlp
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.catalog import find_model
from edit_gec.errors import InputError
from edit_gec.lab.training.entry import run_main
from edit_gec.modeling.config import NEGATIVE
from edit_gec.modeling.padding import IGNORE, pad
from edit_gec.modeling.tokenizer import EOS, PAD
from edit_gec.speculative.mlp_speculator import Speculator
from edit_gec.speculative.target import Target


class Schedule(NamedTuple):
    """How long and how fast a stage learns."""

    epochs: int
    batch_size: int
    learning_rate: float


def train_speculator(
    speculator: Speculator,
    target: Target,
    pairs: Sequence[tuple[str, str]],
    *,
    epochs: int = 1,
    batch_size: int = 32,
    learning_rate: float = 1e-3,
) -> tuple[list[float], list[float]]:
    """Train on (sentence, correction) pairs, then on the target's greedy outputs at a tenth of the learning rate.

    Returns the mean loss of each batch in nats per token, for both stages.
    """
    sources = [source for source, _ in pairs]
    corrections = [[*target.tokens.ids(correction), EOS] for _, correction in pairs]
    schedule = Schedule(epochs, batch_size, learning_rate)
    first = _train_stage(speculator, target, sources, corrections, schedule)
    outputs = target.generate(sources, batch_size=batch_size)
    second = _train_stage(speculator, target, sources, outputs, schedule._replace(learning_rate=learning_rate / 10))
    return first, second


def _train_stage(
    speculator: Speculator, target: Target, sources: Sequence[str], outputs: Sequence[list[int]], schedule: Schedule
) -> list[float]:
    """The loss of each batch."""
    optimizer = torch.optim.AdamW(speculator.parameters(), lr=schedule.learning_rate)
    losses = []
    for _ in range(schedule.epochs):
        for start in range(0, len(sources), schedule.batch_size):
            batch = slice(start, start + schedule.batch_size)
            hidden, tokens = collect_states(target, sources[batch], outputs[batch], speculator.steps)
            if not len(hidden):  # nothing but </s>
                continue
            logits = speculator(hidden, tokens[:, :-1].clamp(min=0))  # [N, steps, V]; IGNORE becomes a valid id
            loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten(), ignore_index=IGNORE)
            optimizer.zero_grad()
            torch.autograd.backward([loss])
            optimizer.step()
            losses.append(float(loss.detach()))
    return losses


@torch.no_grad()
def collect_states(
    target: Target, sources: Sequence[str], outputs: Sequence[list[int]], steps: int
) -> tuple[Tensor, Tensor]:
    """The states [N, d] that chose each token but the last; that token and the next ones [N, 1 + steps]."""
    inputs = pad([[target.start, *output[:-1]] for output in outputs], PAD).to(target.device)
    encoded, mask = target.encode(sources)
    memory = target.model.decoder.cross_keys(encoded)
    bias = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]
    hidden = target.model.decoder(target.model.embedding(inputs), memory, bias)  # [B, T, d]
    places = [(n, t) for n, output in enumerate(outputs) for t in range(len(output) - 1)]
    windows = [(outputs[n][t : t + steps + 1] + [IGNORE] * steps)[: steps + 1] for n, t in places]
    index = torch.tensor(places, device=target.device).reshape(-1, 2)
    return hidden[index[:, 0], index[:, 1]], torch.tensor(windows, device=target.device).reshape(-1, steps + 1)


# ---------------------------------------------------------------- command


def main(argv: Sequence[str] | None = None) -> int:
    """Train a speculator and write its folder; returns the exit status."""
    args = _parser().parse_args(argv)
    target = Target.load(find_model(args.target), device=args.device)
    pairs = [pair for pair in read_pairs(args.pairs) if all(map(target.fits, pair))][: args.count]
    torch.manual_seed(0)
    config = target.model.config
    speculator = Speculator(config.d_model, config.vocab_size, width=args.width, steps=args.steps)
    losses = train_speculator(speculator.to(target.device), target, pairs, epochs=args.epochs)
    for number, of_stage in enumerate(losses, start=1):
        last = of_stage[-10:]
        nats = sum(last) / max(1, len(last))
        sys.stderr.write(f"stage {number}: {len(of_stage)} batches, {nats:.3f} nats a token\n")
    speculator.save(args.output)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m edit_gec.lab.training.mlp_speculator", description="Train an MLP speculator."
    )
    parser.add_argument("--target", required=True, help="the T5 that it drafts for: a folder, or one of our names")
    parser.add_argument(
        "--pairs", type=Path, required=True, help=".tsv; the last two columns are source and correction"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--count", type=int, default=5000, help="pairs to learn from (default: 5000)")
    parser.add_argument("--steps", type=int, default=3, help="tokens that it drafts (default: 3)")
    parser.add_argument("--width", type=int, default=256, help="width of its state (default: 256)")
    parser.add_argument("--epochs", type=int, default=2, help="epochs of each stage (default: 2)")
    parser.add_argument("--device", default="cpu")
    return parser


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Pairs (source, correction): the last two columns of a tab-separated file. Raises InputError if there are none."""
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as text ({error})") from None
    pairs = [(row[-2], row[-1]) for row in rows if len(row) >= 2]
    if not pairs:
        raise InputError(f"{path}: no pairs; the last two columns are source and correction")
    return pairs


if __name__ == "__main__":
    run_main(main)
