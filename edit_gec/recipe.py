"""Recipes: all that is needed to repeat a training, in TOML beside the model.

    name = "edit5-tiny"
    vocabulary = 500
    model = { d_model = 32, num_heads = 4 }    # what is different from the preset

    [[stage]]
    name = "3-layers"
    layers = 3
    steps = 100

A stage has a depth, a number of steps, an error rate, and shares of real edits and of text that needs no correction.
With kind = "t5" a T5 is trained that writes whole corrected sentences; `layers` is then the depth of its decoder. A
model may start from an EdiT5's encoder, shared and frozen or as a copy of its own; an EdiT5 that does so keeps its
heads, too, and can learn to draft for a T5 on the same encoder:

    kind = "t5"
    encoder = "../edit5-mini"                  # folder of an EdiT5, seen from the recipe
    encoder_rate = 0.0                         # frozen; above 0: a copy, at this share of the learning rate

The model is that of the last stage. A stage may be a mean of several before it that went on from the same one:

    [[stage]]
    name = "mean"
    average = { one = 0.4, two = 0.6 }         # stages and their weights; no steps
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.t5 import T5Config

T = TypeVar("T", "Stage", "Recipe")


@dataclass(frozen=True)
class Stage:
    """One leg of the training: steps, or a mean of stages before it."""

    name: str
    steps: int = 0
    average: dict[str, float] = field(default_factory=dict)  # earlier stages whose weights are averaged
    layers: int = 12
    rate: float = 1.0  # of errors, against the learner-like rate
    real: float = 0.0  # share of pairs from real edits; 1: nothing else, and no prose is needed
    edits: str = "edits"  # folder of the data with real edits (real_edits.py)
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
    kind: str = "edit5"  # or "t5": a T5 that writes whole sentences
    preset: str = ""  # empty: edit5-mini, or t5-mini
    model: dict[str, Any] = field(default_factory=dict)  # what is different from the preset
    vocabulary: int = 8000
    vocabulary_of: str = ""  # folder, seen from the recipe, whose vocabulary is taken; else it is learnt from the text
    max_pieces: int = 96
    adamw: float = 2.0
    seed: int = 1
    bf16: bool = True  # autocast, where the processor computes in it (linear.computes)
    thresholds: dict[str, float] = field(default_factory=dict)  # decode.Options, chosen on dev text; T5: to draft with
    thresholds_of_two: dict[str, float] = field(default_factory=dict)  # T5: for two hypotheses in a pass, if others
    respelt: bool = False  # T5: to be read with misspelt words as the list has them
    encoder: str = ""  # folder of the EdiT5 whose encoder and embedding it starts with; an EdiT5 takes its heads too
    encoder_rate: float = 0.0  # learning rate of these against the rest; 0: shared with the EdiT5, frozen
    guide: float = 0.5  # T5: weight of the attention that is guided to the piece which is copied next
    edit_weight: float = 2.0  # T5: weight of tokens that are no copy of what follows the last one
    stages: tuple[Stage, ...] = field(default=())

    @property
    def shared(self) -> bool:
        """Whether the encoder stays an EdiT5's own."""
        return bool(self.encoder) and self.encoder_rate == 0

    @property
    def source_of_vocabulary(self) -> str:
        """Folder whose vocabulary this model has to have: the encoder's, or the one that is named."""
        return self.encoder or self.vocabulary_of

    @property
    def config(self) -> T5Config:
        """Shape of the model; its vocabulary is the recipe's and the slots. Raises InputError or TypeError."""
        from edit_gec import edit5, t5

        if self.kind not in ("edit5", "t5"):
            raise InputError(f"kind {self.kind!r}: edit5 or t5 is wanted")
        presets: dict[str, Any] = dict(edit5.PRESETS if self.kind == "edit5" else t5.PRESETS)
        name = self.preset or f"{self.kind}-mini"
        if name not in presets:
            raise InputError(f"preset {name!r} is none of {', '.join(presets)}")
        preset = presets[name]
        slots = int(self.model.get("slots", preset.slots)) if self.kind == "edit5" else t5.SLOTS
        config: T5Config = replace(preset, **{"vocab_size": self.vocabulary + slots, **self.model})
        return config


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
    if not names or len({*names, "model"}) < len(names) + 1:
        raise InputError(f"{path}: a recipe needs [[stage]] tables, each with a name of its own, none called 'model'")
    for at, stage in enumerate(stages):
        weights = stage.average.values()
        if not {*stage.average} <= {*names[:at]} or not all(isinstance(w, int | float) and w > 0 for w in weights):
            raise InputError(
                f"{path}: average = {stage.average!r}; names of earlier stages with weights above 0 are wanted"
            )
        if bool(stage.average) == (stage.steps > 0):
            raise InputError(f"{path}: stage {stage.name!r} has steps = {stage.steps}; steps or an average are wanted")
    return recipe


def _typed(table: T) -> T:
    """The table, if all entries are of the kind that they should be; else TypeError."""
    kinds: dict[str, Any] = {"str": str, "int": int, "float": (int, float), "bool": bool, "dict": dict}
    for entry in fields(table):
        value = getattr(table, entry.name)
        if not isinstance(value, kinds.get(str(entry.type).partition("[")[0], object)):
            raise TypeError(f"{entry.name} = {value!r}, {entry.type} is wanted")
    return table
