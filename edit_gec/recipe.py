"""Recipes: all that is needed to repeat a training, in TOML beside the model.

    name = "edit5-tiny"
    vocabulary = 500
    model = { d_model = 32, num_heads = 4 }    # what is different from the preset

    [[stage]]
    name = "3-layers"
    layers = 3
    steps = 100

A stage has a depth, a number of steps, an error rate, and shares of real edits and of text that needs no correction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.edit5 import EdiT5Config

T = TypeVar("T", "Stage", "Recipe")


@dataclass(frozen=True)
class Stage:
    """One leg of the training."""

    name: str
    steps: int
    layers: int = 12
    rate: float = 1.0  # of errors, against the learner-like rate
    real: float = 0.0  # share of pairs from real edits
    clean: float = 0.05  # share of pairs that need no correction, beside those that the corruption leaves clean
    lr: float = 2e-3  # of Muon; AdamW's is `adamw` times as large
    warmup: int = 0
    decay: int = 0  # last steps, over which the learning rate falls to zero
    batch_pieces: int = 2048  # small batches, many steps: a small budget is not starved of updates
    start: str = ""  # stage whose model this one starts from; the one before if empty


@dataclass(frozen=True)
class Recipe:
    """All that is needed to repeat a training."""

    name: str
    preset: str = "edit5-mini"
    model: dict[str, Any] = field(default_factory=dict)  # what is different from the preset
    vocabulary: int = 8000
    max_pieces: int = 96
    adamw: float = 2.0
    seed: int = 1
    bf16: bool = True
    thresholds: dict[str, float] = field(default_factory=dict)  # of decode.Options, chosen on a development set
    stages: tuple[Stage, ...] = field(default=())

    @property
    def config(self) -> EdiT5Config:
        """Shape of the model; its vocabulary is the recipe's and the slots. Raises InputError or TypeError."""
        from edit_gec.edit5 import PRESETS

        if self.preset not in PRESETS:
            raise InputError(f"preset {self.preset!r} is none of {', '.join(PRESETS)}")
        preset = PRESETS[self.preset]
        size = self.vocabulary + int(self.model.get("slots", preset.slots))
        return replace(preset, **{"vocab_size": size, **self.model})


def read_recipe(path: Path) -> Recipe:
    """A recipe from TOML. Raises InputError that names the file and the entry at fault."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[import-not-found,no-redef]
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        stages = tuple(_typed(Stage(**stage)) for stage in table.pop("stage", []))
        recipe = _typed(Recipe(**table, stages=stages))
        _ = recipe.config
    except OSError as error:
        raise InputError(f"{path}: no readable recipe ({error.strerror})") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a recipe ({error})") from None
    names = [stage.name for stage in stages]
    if not names or len({*names, "model"}) <= len(names):
        raise InputError(f"{path}: a recipe needs [[stage]] tables, each with a name of its own, none called 'model'")
    return recipe


def _typed(table: T) -> T:
    """The table, if all entries are of the kind that they should be; else TypeError."""
    kinds: dict[str, Any] = {"str": str, "int": int, "float": (int, float), "bool": bool, "dict": dict}
    for entry in fields(table):
        value = getattr(table, entry.name)
        if not isinstance(value, kinds.get(str(entry.type).partition("[")[0], object)):
            raise TypeError(f"{entry.name} = {value!r}, {entry.type} is wanted")
    return table
