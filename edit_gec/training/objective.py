"""What an objective offers: examples, a loss, figures and model folders of one kind of model.

recipe.kind   class
edit5         objective_edit5.EdiT5Objective    tags, pointers and insertions
t5            objective_t5.T5Objective          whole corrected sentences
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from edit_gec.modeling.tokenizer import Tokens
from edit_gec.training.recipe import Recipe, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn


class Example(Protocol):
    """A pair as a model sees it; batches are filled by the length of its source."""

    @property
    def ids(self) -> Sequence[int]: ...


class Objective(Protocol):
    """What a kind of model learns from a pair, and how its folders are read and written."""

    def tokens(self) -> Tokens: ...
    def make_example(self, source: str, target: str, tokens: Tokens) -> Any: ...
    def collate(self, examples: Sequence[Any]) -> dict[str, Tensor]: ...
    def make_losses(self, model: Any, stage: Stage) -> nn.Module: ...
    def compute_loss(self, inputs: dict[str, Tensor], outputs: Any) -> Tensor: ...
    def take_figures(self) -> dict[str, float]: ...
    def rate_of(self, name: str) -> float: ...
    def start_model(self, stage: Stage, before: Path | None, init: Path | None) -> nn.Module: ...
    def save_stage(self, model: Any, folder: Path) -> None: ...
    def write_model(self, stage: Path, output: Path) -> None: ...


def load_objective(recipe: Recipe, folder: Path) -> Objective:
    """The objective of a recipe's kind, with the vocabulary in `folder`."""
    from edit_gec.training.objective_edit5 import EdiT5Objective
    from edit_gec.training.objective_t5 import T5Objective

    objectives: dict[str, type[EdiT5Objective] | type[T5Objective]] = {"edit5": EdiT5Objective, "t5": T5Objective}
    return objectives[recipe.kind](recipe, folder)
