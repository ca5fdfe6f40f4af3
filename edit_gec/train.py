"""Training: synthetic errors made afresh for every pair, Hugging Face Trainer underneath, recipes in TOML.

    edit-gec train --recipe models/edit5-mini/recipe.toml --data DATA

A recipe (recipe.py) is a list of stages, between which the model grows (edit5.grow). Every stage lives in
RUNS/<name>/<stage> and saves a checkpoint every ten minutes; Ctrl-C saves one too, and the same command resumes. Under
torchrun every process draws its own pairs; the first one prepares and writes the files.

What is learnt from a pair is the objective's: objective_edit5.py, or objective_t5.py for recipes with kind = "t5".
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from edit_gec import word_list
from edit_gec.errors import InputError
from edit_gec.pairs import fragment, prepare, read_units
from edit_gec.real_edits import RealEdits
from edit_gec.recipe import Recipe, Stage, read_recipe
from edit_gec.spelling import FILE as WORDS
from edit_gec.tokens import FILE, Tokens, train_vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

POOL = 64  # batches that are filled together from pairs sorted by length: padding stays under a few per cent
SAVE_SECONDS = 600
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
    module = importlib.import_module(f"edit_gec.objective_{recipe.kind}")
    made: Objective = module.Objective(recipe, folder)
    return made


# ---------------------------------------------------------------- pairs -> batches


class Pairs:
    """Endless batches of one stage: an iterable dataset whose items are complete batches of tensors."""

    def __init__(self, folder: Path, data: Path, recipe: Recipe, stage: Stage, start: int) -> None:
        self.folder, self.data, self.recipe, self.stage, self.start = folder, data, recipe, stage, start

    def __iter__(self) -> Iterator[dict[str, Any]]:
        from torch.utils.data import get_worker_info

        worker = get_worker_info()
        who = (os.environ.get("RANK", "0"), worker.id if worker else 0)  # each draws pairs of its own
        rng = random.Random(f"{self.recipe.seed} {self.stage.name} {self.start} {who}")
        objective = objective_of(self.recipe, self.folder)
        pool: list[Example] = []
        pieces = 0
        for example in self._examples(rng, objective):
            pool.append(example)
            pieces += len(example.ids)
            if pieces < POOL * self.stage.batch_pieces:
                continue
            batches = list(buckets(pool, self.stage.batch_pieces))
            rng.shuffle(batches)
            for batch in batches:
                yield objective.collate(batch)
            pool, pieces = [], 0

    def _examples(self, rng: random.Random, objective: Objective) -> Iterator[Example]:
        tokens = objective.tokens()
        for source, target in self.texts(rng):
            made = objective.example(source, target, tokens)
            if made is not None and len(made.ids) <= self.recipe.max_pieces:
                yield made

    def texts(self, rng: random.Random) -> Iterator[tuple[str, str]]:
        """Endless (source, target) sentences: fresh errors every time, real edits and clean pairs mixed in."""
        from edit_gec.corrupt import Corruptor

        real = RealEdits(self.data / self.stage.edits) if self.stage.real else None
        while real and self.stage.real >= 1:  # no prose, no errors of our own
            yield real.draw(rng)
        sentences = [unit.text for unit in read_units(self.data / "pairs" / "prose.txt")]
        corruptor = Corruptor.load(self.data / "spelling")
        order = list(range(len(sentences)))
        while True:
            rng.shuffle(order)
            for n in order:
                draw = rng.random()
                if real and draw < self.stage.real:
                    yield real.draw(rng)
                elif draw < self.stage.real + self.stage.clean:
                    same = fragment(sentences[n], rng) if rng.random() < 0.5 else sentences[n]
                    yield same, same
                else:
                    right = sentences[n]
                    if rng.random() < REWORDED:
                        right = corruptor.reword(right, rng)
                    wrong = corruptor.corrupt(right, rng, self.stage.rate)
                    yield (wrong.upper(), right.upper()) if rng.random() < CAPITALS else (wrong, right)


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


def optimizer_for(model: nn.Module, stage: Stage, recipe: Recipe, rate: Callable[[str], float] = lambda _: 1.0) -> Any:
    """Muon for the hidden matrices, AdamW for embeddings, norms, biases and heads.

    `rate` says how fast each parameter learns against the others; those with rate 0 are frozen.
    """
    from edit_gec.optim import MuonAdamW

    groups: dict[tuple[bool, float], list[Any]] = {}
    for name, parameter in model.named_parameters():
        matrix = parameter.ndim == 2 and name.split(".")[-2] in ("qkv", "q", "kv", "o", "wi", "wo", "anchor")
        parameter.requires_grad_(rate(name) > 0)
        if parameter.requires_grad:
            groups.setdefault((matrix, rate(name)), []).append(parameter)

    def of(matrices: bool, lr: float) -> list[dict[str, Any]]:
        return [{"params": p, "lr": lr * share} for (matrix, share), p in groups.items() if matrix == matrices]

    return MuonAdamW(of(True, stage.lr), of(False, stage.lr * recipe.adamw))


def schedule(step: int, stage: Stage) -> float:
    """Warm up, stay, decay linearly: a stage that stays can be continued later."""
    if step < stage.warmup:
        return (step + 1) / stage.warmup
    return min(1.0, (stage.steps - step) / stage.decay) if stage.decay else 1.0


def make_trainer(model: nn.Module, pairs: Pairs, output: Path, device: str) -> Any:
    """Hugging Face Trainer for one stage, with our losses, batches, clock-driven checkpoints and log."""
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    from edit_gec.linear import computes

    stage, recipe = pairs.stage, pairs.recipe
    objective = objective_of(recipe, pairs.folder)

    class ObjectiveTrainer(Trainer):
        def get_train_dataloader(self) -> Any:
            from torch.utils.data import DataLoader, IterableDataset

            class Stream(IterableDataset):  # type: ignore[type-arg]
                def __iter__(self) -> Iterator[dict[str, Any]]:
                    return iter(pairs)

            workers = max(1, (os.cpu_count() or 2) - 4)
            return DataLoader(Stream(), batch_size=None, num_workers=workers, prefetch_factor=8)

        def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            return objective.loss(inputs, model(**inputs, step=self.state.global_step))

        def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
            super().log({**logs, **objective.take()}, *args, **kwargs)

    class Clock(TrainerCallback):
        last = time.monotonic()
        stopped = False

        def stop(self, *_: Any) -> None:
            self.stopped = True

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.handlers = {n: signal.signal(n, self.stop) for n in (signal.SIGINT, signal.SIGTERM)}

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            for number, handler in self.handlers.items():
                signal.signal(number, handler)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            save = self.stopped or time.monotonic() - self.last > SAVE_SECONDS
            if args.world_size > 1:  # all processes must save, and stop, at the same step
                flags = torch.tensor([float(save), float(self.stopped)], device=args.device)
                torch.distributed.all_reduce(flags)
                save, self.stopped = (flag > 0 for flag in flags.tolist())
            if save:
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
        bf16=recipe.bf16 and computes(torch.bfloat16, device),
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
    optimizer = optimizer_for(model, stage, recipe, objective.rate)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: schedule(step, stage))
    return ObjectiveTrainer(
        model=objective.losses(model),
        args=arguments,
        train_dataset=[None],
        optimizers=(optimizer, scheduler),
        callbacks=[Clock()],
    )


def run_stage(model: nn.Module, pairs: Pairs, output: Path, device: str) -> None:
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


def train(recipe_path: Path, data: Path, runs: Path, *, device: str = "cpu", init: Path | None = None) -> Path:
    """Run all stages of a recipe; returns the folder of the finished model. Finished stages are not repeated."""
    import torch
    from accelerate import PartialState  # type: ignore[import-untyped]

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
                average(stage, runs / recipe.name)
        else:
            before = runs / recipe.name / stage.start if stage.start else finished
            model = objective.start(stage, before, init)
            run_stage(model.train(), Pairs(folder, data, recipe, stage, 0), output, device)
            if processes.is_main_process:
                objective.save(model, output)
        processes.wait_for_everyone()
        finished = output
    output = runs / recipe.name / "model"
    if processes.is_main_process:
        if finished is None:
            raise InputError("a recipe without stages trains nothing")
        objective.finish(finished, output)
        for name in (FILE, WORDS):
            if (folder / name).exists():
                shutil.copyfile(folder / name, output / name)
    processes.wait_for_everyone()
    return output


def average(stage: Stage, run: Path) -> None:
    """Write the stage that is a mean of others of its run. What was trained from one start with another mix of errors,
    or for longer, lies in one valley; the middle of it is better than its rims (Wortsman et al. 2022, "Model soups").

    Raises InputError when the stages differ in shape.
    """
    from edit_gec import checkpoint

    folders = [run / name for name in stage.average]
    tensors = checkpoint.average(folders, list(stage.average.values()))
    checkpoint.write_folder(run / stage.name, checkpoint.read_config(folders[-1]), tensors)


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
            word_list.write(data, folder / WORDS)


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
