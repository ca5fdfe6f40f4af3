"""Corpora while something goes wrong: `python tests/attack/corpora.py --kills 25 --engine local ray`

`edit-gec corpus` corrects a folder of JSONL, CSV, text and Parquet with the real network. At random moments its driver,
a worker, or all of its processes are killed, or it gets SIGTERM; the same command goes on, until the job is done. Then
the disk is full again and again, a little later each time. What comes out must be what an undisturbed run makes, byte
for byte, each part told once in the journal, and no process or unfinished file may be left. Prints counts; status 1
where one is wrong.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow
import pyarrow.parquet
from processes import ROOT, WAYS, Run, report

PROSE = [line for line in (ROOT / "data/samples/prose.txt").read_text(encoding="utf-8").splitlines() if line]
WRONG = ["She go home becuase its late.", "They was tired.", "I recieve teh letter, and he dont know it."]
ROWS = 400  # of each file


def make_input(folder: Path) -> Path:
    """One table in each format, with doubled texts and empty ones."""
    folder.mkdir()
    texts = [f"{(PROSE + WRONG)[n * 7 % (len(PROSE) + 3)]} {WRONG[n % 3]}" * (n % 11 > 0) for n in range(ROWS)]
    rows = [{"id": n, "text": text} for n, text in enumerate(texts)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with (folder / "b.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "text"])
        writer.writeheader()
        writer.writerows(rows[: ROWS // 2])
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows[ROWS // 2 :]), folder / "c.parquet")
    (folder / "d.txt").write_text("\n".join(texts[: ROWS // 2]) + "\n", encoding="utf-8")
    return folder


def begin(source: Path, output: Path, engine: str) -> Run:
    words = ["edit_gec", "corpus", str(source), str(output), "--engine", engine, "--workers", "2", "--no-types"]
    return Run([*words, "--unit-size", "3000", "--quiet", "--isolated"], source.with_name("said.txt"))


def read_output(output: Path) -> dict[str, bytes]:
    """All parts, and the rows that were set aside."""
    files = (path for path in output.rglob("*") if path.is_file() and "__job__" not in path.parts)
    parts = {str(path.relative_to(output)): path.read_bytes() for path in files}
    return {**parts, "set aside": (output / "__job__" / "set-aside.jsonl").read_bytes()}


def compare(output: Path, reference: dict[str, bytes], found: Counter[str]) -> None:
    """Count what is wrong with a finished job."""
    parts = read_output(output)
    found["finished jobs"] += 1
    found["PARTS MISSING"] += len(reference.keys() - parts.keys())
    found["PARTS TOO MANY"] += len(parts.keys() - reference.keys())
    found["PARTS DIFFER"] += sum(parts[name] != reference[name] for name in parts.keys() & reference.keys())
    found["UNFINISHED FILES"] += len([*output.rglob("*.partial")])
    units = [json.loads(line)["unit"] for line in (output / "__job__" / "journal.jsonl").read_bytes().splitlines()]
    found["TOLD TWICE"] += len(units) - len(set(units))


def kill(work: Path, source: Path, reference: dict[str, bytes], engine: str, most: tuple[int, float]) -> Counter[str]:
    """Kill `most[0]` runs, at random moments of the `most[1]` seconds that an undisturbed one takes."""
    found: Counter[str] = Counter()
    chance = random.Random(engine)
    output = work / f"{engine}-0"
    kills, seconds = most
    while found["kills"] < kills:
        run = begin(source, output, engine)
        run.let_live(seconds * (0.2 + 0.7 * chance.random()), WAYS[found["kills"] % len(WAYS)], chance, found)
        if run.process.returncode == 0:
            compare(output, reference, found)
            output = work / f"{engine}-{found['finished jobs']}"
    return found


def fill(work: Path, source: Path, reference: dict[str, bytes], engine: str) -> Counter[str]:
    """A disk that is full, until it has grown enough (as root: a tmpfs)."""
    found: Counter[str] = Counter()
    disk = work / f"disk-{engine}"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        return Counter({"not tried: needs root": 1})
    try:
        for size in range(48, 2000, 48):
            subprocess.run(["mount", "-o", f"remount,size={size}k", str(disk)], check=True)
            run = begin(source, disk / "out", engine)
            if run.process.wait(900) == 0:
                compare(disk / "out", reference, found)
                return found
            found["full"] += 1
            said = run.said.read_bytes()
            found["NOT ONE LINE"] += said.count(b"\n") != 1 or b"No space left on device" not in said
            found["UNFINISHED FILES"] += len([*disk.rglob("*.partial")])
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    return found + Counter({"NEVER FINISHED": 1})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--engine", nargs="+", default=["local", "ray"])
    arguments = parser.parse_args()
    is_well = True
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        source = make_input(work / "in")
        for engine in arguments.engine:
            begun = time.monotonic()
            run = begin(source, work / "reference", engine)
            run.process.wait(900)
            seconds = time.monotonic() - begun
            reference = read_output(work / "reference")
            print(f"{engine}, undisturbed: {len(reference) - 1} parts, {seconds:.0f} s", flush=True)
            killed = kill(work, source, reference, engine, (arguments.kills, seconds))
            is_well &= report(f"{engine}, killed", killed)
            is_well &= report(f"{engine}, full disk", fill(work, source, reference, engine))
            shutil.rmtree(work / "reference")
    return int(not is_well)


if __name__ == "__main__":
    sys.exit(main())
