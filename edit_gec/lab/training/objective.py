"""What an objective offers: examples, a loss, figures and model folders of one kind of model.

recipe.kind   class
edit5         objective_edit5.EdiT5Objective    tags, pointers and insertions
t5            objective_t5.T5Objective          whole corrected sentences
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from edit_gec.lab.training.labelled_text import TrainingPair
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.modeling.tokenizer import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn


class Example(Protocol):
    """A pair as a model sees it; batches are filled by the length of its source."""

    @property
    def ids(self) -> Sequence[int]:
        """The ids of the source."""


class Objective(Protocol):
    """What a kind of model learns from a pair, and how its folders are read and written."""

    def tokens(self) -> Tokens:
        """The vocabulary of the recipe's folder."""

    def make_example(self, pair: TrainingPair, tokens: Tokens) -> Any:
        """One pair as the model sees it; None where it cannot."""

    def collate(self, examples: Sequence[Any]) -> dict[str, Tensor]:
        """A batch as the loss reads it."""

    def make_losses(self, model: Any, stage: TrainingStage) -> nn.Module:
        """What the Trainer trains: the model with its losses."""

    def compute_loss(self, inputs: dict[str, Tensor], outputs: Any) -> Tensor:
        """The loss of a batch, which is counted."""

    def take_figures(self) -> dict[str, float]:
        """Figures since the last call, which starts the next count."""

    def rate_of(self, name: str) -> float:
        """Learning rate of a parameter against the recipe's; 0: frozen."""

    def start_model(self, stage: TrainingStage, before: Path | None, init: Path | None) -> nn.Module:
        """What a stage starts from: the stage before, another model, or chance."""

    def save_stage(self, model: Any, folder: Path) -> None:
        """Write the model of a finished stage."""

    def write_model(self, stage: Path, output: Path) -> None:
        """Write the folder to ship from that of the last stage."""


def load_objective(recipe: Recipe, folder: Path) -> Objective:
    """The objective of a recipe's kind, with the vocabulary in `folder`."""
    from edit_gec.lab.training.objective_edit5 import EdiT5Objective
    from edit_gec.lab.training.objective_t5 import T5Objective

    objectives: dict[str, type[EdiT5Objective] | type[T5Objective]] = {"edit5": EdiT5Objective, "t5": T5Objective}
    return objectives[recipe.kind](recipe, folder)
