"""Files while something goes wrong: `python tests/attack/files.py --kills 100`

`edit-gec correct -w` corrects a tree of files, with fixed rules in the model's place (tests/support/fake_model.py). It
is killed at random moments, and inside of a write: at a random line of it, after a random byte, and as soon as its
temporary file is seen; two of them run at the same time; the disk fills up. After each, every file must hold its old or
its new bytes, with its mode and owner, links must be links, and what is said must be one line for each file. Prints
counts; status 1 where one is wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
FAKE, DYING = (str(HERE.parent / "support" / name) for name in ("fake_model.py", "dying_writer.py"))
COMMAND = [sys.executable, FAKE, "correct", "-w"]
FILES, LINES = 60, 50
OWNER = 12345 if os.geteuid() == 0 else os.geteuid()
OLD = "She go home becuase teh bus is late.\r\n" * LINES
NEW = "She goes home because the bus is late.\r\n" * LINES


def make_tree(folder: Path) -> None:
    folder.mkdir()
    for n in range(FILES):
        path = folder / f"{n:02}.txt"
        path.write_bytes(OLD.encode())
        os.chown(path, OWNER, -1)
        path.chmod(0o640)


def begin(folder: Path, limit: int | None = None) -> subprocess.Popen[bytes]:
    def limit_files() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [*COMMAND, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit_files)


def look(folder: Path, found: Counter[str]) -> None:
    """Count the files that are old, new, and anything else; also what is left over of others."""
    for path in sorted(folder.glob("*.txt")):
        data = path.read_bytes()
        state = {OLD.encode(): "old", NEW.encode(): "new"}.get(data, "BROKEN")
        status = path.stat()
        found[state] += 1
        found["MODE OR OWNER"] += (status.st_mode & 0o7777, status.st_uid) != (0o640, OWNER)
    found["left-over temporary files"] += sum(path.name.startswith(".") for path in folder.iterdir())


def kill(work: Path, kills: int) -> Counter[str]:
    """Kill -9 at random moments: a little after a random number of files is written."""
    found: Counter[str] = Counter()
    for n in range(kills):
        chance = random.Random(n)
        folder = work / f"kill-{n}"
        make_tree(folder)
        child = begin(folder)
        paths, most = list(folder.iterdir()), chance.randrange(FILES)
        while child.poll() is None and sum(path.stat().st_size != len(OLD) for path in paths) < most:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.02)
        child.kill()
        child.communicate()
        found["kills in the middle"] += child.returncode == -9
        look(folder, found)
        if n % 10 == 0:  # the next run finishes what is left
            begin(folder).communicate()
            again: Counter[str] = Counter()
            look(folder, again)
            found["BROKEN"] += again["new"] != FILES
    return found


def kill_inside(work: Path, kills: int) -> Counter[str]:
    """Kill inside of a write. Files are in a folder, and one elsewhere is named by a link."""
    found: Counter[str] = Counter()
    for n in range(kills):
        chance = random.Random(n)
        folder = work / f"inside-{n}"
        make_tree(folder)
        make_tree(elsewhere := work / f"elsewhere-{n}")
        link = folder / "link.txt"
        link.symlink_to(elsewhere / "00.txt")
        way = ("line", "byte", "seen")[n % 3]
        if way == "seen":
            child = begin(folder)
            while child.poll() is None and not any(name.endswith(".partial") for name in os.listdir(folder)):
                pass
            time.sleep(chance.random() * 0.002)
            child.kill()
        else:
            place = chance.randrange(1500 if way == "line" else len(NEW))
            command = [sys.executable, DYING, way, str(place), "correct", "-w", str(link), str(folder)]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.communicate()
        found[f"killed: {way}"] += child.returncode < 0
        look(folder, found)
        look(elsewhere, found)
        found["LINK"] += not link.is_symlink()
        left = [*folder.glob(".*"), *elsewhere.glob(".*")]
        found["OPEN TO OTHERS"] += sum(path.stat().st_mode & 0o777 not in (0o600, 0o640) for path in left)
        for path in left:  # an hour later
            os.utime(path, (0, 0))
        subprocess.run([*COMMAND, str(link), str(folder)], capture_output=True)
        found["NOT NEW AFTER THE NEXT RUN"] += sum(path.read_bytes() != NEW.encode() for path in folder.iterdir())
        found["LEFT AFTER THE NEXT RUN"] += len([*folder.glob(".*")])
    return found


def race(work: Path, times: int) -> Counter[str]:
    """Two processes on one tree: who comes second leaves the file alone, or writes the same."""
    found: Counter[str] = Counter()
    for n in range(times):
        folder = work / f"race-{n}"
        make_tree(folder)
        for child in [begin(folder), begin(folder)]:
            _, said = child.communicate()
            lines = said.decode().splitlines()[:-1]  # the last one counts files
            found["one line: changed on disk"] += sum(
                "changed on disk while it was corrected" in line for line in lines
            )
            found["OTHER LINES"] += sum("changed on disk while it was corrected" not in line for line in lines)
        look(folder, found)
    return found


def fill(work: Path) -> Counter[str]:
    """No file may be longer than 1,000 bytes."""
    found: Counter[str] = Counter()
    make_tree(work / "full")
    child = begin(work / "full", limit=1000)
    _, said = child.communicate()
    found["one line: too large"] = said.decode().count("cannot write: File too large; file unchanged\n")
    found["OTHER STATUS"] = int(child.returncode != 2)  # 2: failed
    look(work / "full", found)
    return found


def fill_a_quota(work: Path) -> Counter[str]:
    """A file system that has room for the files, and for few of their successors (as root: a tmpfs)."""
    found: Counter[str] = Counter()
    folder = work / "quota"
    folder.mkdir()
    size = FILES * (len(OLD) + 4096) + len(NEW)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        return Counter({"not tried: needs root": 1})
    try:
        make_tree(folder / "files")
        filler = folder / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as stream:
            while True:
                stream.write(bytes(4096))
        child = begin(folder / "files")
        _, said = child.communicate()
        lines = said.decode().splitlines()
        found["one line: no space"] = sum("No space left on device; file unchanged" in line for line in lines)
        found["TRACEBACK"] = said.count(b"Traceback")
        found["OTHER STATUS"] = int(child.returncode != 2)
        look(folder / "files", found)
        filler.unlink()
        begin(folder / "files").communicate()
        again: Counter[str] = Counter()
        look(folder / "files", again)
        found["BROKEN"] += again["new"] != FILES
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    return found


def correct_many(work: Path, count: int) -> Counter[str]:
    """So many small files in folders of 1,000, every tenth of them wrong: time, memory, and that all are written."""
    old, new = b"She go home.\n", b"She goes home.\n"
    for n in range(count):
        folder = work / "many" / f"{n // 1000}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n}.txt").write_bytes(b"It is fine.\n" if n % 10 else old)
    begun = time.monotonic()
    child = begin(work / "many")
    _, said = child.communicate()
    found = Counter({"seconds": round(time.monotonic() - begun)})
    found["MB at most, of all children so far"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    found["new"] = sum((work / "many" / f"{n // 1000}" / f"{n}.txt").read_bytes() == new for n in range(0, count, 10))
    found["LEFT"] = -(-count // 10) - found["new"]
    found["OTHER STATUS"] = int(child.returncode != 0)
    found["TRACEBACK"] = said.count(b"Traceback")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--inside", type=int, default=200)
    parser.add_argument("--races", type=int, default=10)
    parser.add_argument("--files", type=int, default=100_000)
    arguments = parser.parse_args()
    os.environ.setdefault("PYTHONPATH", str(HERE.parent.parent))
    failed = False
    with tempfile.TemporaryDirectory() as work:
        results = {
            "kill -9": kill(Path(work), arguments.kills),
            "killed inside of a write": kill_inside(Path(work), arguments.inside),
            "two at once": race(Path(work), arguments.races),
            "full disk": fill(Path(work)),
            "small file system": fill_a_quota(Path(work)),
            f"{arguments.files:,} files": correct_many(Path(work), arguments.files),
        }
    for name, found in results.items():
        print(f"{name}: " + ", ".join(f"{count:,} {what}" for what, count in sorted(found.items())))
        failed |= any(count and what.isupper() for what, count in found.items())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
