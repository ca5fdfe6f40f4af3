"""A training in slices: train until a deadline, then leave what is there in files of at most 15 MB.

    python profiles/training/gpu_job.py --data DATA --minutes 9 --output OUT
    python profiles/training/gpu_job.py --data DATA --minutes 9 --output OUT --pieces 250_000_000

Each call goes on where the last one stopped (a checkpoint is written at the deadline). OUT gets the finished model, or
else the last snapshot of the running average, as float16 shards (edit_gec/training/shards.py), and log.jsonl. On
another machine put such a snapshot into the folder of its stage, RUNS/<name>/<stage>/ema-<M>M: the training goes on
from it. With --pieces the last stage of the recipe gets another length, so that its decay fits into the time.

The last line on standard output is JSON: step, pieces, pieces a second, and the folder that was written.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from edit_gec.training import course
from edit_gec.training.recipe import Recipe, read_recipe
from edit_gec.training.shards import write_shards

ROOT = Path(__file__).parents[2]


def set_pieces(recipe: Path, pieces: int) -> None:
    """Give the last stage of a recipe another length in pieces."""
    before, found, after = recipe.read_text(encoding="utf-8").rpartition("\npieces = ")
    if not found:
        raise SystemExit(f"{recipe}: no stage with pieces; --pieces cannot change it")
    recipe.write_text(before + found + re.sub(r"^[\d_]+", str(pieces), after), encoding="utf-8")


def train_until(minutes: float, options: list[str]) -> int:
    """Run `edit-gec train`, and ask it to stop at the deadline; returns its exit status."""
    with subprocess.Popen([sys.executable, "-m", "edit_gec", "train", *options], stdout=sys.stderr) as training:
        try:
            return training.wait(timeout=60 * minutes)
        except subprocess.TimeoutExpired:
            training.send_signal(signal.SIGTERM)
            return training.wait()


def newest(run: Path, recipe: Recipe) -> Path | None:
    """The finished model of a run, or the last snapshot of its last stage that has one."""
    for stage in reversed(recipe.stages):
        folder = run / stage.name
        if (folder / "config.json").exists():
            return folder
        written = [name for name in course.snapshots(stage) if (folder / name).is_dir()]
        if written:
            return folder / max(written, key=course.snapshots(stage).__getitem__)
    return None


def describe(log: Path) -> dict[str, Any]:
    """Where a stage is by its log, and how fast it was between its last lines."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    steps = [line for line in lines if "loss" in line]
    if not steps:
        return {"step": 0}
    first, last = steps[max(-6, -len(steps))], steps[-1]
    speed = (last["seen_pieces"] - first["seen_pieces"]) / max(1e-9, last["time"] - first["time"])
    return {"step": last["step"], "pieces": last["seen_pieces"], "pieces_a_second": round(speed), "loss": last["loss"]}


def main() -> int:
    """Train for a while, write shards, and say how far it is; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--recipe", type=Path, default=ROOT / "models" / "edit5-mini" / "recipe-4.toml")
    add("--data", type=Path, required=True, help="corpora, with pairs/prose.txt made beforehand")
    add("--runs", type=Path, default=ROOT / "models" / ".runs")
    add("--output", type=Path, required=True, help="folder for the shards and the log")
    add("--minutes", type=float, required=True, help="after which the training is stopped")
    add("--pieces", type=int, help="length of the last stage (default: the recipe's)")
    add("--device", choices=("cpu", "cuda"), default="cuda")
    args = parser.parse_args()
    if args.pieces:
        set_pieces(args.recipe, args.pieces)
    recipe = read_recipe(args.recipe)
    options = ["--recipe", args.recipe, "--data", args.data, "--runs", args.runs, "--device", args.device]
    status = train_until(args.minutes, list(map(str, options)))
    run = args.runs / recipe.name
    log = run / recipe.stages[-1].name / "log.jsonl"
    result: dict[str, Any] = {"status": status, **describe(log)}
    args.output.mkdir(parents=True, exist_ok=True)
    if log.exists():
        shutil.copyfile(log, args.output / "log.jsonl")
    model = newest(run, recipe)
    if model is not None:
        shards = write_shards(model, args.output / model.name)
        result |= {"written": str(args.output / model.name), "shards": len(shards)}
    sys.stdout.write(json.dumps(result) + "\n")
    return 0 if status in (0, 2, -signal.SIGTERM) else 1  # the last: the deadline came before the first update


if __name__ == "__main__":
    sys.exit(main())
