"""The proof that all parts mean the same: a tiny model learns small repairs in seconds and makes them on new sentences.

Alignment, tags, points, slots, the decoder's streams and both ways of decoding: if one disagreed with another about a
position, no training could reach a hundred per cent.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
import torch

from edit_gec.backends.torch_network import TorchNetwork
from edit_gec.editing.decode import Prediction, predict
from edit_gec.editing.plan import realize
from edit_gec.editing.thresholds import Thresholds
from edit_gec.lab.training import course
from edit_gec.lab.training.collate import collate, make_example
from edit_gec.lab.training.objective_edit5 import EdiT5Objective, count_hits
from edit_gec.lab.training.optim import optimizer_for
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import Tokens

STEPS, PAIRS = 180, 32
PEOPLE, VERBS = ["We", "They", "The children"], ["walk", "wait", "sing", "sleep"]
PLACES, ADVERBS = ["in the park", "at home", "near the station"], ["often", "never", "always"]


def sentences(rng: random.Random) -> Iterator[tuple[str, str]]:
    """(wrong, right): nothing wrong, a doubled word, a word too few, misspellings, a swap, a block at the wrong end."""
    while True:
        who, verb, where, when = map(rng.choice, (PEOPLE, VERBS, PLACES, ADVERBS))
        right = f"{who} {when} {verb} {where}."
        wrong = [
            right,
            right.replace("the ", "the the "),
            right.replace(" the ", " "),
            right.replace("often", "offen").replace("always", "allways"),
            right.removesuffix("."),
            right.replace("at home", "home at"),
            f"{where} {who} {when} {verb}.",
        ]
        yield rng.choice(wrong), right


def train(model: EdiT5, tokens: Tokens) -> dict[str, float]:
    """Train on the fly; returns what the last ten batches taught."""
    pairs = sentences(random.Random(1))
    stage = TrainingStage("toy", steps=STEPS, lr=1e-2, warmup=10, decay=STEPS // 2)
    optimizer = optimizer_for(model, stage, Recipe("toy", adamw=1.0))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: course.learning_rate(step, stage))
    objective = EdiT5Objective(Recipe("toy"), Path())
    for step in range(STEPS):
        made = [make_example(source, target, tokens) for source, target in islice(pairs, PAIRS)]
        batch = collate([e for e in made if e is not None], tokens)
        output = model(batch, sequential=step % 2 == 0)
        losses = output.losses
        optimizer.zero_grad()
        loss = (losses.tag + losses.point + losses.insertion) / losses.pieces
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step >= STEPS - 10:
            objective.count(count_hits(batch, output))
    return objective.take_figures()


@pytest.fixture(scope="module")
def trained(make_model: Callable[..., EdiT5], tokens: Tokens) -> EdiT5:
    model = make_model(d_model=48, attention_scale=0.35).train()
    counts = train(model, tokens)
    assert counts["delete_precision"] > 0.95 and counts["delete_recall"] > 0.95, counts
    assert counts["insertion_accuracy"] > 0.98 and counts["point_loss"] < 0.02, counts
    return model.eval()


def corrected(
    model: EdiT5, tokens: Tokens, texts: list[str], options: Thresholds
) -> tuple[list[str], list[Prediction]]:
    pieces = [tokens.encode(text) for text in texts]
    predictions = predict(TorchNetwork(model), tokens, pieces, options)
    return [realize(p.plan, s, tokens) for s, p in zip(pieces, predictions, strict=True)], predictions


@pytest.mark.parametrize("options", [Thresholds(), Thresholds(sequential=True)], ids=["parallel", "sequential"])
def test_new_sentences_are_repaired(trained: EdiT5, tokens: Tokens, options: Thresholds) -> None:
    pairs = list(islice(sentences(random.Random(2)), 150))
    found, predictions = corrected(trained, tokens, [source for source, _ in pairs], options)
    wrong = [(source, text) for (source, target), text in zip(pairs, found, strict=True) if text != target]
    assert len(wrong) <= 0.08 * len(pairs), wrong[:5]
    sure = [c for prediction in predictions for c in prediction.confidence.values()]
    assert len(sure) > 90 and sum(sure) / len(sure) > 0.9


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("We often wait in the park.", "We often wait in the park."),
        ("They never sing near the the station.", "They never sing near the station."),
        ("The children often sleep in park.", "The children often sleep in the park."),
        ("We allways walk at home.", "We always walk at home."),
        ("They never wait home at.", "They never wait at home."),
        ("We often sing near the station", "We often sing near the station."),
    ],
)  # fmt: skip
def test_each_kind_of_repair(trained: EdiT5, tokens: Tokens, wrong: str, right: str) -> None:
    found, (prediction,) = corrected(trained, tokens, [wrong], Thresholds())
    assert found == [right]
    assert prediction.plan.changes == (wrong != right)


def test_a_block_is_moved_not_rewritten(trained: EdiT5, tokens: Tokens) -> None:
    found, (prediction,) = corrected(trained, tokens, ["near the station They never walk."], Thresholds())
    assert found == ["They never walk near the station."]
    assert sorted(prediction.plan.order) == list(range(prediction.plan.length)), "nothing is deleted"
    assert prediction.plan.insertions == () and prediction.steps == 0
    unsure, _ = corrected(trained, tokens, ["near the station They never walk."], Thresholds(min_confidence=1.0))
    assert unsure == ["near the station They never walk."]
