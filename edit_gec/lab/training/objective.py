"""What an objective is: examples, a loss, figures and folders of one kind of model. All are trained by run.py.

recipe.kind   class
edit5         objective_edit5.EdiT5Objective    tags, pointers and insertions
t5            objective_t5.T5Objective          whole corrected sentences
causal        objective_causal.CausalObjective  the same, by adapters of a language model
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from edit_gec.lab.training.labelled_text import TrainingPair
from edit_gec.lab.training.recipe import Recipe, TrainingStage

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Example:
    """A pair as a model sees it; batches are filled by the length of `ids`, which the model reads."""

    ids: list[int]


class Objective(ABC):
    """What a kind of model learns from a pair, and how its folders are read and written.

    `shares` are the figures of its log: one sum of the losses, over another.
    """

    shares: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        """`folder` holds the vocabulary."""
        self.recipe = recipe
        self.folder = folder
        self._sums: dict[str, Tensor] = {}  # on the device: to read one would be to wait for it

    @abstractmethod
    def tokens(self) -> Any:
        """The vocabulary."""

    @abstractmethod
    def make_example(self, pair: TrainingPair, tokens: Any) -> Example | None:
        """One pair as the model sees it; None where it cannot."""

    @abstractmethod
    def collate(self, examples: Sequence[Any]) -> dict[str, Any]:
        """A batch as the losses read it."""

    @abstractmethod
    def make_losses(self, model: Any, stage: TrainingStage) -> nn.Module:
        """What the Trainer trains: a batch, the number of the update -> "loss", and sums ("pairs", "pieces", ...)."""

    @abstractmethod
    def start_model(self, stage: TrainingStage, before: Path | None, init: Path | None) -> nn.Module:
        """What a stage starts from: the stage before, another model, or chance."""

    @abstractmethod
    def save_stage(self, model: Any, folder: Path) -> None:
        """Write the model of a finished stage; `config.json` says that it is there."""

    @abstractmethod
    def write_model(self, stage: Path, output: Path) -> None:
        """Write the folder to ship from that of the last stage."""

    def rate_of(self, name: str) -> float:
        """Learning rate of a parameter against the recipe's; 0: frozen."""
        return 1.0

    def count(self, sums: Mapping[str, Tensor]) -> None:
        """Add the sums of a batch, scalars."""
        for name, value in sums.items():
            added = value.detach().double()
            self._sums[name] = self._sums[name] + added if name in self._sums else added

    def take_figures(self) -> dict[str, float]:
        """Pairs, pieces and `shares` since the last call, {} if nothing was counted."""
        taken = {name: float(value) for name, value in self._sums.items()}
        self._sums = {}
        found = {name: taken[part] / max(1, taken[whole]) for name, (part, whole) in self.shares.items() if taken}
        return {name: taken[name] for name in ("pairs", "pieces") if taken} | found
