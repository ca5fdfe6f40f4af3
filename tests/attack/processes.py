"""For the attack scripts: a run of edit-gec, and all processes that it starts, known by a mark in their environment."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = "EDIT_GEC_ATTACK"
PATIENCE_S = 30
# A process is started, and then told through a pipe what to run: who dies in between leaves it nothing to read.
STARTING = re.compile(
    r'Traceback .*\n(?:  File "(?:<string>|\S*/multiprocessing/spawn\.py)", .*\n(?:    .*\n)*)+'
    r"(?:EOFError|_pickle\.UnpicklingError): .*\n"
)
WAYS = ("driver", "worker", "everything", "SIGTERM")


class Run:
    """`python -m MODULE WORDS`, in a process group of its own."""

    def __init__(self, words: Sequence[str], said: Path) -> None:
        self.mark = uuid.uuid4().hex
        self.said = said
        known = {MARK: self.mark, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        environment = {"PYTHONPATH": str(ROOT), **os.environ, **known}
        null = subprocess.DEVNULL
        with said.open("wb") as file:  # a pipe would stay open in what a killed process leaves
            self.process = subprocess.Popen(
                [sys.executable, "-m", *words],
                env=environment,
                stdin=null,
                stdout=null,
                stderr=file,
                start_new_session=True,
            )

    def processes(self) -> list[int]:
        """The ids of all its processes that are alive."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                is_alive = b"\nState:\tZ" not in (folder / "status").read_bytes()
                if is_alive and f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:  # gone, or of the kernel
                continue
        return found

    def hit(self, way: str, chance: random.Random) -> None:
        """Kill its first process, another one, or all; or send SIGTERM to the first."""
        others = [pid for pid in self.processes() if pid != self.process.pid]
        targets = {"driver": [self.process.pid], "everything": [self.process.pid, *others]}.get(way, [self.process.pid])
        if way == "worker" and others:
            targets = [chance.choice(others)]
        for pid in targets:
            try:
                os.kill(pid, signal.SIGTERM if way == "SIGTERM" else signal.SIGKILL)
            except ProcessLookupError:
                continue  # just ended

    def let_live(self, seconds: float, way: str, chance: random.Random, found: Counter[str]) -> None:
        """Hit it after so many seconds, unless it has ended; count what is left of it."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.hit(way, chance)
            found["kills"] += 1
            found[f"kills: {way}"] += 1
        self.process.wait(900)
        found["ended well"] += self.process.returncode == 0
        said = self.said.read_text("utf-8", "replace")
        if STARTING.search(said):
            found["traceback of Python's, in a worker that was just being started"] += 1
            said = STARTING.sub("", said)
        if "Traceback" in said:
            found["TRACEBACK"] += 1
            print(said, file=sys.stderr, flush=True)
        until = time.monotonic() + PATIENCE_S
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.2)
        found["PROCESSES LEFT"] += len(left)
        for pid in left:
            os.kill(pid, signal.SIGKILL)


def report(title: str, found: Counter[str]) -> bool:
    """Print counts; whether nothing is wrong, which has capitals."""
    print(f"{title}: " + ", ".join(f"{count:,} {what}" for what, count in sorted(found.items())), flush=True)
    return not any(count and what.isupper() for what, count in found.items())
