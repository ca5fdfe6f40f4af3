"""Learner NLL: a model's negative log-likelihood of the corrections of learners' sentences, before any threshold.

    python profiles/training/learner_nll.py --data DEV --model FOLDER RUN/STAGE --output FOLDER

Teacher-forced, in nats a sentence: loss of the gold tags and of the pieces that are inserted, for the first annotator's
corrections of each sentence; and -log p(nothing changes) of clean sentences. It moves long before F0.5 does, whose 95 %
interval is four points wide on the same set. For each type of error: loss of the tags of changed pieces, an edit.

With several models each is compared with the first one on the same sentences (paired bootstrap). With --output the
figures of each model are written to FOLDER/<stage>-<folder>.json, which curves.py draws.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.annotation import m2
from edit_gec.lab.evaluation.datasets import find_test_sets
from edit_gec.lab.evaluation.significance import Paired, compare_paired
from edit_gec.lab.training.entry import run_main
from edit_gec.lab.training.labelled_text import TrainingPair
from edit_gec.lab.training.objective_edit5 import EdiT5Objective
from edit_gec.lab.training.recipe import Recipe
from edit_gec.modeling.edit5 import Batch, EdiT5
from edit_gec.modeling.tagset import KEEP
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.text.detokenize import detokenize, splits_hyphens

BATCH = 32  # sentences of similar length


class Gold(NamedTuple):
    """A raw sentence, what it should be, and (first character, end, type) of each correction."""

    source: str
    target: str
    edits: list[tuple[int, int, str]]


class Loss(NamedTuple):
    """Nats of one sentence, and of the changed pieces of each of its corrections."""

    tag: float
    insertion: float
    types: list[tuple[str, float]]


def read_gold(sentences: Sequence[m2.M2Sentence]) -> list[Gold]:
    """The sentences of an M2 file as their writers typed them, with the first annotator's corrections."""
    split = splits_hyphens([sentence.tokens for sentence in sentences])
    return [_gold(sentence, split) for sentence in sentences]


def _gold(sentence: m2.M2Sentence, split: bool) -> Gold:
    edits = [e for e in sentence.annotators[min(sentence.annotators)] if e.type not in m2.DETECTION_ONLY]
    raw = detokenize(sentence.tokens, split)
    ends = [0, *(end for _, end in raw.spans)]
    spans = [(ends[e.start], ends[e.end], e.type) for e in edits]  # with the space before the first token
    return Gold(raw.text, detokenize(m2.apply_edits(sentence.tokens, edits), split).text, spans)


class Judge:
    """A model that says how unlikely it finds a correction."""

    def __init__(self, folder: Path) -> None:
        self.model = EdiT5.load(folder)
        slots = self.model.config.slots
        self.tokens = Tokens.load(folder, slots)
        recipe = Recipe("nll", vocabulary=self.tokens.size - slots, model={"slots": slots})
        self.objective = EdiT5Objective(recipe, folder)

    def losses(self, golds: Sequence[Gold]) -> list[Loss | None]:
        """Loss of each sentence; None where the model cannot express its correction."""
        found: list[Loss | None] = [None] * len(golds)
        examples = [self.objective.make_example(TrainingPair(gold.source, gold.target), self.tokens) for gold in golds]
        fitting = [n for n, e in enumerate(examples) if e is not None and len(e.ids) <= self.model.config.slots]
        fitting.sort(key=lambda n: len(examples[n].ids))  # type: ignore[union-attr]
        for at in range(0, len(fitting), BATCH):
            chosen = fitting[at : at + BATCH]
            for n, loss in zip(
                chosen, self._batch([golds[n] for n in chosen], [examples[n] for n in chosen]), strict=True
            ):
                found[n] = loss
        return found

    @torch.inference_mode()
    def _batch(self, golds: Sequence[Gold], examples: Sequence[Any]) -> list[Loss]:
        inputs = self.objective.collate(examples)
        batch = Batch(**{name: inputs[name] for name in Batch._fields})
        _, tag_logits, logits, *_ = self.model(batch)
        tags = F.cross_entropy(tag_logits.transpose(1, 2), batch.tags, reduction="none") * batch.mask  # [B, S]
        written = batch.stream_target >= 0  # [R, T]
        pieces = F.cross_entropy(logits, batch.stream_target[written], reduction="none")  # [N]
        rows = batch.rows[written.nonzero()[:, 0]]  # [N] sentence of each piece that is written
        insertions = torch.zeros(len(golds)).index_add(0, rows, pieces)  # [B]
        return [
            Loss(float(tags[n].sum()), float(insertions[n]), self._types(gold, batch.tags[n], tags[n]))
            for n, gold in enumerate(golds)
        ]

    def _types(self, gold: Gold, tags: Tensor, nats: Tensor) -> list[tuple[str, float]]:
        if not gold.edits:
            return []
        sums = [0.0] * len(gold.edits)
        pieces = self.tokens.encode(gold.source)
        for i in torch.nonzero(tags != KEEP).flatten().tolist():
            sums[nearest(i, pieces, gold.edits)] += float(nats[i])
        return [(kind, value) for (_, _, kind), value in zip(gold.edits, sums, strict=True)]


def nearest(position: int, pieces: Pieces, edits: Sequence[tuple[int, int, str]]) -> int:
    """Which of the edits a piece overlaps most, or is nearest to. Position 0 is the sentinel."""
    start, end = (pieces.starts[position - 1], pieces.ends[position - 1]) if position else (0, 0)
    return min(range(len(edits)), key=lambda n: max(edits[n][0] - end, start - edits[n][1]))


def measure(folder: Path, golds: Sequence[Gold], clean: Sequence[str]) -> dict[str, Any]:
    """Figures of one model: nats of each sentence, and their means."""
    judge = Judge(folder)
    losses = judge.losses(golds)
    found = [loss for loss in losses if loss is not None]
    unchanged = [loss.tag for loss in judge.losses([Gold(line, line, []) for line in clean]) if loss is not None]
    types: dict[str, list[float]] = defaultdict(list)
    for kind, value in (item for loss in found for item in loss.types):
        types[kind].append(value)
    return {
        "model": str(folder),
        "sentences": len(found),
        "left_out": len(losses) - len(found),
        "tag": float(np.mean([loss.tag for loss in found])),
        "insertion": float(np.mean([loss.insertion for loss in found])),
        "nll": float(np.mean([loss.tag + loss.insertion for loss in found])),
        "clean": float(np.mean(unchanged)),
        "types": {kind: [len(types[kind]), round(float(np.mean(types[kind])), 4)] for kind in sorted(types)},
        "each": [None if loss is None else round(loss.tag + loss.insertion, 4) for loss in losses],
        "each_clean": [round(nats, 4) for nats in unchanged],
    }


def compare(first: dict[str, Any], other: dict[str, Any], key: str) -> Paired:
    """Difference of the means over the sentences that both can express, with its interval."""
    pairs = [(a, b) for a, b in zip(first[key], other[key], strict=True) if a is not None and b is not None]
    stats = [np.array([[pair[n], 1.0] for pair in pairs]) for n in (0, 1)]
    return compare_paired(stats[0], stats[1], lambda totals: totals[..., 0] / totals[..., 1])


def table(results: Sequence[dict[str, Any]]) -> str:
    """One line for each model, and the difference from the first one."""
    lines = [f"{'model':40} {'nll':>7} {'tag':>7} {'insert':>7} {'clean':>7}   against the first"]
    for n, r in enumerate(results):
        line = f"{r['model'][-40:]:40} {r['nll']:7.3f} {r['tag']:7.3f} {r['insertion']:7.3f} {r['clean']:7.4f}"
        for key, name in (("each", "nll"), ("each_clean", "clean")) if n else ():
            d = compare(results[0], r, key)
            line += f"   {name} {d.delta:+.4f} [{d.low:+.4f}, {d.high:+.4f}]"
        lines.append(line)
    lines += ["", f"{'type':16} {'edits':>6}   nats an edit"]
    common = sorted(results[0]["types"].items(), key=lambda item: -item[1][0])
    for kind, (count, _) in islice(common, 30):
        lines.append(f"{kind:16} {count:6}   " + "  ".join(f"{r['types'][kind][1]:6.3f}" for r in results))
    return "\n".join(lines)


def main() -> None:
    """Measure models and compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, nargs="+", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--learners", default="wi-3k")
    parser.add_argument("--clean", default="clean")
    parser.add_argument("--limit", type=int, help="read only the first N sentences of each set")
    parser.add_argument("--output", type=Path, help="folder for one JSON file for each model")
    args = parser.parse_args()
    golds = read_gold(find_test_sets(args.learners, args.data)[0].m2)[: args.limit]
    clean = find_test_sets(args.clean, args.data)[0].lines[: args.limit]
    results = []
    for folder in args.model:
        results.append(measure(folder, golds, clean))
        if args.output:
            args.output.mkdir(parents=True, exist_ok=True)
            name = "-".join(folder.resolve().parts[-2:]) + ".json"
            (args.output / name).write_text(json.dumps(results[-1]) + "\n", encoding="utf-8")
    sys.stdout.write(table(results) + "\n")


if __name__ == "__main__":
    run_main(main)
