"""Tiny T5s for the verifier's tests: random ones, and one that learns a toy correction task in seconds.

The task: sentences of nine to fifteen words from a small grammar, some with a wrong verb form, a missing or doubled
word, a misspelling. What was learnt need not be right: it only has to copy mostly and change things sometimes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch.nn import functional as F

from edit_gec.modeling.config import T5Config
from edit_gec.modeling.padding import IGNORE, pad
from edit_gec.modeling.t5 import T5
from edit_gec.modeling.tokenizer import EOS, PAD, Tokens
from edit_gec.speculative.target import SourceFormat, Target

SHAPE: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 2, "num_decoder_layers": 2}
TRAINED: dict[str, Any] = {
    "d_model": 64,
    "d_kv": 16,
    "d_ff": 128,
    "num_heads": 4,
    "num_layers": 2,
    "num_decoder_layers": 2,
}

WHO = [("My sister", 1), ("The children", 0), ("His brother", 1), ("Her friends", 0), ("The teacher", 1), ("They", 0)]
DOES = [("walks", "walk", "walkes"), ("drives", "drive", "drivs"), ("runs", "run", "runns"), ("goes", "go", "gose")]
WHERE = ["to the school", "to the station", "to the market", "to the office"]
HOW = ["by the bus", "with a friend", "in the rain", "through the park"]
WHEN = ["every day", "in the morning", "on Friday", "at night"]


def random_target(tokens: Tokens, seed: int = 0, *, max_length: int = 24, prefix: str = "", **shape: int) -> Target:
    """A random T5 whose outputs differ in length: </s> comes sometimes early, sometimes not at all."""
    torch.manual_seed(seed)
    model = T5(T5Config(**{"vocab_size": tokens.size, **SHAPE, **shape})).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.3)
        assert model.output is not None
        model.output.weight[EOS] *= 2.5
    return Target(model, tokens, SourceFormat(prefix), max_length=max_length)


def broken_target(tokens: Tokens) -> Target:
    """A random T5 with a weight that is not a number."""
    target = random_target(tokens)
    with torch.no_grad():
        target.model.embedding.weight[EOS] = torch.nan
    return target


def pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """(sentence, correction) pairs of the toy task."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        who, singular = chance.choice(WHO)
        forms = chance.choice(DOES)
        rest = [chance.choice(WHERE), chance.choice(HOW), chance.choice(WHEN)]
        right = " ".join([who, forms[0 if singular else 1], *rest, "."])
        wrong = list(rest)
        if chance.random() < 0.4:
            wrong[0] = wrong[0].replace(" the", "")
        if chance.random() < 0.3:
            place = chance.randrange(3)
            first = wrong[place].split()[0]
            wrong[place] = f"{first} {wrong[place]}"
        verb = chance.choice(forms) if chance.random() < 0.6 else forms[0 if singular else 1]
        made.append((" ".join([who, verb, *wrong, "."]), right))
    return made


def train(target: Target, examples: Sequence[tuple[str, str]], *, steps: int, seed: int = 0) -> float:
    """Teacher forcing on the examples; returns the last loss."""
    optimizer = torch.optim.AdamW(target.model.parameters(), lr=6e-3)
    chance = random.Random(seed)
    loss = torch.zeros(())
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 6e-3 * min(1.0, (step + 1) / 20) * (1 - 0.9 * step / steps)
        batch = chance.sample(list(examples), 16)
        sources = [target.source_ids(source) for source, _ in batch]
        outputs = [[*target.tokens.ids(right), EOS] for _, right in batch]
        ids = pad(sources, PAD)
        logits = target.model(ids, ids != PAD, pad([[PAD, *output[:-1]] for output in outputs], PAD))
        loss = F.cross_entropy(logits.flatten(0, 1), pad(outputs, IGNORE).flatten(), ignore_index=IGNORE)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return loss.item()


@lru_cache(maxsize=2)
def trained_target(tokens: Tokens, steps: int = 90) -> Target:
    """A target that corrects the toy sentences, with errors of its own."""
    torch.manual_seed(0)
    config = T5Config(**{"vocab_size": tokens.size, **TRAINED, "attention_scale": 0.25})
    target = Target(T5(config), tokens, max_length=48)
    train(target, pairs(2000, 1), steps=steps)
    target.model.eval()
    return target
