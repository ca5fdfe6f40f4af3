"""An MLP speculator: drafts from the target's own state and the token it chose (Wertheimer et al. 2024, section 3).

    s <- GELU(norm(project(s) + weight * embed(token)));   logits = head(s);   token <- argmax;   repeat

s starts as the target's hidden state that chose the last accepted token, so the next guess knows what was really
chosen (Medusa's heads do not). Embedding, head and norm are shared by all steps, the projection by all but the first:
the tied variant, because in a small T5 the vocabulary is most of the weight. Training, target frozen, in two stages:
teacher-forced on reference corrections, then on what the target itself writes.

    python -m edit_gec.speculative.mlp_speculator --target t5-mini --pairs DATA/some.tsv --output models/.runs/mlp
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.errors import EditGecError, InputError
from edit_gec.modeling import checkpoint
from edit_gec.modeling.padding import IGNORE, pad
from edit_gec.modeling.t5 import NEGATIVE
from edit_gec.modeling.tokenizer import EOS, PAD
from edit_gec.speculative.drafters import Gamma, Proposal, Row
from edit_gec.speculative.target import Target


class Speculator(nn.Module):
    """Guesses `steps` tokens after each state of a target; d model width, V vocabulary, w its own width."""

    def __init__(self, d: int, vocabulary: int, *, width: int = 256, steps: int = 3) -> None:
        super().__init__()
        if steps < 1:
            raise InputError(f"speculator: {steps} steps, at least 1 is wanted")
        self.shape = {"d": d, "vocabulary": vocabulary, "width": width, "steps": steps}
        self.steps = steps
        self.embedding = nn.Embedding(vocabulary, width)
        self.first, self.later = nn.Linear(d, width, bias=False), nn.Linear(width, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        # the state's share of the sum halves over all steps, the tokens make up the rest (their equations 2 and 3)
        state = 0.5 ** (0.5 / steps)
        self.token_weight = ((1 - state**2) * width / 2) ** 0.5 / state

    def step(self, state: Tensor, token: Tensor, n: int) -> tuple[Tensor, Tensor]:
        """State [..., d or w] and the token [...] that was chosen from it -> next state [..., w], logits [..., V]."""
        project = self.later if n else self.first
        state = F.gelu(self.norm(project(state) + self.token_weight * self.embedding(token)))
        return state, self.head(state)

    def forward(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """Teacher-forced: hidden [N, d], tokens [N, steps] (the chosen one first) -> logits [N, steps, V]."""
        logits = []
        for n in range(self.steps):
            hidden, scores = self.step(hidden, tokens[:, n], n)
            logits.append(scores)
        return torch.stack(logits, dim=1)

    @torch.inference_mode()
    def draft(self, hidden: Tensor, token: Tensor) -> list[list[int]]:
        """hidden [N, d], token [N] -> `steps` tokens for each."""
        drafted = []
        for n in range(self.steps):
            hidden, logits = self.step(hidden, token, n)
            token = logits.argmax(-1)
            drafted.append(token)
        tokens: list[list[int]] = torch.stack(drafted, dim=1).tolist()
        return tokens

    def save(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors."""
        tensors = {name: p.detach().cpu().contiguous() for name, p in self.state_dict().items()}
        checkpoint.write_folder(Path(folder), {"model_type": "mlp-speculator", **self.shape}, tensors)

    @classmethod
    def load(cls, folder: str | Path, target: Target) -> Speculator:
        """A speculator that `save` wrote. Raises InputError for anything else, or when it is another target's."""
        folder = Path(folder)
        config = checkpoint.read_config(folder)
        if config.get("model_type") != "mlp-speculator":
            raise InputError(f"{folder}: model_type {config.get('model_type')!r}, an mlp-speculator is wanted")
        d, vocabulary, width, steps = (int(config.get(name, 0)) for name in ("d", "vocabulary", "width", "steps"))
        wanted = target.model.config
        if (d, vocabulary) != (wanted.d_model, wanted.vocab_size):
            have = f"this one has {wanted.d_model} and {wanted.vocab_size}"
            raise InputError(f"{folder}: for a target of width {d} with {vocabulary} entries; {have}")
        tensors = checkpoint.read_tensors(folder)
        made = checkpoint.load_module(lambda: cls(d, vocabulary, width=width, steps=steps), tensors, str(folder))
        return made.to(target.device).eval()


class Speculated:
    """The drafter: nothing before the target's first state, then `gamma` tokens, at most the speculator's steps."""

    aligns = False

    def __init__(self, speculator: Speculator, gamma: Gamma) -> None:
        self.speculator, self.gamma = speculator.eval(), gamma

    def begin(self, rows: Sequence[Row]) -> None:
        return

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        states = [row.hidden for row in rows if row.hidden is not None]
        if not states:
            return [Proposal([]) for _ in rows]
        last = torch.tensor([row.tokens[-1] for row in rows if row.hidden is not None], device=states[0].device)
        drafted = iter(self.speculator.draft(torch.stack(states), last))
        return [
            Proposal([] if row.hidden is None else next(drafted)[: max(0, count)])
            for row, count in zip(rows, map(self.gamma, rows), strict=True)
        ]


# ---------------------------------------------------------------- training


def train_speculator(
    speculator: Speculator,
    target: Target,
    pairs: Sequence[tuple[str, str]],
    *,
    epochs: int = 1,
    batch_size: int = 32,
    learning_rate: float = 1e-3,
) -> tuple[list[float], list[float]]:
    """Train on (sentence, correction) pairs, then on the target's greedy outputs with a tenth of the learning rate.

    Returns the mean loss in nats per token of each batch, for both stages. The target is not changed.
    """
    sources = [source for source, _ in pairs]
    corrections = [[*target.tokens.ids(correction), EOS] for _, correction in pairs]
    first = _stage(speculator, target, sources, corrections, epochs, batch_size, learning_rate)
    outputs = target.generate(sources, batch_size=batch_size)
    return first, _stage(speculator, target, sources, outputs, epochs, batch_size, learning_rate / 10)


def _stage(
    speculator: Speculator,
    target: Target,
    sources: Sequence[str],
    outputs: Sequence[list[int]],
    epochs: int,
    batch_size: int,
    learning_rate: float,
) -> list[float]:
    optimizer = torch.optim.AdamW(speculator.parameters(), lr=learning_rate)
    losses = []
    for _ in range(epochs):
        for start in range(0, len(sources), batch_size):
            batch = slice(start, start + batch_size)
            hidden, tokens = states(target, sources[batch], outputs[batch], speculator.steps)
            if not len(hidden):  # nothing but </s>
                continue
            logits = speculator(hidden, tokens[:, :-1].clamp(min=0))  # behind </s> there is nothing to predict
            loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten(), ignore_index=IGNORE)
            optimizer.zero_grad()
            torch.autograd.backward([loss])
            optimizer.step()
            losses.append(float(loss.detach()))
    return losses


@torch.no_grad()
def states(target: Target, sources: Sequence[str], outputs: Sequence[list[int]], steps: int) -> tuple[Tensor, Tensor]:
    """States that chose each token but the last [N, d]; that token and the next ones [N, 1 + steps]."""
    inputs = pad([[PAD, *output[:-1]] for output in outputs], PAD).to(target.device)
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
    """`python -m edit_gec.speculative.mlp_speculator`: the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m edit_gec.speculative.mlp_speculator", description="Train an MLP speculator."
    )
    parser.add_argument("--target", required=True, help="the T5 that it drafts for: a folder, or one of our names")
    parser.add_argument(
        "--pairs", type=Path, required=True, help=".tsv; the last two columns are source and correction"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write")
    parser.add_argument("--count", type=int, default=5000, help="pairs to learn from (default: 5000)")
    parser.add_argument("--steps", type=int, default=3, help="tokens that it drafts (default: 3)")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args(argv)
    from edit_gec.catalog import find_model

    try:
        target = Target.load(find_model(args.target), device=args.device)
        pairs = [pair for pair in read_pairs(args.pairs) if all(map(target.fits, pair))][: args.count]
        torch.manual_seed(0)
        config = target.model.config
        made = Speculator(config.d_model, config.vocab_size, width=args.width, steps=args.steps).to(target.device)
        for number, losses in enumerate(train_speculator(made, target, pairs, epochs=args.epochs), start=1):
            last = losses[-10:]
            sys.stderr.write(
                f"stage {number}: {len(losses)} batches, {sum(last) / max(1, len(last)):.3f} nats a token\n"
            )
        made.save(args.output)
    except EditGecError as error:
        sys.stderr.write(f"edit-gec: {error}\n")
        return 1
    return 0


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """(source, correction) of a tab-separated file, its last two columns. Raises InputError when there are none."""
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as text ({error})") from None
    pairs = [(row[-2], row[-1]) for row in rows if len(row) >= 2]
    if not pairs:
        raise InputError(f"{path}: no pairs; the last two columns are source and correction")
    return pairs


if __name__ == "__main__":
    sys.exit(main())
