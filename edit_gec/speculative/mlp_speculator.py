"""An MLP speculator: drafts from the target's own state and the token it chose (Wertheimer et al. 2024, section 3).

    s <- GELU(norm(project(s) + weight * embed(token)));   logits = head(s);   token <- argmax;   repeat

s starts as the target's hidden state that chose the last accepted token. The next guess therefore knows the chosen
token, which Medusa's heads do not. All steps share embedding, head and norm, and all but the first share the
projection: in a small T5 the vocabulary is most of the weight. edit_gec/lab/training/mlp_speculator.py trains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.errors import InputError, ModelError
from edit_gec.modeling import checkpoint
from edit_gec.modeling.config import read_config
from edit_gec.speculative.drafters import Gamma, Proposal, Row
from edit_gec.speculative.target import Target

LARGEST = 10**6  # dimension that a config.json may declare


class Speculator(nn.Module):
    """Guesses `steps` tokens after each state of a target. d: model width, V: vocabulary, w: its own width."""

    def __init__(self, d: int, vocabulary: int, *, width: int = 256, steps: int = 3) -> None:
        super().__init__()
        if steps < 1:
            raise InputError(f"speculator: {steps} steps, expected at least 1")
        self.shape = {"d": d, "vocabulary": vocabulary, "width": width, "steps": steps}
        self.steps = steps
        self.embedding = nn.Embedding(vocabulary, width)
        self.first = nn.Linear(d, width, bias=False)
        self.later = nn.Linear(width, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        # over all steps the state's share of the sum halves; the tokens make up the rest (their equations 2 and 3)
        state = 0.5 ** (0.5 / steps)
        self.token_weight = ((1 - state**2) * width / 2) ** 0.5 / state

    def step(self, state: Tensor, token: Tensor, n: int) -> tuple[Tensor, Tensor]:
        """State [..., d or w] and the token [...] chosen from it -> next state [..., w] and logits [..., V]."""
        project = self.later if n else self.first
        state = F.gelu(self.norm(project(state) + self.token_weight * self.embedding(token)))
        return state, self.head(state)

    def forward(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """Teacher-forced: hidden [N, d], tokens [N, steps] with the chosen one first -> logits [N, steps, V]."""
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
        """A speculator that `save` wrote. Raises ModelError for anything else, and for one of another target."""
        folder = Path(folder)
        config = read_config(folder)
        if config.get("model_type") != "mlp-speculator":
            raise ModelError(f"{folder}: model_type {config.get('model_type')!r}; expected 'mlp-speculator'")
        d, vocabulary, width, steps = (_size(config, name, folder) for name in ("d", "vocabulary", "width", "steps"))
        given = target.model.config
        if (d, vocabulary) != (given.d_model, given.vocab_size):
            have = f"this one has {given.d_model} and {given.vocab_size}"
            raise ModelError(f"{folder}: for a target of width {d} with {vocabulary} entries; {have}")
        tensors = checkpoint.read_tensors(folder)
        made = checkpoint.load_module(lambda: cls(d, vocabulary, width=width, steps=steps), tensors, str(folder))
        return made.to(target.device, target.model.embedding.weight.dtype).eval()


def _size(config: dict[str, Any], name: str, folder: Path) -> int:
    """A dimension in the config.json of a speculator. Raises ModelError unless it can be one."""
    value = config.get(name)
    if not isinstance(value, int) or not 0 < value <= LARGEST:
        raise ModelError(f"{folder / 'config.json'}: {name} is {value!r}; expected an integer from 1 to {LARGEST}")
    return value


class MLPDrafter:
    """Drafts nothing before the target's first state, then `gamma` tokens, at most one for each step."""

    aligns = False

    def __init__(self, speculator: Speculator, gamma: Gamma) -> None:
        self.speculator = speculator.eval()
        self.gamma = gamma

    def begin(self, rows: Sequence[Row]) -> None:
        """Nothing to prepare: the state of the target's last pass is all that counts."""

    def propose(self, rows: Sequence[Row]) -> list[Proposal]:
        """Tokens for each row that has a state; none for the others."""
        states = [row.hidden for row in rows if row.hidden is not None]
        if not states:
            return [Proposal([]) for _ in rows]
        last = torch.tensor([row.tokens[-1] for row in rows if row.hidden is not None], device=states[0].device)
        drafted = iter(self.speculator.draft(torch.stack(states), last))
        return [
            Proposal([] if row.hidden is None else next(drafted)[: max(0, count)])
            for row, count in zip(rows, map(self.gamma, rows), strict=True)
        ]
