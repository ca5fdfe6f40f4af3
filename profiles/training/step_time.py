"""Where the time of a training step goes, for edit5-mini on the training mix.

    python profiles/training/step_time.py --data DATA --batch-pieces 4096 8192 --steps 10

Prints medians in milliseconds: making the pairs of a batch (in training another process does that meanwhile), the parts
of the forward pass, the backward pass, the optimizer, and the running average of the weights. "Muon of torch" is
torch.optim.Muon on the same gradients, which takes turns with ours.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from edit_gec.lab.training.clean_prose import prepare
from edit_gec.lab.training.objective_edit5 import EdiT5Objective
from edit_gec.lab.training.optim import ITERATIONS, optimizer_for
from edit_gec.lab.training.pairs import POOL, Pairs, cut_batches, fill_pool
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.lab.training.trainer import update_average
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.onednn import has_native_dtype

ROOT = Path(__file__).parents[2]
PARTS = ("encode", "tag", "point", "remember", "decoder", "output")  # of EdiT5.forward


class Watch:
    """Sums of seconds by part; an inner part is taken out of the part around it."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time within as this part's."""
        self._inner.append(0.0)
        start = time.perf_counter()
        yield
        spent = time.perf_counter() - start
        self.parts[name] += spent - self._inner.pop()
        self._inner[-1] += spent

    def on(self, call: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The same function, timed."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.part(name):
                return call(*args, **kwargs)

        return timed


def make_batches(pairs: Pairs, objective: EdiT5Objective, count: int) -> tuple[list[dict[str, Any]], float]:
    """Some batches, and the seconds that each took to make."""
    examples = pairs.make_examples(random.Random(1), objective)
    next(examples)  # reads the text
    start = time.perf_counter()
    batch_pieces = pairs.stage.batch_pieces
    pool = list(cut_batches(fill_pool(examples, (POOL if count > 8 else 8) * batch_pieces), batch_pieces))
    batches = [objective.collate(batch) for batch in pool]
    spent = (time.perf_counter() - start) / len(batches)
    random.Random(1).shuffle(batches)
    return list(islice(batches, count)), spent


def measure(batch_pieces: int, recipe: Recipe, data: Path, model_folder: Path, steps: int) -> dict[str, float]:
    """Median milliseconds of each part of a step."""
    stage = TrainingStage("time", 1, batch_pieces=batch_pieces, real=0.08, clean=0.12)
    objective = EdiT5Objective(recipe, model_folder)
    batches, making = make_batches(Pairs(model_folder, data, recipe, stage, 0), objective, steps + 1)
    model = EdiT5.load(model_folder).train()
    watch = Watch()
    for name in PARTS:
        part = getattr(model, name)
        if isinstance(part, torch.nn.Module):
            part.forward = watch.on(part.forward, name)  # type: ignore[method-assign]
        else:
            setattr(model, name, watch.on(part, name))
    optimizer, average = optimizer_for(model, stage, recipe), EdiT5.load(model_folder)
    muon = torch.optim.Muon(
        [p for group in optimizer.muon.param_groups for p in group["params"]],
        lr=0.0, weight_decay=0.0, ns_steps=ITERATIONS, adjust_lr_fn="match_rms_adamw",
    )  # fmt: skip
    found: dict[str, list[float]] = defaultdict(list)
    for n, inputs in enumerate(batches):
        watch.parts.clear()
        step(n, inputs, objective, objective.make_losses(model, stage), watch)
        with watch.part("clip"):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for name, call in {
            "Muon": optimizer.muon.step,
            "Muon of torch": muon.step,
            "AdamW": optimizer.adamw.step,
        }.items():
            with watch.part(name):
                call()
        with watch.part("average"):
            update_average(average, model, n, 0.999)
        model.zero_grad()
        for name, seconds in watch.parts.items() if n else ():  # the first one allocates
            found[name].append(seconds)
    rest = {name: 1000 * statistics.median(seconds) for name, seconds in found.items()}
    return {"pairs (beside)": 1000 * making, **rest}


def step(n: int, inputs: dict[str, Any], objective: EdiT5Objective, losses: torch.nn.Module, watch: Watch) -> None:
    """Forward and backward pass of one batch, as the Trainer makes them."""
    mixed = torch.autocast("cpu", torch.bfloat16, enabled=has_native_dtype(torch.bfloat16))
    with mixed, watch.part("losses and rest"):
        sums = losses(**inputs, step=n)
        loss = sums.pop("loss")
    with watch.part("counting"):
        objective.count(sums)
    with watch.part("backward"):
        loss.backward()


def main() -> None:
    """Time steps and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "edit5-mini")
    parser.add_argument("--batch-pieces", type=int, nargs="+", default=[4096, 8192])
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    text = args.data / "pairs" / "prose.txt"
    if not text.exists():
        prepare(args.data / "prose", text)
    recipe = Recipe("time", max_pieces=64, weight_decay=0.04)
    columns = [measure(pieces, recipe, args.data, args.model, args.steps) for pieces in args.batch_pieces]
    lines = [
        f"{'ms, ' + str(torch.get_num_threads()) + ' threads':20}" + "".join(f"{p:10,}" for p in args.batch_pieces)
    ]
    lines += [f"{name:20}" + "".join(f"{column[name]:10.0f}" for column in columns) for name in columns[0]]
    aside = ("pairs (beside)", "Muon of torch")
    totals = [sum(ms for name, ms in column.items() if name not in aside) for column in columns]
    lines.append(f"{'a step':20}" + "".join(f"{total:10.0f}" for total in totals))
    speeds = [1000 * pieces / total for pieces, total in zip(args.batch_pieces, totals, strict=True)]
    lines.append(f"{'pieces a second':20}" + "".join(f"{speed:10,.0f}" for speed in speeds))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
