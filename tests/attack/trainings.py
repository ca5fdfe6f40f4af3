"""Trainings that are killed: `python tests/attack/trainings.py --kills 30 --what train label`

A small model is trained on a few synthetic pairs (`edit-gec train`), and text is labelled by edit5-mini and a small
random judge (`edit-gec label`). Each is killed at random moments, from its first second on, and the same command goes
on until it is done. Each run must say from where it goes on; the log of a training must hold each step once; labels
must be those of an undisturbed run, byte for byte; and no process may be left. Prints counts; status 1 where one is
wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from processes import ROOT, WAYS, Run, report

sys.path.insert(0, str(ROOT / "tests"))
from support.tiny_causal import save_folder
from support.tiny_training import MODEL, write_data

STEPS = 200  # of each stage: some seconds
RECIPE = f"""
name = "tiny"
vocabulary = 420
max_pieces = 60
bf16 = false
workers = 2
save_minutes = 0.02
{MODEL}
[[stage]]
name = "one"
layers = 1
steps = {STEPS}
batch_pieces = 128
warmup = 5

[[stage]]
name = "two"
layers = 2
steps = {STEPS}
decay = 100
real = 0.3
ema = 0.9
batch_pieces = 128
"""
BEGINS = re.compile(rb"(?:goes on from|starts at) step \d+")
LABELLED = 1500


class Training:
    """`edit-gec train`, anew in each folder."""

    name = "train"

    def command(self, folder: Path) -> list[str]:
        """The command of a folder, which is made ready for it."""
        if not folder.exists():
            write_data(folder / "data")
            (folder / "recipe").mkdir()
            (folder / "recipe" / "recipe.toml").write_text(RECIPE)
        given = {"--recipe": "recipe/recipe.toml", "--data": "data", "--runs": "runs"}
        return ["edit_gec", "train", *(word for name, path in given.items() for word in (name, str(folder / path)))]

    def check(self, folder: Path, said: bytes, found: Counter[str]) -> None:
        """Count what is wrong with a finished training."""
        for stage in ("one", "two"):
            log = (folder / "runs" / "tiny" / stage / "log.jsonl").read_bytes()
            steps = [json.loads(line)["step"] for line in log.splitlines()]
            found["STEPS DOUBLED"] += len(steps) - len(set(steps))
            found["STEPS MISSING"] += len({*range(50, STEPS + 1, 50)} - set(steps))
        left = [re.sub(r"[0-9a-f]{16}", "*", path.name) for path in folder.rglob("*.partial")]
        found["UNFINISHED LEFT"] += len(left)
        found.update(f"left: {name}" for name in left)
        found["NO MODEL"] += not (folder / "runs" / "tiny" / "model" / "model.safetensors").exists()


class Labelling:
    """`edit-gec label`: the same sentences in each folder."""

    name = "label"

    def __init__(self, work: Path) -> None:
        self.judge, self.files = work / "judge", [work / "a.txt", work / "b.tsv"]
        save_folder(self.judge)
        config = json.loads((self.judge / "config.json").read_text())
        numbers = json.loads((ROOT / "models/smollm2/config.json").read_text())["judge"]
        (self.judge / "config.json").write_text(json.dumps({**config, "judge": numbers}))
        prose = [line for line in (ROOT / "data/samples/prose.txt").read_text("utf-8").splitlines() if line]
        wrong = ["I recieve teh letter every day, {}.", "She go home {} times.", "{} people definately likes it."]
        lines = [line.format(n) for n in range(LABELLED) for line in [prose[n % len(prose)], wrong[n % 3]]]
        for path, part in zip(self.files, (lines[:LABELLED], lines[LABELLED:]), strict=True):
            path.write_text("".join(f"x\t{line}\n" if path.suffix == ".tsv" else f"{line}\n" for line in part), "utf-8")
        self.reference: dict[str, bytes] = {}

    def command(self, folder: Path) -> list[str]:
        """The command of a folder."""
        words = ["--judge", str(self.judge), "--threads", "1"]
        return ["edit_gec", "label", *map(str, self.files), "--output", str(folder), *words]

    def check(self, folder: Path, said: bytes, found: Counter[str]) -> None:
        """Count what differs from the first folder, which nobody disturbed."""
        output = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.reference = self.reference or output
        found["FILES DIFFER"] += sum(output.get(name) != data for name, data in self.reference.items())
        found["FILES LEFT"] += len(output.keys() - self.reference.keys())
        found["EMPTY"] += not all(output.values())


def kill(work: Path, task: Training | Labelling, kills: int) -> Counter[str]:
    """Kill so many runs, at random moments of the time that an undisturbed one takes."""
    found: Counter[str] = Counter()
    chance = random.Random(task.name)
    folder, said = work / f"{task.name}-0", work / "said.txt"
    begun = time.monotonic()
    Run(task.command(folder), said).process.wait(900)
    seconds = time.monotonic() - begun
    task.check(folder, said.read_bytes(), found)
    found["seconds undisturbed"] = round(seconds)
    folder = work / f"{task.name}-1"
    while found["kills"] < kills:
        run = Run(task.command(folder), said)
        way = WAYS[found["kills"] % len(WAYS)]
        run.let_live(seconds * 1.1 * chance.random(), way, chance, found)
        told = said.read_bytes()
        found["runs that said from where they go on"] += bool(BEGINS.search(told))
        found["STEPS BEFORE IT SAID FROM WHERE"] += b": step" in told and not BEGINS.search(told)
        if run.process.returncode == 0:
            task.check(folder, told, found)
            found["finished"] += 1
            folder = work / f"{task.name}-{found['finished'] + 1}"
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--what", nargs="+", default=["train", "label"])
    arguments = parser.parse_args(argv)
    is_well = True
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        makers: dict[str, Callable[[], Training | Labelling]] = {"train": Training, "label": lambda: Labelling(work)}
        for name in arguments.what:
            is_well &= report(f"{name}, killed", kill(work, makers[name](), arguments.kills))
    return int(not is_well)


if __name__ == "__main__":
    sys.exit(main())
