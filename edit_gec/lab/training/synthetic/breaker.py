"""Errors as people make them: an EdiT5 that learnt real corrections the other way round breaks right sentences.

    breaker = Breaker.load(Path("models/.runs/breaker/model"), seed=1)
    breaker.corrupt(["She has lived in Paris since 2010."])       ->  ["She has lived in Paris from 2010."]

It draws tags and pieces, each with its probability, where a corrector takes the likeliest (Gumbel-max, Gumbel 1954),
so that errors are as frequent and as varied as in the pairs it learnt from. A recipe with `reverse` trains one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from edit_gec.backends.torch_network import TorchNetwork
from edit_gec.editing.predictor import EdiT5Predictor
from edit_gec.editing.thresholds import Thresholds
from edit_gec.loading import load_tokens
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.text.edits import apply_changes

BATCH = 32  # sentences
LEAST_RATE = 1e-6
LEAST_PROBABILITY = 0.05  # of a piece, beside the likeliest: below, a small model writes words that are none


class SampledEdiT5(EdiT5):
    """An EdiT5 whose likeliest tags and pieces are drawn, each with its probability."""

    generator: torch.Generator = torch.default_generator  # of the random numbers

    def tag(self, encoded: Tensor, bias: Tensor) -> Tensor:
        """Tag logits [B, S, 4] with noise."""
        return add_noise(super().tag(encoded, bias), self.generator)

    def most_likely(self, hidden: Tensor, banned: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability and id [R] of a piece that is drawn, given hidden [R, d]."""
        log_probabilities = self.output(hidden).float().masked_fill(banned, -torch.inf).log_softmax(-1)  # [R, V]
        unlikely = log_probabilities < log_probabilities.amax(-1, keepdim=True) + math.log(LEAST_PROBABILITY)
        ids = add_noise(log_probabilities.masked_fill(unlikely, -torch.inf), self.generator).argmax(-1)
        return log_probabilities.gather(-1, ids[:, None])[:, 0], ids


def add_noise(logits: Tensor, generator: torch.Generator) -> Tensor:
    """The logits and Gumbel noise: the largest of a row is one that is drawn from their softmax."""
    uniform = torch.rand(logits.shape, generator=generator).clamp_min(1e-20)
    return logits - (-uniform.log()).log()


class Breaker:
    """An EdiT5 that writes errors."""

    def __init__(self, model: EdiT5, tokens: Tokens) -> None:
        self._predictor = EdiT5Predictor(TorchNetwork(model), tokens, Thresholds())

    @classmethod
    def load(cls, folder: Path, seed: int) -> Breaker:
        """Raises ModelError for a folder without such a model."""
        model = SampledEdiT5.load(folder)
        model.generator = torch.Generator().manual_seed(seed)
        return cls(model, load_tokens(folder, model.config))

    def corrupt(self, sentences: Sequence[str], rate: float = 1.0) -> list[str]:
        """The sentences with errors, each a line; those that are longer than the model reads stay as they are.

        `rate` is a factor for the odds of a change; 1: those of the pairs that the model learnt from.
        """
        predictor = self._predictor.with_thresholds(keep_bias=-math.log(max(rate, LEAST_RATE)))
        windows = [predictor.encode(sentence) for sentence in sentences]
        whole = [(n, pieces[0]) for n, pieces in enumerate(windows) if len(pieces) == 1]
        broken = list(sentences)
        for batch in predictor.group_by_length([pieces for _, pieces in whole], BATCH):
            plans = predictor.predict_plans([whole[place][1] for place in batch])
            for place, plan in zip(batch, plans, strict=True):
                n, pieces = whole[place]
                if changes := list(plan.changes(pieces, predictor.tokens)):
                    broken[n] = " ".join(apply_changes(sentences[n], changes).split())  # a line break may be drawn, too
        return broken
