"""An MLP speculator: drafts from the target's own state and the token it chose (Wertheimer et al. 2024, section 3).

    s <- GELU(norm(project(s) + weight * embed(token)));   logits = head(s);   token <- argmax;   repeat

s starts as the target's hidden state that chose the last accepted token, so the next guess knows what was really
chosen (Medusa's heads do not). Embedding, head and norm are shared by all steps, the projection by all but the first:
the tied variant, because in a small T5 the vocabulary is most of the weight. Training, target frozen, in two stages:
teacher-forced on reference corrections, then on what the target itself writes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.collate import IGNORE, pad
from edit_gec.draft import Gamma, Proposal, Row
from edit_gec.errors import InputError
from edit_gec.t5 import NEGATIVE
from edit_gec.target import Target
from edit_gec.tokens import EOS, PAD


class Speculator(nn.Module):
    """Guesses `steps` tokens after each state of a target; d model width, V vocabulary, w its own width."""

    def __init__(self, d: int, vocabulary: int, *, width: int = 256, steps: int = 3) -> None:
        super().__init__()
        if steps < 1:
            raise InputError(f"speculator: {steps} steps, at least 1 is wanted")
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
    memory = target.model.decoder.memory(encoded)
    bias = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]
    hidden = target.model.decoder(target.model.embedding(inputs), memory, bias)  # [B, T, d]
    places = [(n, t) for n, output in enumerate(outputs) for t in range(len(output) - 1)]
    windows = [(outputs[n][t : t + steps + 1] + [IGNORE] * steps)[: steps + 1] for n, t in places]
    index = torch.tensor(places, device=target.device).reshape(-1, 2)
    return hidden[index[:, 0], index[:, 1]], torch.tensor(windows, device=target.device).reshape(-1, steps + 1)
