"""Recipes: all that is needed to repeat a training, in TOML next to the model.

    name = "edit5-tiny"
    vocabulary = 500
    model = { d_model = 32, num_heads = 4 }    # what is different from the preset

    [[stage]]
    name = "3-layers"
    layers = 3
    steps = 100

A stage has a depth, a number of steps, an error rate, and shares of real edits and of clean text. With kind = "t5" the
model is a T5 that writes whole corrected sentences; `layers` is then the depth of its decoder. A model may start from
the encoder of an EdiT5, which it shares, frozen. An EdiT5 that does so also keeps the heads:

    kind = "t5"
    encoder = "../edit5-mini"                  # folder of an EdiT5, seen from the recipe

With kind = "edit5" and the folder of such a T5 as `encoder`, heads learn to draft for it, on the T5's own encoder.

The model is that of the last stage. A stage may be a mean of several before it that went on from the same one:

    [[stage]]
    name = "mean"
    average = { one = 0.4, two = 0.6 }         # stages and their weights; no steps

Where real and labelled add up to 1, no prose is needed. A long stage is measured in pieces, its settings change on the
way, and its model is a running average:

    [[stage]]
    name = "long"
    init = "../edit5-mini"
    pieces = 300_000_000
    warmup = 100
    decay = 0.22
    floor = 0.1
    batch_pieces = 4096
    later = [{ at = 0.2, batch_pieces = 8192 }, { at = 0.8, max_pieces = 96 }]
    clean = 0.12
    real = 0.08
    end = { clean = 0.20, real = 0.15 }
    ema = 0.999

| key of a recipe | meaning |
|---|---|
| name | name of the run; its stages lie in RUNS/<name> |
| kind | edit5 (tags, pointers, insertions), t5 (whole sentences) or causal (adapters of a language model, one stage) |
| preset | shape of the model: edit5-mini, edit5-base; t5-tiny, t5-mini; empty: edit5-mini or t5-mini |
| model | table of what is different from the preset: d_model, d_kv, d_ff, num_heads, slots, ... |
| vocabulary | number of pieces of the vocabulary that is learnt; a small text gives fewer |
| vocabulary_of | folder, seen from the recipe, whose vocabulary is taken instead |
| max_pieces | longest source that is trained on, in pieces |
| adamw | learning rate of AdamW (embeddings, norms, heads) against that of Muon (matrices) |
| weight_decay | of the matrices, decoupled: a share of the learning rate |
| seed | of the weights and of the pairs |
| bf16 | whether to compute in bfloat16 where the processor has it |
| compile | whether to compile the layers with torch.compile: a third faster on a CPU; needs a C++ compiler |
| workers | processes that make pairs; 0: all cores but four. Each draws pairs of its own |
| save_minutes | minutes from one checkpoint to the next |
| thresholds | table of the decisions' thresholds (decode.py), written into the model's config.json |
| respelt | T5: whether it is to be read with misspelt words as the list has them |
| encoder | folder of the EdiT5 whose encoder and embedding the model shares; an EdiT5 takes its heads, too |
| own_layers | T5: last layers of the shared encoder that it copies and trains |
| frozen_layers | EdiT5: first encoder layers that stay, with embedding and final norm: those that a T5 shares |
| stage | the stages, in order: [[stage]] tables |

| key of a stage | meaning |
|---|---|
| name | name of the stage and of its folder |
| steps | number of updates |
| pieces | source pieces in all batches, padding included; the number of updates follows from batch_pieces |
| average | earlier stages and their weights; the stage is their mean |
| init | folder, seen from the recipe, of the model that the stage starts from |
| start | earlier stage whose model the stage starts from; the one before if empty |
| layers | depth of the encoder; for a T5, of its decoder |
| batch_pieces, max_pieces | size of a batch in pieces, padding included; longest source (0: the recipe's) |
| later | settings (batch_pieces, max_pieces) that hold from a share `at` of the stage on |
| rate | number of errors in a sentence, against the learner-like number |
| real, edits | share of pairs from real edits, and the folder of the data that holds them |
| labelled | share of pairs from DATA/labelled, which `edit-gec label` writes; for an EdiT5 |
| clean | share of pairs that need no correction |
| predicted | share of the updates in which an EdiT5's decoder learns on predicted tags; slow on a GPU |
| end | shares (real, labelled, clean, predicted) at the end of the stage; they change while the learning rate falls |
| lr | learning rate of Muon; AdamW's is `adamw` times as large |
| warmup | first updates, over which the learning rate rises |
| decay | last updates over which the learning rate falls; below 1 a share of the stage |
| floor | share of the learning rate that is left at the end |
| ema | weight of the past in a running average of the weights; 0: none. It makes the model of the stage |
| reverse | whether sources are learnt from targets: the model then makes errors (synthetic/breaker.py) |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.modeling.config import T5Config

T = TypeVar("T", "TrainingStage", "Recipe")
SETTINGS = {"batch_pieces", "max_pieces"}  # that may change in the course of a stage
SHARES = {"real", "labelled", "clean", "predicted"}  # that may rise or fall towards its end


@dataclass(frozen=True)
class TrainingStage:
    """One leg of the training: updates, or a mean of stages before it. The module's table says what the keys mean."""

    name: str
    steps: int = 0
    pieces: int = 0
    average: dict[str, float] = field(default_factory=dict)
    init: str = ""
    start: str = ""
    layers: int = 12
    batch_pieces: int = 2048  # small batches, many steps: a small budget is not starved of updates
    max_pieces: int = 0
    later: list[dict[str, float]] = field(default_factory=list)
    rate: float = 1.0
    real: float = 0.0
    edits: str = "edits"
    labelled: float = 0.0
    clean: float = 0.05  # in addition to those that the corruption leaves clean
    predicted: float = 1.0
    end: dict[str, float] = field(default_factory=dict)
    lr: float = 2e-3
    warmup: int = 0
    decay: float = 0
    floor: float = 0.0
    ema: float = 0.0
    reverse: bool = False

    @property
    def needs_prose(self) -> bool:
        """Whether some of its pairs are made from prose, at its start or at its end."""
        at_the_end = self.end.get("real", self.real) + self.end.get("labelled", self.labelled)
        return not self.average and min(self.real + self.labelled, at_the_end) < 1


@dataclass(frozen=True)
class Recipe:
    """All that is needed to repeat a training. The module's table says what the keys mean."""

    name: str
    kind: str = "edit5"
    preset: str = ""
    model: dict[str, Any] = field(default_factory=dict)
    vocabulary: int = 8000
    vocabulary_of: str = ""
    max_pieces: int = 96
    adamw: float = 2.0
    weight_decay: float = 0.0
    seed: int = 1
    bf16: bool = True
    compile: bool = False
    workers: int = 0
    save_minutes: float = 10.0
    thresholds: dict[str, float] = field(default_factory=dict)
    respelt: bool = False
    encoder: str = ""
    own_layers: int = 0
    frozen_layers: int = 0
    stages: tuple[TrainingStage, ...] = field(default=())

    @property
    def source_of_vocabulary(self) -> str:
        """Folder whose vocabulary this model has to have: the encoder's, or the one that is named."""
        return self.encoder or self.vocabulary_of

    @property
    def config(self) -> T5Config:
        """Shape of the model; its vocabulary is the recipe's and the slots. Raises InputError or TypeError."""
        from edit_gec.modeling import edit5, t5

        if self.kind not in ("edit5", "t5"):
            raise InputError(f"kind {self.kind!r}: expected edit5, t5 or causal")
        presets: dict[str, Any] = dict(edit5.PRESETS if self.kind == "edit5" else t5.PRESETS)
        name = self.preset or f"{self.kind}-mini"
        if name not in presets:
            raise InputError(f"preset {name!r} is none of {', '.join(presets)}")
        preset = presets[name]
        slots = int(self.model.get("slots", preset.slots)) if self.kind == "edit5" else t5.SLOTS
        _check_keys("model", self.model, [f.name for f in fields(preset)])
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
        stages = tuple(_read_table(TrainingStage, stage, "stage") for stage in table.pop("stage", []))
        recipe = replace(_read_table(Recipe, table, "recipe"), stages=stages)
        _ = recipe.kind == "causal" or recipe.config
    except OSError as error:
        raise InputError(f"{path}: no readable recipe ({error.strerror})") from None
    except (ValueError, TypeError) as error:  # InputError is a ValueError
        raise InputError(f"{path}: not a recipe ({error})") from None
    if recipe.workers < 0 or recipe.save_minutes <= 0:
        raise InputError(
            f"{path}: workers = {recipe.workers}, save_minutes = {recipe.save_minutes:g}; expected at least 0, and "
            "more than 0"
        )
    if recipe.own_layers < 0 or (recipe.own_layers and not (recipe.kind == "t5" and recipe.encoder)):
        raise InputError(
            f"{path}: own_layers = {recipe.own_layers}; expected at least 0, and 0 without the shared encoder of a T5"
        )
    names = [stage.name for stage in stages]
    if not names or len({*names, "model"}) < len(names) + 1 or (recipe.kind == "causal" and len(names) > 1):
        raise InputError(
            f"{path}: a recipe needs [[stage]] tables, each with a name of its own, none called 'model', and of kind "
            "causal just one"
        )
    for at, stage in enumerate(stages):
        weights = stage.average.values()
        if not {*stage.average} <= {*names[:at]} or not all(isinstance(w, int | float) and w > 0 for w in weights):
            raise InputError(
                f"{path}: average = {stage.average!r}; expected names of earlier stages with weights above 0"
            )
        fault = _fault(stage, recipe.kind)
        if fault:
            raise InputError(f"{path}: stage {stage.name!r} has {fault}")
    return recipe


def _fault(stage: TrainingStage, kind: str) -> str:
    """The error in a stage, and what is expected; empty if there is none."""
    if (stage.steps > 0) + (stage.pieces > 0) + bool(stage.average) != 1:
        return f"steps = {stage.steps}, pieces = {stage.pieces}; steps, pieces or an average are expected"
    if stage.decay < 0 or (stage.pieces and stage.decay > 1) or not 0 <= stage.floor <= 1 or not 0 <= stage.ema < 1:
        return f"decay = {stage.decay:g}, floor = {stage.floor:g}, ema = {stage.ema:g}; shares from 0 to 1 are expected"
    for turn in stage.later:
        settings = {name: value for name, value in turn.items() if name != "at"}
        if not 0 < turn.get("at", 0) < 1 or not {*settings} <= SETTINGS or min(settings.values(), default=0) < 1:
            return f"later = {turn!r}; at from 0 to 1 and {' or '.join(sorted(SETTINGS))} are expected"
    if not {*stage.end} <= SHARES or not all(0 <= share <= 1 for share in stage.end.values()):
        return f"end = {stage.end!r}; shares of {', '.join(sorted(SHARES))} are expected"
    if kind == "causal" and not stage.init:
        return "no init; the folder of the language model is expected"
    if kind != "edit5" and (stage.labelled or stage.end.get("labelled")):
        return "a share of labelled text, which speaks of edits; none is expected for a model of whole sentences"
    return ""


def _read_table(kind: type[T], table: dict[str, Any], what: str) -> T:
    """A stage or a recipe from its table. Raises InputError or TypeError that names the entry at fault."""
    _check_keys(what, table, ["stage" if entry.name == "stages" else entry.name for entry in fields(kind)])
    if "name" not in table:
        raise InputError(f'a {what} has no name; expected name = "..."')
    return _check_types(kind(**table))


def _check_keys(what: str, table: Collection[str], known: Sequence[str]) -> None:
    """Raises InputError that names the unknown keys of a table, and the known ones."""
    unknown = [key for key in table if key not in known]
    if unknown:
        raise InputError(f"{what}: unknown key {', '.join(map(repr, unknown))}; expected one of {', '.join(known)}")


def _check_types(table: T) -> T:
    """The table, if all entries have the right type; else raises TypeError."""
    kinds: dict[str, Any] = {"str": str, "int": int, "float": (int, float), "bool": bool, "dict": dict, "list": list}
    for entry in fields(table):
        value = getattr(table, entry.name)
        if not isinstance(value, kinds.get(str(entry.type).partition("[")[0], object)):
            raise TypeError(f"{entry.name} = {value!r}, expected {entry.type}")
    return table
