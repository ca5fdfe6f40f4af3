"""What an EdiT5 learns from a pair: tags, points and insertions (the objective that train.py runs by default).

Loss: sums over tags, points and inserted pieces, per source piece (lambda = number of tokens in EdiT5, section 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from edit_gec import shared
from edit_gec.checkpoint import load_t5
from edit_gec.collate import Counts, Example, collate, example
from edit_gec.edit5 import Batch, EdiT5, grow, warm_start
from edit_gec.errors import InputError
from edit_gec.recipe import Recipe, Stage
from edit_gec.tokens import FILE, Tokens


class _Losses(nn.Module):  # Trainer writes into model.config: it gets a module that has none
    def __init__(self, model: EdiT5) -> None:
        super().__init__()
        self.edit5 = model

    def forward(self, *, step: int, **batch: Tensor) -> Any:
        return self.edit5(Batch(**batch), sequential=step % 4 == 0)


class Objective:
    """Examples, loss, counts and folders of an EdiT5 in training."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        self.recipe, self.folder = recipe, folder
        self.counts = Counts()

    def tokens(self) -> Tokens:
        """The vocabulary of the recipe's folder."""
        return Tokens.load(self.folder, self.recipe.config.slots)  # type: ignore[attr-defined]

    def example(self, source: str, target: str, tokens: Tokens) -> Example | None:
        """One pair as the model sees it; None when it cannot."""
        return example(source, target, tokens)

    def collate(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """A batch as the loss reads it."""
        return collate(examples)._asdict()

    def losses(self, model: EdiT5) -> nn.Module:
        """What the Trainer trains."""
        return _Losses(model)

    def loss(self, inputs: dict[str, Tensor], outputs: Any) -> Tensor:
        """Loss of a batch, which is counted."""
        losses, tags, insertions = outputs
        self.counts.add(Batch(**inputs), losses, tags, insertions)
        loss: Tensor = (losses.tag + losses.point + losses.insertion) / losses.pieces
        return loss

    def take(self) -> dict[str, float]:
        """Figures since the last call."""
        return self.counts.take()

    def rate(self, name: str) -> float:
        """Learning rate of a parameter against the recipe's; 0: frozen."""
        given = self.recipe.encoder and name.startswith(("embedding.", "encoder."))
        return self.recipe.encoder_rate if given else 1.0

    def start(self, stage: Stage, before: Path | None, init: Path | None) -> EdiT5:
        """What a stage starts from: the model of the stage before, another EdiT5, a T5, or chance; grown to the stage's
        depth.

        Raises InputError when model and vocabulary do not fit.
        """
        if before is not None:
            model = EdiT5.load(before)
        elif self.recipe.encoder:
            model = EdiT5.load(self.folder / self.recipe.encoder)  # heads and all
        elif init is not None:
            model, _ = warm_start(load_t5(init), self.recipe.config.slots)  # type: ignore[attr-defined]
        else:
            model = EdiT5(replace(self.recipe.config, num_layers=stage.layers))  # type: ignore[arg-type]
        model = model if model.config.num_layers == stage.layers else grow(model, stage.layers)
        wanted, given = Tokens.load(self.folder, model.config.slots).size, model.config.vocab_size
        if given != wanted:
            raise InputError(
                f"{self.folder / FILE}: {wanted} entries with slots, the model has {given}; another model's?"
            )
        return model

    def save(self, model: EdiT5, folder: Path) -> None:
        """Write the model of a finished stage."""
        model.save(folder)

    def finish(self, stage: Path, output: Path) -> None:
        """Write the folder to ship, a byte for each weight, with the thresholds of the recipe; heads alone, where the
        encoder stays another's."""
        model, stages = EdiT5.load(stage), [asdict(s) for s in self.recipe.stages]
        if self.recipe.shared:
            shared.save_heads(model, output, trained=stages)
        else:
            model.save(output, small=True, thresholds=self.recipe.thresholds, trained=stages)
