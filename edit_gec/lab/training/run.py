"""Training: all stages of a recipe, with synthetic errors made afresh for every pair.

    edit-gec train --recipe models/edit5-mini/recipe.toml --data DATA

A recipe (recipe.py) is a list of stages, between which the model grows (edit5.grow); course.py says what holds at which
time of a stage. Every stage lives in RUNS/<name>/<stage> and saves a checkpoint every few minutes (trainer.py); Ctrl-C
and SIGTERM save one too, and the same command resumes. Under torchrun every process draws its own pairs; the first one
prepares and writes the files.

What is learnt from a pair is the objective's (objective.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.errors import InputError
from edit_gec.lab.training import course
from edit_gec.lab.training.pairs import OBJECTIVES, Pairs
from edit_gec.lab.training.preparation import copy_vocabulary, prepare_files
from edit_gec.lab.training.recipe import read_recipe
from edit_gec.modeling.config import read_config
from edit_gec.text.files import PARTIAL_SUFFIX, atomic_write

if TYPE_CHECKING:
    from torch import nn


LOG = "log.jsonl"  # of a stage: a line of JSON every so many steps
Say = Callable[[str], None]


def run_stage(model: nn.Module, pairs: Pairs, output: Path, device: str, say: Say) -> nn.Module:
    """Train one stage to its end, from its last complete checkpoint if there is one; `say` is told from where.

    Returns the model of the stage: its last weights, or their running average where the stage has one.

    Raises InputError when the training was stopped before its end.
    """
    from accelerate import PartialState  # type: ignore[import-untyped]

    from edit_gec.lab.training.trainer import checkpoints, make_trainer, run_trainer, update_of

    output.mkdir(parents=True, exist_ok=True)
    trainer = make_trainer(model, OBJECTIVES[pairs.recipe.kind](pairs.recipe, pairs.folder), pairs, output, device)
    with PartialState().main_process_first():
        last = next(reversed(checkpoints(output)), None)
    if last:
        pairs.start = update_of(last)
        trainer.keeper.resume(last)
    if PartialState().is_main_process:
        trainer.keeper.logged = cut_log(output / LOG, pairs.start)
        say(f"{pairs.stage.name}: {f'goes on from step {pairs.start}' if last else 'starts at step 0'}")
    run_trainer(trainer, output, last)
    if trainer.state.global_step < course.steps(pairs.stage) and not course.is_over():
        raise InputError(f"{output}: stopped at step {trainer.state.global_step}; the same command goes on from there")
    return trainer.keeper.average or model


def remove_unfinished(run: Path) -> None:
    """Remove the unfinished files that a killed training left."""
    for path in run.rglob(f".*{PARTIAL_SUFFIX}"):
        path.unlink(missing_ok=True)


def cut_log(path: Path, step: int) -> int:
    """Drop the lines of steps that are repeated, because the training was killed behind its last checkpoint, and a line
    that ends in the middle; returns the last step that is left, or 0."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    kept = {json.loads(line)["step"]: line for line in lines if line.endswith(b"\n")}
    kept = {logged: line for logged, line in kept.items() if logged <= step}
    if lines:
        atomic_write(path, b"".join(kept.values()))
    return max(kept, default=0)


def train(
    recipe_path: Path,
    data: Path,
    runs: Path,
    *,
    device: str = "cpu",
    init: Path | None = None,
    say: Say = lambda line: None,
) -> Path:
    """Run all stages of a recipe; returns the folder of the finished model. Finished stages are not repeated.

    In the process that writes, `say` is told what begins.
    Raises InputError where recipe, data or models are at fault, and when the training was stopped before its end.
    """
    import torch
    from accelerate import PartialState

    recipe = read_recipe(recipe_path)
    folder, run = recipe_path.parent, runs / recipe.name
    processes = PartialState(cpu=device == "cpu")
    writes: bool = processes.is_main_process
    say = say if writes else lambda line: None
    say(f"{recipe.name}: text, vocabulary and word list, where they are missing")
    with processes.main_process_first():
        prepare_files(recipe, folder, data, init)
    objective = OBJECTIVES[recipe.kind](recipe, folder)
    torch.manual_seed(recipe.seed)
    finished: Path | None = None
    for stage in recipe.stages:
        output = run / stage.name
        if (output / "config.json").exists():
            say(f"{stage.name}: is done")
        elif stage.average:
            if writes:
                average(stage.average, run, output)
        else:
            before = run / stage.start if stage.start else finished
            model = objective.start_model(stage, folder / stage.init if stage.init else before, init)
            trained = run_stage(model.train(), Pairs(folder, data, recipe, stage), output, device, say)
            if writes:
                objective.save_stage(trained, output)
        processes.wait_for_everyone()
        finished = output
    assert finished is not None, "read_recipe refuses a recipe without stages"
    if writes:
        objective.write_model(finished, run / "model")
        copy_vocabulary(folder, run / "model")
        remove_unfinished(run)
    processes.wait_for_everyone()
    return run / "model"


def average(weights: dict[str, float], run: Path, output: Path) -> None:
    """Write the mean of some model folders of a run.

    Models that were trained on from one start, with another mix of errors or for longer, lie in one valley of the loss;
    their mean is better than each of them (Wortsman et al. 2022, "Model soups").

    Raises InputError when they differ in shape.
    """
    from edit_gec.modeling import checkpoint

    folders = [run / name for name in weights]
    tensors = checkpoint.average(folders, list(weights.values()))
    checkpoint.write_folder(output, read_config(folders[-1]), tensors)
