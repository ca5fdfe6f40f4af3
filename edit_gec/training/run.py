"""Training: synthetic errors made afresh for every pair, Hugging Face Trainer underneath, recipes in TOML.

    edit-gec train --recipe models/edit5-mini/recipe.toml --data DATA

A recipe (recipe.py) is a list of stages, between which the model grows (edit5.grow); course.py says what holds at which
time of a stage. Every stage lives in RUNS/<name>/<stage> and saves a checkpoint every ten minutes (trainer.py); Ctrl-C
and SIGTERM save one too, and the same command resumes. A running average of the weights (ema.py) is written to
RUNS/<name>/<stage>/ema-<M>M after M million pieces. Under torchrun every process draws its own pairs; the first one
prepares and writes the files.

What is learnt from a pair is the objective's: objective_edit5.py, or objective_t5.py for recipes with kind = "t5".
"""

from __future__ import annotations

import importlib
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from edit_gec.editing.lexicon import FILE as WORDS
from edit_gec.errors import InputError
from edit_gec.modeling.tokenizer import FILE, Tokens, train_vocabulary
from edit_gec.training import build_lexicon, course
from edit_gec.training.clean_prose import fragment, prepare, read_units
from edit_gec.training.edit_pairs import RealEdits
from edit_gec.training.recipe import Recipe, Stage, read_recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

POOL = 64  # batches that are filled together from pairs sorted by length: padding stays under a few per cent
CAPITALS = 0.01  # of the pairs: errors are errors in capitals, too
REWORDED = 0.2  # of the pairs with errors: they stand among words that are oddly chosen


class Example(Protocol):
    """A pair as a model sees it; batches are filled by the length of its source."""

    @property
    def ids(self) -> Sequence[int]: ...


class Objective(Protocol):
    """What a kind of model learns, and from what it starts; one class of this name in each objective_KIND.py."""

    def tokens(self) -> Tokens: ...
    def example(self, source: str, target: str, tokens: Tokens) -> Any: ...
    def collate(self, examples: Sequence[Any]) -> dict[str, Tensor]: ...
    def losses(self, model: Any) -> nn.Module: ...
    def loss(self, inputs: dict[str, Tensor], outputs: Any) -> Tensor: ...
    def take(self) -> dict[str, float]: ...
    def rate(self, name: str) -> float: ...
    def start(self, stage: Stage, before: Path | None, init: Path | None) -> nn.Module: ...
    def save(self, model: Any, folder: Path) -> None: ...
    def finish(self, stage: Path, output: Path) -> None: ...


def objective_of(recipe: Recipe, folder: Path) -> Objective:
    """The objective of a recipe whose vocabulary is in `folder`."""
    module = importlib.import_module(f"edit_gec.training.objective_{recipe.kind}")
    made: Objective = module.Objective(recipe, folder)
    return made


# ---------------------------------------------------------------- pairs -> batches


class Pairs:
    """Endless batches of one stage: an iterable dataset whose items are complete batches of tensors."""

    def __init__(self, folder: Path, data: Path, recipe: Recipe, stage: Stage, start: int) -> None:
        self.folder, self.data, self.recipe, self.stage, self.start = folder, data, recipe, stage, start
        self.progress = 0.0  # share of the stage that has passed; texts follow it

    def __iter__(self) -> Iterator[dict[str, Any]]:
        from torch.utils.data import get_worker_info

        worker = get_worker_info()
        who = (os.environ.get("RANK", "0"), worker.id if worker else 0)  # each draws pairs of its own
        rng = random.Random(f"{self.recipe.seed} {self.stage.name} {self.start} {who}")
        objective = objective_of(self.recipe, self.folder)
        step = self.start
        self.progress = course.progress(step, self.stage)
        examples = self._examples(rng, objective)
        while True:
            batch_pieces = course.setting("batch_pieces", self.progress, self.stage)
            batches = list(buckets(fill(examples, POOL * batch_pieces), batch_pieces))
            rng.shuffle(batches)
            for batch in batches:
                yield objective.collate(batch)
            step += len(batches) * (worker.num_workers if worker else 1)
            self.progress = course.progress(step, self.stage)

    def _examples(self, rng: random.Random, objective: Objective) -> Iterator[Example]:
        tokens = objective.tokens()
        for source, target in self.texts(rng):
            made = objective.example(source, target, tokens)
            longest = course.setting("max_pieces", self.progress, self.stage) or self.recipe.max_pieces
            if made is not None and len(made.ids) <= longest:
                yield made

    def texts(self, rng: random.Random) -> Iterator[tuple[str, str]]:
        """Endless (source, target) sentences: fresh errors every time, real edits and clean pairs mixed in."""
        from edit_gec.training.synthetic.corruptor import Corruptor

        stage = self.stage
        real = RealEdits(self.data / stage.edits) if stage.real or stage.end.get("real") else None
        while real and stage.real >= 1:  # no prose, no errors of our own
            yield real.draw(rng)
        units = read_units(self.data / "pairs" / "prose.txt")
        hard = read_hard(self.data / "hard") if stage.hard or stage.end.get("hard") else []
        corruptor = Corruptor.load(self.data / "spelling")
        order = list(range(len(units)))
        while True:
            rng.shuffle(order)
            for unit in (units[n] for n in order):
                shares = {name: course.share(name, self.progress, stage) for name in ("real", "clean", "hard")}
                kind, right = draw(shares if hard else {**shares, "hard": 0.0}, rng), unit.text
                if kind == "real" and real:
                    yield real.draw(rng)
                elif kind == "hard":
                    same = rng.choice(hard)
                    yield same, same
                elif kind == "clean":
                    same = fragment(right, rng) if rng.random() < 0.5 else right
                    yield same, same
                else:
                    if rng.random() < REWORDED:
                        right = corruptor.reword(right, rng)
                    wrong = corruptor.corrupt(right, rng, stage.rate, punctuation=unit.punctuation)
                    yield (wrong.upper(), right.upper()) if rng.random() < CAPITALS else (wrong, right)


def draw(shares: dict[str, float], rng: random.Random) -> str:
    """One of the kinds of pairs, each with its share; empty for what the shares leave."""
    place = rng.random()
    for kind, share in shares.items():
        if place < share:
            return kind
        place -= share
    return ""


def read_hard(folder: Path) -> list[str]:
    """Clean sentences that a model wrongly changed: lines of the text files in a folder, which may be absent."""
    return [
        line for path in sorted(folder.glob("*.txt")) for line in path.read_text(encoding="utf-8").splitlines() if line
    ]


def fill(examples: Iterator[Example], pieces: int) -> list[Example]:
    """The next examples, with so many pieces in all."""
    pool: list[Example] = []
    while pieces > 0:
        pool.append(next(examples))
        pieces -= len(pool[-1].ids)
    return pool


def buckets(pool: list[Example], batch_pieces: int) -> Iterator[list[Example]]:
    """Cut a pool into batches of similar length with at most `batch_pieces` pieces, padding included."""
    batch: list[Example] = []
    for example in sorted(pool, key=lambda e: len(e.ids)):
        if batch and (len(batch) + 1) * len(example.ids) > batch_pieces:
            yield batch
            batch = []
        batch.append(example)
    if batch:
        yield batch


# ---------------------------------------------------------------- one stage


def run_stage(model: nn.Module, pairs: Pairs, output: Path, device: str) -> None:
    """Train one stage to its end, from its last complete checkpoint if there is one, else from its last snapshot."""
    from accelerate import PartialState  # type: ignore[import-untyped]

    from edit_gec.training.trainer import checkpoints, from_snapshot, make_trainer, update

    output.mkdir(parents=True, exist_ok=True)
    trainer = make_trainer(model, objective_of(pairs.recipe, pairs.folder), pairs, output, device)
    with PartialState().main_process_first():
        last = next(reversed(checkpoints(output)), None) or from_snapshot(trainer, output, pairs.stage)
    if last:
        pairs.start = update(last)
        trainer.keeper.resume(last)
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    if trainer.state.global_step < course.steps(pairs.stage):
        raise InputError(f"{output}: stopped at step {trainer.state.global_step}; the same command goes on from there")


def train(recipe_path: Path, data: Path, runs: Path, *, device: str = "cpu", init: Path | None = None) -> Path:
    """Run all stages of a recipe; returns the folder of the finished model. Finished stages are not repeated."""
    import torch
    from accelerate import PartialState

    recipe = read_recipe(recipe_path)
    folder = recipe_path.parent
    processes = PartialState(cpu=device == "cpu")
    with processes.main_process_first():
        prepare_files(recipe, folder, data, init)
    objective = objective_of(recipe, folder)
    torch.manual_seed(recipe.seed)
    finished: Path | None = None
    for stage in recipe.stages:
        output = runs / recipe.name / stage.name
        if (output / "config.json").exists():
            pass
        elif stage.average:
            if processes.is_main_process:
                average(stage.average, runs / recipe.name, output)
        else:
            before = runs / recipe.name / stage.start if stage.start else finished
            model = objective.start(stage, folder / stage.init if stage.init else before, init)
            run_stage(model.train(), Pairs(folder, data, recipe, stage, 0), output, device)
            if processes.is_main_process and stage.ema:
                average({course.folder(at, stage): 1.0 for at in stage.mean}, output, output)
            elif processes.is_main_process:
                objective.save(model, output)
        processes.wait_for_everyone()
        finished = output
    output = runs / recipe.name / "model"
    if processes.is_main_process:
        if finished is None:
            raise InputError("a recipe without stages trains nothing")
        objective.finish(finished, output)
        copy_words(folder, output)
    processes.wait_for_everyone()
    return output


def average(weights: dict[str, float], run: Path, output: Path) -> None:
    """Write the mean of some model folders of a run. What was trained from one start with another mix of errors, or for
    longer, lies in one valley; the middle of it is better than its rims (Wortsman et al. 2022, "Model soups").

    Raises InputError when they differ in shape.
    """
    from edit_gec.modeling import checkpoint

    folders = [run / name for name in weights]
    tensors = checkpoint.average(folders, list(weights.values()))
    checkpoint.write_folder(output, checkpoint.read_config(folders[-1]), tensors)


def copy_words(folder: Path, output: Path) -> None:
    """Put the vocabulary and the word list of a recipe's folder beside a model, as far as they are there."""
    for name in (FILE, WORDS):
        if (folder / name).exists():
            shutil.copyfile(folder / name, output / name)


def prepare_files(recipe: Recipe, folder: Path, data: Path, init: Path | None) -> None:
    """Training text and vocabulary, unless they are there: that of `init` or the encoder, or one learnt from text.

    The word list of an EdiT5, too, where what it is made of is at hand.
    """
    text = data / "pairs" / "prose.txt"
    given = init or (folder / recipe.source_of_vocabulary if recipe.source_of_vocabulary else None)
    known = (folder / FILE).exists() or (given is not None and (given / FILE).exists())
    if not text.exists() and not (known and all(stage.real >= 1 for stage in recipe.stages)):
        prepare(data / "prose", text, seed=recipe.seed)
    if not (folder / FILE).exists():
        if given is not None and known:
            shutil.copyfile(given / FILE, folder / FILE)
        else:
            train_vocabulary(text, folder, size=recipe.vocabulary)
    if recipe.kind == "edit5" and (data / "prose").exists() and (data / "spelling").exists():
        if not (folder / WORDS).exists():
            build_lexicon.write(data, folder / WORDS)
