"""A training that ends by the clock, for a machine that is lent for a while; its model in files of at most 15 MB.

    python profiles/training/gpu_job.py --data DATA --minutes 9 --output OUT
    python profiles/training/gpu_job.py --data DATA --minutes 9 --output OUT --recipe models/t5-mini/recipe-3.toml

The recipe has one stage. Its progress is the share of the minutes that has passed (edit_gec/lab/training/course.py), so
its decay ends in time, however fast the machine is. Its number of pieces does not count. OUT gets the running average
at the end, as float16 shards (shards.py), and log.jsonl.

The last line on standard output is JSON: step, pieces, pieces a second, and the folder that was written.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from shards import write_shards

from edit_gec.lab.training import course
from edit_gec.lab.training.recipe import read_recipe
from edit_gec.lab.training.run import train

ROOT = Path(__file__).parents[2]


def describe(log: Path) -> dict[str, Any]:
    """Where a stage is by its log, and how fast it was between its last lines."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    steps = [line for line in lines if "loss" in line]
    if not steps:
        return {"step": 0}
    first, last = steps[max(-6, -len(steps))], steps[-1]
    speed = (last["seen_pieces"] - first["seen_pieces"]) / max(1e-9, last["time"] - first["time"])
    return {"step": last["step"], "pieces": last["seen_pieces"], "pieces_a_second": round(speed), "loss": last["loss"]}


def main() -> None:
    """Train for a while, write shards, and say how far it came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--recipe", type=Path, default=ROOT / "models" / "edit5-mini" / "recipe-4.toml")
    add("--data", type=Path, required=True, help="corpora, with pairs/prose.txt made beforehand")
    add("--runs", type=Path, default=ROOT / "models" / ".runs")
    add("--output", type=Path, required=True, help="folder for the shards and the log")
    add("--minutes", type=float, required=True, help="length of the training, from the start of this command")
    add("--device", choices=("cpu", "cuda"), default="cuda")
    args = parser.parse_args()
    (stage,) = read_recipe(args.recipe).stages
    course.follow_clock(60 * args.minutes)
    trained = train(args.recipe, args.data, args.runs, device=args.device).parent / stage.name
    shards = write_shards(trained, args.output / stage.name)
    log = trained / "log.jsonl"
    if log.exists():
        shutil.copyfile(log, args.output / "log.jsonl")
    result = {**describe(log), "written": str(args.output / stage.name), "shards": len(shards)}
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
