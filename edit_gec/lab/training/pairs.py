"""Pairs of erroneous and right sentences, made afresh for each use, and the batches that are filled with them.

    pairs = Pairs(folder, data, recipe, stage, start=0)
    next(iter(pairs))                        one batch: tensors, and the number of its pieces
    next(pairs.draw_pairs(random.Random(1))) one TrainingPair

A pair comes from prose with synthetic errors, real edits, text that `edit-gec label` labelled, or clean text.
The stage's shares say how many come from each (recipe.py); they follow the progress of the stage.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info

from edit_gec.lab.training import course
from edit_gec.lab.training.clean_prose import ProseUnit, fragment, read_units
from edit_gec.lab.training.edit_pairs import RealEdits
from edit_gec.lab.training.labelled_text import LabelledText, TrainingPair
from edit_gec.lab.training.objective import Example, Objective
from edit_gec.lab.training.objective_causal import CausalObjective
from edit_gec.lab.training.objective_edit5 import EdiT5Objective
from edit_gec.lab.training.objective_t5 import T5Objective
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.lab.training.synthetic.corruptor import Corruptor
from edit_gec.lab.training.synthetic.misspellings import find_spelling

OBJECTIVES: dict[str, type[Objective]] = {"edit5": EdiT5Objective, "t5": T5Objective, "causal": CausalObjective}
POOL = 64  # batches that are filled together from pairs sorted by length: padding stays under a few per cent
POOL_PIECES = 2**19  # or as many as hold so many pieces, which one process makes in ten seconds, but at least 8
CAPITALS = 0.01  # of the pairs: errors are errors in capitals, too
REWORDED = 0.2  # of the pairs with errors: they stand among words that are oddly chosen


def begin_worker() -> Any:
    """What torch tells a process that makes batches about itself, or None in any other process.

    Such a process ends within a second of its parent. Torch's own check is not enough: who has found out waits for ever
    to pass on the batches that nobody takes any more. Nor does it tell of a batch whose taker has just died.
    """
    worker, parent = get_worker_info(), multiprocessing.parent_process()

    def watch() -> None:
        while parent and os.getppid() == parent.pid:
            time.sleep(1)
        os._exit(1)

    if worker:
        sys.excepthook = lambda *_: None  # of threads that pass batches on; torch passes on the other errors
        threading.Thread(target=watch, daemon=True).start()
    return worker


class Pairs(IterableDataset[dict[str, Any]]):
    """Endless batches of one stage: an iterable dataset whose items are complete batches of tensors."""

    def __init__(self, folder: Path, data: Path, recipe: Recipe, stage: TrainingStage, start: int = 0) -> None:
        """`folder` holds the vocabulary, `data` the corpora; `start` is the update from which the stage goes on."""
        self.folder = folder
        self.data = data
        self.recipe = recipe
        self.stage = stage
        self.start = start
        self.progress = 0.0  # share of the stage that has passed; texts follow it

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = begin_worker()
        who = (os.environ.get("RANK", "0"), worker.id if worker else 0)  # each draws pairs of its own
        rng = random.Random(f"{self.recipe.seed} {self.stage.name} {self.start} {who}")
        objective = OBJECTIVES[self.recipe.kind](self.recipe, self.folder)
        step = self.start
        self.progress = course.progress(step, self.stage)
        examples = self.make_examples(rng, objective)
        while True:
            batch_pieces = course.setting("batch_pieces", self.progress, self.stage)
            pooled = min(POOL, max(8, POOL_PIECES // batch_pieces))
            batches = list(cut_batches(fill_pool(examples, pooled * batch_pieces), batch_pieces))
            rng.shuffle(batches)
            for batch in batches:
                yield {**objective.collate(batch), "pieces": sum(len(example.ids) for example in batch)}
            step += len(batches) * (worker.num_workers if worker else 1)
            self.progress = course.progress(step, self.stage)

    def make_examples(self, rng: random.Random, objective: Objective) -> Iterator[Example]:
        """Endless examples: texts that the model can express and that are not too long at this progress."""
        tokens = objective.tokens()
        for pair in self.draw_pairs(rng):
            made = objective.make_example(pair.reverse() if self.stage.reverse else pair, tokens)
            longest = course.setting("max_pieces", self.progress, self.stage) or self.recipe.max_pieces
            if made is not None and len(made.ids) <= longest:
                yield made

    def draw_pairs(self, rng: random.Random) -> Iterator[TrainingPair]:
        """Endless pairs: fresh errors every time, real edits, labelled text and clean pairs mixed in."""
        drawn = self._read_drawn()
        while not self.stage.needs_prose:
            kind = choose_kind(self._shares(), rng)
            yield drawn.get(kind, next(iter(drawn.values())))(rng)
        units = read_units(self.data / "pairs" / "prose.txt")
        corruptor = Corruptor.load(find_spelling(self.data))
        order = list(range(len(units)))
        while True:
            rng.shuffle(order)
            for unit in (units[n] for n in order):
                kind = choose_kind(self._shares(), rng)
                if kind in drawn:
                    yield drawn[kind](rng)
                elif kind == "clean":
                    same = fragment(unit.text, rng) if rng.random() < 0.5 else unit.text
                    yield TrainingPair(same, same)
                else:
                    yield TrainingPair(*corrupt_unit(unit, corruptor, rng, self.stage.rate))

    def _read_drawn(self) -> dict[str, Callable[[random.Random], TrainingPair]]:
        """Kind -> how one of its pairs is drawn, for the kinds that are not made from prose."""
        drawn: dict[str, Callable[[random.Random], TrainingPair]] = {}
        stage = self.stage
        if stage.real or stage.end.get("real"):
            real = RealEdits(self.data / stage.edits)
            drawn["real"] = lambda rng: TrainingPair(*real.draw(rng))
        if stage.labelled or stage.end.get("labelled"):
            drawn["labelled"] = LabelledText(self.data / "labelled").draw
        return drawn

    def _shares(self) -> dict[str, float]:
        return {name: course.share(name, self.progress, self.stage) for name in ("real", "labelled", "clean")}


def corrupt_unit(unit: ProseUnit, corruptor: Corruptor, rng: random.Random, rate: float) -> tuple[str, str]:
    """(wrong, right) of a unit of prose; now and then reworded first, or all in capitals."""
    right = corruptor.reword(unit.text, rng) if rng.random() < REWORDED else unit.text
    wrong = corruptor.corrupt(right, rng, rate, punctuation=unit.punctuation)
    return (wrong.upper(), right.upper()) if rng.random() < CAPITALS else (wrong, right)


def choose_kind(shares: dict[str, float], rng: random.Random) -> str:
    """One of the kinds of pairs, each with its share; empty for what the shares leave."""
    place = rng.random()
    for kind, share in shares.items():
        if place < share:
            return kind
        place -= share
    return ""


def fill_pool(examples: Iterator[Example], pieces: int) -> list[Example]:
    """The next examples, with so many pieces in all."""
    pool: list[Example] = []
    while pieces > 0:
        pool.append(next(examples))
        pieces -= len(pool[-1].ids)
    return pool


def cut_batches(pool: list[Example], batch_pieces: int) -> Iterator[list[Example]]:
    """Cut a pool into batches of similar length with at most `batch_pieces` pieces, padding included."""
    batch: list[Example] = []
    for example in sorted(pool, key=lambda e: len(e.ids)):
        if batch and (len(batch) + 1) * len(example.ids) > batch_pieces:
            yield batch
            batch = []
        batch.append(example)
    if batch:
        yield batch
