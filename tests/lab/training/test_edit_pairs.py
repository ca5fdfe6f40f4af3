"""Pairs drawn from files without reading them all: every pair, at the same rate, whatever the files are like."""

from __future__ import annotations

import lzma
import random
from collections import Counter
from pathlib import Path

import pytest

from edit_gec.errors import InputError
from edit_gec.lab.training.edit_pairs import RealEdits


def drawn(folder: Path, count: int = 4000) -> Counter[tuple[str, str]]:
    rng = random.Random(3)
    edits = RealEdits(folder)
    return Counter(edits.draw(rng) for _ in range(count))


def test_all_pairs_are_drawn_alike(tmp_path: Path) -> None:
    rows = [f"x\tHe go {n}.\tHe goes {n}.\n" for n in range(10, 30)]
    (tmp_path / "a.tsv").write_text("".join(rows[:8]), encoding="utf-8")
    (tmp_path / "b.tsv").write_text("".join(rows[8:12]).removesuffix("\n"), encoding="utf-8")
    with lzma.open(tmp_path / "c.tsv.xz", "wt", encoding="utf-8") as file:
        file.writelines(rows[12:])
    (tmp_path / "d.txt").write_text("x\tnot\tthis\n", encoding="utf-8")
    counts = drawn(tmp_path)
    assert set(counts) == {(f"He go {n}.", f"He goes {n}.") for n in range(10, 30)}
    assert min(counts.values()) > 140 and max(counts.values()) < 260


def test_a_long_line_is_drawn_as_often_as_a_short_one(tmp_path: Path) -> None:
    lines = ["x\ta\tb", "x\t" + "long " * 300 + "\tc", *[f"x\td\t{n:03}" for n in range(400)]]
    random.Random(5).shuffle(lines)
    (tmp_path / "a.tsv").write_bytes("\r\n".join(lines).encode())
    assert sum(n for (source, _), n in drawn(tmp_path).items() if source.startswith("long")) < 60


def test_lines_that_are_no_pairs_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("\n\nheader\tonly\n\xa0\nid\tmore\tHé go\tHé goes\r\n\n", encoding="utf-8")
    (tmp_path / "empty.tsv").write_text("", encoding="utf-8")
    assert set(drawn(tmp_path, 50)) == {("Hé go", "Hé goes")}


def test_a_pair_of_two_files_is_drawn_twice_as_often(tmp_path: Path) -> None:
    """`strict` is the surer part of `clean`: its pairs weigh double."""
    rows = [f"x\tHe go {n}.\tHe goes {n}.\n" for n in range(10, 20)]
    for name, part in (("git_clean", rows), ("git_strict", rows[:5])):
        with lzma.open(tmp_path / f"{name}.tsv.xz", "wt", encoding="utf-8") as file:
            file.writelines(part)
    counts = drawn(tmp_path)
    strict = [counts[f"He go {n}.", f"He goes {n}."] for n in range(10, 15)]
    assert len(counts) == 10 and 1.7 < sum(strict) / (sum(counts.values()) - sum(strict)) < 2.3


def test_implausible_pairs_of_compressed_files(tmp_path: Path) -> None:
    """A target that was corrected again, in whatever file, or another sentence altogether."""
    with lzma.open(tmp_path / "a.tsv.xz", "wt", encoding="utf-8") as file:
        file.write("x\tHe go to school on foots.\tHe goes to school on foots.\n\tHi\tGood morning all\n\n")
    with lzma.open(tmp_path / "b.tsv.xz", "wt", encoding="utf-8") as file:
        file.write("x\ty\tHe goes to school on foots.\tHe goes to school on foot.\n")
    assert set(drawn(tmp_path, 50)) == {("He goes to school on foots.", "He goes to school on foot.")}
    (tmp_path / "c.tsv").write_text("x\tHi\tGood morning all\n", encoding="utf-8")
    assert ("Hi", "Good morning all") in drawn(tmp_path, 500), "plain files are taken as they are"


def test_no_pairs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no .tsv or .tsv.xz files with real edits here; see data/README.md"):
        RealEdits(tmp_path / "nowhere")
    (tmp_path / "a.tsv").write_text("one\ttwo\n", encoding="utf-8")
    with pytest.raises(InputError, match="three or more columns expected"):
        RealEdits(tmp_path).draw(random.Random(1))
