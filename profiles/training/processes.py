"""Two processes under torchrun learn what one does: loss curves of a tiny model, same pairs a step, same recipe.

    python profiles/training/processes.py --text DATA/pairs/prose.txt --spelling DATA/spelling > processes.json

Four runs of the real command: one process with batches of 2B pieces, and two processes with B pieces each, of which
gradients are averaged; either with two seeds. Line by line of the logs, after the first quarter, the means of both
kinds should be no further apart than two seeds of one kind, which is noise. Each process has one thread. The last line
on standard output is the result; `tail` are the means of all these lines.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).parent.parent.parent
PIECES = 512  # of a step, over all processes
RECIPE = """name = "tiny"
vocabulary = 2000
max_pieces = 48
bf16 = false
seed = {seed}
model = {{ d_model = 64, d_kv = 16, d_ff = 128, num_heads = 4, slots = 64, point_width = 16 }}

[[stage]]
name = "only"
layers = 2
steps = {steps}
warmup = 20
batch_pieces = {pieces}
"""


def losses(place: Path, data: Path, *, seed: int, processes: int, steps: int) -> list[float]:
    """Train in a folder of its own; the mean loss of each 50 steps."""
    place.mkdir()
    vocabulary = place.parent / "1-1" / "spiece.model"  # learnt in the first run
    if vocabulary.exists():
        shutil.copy(vocabulary, place)
    recipe = place / "recipe.toml"
    recipe.write_text(RECIPE.format(seed=seed, steps=steps, pieces=PIECES // processes), encoding="utf-8")
    start = [sys.executable, "-m"]
    if processes > 1:
        start += ["torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "-m"]
    options = ["edit_gec", "train", "--recipe", recipe, "--data", data, "--runs", place / "runs"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*start, *map(str, options)], cwd=place, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    log = (place / "runs" / "tiny" / "only" / "log.jsonl").read_text(encoding="utf-8")
    return [line["loss"] for line in map(json.loads, log.splitlines()) if "loss" in line]


def compare(curves: list[list[float]]) -> dict[str, float | bool | list[float]]:
    """Distances between curves: one process with two seeds, then two processes with two seeds."""
    settled = [curve[len(curve) // 4 :] for curve in curves]  # the first steps fall so fast that their means say little
    lines = list(zip(*settled, strict=True))
    seeds = fmean((abs(a - b) + abs(c - d)) / 2 for a, b, c, d in lines)
    kinds = fmean(abs((a + b) - (c + d)) / 2 for a, b, c, d in lines)
    return {
        "tail": [round(fmean(curve), 4) for curve in settled],
        "seeds_apart": round(seeds, 4),
        "processes_apart": round(kinds, 4),
        "within_noise": kinds <= seeds,
    }


def main() -> None:
    """Run all four and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, help="training text, one sentence a line")
    parser.add_argument("--spelling", type=Path, required=True, help="folder of the misspelling lists")
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        (data / "pairs").mkdir(parents=True)
        (data / "pairs" / "prose.txt").symlink_to(args.text.resolve())
        (data / "spelling").symlink_to(args.spelling.resolve())
        curves = {
            f"{processes} process{'es' * (processes > 1)}, seed {seed}": losses(
                Path(folder, f"{processes}-{seed}"), data, seed=seed, processes=processes, steps=args.steps
            )
            for processes in (1, 2)
            for seed in (1, 2)
        }
    for values in zip(*curves.values(), strict=True):
        sys.stderr.write("  ".join(f"{value:8.4f}" for value in values) + "\n")
    result = {
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs",
        "torch": __import__("torch").__version__,
        "steps": args.steps,
        "pieces": PIECES,
        "loss": {name: [round(value, 4) for value in values] for name, values in curves.items()},
        **compare(list(curves.values())),
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
