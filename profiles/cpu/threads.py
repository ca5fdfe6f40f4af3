"""How many threads, and how they should wait for each other: seconds of 64 sentences, in batches and one by one.

python profiles/cpu/threads.py [ROUNDS [MODEL]]           with another process running: what a busy machine does to it

OpenMP's threads spin before they sleep; on a machine with more to do than cores they spin while the others wait.
GOMP_SPINCOUNT bounds it, OMP_WAIT_POLICY=passive ends it. Each setting in a process of its own, settings in turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

SETTINGS = {
    "1 thread": (1, {}),
    "2 threads": (2, {}),
    "2 threads, spin 10000": (2, {"GOMP_SPINCOUNT": "10000"}),
    "2 threads, spin 1000": (2, {"GOMP_SPINCOUNT": "1000"}),
    "2 threads, passive": (2, {"OMP_WAIT_POLICY": "passive"}),
}
PROSE = Path(__file__).parents[2] / "data" / "samples" / "prose.txt"
CHILD = """
import sys, time
from edit_gec import Corrector
corrector = Corrector.load(sys.argv[2], threads=int(sys.argv[1]))
lines = [line.strip() for line in open(sys.argv[3], encoding="utf-8") if 30 < len(line) < 300][:64]
corrector.correct_batch(lines[:32])
begun = time.perf_counter()
corrector.correct_batch(lines)
batched = time.perf_counter() - begun
begun = time.perf_counter()
for line in lines:
    corrector.correct(line)
print(batched, time.perf_counter() - begun)
"""


def main(rounds: int = 3, model: str = "edit5-mini") -> None:
    bare = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_"))}
    found: dict[str, list[list[float]]] = {name: [] for name in SETTINGS}
    for _ in range(rounds):
        for name, (threads, extra) in SETTINGS.items():
            command = [sys.executable, "-c", CHILD, str(threads), model, str(PROSE)]
            done = subprocess.run(command, env={**bare, **extra}, capture_output=True, text=True, check=True)
            found[name].append([float(word) for word in done.stdout.split()])
    print(f"load {os.getloadavg()[0]:.1f}\n\n| | batches of 32 | one by one |\n| --- | --- | --- |")  # noqa: T201
    for name, times in found.items():
        batched, single = (median(column) for column in zip(*times, strict=True))
        print(f"| {name} | {batched:.2f} s | {single:.2f} s |")  # noqa: T201


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, str), sys.argv[1:], strict=False)))
