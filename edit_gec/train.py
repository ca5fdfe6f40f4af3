"""Training: synthetic errors made afresh for every pair, Hugging Face Trainer underneath, recipes in TOML.

    edit-gec train --recipe models/edit5-mini/recipe.toml --data DATA

A recipe is a list of stages; each has a depth, a number of steps, an error rate and a share of real edits. The model
grows between stages (edit5.grow). Every stage lives in RUNS/<name>/<stage> and saves a checkpoint every ten minutes;
Ctrl-C saves one too, and the same command resumes. Under torchrun every process draws its own pairs.

Loss: sums over tags, points and inserted pieces, per source piece (lambda = number of tokens in EdiT5, section 4.1).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.errors import InputError

if TYPE_CHECKING:
    from edit_gec.collate import Example
    from edit_gec.edit5 import EdiT5

POOL = 64  # batches that are filled together from pairs sorted by length: padding stays under a few per cent
SAVE_SECONDS = 600


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
    vocabulary: int = 8000
    max_pieces: int = 96
    adamw: float = 2.0
    seed: int = 1
    bf16: bool = True
    thresholds: dict[str, float] = field(default_factory=dict)  # of decode.Options, chosen on a development set
    stages: tuple[Stage, ...] = field(default=())


def read_recipe(path: Path) -> Recipe:
    """A recipe from TOML. Raises InputError that names the file and the entry at fault."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[import-not-found,no-redef]
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        stages = tuple(Stage(**stage) for stage in table.pop("stage", []))
        recipe = Recipe(**table, stages=stages)
    except FileNotFoundError:
        raise InputError(f"{path}: no such recipe") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a recipe ({error})") from None
    if not recipe.stages:
        raise InputError(f"{path}: a recipe needs at least one [[stage]]")
    return recipe


# ---------------------------------------------------------------- pairs -> batches


class Pairs:
    """Endless batches of one stage: an iterable dataset whose items are complete batches of tensors."""

    def __init__(self, folder: Path, data: Path, recipe: Recipe, stage: Stage, start: int) -> None:
        self.folder, self.data, self.recipe, self.stage, self.start = folder, data, recipe, stage, start

    def __iter__(self) -> Iterator[dict[str, Any]]:
        from edit_gec.collate import collate

        rank = int(os.environ.get("RANK", 0))
        rng = random.Random(f"{self.recipe.seed} {self.stage.name} {self.start} {rank}")
        pool: list[Example] = []
        pieces = 0
        for example in self._examples(rng):
            pool.append(example)
            pieces += len(example.ids)
            if pieces < POOL * self.stage.batch_pieces:
                continue
            batches = list(buckets(pool, self.stage.batch_pieces))
            rng.shuffle(batches)
            for batch in batches:
                yield collate(batch)._asdict()
            pool, pieces = [], 0

    def _examples(self, rng: random.Random) -> Iterator[Example]:
        from edit_gec.collate import example
        from edit_gec.edit5 import PRESETS
        from edit_gec.tokens import Tokens

        tokens = Tokens.load(self.folder, PRESETS[self.recipe.preset].slots)
        for source, target in self.texts(rng):
            made = example(source, target, tokens)
            if made is not None and len(made.ids) <= self.recipe.max_pieces:
                yield made

    def texts(self, rng: random.Random) -> Iterator[tuple[str, str]]:
        """Endless (source, target) sentences: fresh errors every time, real edits and clean pairs mixed in."""
        from edit_gec.corrupt import Corruptor
        from edit_gec.pairs import fragment, read_edits

        sentences = (self.data / "pairs" / "prose.txt").read_text(encoding="utf-8").splitlines()
        real = read_edits(self.data / "edits") if self.stage.real else []
        corruptor = Corruptor.load(self.data / "spelling")
        order = list(range(len(sentences)))
        while True:
            rng.shuffle(order)
            for n in order:
                draw = rng.random()
                if draw < self.stage.real:
                    yield real[rng.randrange(len(real))]
                elif draw < self.stage.real + self.stage.clean:
                    same = fragment(sentences[n], rng) if rng.random() < 0.5 else sentences[n]
                    yield same, same
                else:
                    yield corruptor.corrupt(sentences[n], rng, self.stage.rate), sentences[n]


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


def optimizer_for(model: EdiT5, stage: Stage, recipe: Recipe) -> Any:
    """Muon for the hidden matrices, AdamW for embeddings, norms, biases and heads."""
    from edit_gec.optim import MuonAdamW

    hidden: list[Any] = []
    rest: list[Any] = []
    for name, parameter in model.named_parameters():
        matrix = parameter.ndim == 2 and name.split(".")[-2] in ("qkv", "q", "kv", "o", "wi", "wo", "anchor")
        (hidden if matrix else rest).append(parameter)
    return MuonAdamW(hidden, rest, lr=stage.lr, adamw_lr=stage.lr * recipe.adamw)


def schedule(step: int, stage: Stage) -> float:
    """Warm up, stay, decay linearly: a stage that stays can be continued later."""
    if step < stage.warmup:
        return (step + 1) / stage.warmup
    return min(1.0, (stage.steps - step) / stage.decay) if stage.decay else 1.0


def make_trainer(model: EdiT5, pairs: Pairs, output: Path, device: str) -> Any:
    """Hugging Face Trainer for one stage, with our losses, batches, clock-driven checkpoints and log."""
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    from edit_gec.collate import Counts
    from edit_gec.edit5 import Batch

    stage, recipe = pairs.stage, pairs.recipe

    class Objective(torch.nn.Module):  # Trainer writes into model.config: it gets a module that has none
        def __init__(self) -> None:
            super().__init__()
            self.edit5 = model

        def forward(self, *, sequential: bool, **batch: torch.Tensor) -> Any:
            return self.edit5(Batch(**batch), sequential=sequential)

    class EditTrainer(Trainer):
        counts = Counts()

        def get_train_dataloader(self) -> Any:
            from torch.utils.data import DataLoader, IterableDataset

            class Stream(IterableDataset):  # type: ignore[type-arg]
                def __iter__(self) -> Iterator[dict[str, Any]]:
                    return iter(pairs)

            workers = max(1, (os.cpu_count() or 2) - 4)
            return DataLoader(Stream(), batch_size=None, num_workers=workers, prefetch_factor=8)

        def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            losses, tags, insertions = model(**inputs, sequential=self.state.global_step % 4 == 0)
            self.counts.add(Batch(**inputs), losses, tags, insertions)
            return (losses.tag + losses.point + losses.insertion) / losses.pieces

        def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
            super().log({**logs, **self.counts.take()}, *args, **kwargs)

    class Clock(TrainerCallback):
        last = time.monotonic()
        stopped = False

        def stop(self, *_: Any) -> None:
            self.stopped = True

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self.stop)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.stopped or time.monotonic() - self.last > SAVE_SECONDS:
                self.last = time.monotonic()
                control.should_save = True
            control.should_training_stop = control.should_training_stop or self.stopped

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            if state.is_world_process_zero:
                with (output / "log.jsonl").open("a", encoding="utf-8") as log:
                    log.write(json.dumps({"step": state.global_step, "time": time.time(), **logs}) + "\n")

    arguments = TrainingArguments(
        output_dir=str(output),
        max_steps=stage.steps,
        use_cpu=device == "cpu",
        bf16=recipe.bf16,
        max_grad_norm=1.0,
        logging_steps=50,
        save_strategy="no",
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        ignore_data_skip=True,
        remove_unused_columns=False,
        seed=recipe.seed,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,
    )
    optimizer = optimizer_for(model, stage, recipe)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: schedule(step, stage))
    return EditTrainer(
        model=Objective(), args=arguments, train_dataset=[None], optimizers=(optimizer, scheduler), callbacks=[Clock()]
    )


def run_stage(model: EdiT5, pairs: Pairs, output: Path, device: str) -> EdiT5:
    """Train one stage to its end, from its last complete checkpoint if there is one."""
    from transformers.trainer_utils import get_last_checkpoint

    output.mkdir(parents=True, exist_ok=True)
    last = get_last_checkpoint(str(output))  # type: ignore[no-untyped-call]
    if last:
        pairs.start = int(last.rpartition("-")[2])
    trainer = make_trainer(model, pairs, output, device)
    trainer.train(resume_from_checkpoint=last)
    if trainer.state.global_step < pairs.stage.steps:
        raise InputError(f"{output}: stopped at step {trainer.state.global_step}; the same command goes on from there")
    return model


def train(recipe_path: Path, data: Path, runs: Path, *, device: str = "cpu", init: Path | None = None) -> Path:
    """Run all stages of a recipe; returns the folder of the finished model. Finished stages are not repeated."""
    from edit_gec.edit5 import PRESETS, EdiT5, grow, warm_start
    from edit_gec.pairs import prepare
    from edit_gec.tokens import FILE, train_vocabulary

    recipe = read_recipe(recipe_path)
    folder = recipe_path.parent
    if not (data / "pairs" / "prose.txt").exists():
        prepare(data / "prose", data / "pairs" / "prose.txt", seed=recipe.seed)
    if not (folder / FILE).exists():
        train_vocabulary(data / "pairs" / "prose.txt", folder, size=recipe.vocabulary)
    import torch

    torch.manual_seed(recipe.seed)
    finished: Path | None = None
    for stage in recipe.stages:
        output = runs / recipe.name / stage.name
        if not (output / "config.json").exists():
            before = runs / recipe.name / stage.start if stage.start else finished
            if before is not None:
                model = EdiT5.load(before)
            elif init is not None:
                from edit_gec.checkpoint import load_t5

                model, _ = warm_start(load_t5(init))
            else:
                model = EdiT5(replace(PRESETS[recipe.preset], num_layers=stage.layers))
            if model.config.num_layers != stage.layers:
                model = grow(model, stage.layers)
            model = run_stage(model.train(), Pairs(folder, data, recipe, stage, 0), output, device)
            model.save(output)
        finished = output
    return finish(recipe, finished, folder, runs / recipe.name / "model")


def finish(recipe: Recipe, stage: Path | None, vocabulary: Path, output: Path) -> Path:
    """Write the complete model folder, ready to ship: weights in bf16, thresholds of the recipe, vocabulary."""
    import shutil

    import torch

    from edit_gec.edit5 import EdiT5
    from edit_gec.tokens import FILE

    if stage is None:
        raise InputError("a recipe without stages trains nothing")
    stages = [asdict(s) for s in recipe.stages]
    EdiT5.load(stage).save(output, torch.bfloat16, thresholds=recipe.thresholds, trained=stages)
    shutil.copyfile(vocabulary / FILE, output / FILE)
    return output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edit-gec train`."""
    parser.add_argument("--recipe", type=Path, required=True, help="recipe.toml of a model folder")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EDIT_GEC_DATA", "data")), help="corpora")
    parser.add_argument("--runs", type=Path, default=Path("models/.runs"), help="where checkpoints go")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--init", type=Path, help="start from this T5 checkpoint (Hugging Face folder)")


def run(args: argparse.Namespace) -> int:
    """`edit-gec train`: returns the exit status."""
    import sys

    finished = train(args.recipe, args.data, args.runs, device=args.device, init=args.init)
    sys.stdout.write(f"{finished}\n")
    return 0
