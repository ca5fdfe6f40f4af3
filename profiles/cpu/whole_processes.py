"""Whole processes in turns: processor seconds, wall clock and peak memory of `edit-gec correct` on a file of sentences.

    python profiles/cpu/whole_processes.py SENTENCES --rounds 3 --threads 2 [--harper FOLDER] [--only SYSTEM ...]
    taskset -c 0 python profiles/cpu/whole_processes.py SENTENCES --threads 1 --harper FOLDER       on one core

One line for each process, its start included. On a busy machine the wall clock says nothing, processor seconds are some
10 % off. FOLDER is one in which harper.js was installed with npm.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

OURS = {
    "torch": ["--set", "backend=torch"],
    "onnx float32": ["--set", "backend=onnx", "--set", "precision=float32"],
    "onnx int8": ["--set", "backend=onnx", "--set", "precision=int8"],
}
HARPER = """
import { createInterface } from "node:readline";
import { Dialect, LocalLinter } from "harper.js";
import { binary } from "harper.js/binary";
const linter = new LocalLinter({ binary, dialect: Dialect.American });
for await (const line of createInterface({ input: process.stdin })) {
  let text = line;
  for (const lint of [...(await linter.lint(line, { language: "plaintext" }))].reverse()) {
    const suggestions = lint.suggestions();
    if (suggestions.length) text = await linter.applySuggestion(text, lint, suggestions[0]);
  }
  process.stdout.write(text + "\\n");
}
"""


def measure(command: list[str], source: Path, folder: str, threads: int) -> tuple[float, float, float]:
    """Processor seconds, seconds and peak megabytes of a process that reads the file."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    begun = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(source, os.O_RDONLY), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.chdir(folder)
        os.execvpe(command[0], command, environment)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)[:200]}: ended with status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path, help="raw sentences, one on each line")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--harper", help="folder with node_modules/harper.js")
    parser.add_argument("--only", nargs="+", metavar="SYSTEM", help=f"of {', '.join((*OURS, 'harper'))}")
    given = parser.parse_args()
    count = len(given.sentences.read_text(encoding="utf-8").splitlines())
    start = [sys.executable, "-m", "edit_gec", "correct", "-q", "--lines", "--threads", str(given.threads)]
    systems = {name: ([*start, *options], os.getcwd()) for name, options in OURS.items()}
    if given.harper:
        systems["harper"] = (["node", "--input-type=module", "-e", HARPER], given.harper)
    for _ in range(given.rounds):
        for name, (command, folder) in systems.items():
            if given.only and name not in given.only:
                continue
            cpu, wall, peak = measure(command, given.sentences.resolve(), folder, given.threads)
            line = f"{name:14} {cpu:7.2f} cpu-s {count / cpu:7.1f} sentences/cpu-s {wall:7.1f} s {peak:6.0f} MB\n"
            sys.stdout.write(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
