"""The training objective of an EdiT5: tags, points and insertions. The default of run.py.

The insertion decoder learns on predicted tags (predicted_tags.py).

Loss: sums over tags, points and inserted pieces, per source piece (lambda = number of tokens in EdiT5, section 4.1).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from edit_gec.errors import ModelError
from edit_gec.lab.training import course
from edit_gec.lab.training.collate import EdiT5Example, collate, make_example
from edit_gec.lab.training.labelled_text import TrainingPair
from edit_gec.lab.training.objective import Objective
from edit_gec.lab.training.predicted_tags import revise
from edit_gec.lab.training.recipe import TrainingStage
from edit_gec.modeling import shared_encoder
from edit_gec.modeling.checkpoint import load_t5
from edit_gec.modeling.edit5 import Batch, EdiT5, EdiT5Output, grow, warm_start
from edit_gec.modeling.tagset import DELETE, REPLACE
from edit_gec.modeling.tokenizer import FILE, Tokens


class EdiT5Losses(nn.Module):  # Trainer writes into model.config: it gets a module that has none
    """The losses of an EdiT5 on a batch, with the tags that it predicts in some of the updates."""

    def __init__(self, model: EdiT5, tokens: Tokens, stage: TrainingStage, seed: int) -> None:
        super().__init__()
        self.edit5 = model
        self.tokens = tokens
        self.stage = stage
        self.seed = seed

    def forward(self, *, step: int, examples: Sequence[EdiT5Example], **batch: Tensor) -> dict[str, Tensor]:
        """The loss of a batch of an update, and what is counted."""
        rng = random.Random(f"{self.seed} {step}")

        def by_prediction(batch: Batch, tag_logits: Tensor) -> Batch:
            return revise(batch, examples, tag_logits, self.tokens, rng)

        revised = by_prediction if self.predicts(step) else None
        output: EdiT5Output = self.edit5(Batch(**batch), sequential=step % 4 == 0, revise=revised)
        losses = output.losses
        loss = (losses.tag + losses.point + losses.insertion) / losses.pieces
        return {"loss": loss, **count_hits(Batch(**batch), output)}

    def predicts(self, step: int) -> bool:
        """Whether the decoder learns on predicted tags in an update."""
        share = course.share("predicted", course.progress(step, self.stage), self.stage)
        return share >= 1 or random.Random(f"{self.seed} {step} predicted").random() < share


@torch.no_grad()
def count_hits(batch: Batch, output: EdiT5Output) -> dict[str, Tensor]:
    """Losses of a batch, and how many tags and insertions are right; padding is left out."""
    losses = output.losses
    predicted, tags = output.tag_logits.argmax(-1)[batch.mask], batch.tags[batch.mask]
    deleted, wanted = ((each == DELETE) | (each == REPLACE) for each in (predicted, tags))
    return {
        "tag": losses.tag, "point": losses.point, "insertion": losses.insertion,
        "pieces": losses.pieces, "inserted": losses.inserted, "pairs": torch.tensor(len(batch.ids)),
        "deleted": deleted.sum(), "wanted": wanted.sum(), "hit": (deleted & wanted).sum(),
        "right": (output.insertion_logits.argmax(-1) == output.insertion_targets).sum(),
    }  # fmt: skip


class EdiT5Objective(Objective):
    """Examples, loss and folders of an EdiT5 in training."""

    shares: ClassVar = {
        "tag_loss": ("tag", "pieces"), "point_loss": ("point", "pieces"), "insertion_loss": ("insertion", "inserted"),
        "insertion_accuracy": ("right", "inserted"), "delete_precision": ("hit", "deleted"),
        "delete_recall": ("hit", "wanted"),
    }  # fmt: skip

    def tokens(self) -> Tokens:
        """The vocabulary of the recipe's folder."""
        return self._tokens

    @cached_property
    def _tokens(self) -> Tokens:
        return Tokens.load(self.folder, self.recipe.config.slots)  # type: ignore[attr-defined]

    def make_example(self, pair: TrainingPair, tokens: Tokens) -> EdiT5Example | None:
        """One pair as the model sees it; None when it cannot."""
        return make_example(pair.source, pair.target, tokens, pair.judged)

    def collate(self, examples: Sequence[EdiT5Example]) -> dict[str, Any]:
        """A batch as the loss reads it, and the examples that it was made of."""
        return {**collate(examples, self.tokens())._asdict(), "examples": examples}

    def make_losses(self, model: EdiT5, stage: TrainingStage) -> nn.Module:
        """What the Trainer trains."""
        return EdiT5Losses(model, self.tokens(), stage, self.recipe.seed)

    def rate_of(self, name: str) -> float:
        """Learning rate of a parameter against the recipe's; 0: frozen."""
        if self.recipe.frozen_layers and shared_encoder.is_shared_with_t5(name, self.recipe.frozen_layers):
            return 0.0
        return 0.0 if self.recipe.encoder and name.startswith(("embedding.", "encoder.")) else 1.0

    def start_model(self, stage: TrainingStage, before: Path | None, init: Path | None) -> EdiT5:
        """The initial model of a stage, grown to its depth: that of the stage before, another EdiT5, a T5, or random.

        Raises ModelError when model and vocabulary do not fit.
        """
        if before is not None:
            model = EdiT5.load(before)
        elif self.recipe.encoder:
            model = shared_encoder.load_start(self.folder / self.recipe.encoder)  # heads and all
        elif init is not None:
            model, _ = warm_start(load_t5(init), self.recipe.config.slots)  # type: ignore[attr-defined]
        else:  # a small text has fewer pieces than the recipe asks for
            shape = replace(self.recipe.config, num_layers=stage.layers, vocab_size=self.tokens().size)
            model = EdiT5(shape)  # type: ignore[arg-type]
        model = model if model.config.num_layers == stage.layers else grow(model, stage.layers)
        entries = Tokens.load(self.folder, model.config.slots).size
        given = model.config.vocab_size
        if given != entries:
            fitting = model.config.slots + given - entries
            meant = f"set slots = {fitting}" if fitting > 0 else "another model's?"
            raise ModelError(f"{self.folder / FILE}: {entries} entries with slots, the model has {given}; {meant}")
        return model

    def save_stage(self, model: EdiT5, folder: Path) -> None:
        """Write the model of a finished stage."""
        model.save(folder)

    def write_model(self, stage: Path, output: Path) -> None:
        """Write the folder to ship, a byte for each weight, with the thresholds of the recipe; heads alone, where the
        encoder stays another's."""
        model = EdiT5.load(stage)
        stages = [asdict(s) for s in self.recipe.stages]
        if self.recipe.encoder:
            shared_encoder.save_heads(model, output, trained=stages)
        else:
            model.save(output, small=True, thresholds=self.recipe.thresholds, trained=stages)
