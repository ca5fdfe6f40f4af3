"""Hugging Face Trainer for one stage: our losses, batches, checkpoints by the clock, running average and log.

A checkpoint is a folder of the Trainer with two more files: `average.safetensors`, and `complete.json`, which is
written last and holds the sizes of all others. A folder that does not match it is ignored, so the training or the
machine may stop at any time.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_model, save_model
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from edit_gec.errors import InputError
from edit_gec.lab.training import course
from edit_gec.lab.training.optim import optimizer_for
from edit_gec.modeling.edit5 import CrossEntropy
from edit_gec.modeling.onednn import has_native_dtype
from edit_gec.modeling.t5 import DecoderLayer, EncoderLayer
from edit_gec.text.files import write_json

if TYPE_CHECKING:
    from edit_gec.lab.training.objective import Objective
    from edit_gec.lab.training.pairs import Pairs
    from edit_gec.lab.training.recipe import TrainingStage

KEPT = 2  # checkpoints
SPARE_CORES = 4  # that make no pairs where the recipe names no number of workers
BUFFERED = 32  # batches that are ready: a worker is busy for several updates when it fills a pool
COMPLETE = "complete.json"
AVERAGE = "average.safetensors"


# ---------------------------------------------------------------- checkpoints


def file_sizes(folder: Path) -> dict[str, int]:
    """Name -> bytes of the files of a checkpoint, without the one that says so."""
    return {path.name: path.stat().st_size for path in folder.iterdir() if path.name != COMPLETE}


def is_complete(folder: Path) -> bool:
    """Whether everything that was written to a checkpoint is there."""
    try:
        written: dict[str, int] = json.loads((folder / COMPLETE).read_text(encoding="utf-8"))["files"]
        return file_sizes(folder) == written
    except (OSError, ValueError, KeyError, TypeError):
        return False


def checkpoints(output: Path) -> list[Path]:
    """The complete checkpoints of a stage, oldest first."""
    found = [path for path in output.glob("checkpoint-*") if path.name.rpartition("-")[2].isdigit()]
    return [path for path in sorted(found, key=update_of) if is_complete(path)]


def update_of(checkpoint: Path) -> int:
    """Number of the update after which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def complete_checkpoint(folder: Path, **state: int) -> None:
    """Bring a checkpoint to the disk, say that it is complete, and keep only the last ones next to it."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    write_json(folder / COMPLETE, {**state, "files": file_sizes(folder)})
    kept = checkpoints(folder.parent)[-KEPT:]
    for other in folder.parent.glob("checkpoint-*"):
        if other not in kept:
            shutil.rmtree(other, ignore_errors=True)


# ---------------------------------------------------------------- callbacks


class SaveTimer(TrainerCallback):
    """Saves every few minutes, and on Ctrl-C, on SIGTERM or when the time of the stage is over, which stop the training
    after the update."""

    def __init__(self, minutes: float) -> None:
        self.seconds = 60 * minutes
        self.last = time.monotonic()
        self.stopped = False

    def stop(self, *_: Any) -> None:
        """Stop after this update."""
        self.stopped = True

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Take over the signals that end a process."""
        self.handlers = {n: signal.signal(n, self.stop) for n in (signal.SIGINT, signal.SIGTERM)}

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Give the signals back."""
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save, and stop, when it is time to."""
        self.stopped = self.stopped or course.is_over()
        save = self.stopped or time.monotonic() - self.last > self.seconds
        if args.world_size > 1:  # all processes must save, and stop, at the same step
            flags = torch.tensor([float(save), float(self.stopped)], device=args.device)
            torch.distributed.all_reduce(flags)
            save, self.stopped = (flag > 0 for flag in flags.tolist())
        if save:
            self.last = time.monotonic()
            control.should_save = True
        control.should_training_stop = control.should_training_stop or self.stopped


class Keeper(TrainerCallback):
    """Keeps the running average, completes checkpoints and writes the log."""

    def __init__(self, model: nn.Module, stage: TrainingStage, output: Path) -> None:
        self.model = model
        self.stage = stage
        self.output = output
        self.average: nn.Module | None = None
        self.pieces = 0  # seen so far
        self.logged = 0  # the last step of the log, which has each once

    def resume(self, checkpoint: Path) -> None:
        """Take over what a checkpoint says of the time before it."""
        state = json.loads((checkpoint / COMPLETE).read_text(encoding="utf-8"))
        self.pieces = state["pieces"]

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin the average, or go on with that of the checkpoint."""
        if self.stage.ema:  # the weights are those of the checkpoint by now, on their device
            self.average = copy.deepcopy(self.model)
            if (path := self.output / f"checkpoint-{state.global_step}" / AVERAGE).exists():
                load_model(self.average, path)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Bring the average up to date."""
        if self.average is not None:
            update_average(self.average, self.model, state.global_step, self.stage.ema)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write the average into the checkpoint, and say that this is complete."""
        from accelerate import PartialState  # type: ignore[import-untyped]

        PartialState().wait_for_everyone()
        if state.is_world_process_zero:
            folder = self.output / f"checkpoint-{state.global_step}"
            if self.average is not None:
                save_model(self.average, str(folder / AVERAGE))
            complete_checkpoint(folder, pieces=self.pieces)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Print the figures of the last updates, and add them to the log."""
        if not state.is_world_process_zero:
            return
        if "loss" in logs:
            sys.stderr.write(f"{self.stage.name}: step {state.global_step} of {state.max_steps}, ")
            sys.stderr.write(f"{self.pieces:,} pieces, loss {logs['loss']:.4f}\n")
        if state.global_step > self.logged:  # the Trainer's last line may be of a step that was logged
            self.logged = state.global_step
            line = {"step": state.global_step, "time": time.time(), "seen_pieces": self.pieces, **logs}
            with (self.output / "log.jsonl").open("a", encoding="utf-8") as log:
                log.write(json.dumps(line) + "\n")


@torch.no_grad()
def update_average(average: nn.Module, model: nn.Module, step: int, decay: float) -> None:
    """Take the weights after update `step`, from 1, into their running average, an exponential one.

    The first ones weigh more: the start is soon forgotten. The average of a constant learning rate is about as good as
    the end of a decay.
    """
    decay = min(decay, (1 + step) / (10 + step))
    torch._foreach_lerp_([*average.parameters()], [*model.parameters()], 1 - decay)


# ---------------------------------------------------------------- the Trainer


class ObjectiveTrainer(Trainer):
    """A Trainer of an objective on endless pairs."""

    objective: Objective

    def __init__(self, pairs: Pairs, objective: Objective, keeper: Keeper, **options: Any) -> None:
        super().__init__(train_dataset=[None], callbacks=[keeper, SaveTimer(pairs.recipe.save_minutes)], **options)
        self.remove_callback(PrinterCallback)  # standard output is for data
        self.pairs = pairs
        self.objective = objective
        self.keeper = keeper

    def get_train_dataloader(self) -> Any:
        """Batches, made by processes of their own beside those that compute."""
        workers = self.pairs.recipe.workers or max(1, (os.cpu_count() or 2) - SPARE_CORES)
        prefetched = max(16, BUFFERED // workers)
        pinned = self.args.device.type == "cuda"
        return DataLoader(
            self.pairs, batch_size=None, num_workers=workers, prefetch_factor=prefetched, pin_memory=pinned
        )

    def _prepare_inputs(self, inputs: Any) -> Any:
        """A batch on the device. A GPU gets it while it computes: nothing here waits for the GPU."""
        device = self.args.device
        return {
            name: value.to(device, non_blocking=True) if isinstance(value, Tensor) else value
            for name, value in inputs.items()
        }

    def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Loss of a batch, whose pieces are counted."""
        self.keeper.pieces += inputs.pop("pieces") * self.args.world_size
        sums = model(**inputs, step=self.state.global_step)
        loss = sums.pop("loss")
        self.objective.count(sums)
        return loss

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """The Trainer's figures and the objective's."""
        super().log({**logs, **self.objective.take_figures()}, *args, **kwargs)


def compile_layers(losses: nn.Module) -> None:
    """Compile what takes the time besides products: layers and the loss over the vocabulary. Batches of all
    shapes share one compilation.

    Raises InputError when there is no C++ compiler.
    """
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "clang++", "cl")):
        raise InputError("compile = true: no C++ compiler found; install g++ or clang++, or leave the key out")
    for module in losses.modules():
        if isinstance(module, EncoderLayer | DecoderLayer | CrossEntropy):
            module.compile(dynamic=True)


def make_trainer(model: nn.Module, objective: Objective, pairs: Pairs, output: Path, device: str) -> ObjectiveTrainer:
    """The Trainer of one stage."""
    stage, recipe = pairs.stage, pairs.recipe
    arguments = TrainingArguments(
        output_dir=str(output),
        max_steps=course.steps(stage),
        use_cpu=device == "cpu",
        bf16=recipe.bf16 and has_native_dtype(torch.bfloat16, device),
        max_grad_norm=1.0,
        logging_steps=50,
        logging_nan_inf_filter=False,  # it would read every loss, and wait for the device
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        ignore_data_skip=True,
        remove_unused_columns=False,
        seed=recipe.seed,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,
    )
    keeper = Keeper(model, stage, output)
    optimizer = optimizer_for(model, stage, recipe, objective.rate_of)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: course.learning_rate(step, stage))
    losses = objective.make_losses(model, stage)
    if recipe.compile:
        compile_layers(losses)
    return ObjectiveTrainer(
        pairs,
        objective,
        keeper,
        model=losses,
        args=arguments,
        optimizers=(optimizer, scheduler),
    )


def run_trainer(trainer: Trainer, output: Path, last: Path | None) -> None:
    """Train to the end, from a checkpoint if there is one. Raises InputError where a process that makes pairs is
    killed."""
    try:
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    except (RuntimeError, ConnectionError, EOFError) as error:  # the latter two while a batch is taken over
        if isinstance(error, RuntimeError) and "DataLoader worker" not in str(error):  # torch has no class for it
            raise
        if sys.platform != "win32":  # torch would raise it again, wherever the training is cleared away
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        raise InputError(
            f"{output}: a process that makes pairs was killed; the same command goes on from there"
        ) from None
