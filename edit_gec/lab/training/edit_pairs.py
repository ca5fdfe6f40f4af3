"""Real edits: tab-separated files of any size, from which pairs are drawn at random without reading them all.

    DATA/edits/history.tsv.xz     ...   She walk to the station.   She walks to the station.
    DATA/learner/clang8.tsv       the last two columns are source and target

Plain files stay on the disk, mapped into memory: 200 million pairs cost no more than ten, and processes that read the
same file share it. A draw takes the line after a random byte, so a line's chance follows the length of the line before
it, which has nothing to do with its own; in the long run all are drawn alike.

A pair that is in two files is drawn twice as often, on purpose: `NAME_strict.tsv.xz` repeats the most reliable pairs of
`NAME_clean.tsv.xz`. Compressed files, small and from the history of repositories, lose pairs whose target
was itself corrected later, or shares less than half of its words with the source.
"""

from __future__ import annotations

import lzma
import mmap
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterator
from itertools import accumulate
from pathlib import Path

from edit_gec.errors import InputError

TRIES = 1000  # lines that hold no pair are passed over


class RealEdits:
    """The pairs of all `.tsv` and `.tsv.xz` files in a folder."""

    def __init__(self, folder: Path) -> None:
        """Raises InputError when the folder holds no such files."""
        self.folder = folder
        paths = sorted([*folder.glob("*.tsv"), *folder.glob("*.tsv.xz")])
        packed = {path: lzma.decompress(path.read_bytes()) for path in paths if path.suffix == ".xz"}
        mended = {columns[-2] for content in packed.values() for columns in _rows(content)}
        self._files: list[bytes | mmap.mmap] = [_plausible(content, mended) for content in packed.values()]
        self._files += [_mapped(path) for path in paths if path not in packed and path.stat().st_size]
        self._ends = list(accumulate(map(len, self._files)))
        if not self._ends:
            raise InputError(f"{folder}: no .tsv or .tsv.xz files with real edits here; see data/README.md")

    def draw(self, rng: random.Random) -> tuple[str, str]:
        """One (source, target). Raises InputError when the files seem to hold no pairs at all."""
        for _ in range(TRIES):
            place = rng.randrange(self._ends[-1])
            number = bisect_right(self._ends, place)
            content = self._files[number]
            start = content.find(b"\n", place - self._ends[number] + len(content)) + 1
            start = start if start < len(content) else 0  # after the last line comes the first; find's -1 + 1 is it too
            end = content.find(b"\n", start)
            line = content[start : end if end >= 0 else len(content)]
            columns = line.decode("utf-8", errors="replace").rstrip("\r").split("\t")
            if len(columns) >= 3:
                return columns[-2], columns[-1]
        raise InputError(f"{self.folder}: lines of three or more columns expected; the last two are source and target")


def _rows(content: bytes) -> Iterator[list[bytes]]:
    """Columns of the lines that hold a pair."""
    rows = (line.split(b"\t") for line in content.splitlines())
    return (columns for columns in rows if len(columns) >= 3)


def _plausible(content: bytes, mended: Container[bytes]) -> bytes:
    """The pairs that keep half of their words and whose target was not corrected again (`mended` are sources)."""
    kept = []
    for columns in _rows(content):
        source, target = columns[-2].split(), columns[-1].split()
        same = (Counter(source) & Counter(target)).total()
        if columns[-1] not in mended and 2 * same >= max(len(source), len(target)):
            kept.append(b"\t".join((b"", *columns[-2:])))
    return b"\n".join(kept) + b"\n"


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
