"""Does a second run find more? `python tests/attack/idempotence.py DEV/wi-3k.m2 DEV/clean.txt DEV/documents/md`

Each text (the sentences of an M2 file, "text" or "src" of the lines of a .jsonl file, the lines of another file, a file
of a folder) is corrected, and its correction again: nothing may change. Then, in a sentence, each word that was
replaced by another one is written twice, unless it may stand twice ("no no"): an edit must touch it. Prints how many
texts change again, and how many doubled words nobody touched; status 1 above `--allowed` in 1,000 of the changed texts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from edit_gec.annotation.m2 import read_m2
from edit_gec.corrector import Corrector
from edit_gec.rules.doubled import may_stand_twice
from edit_gec.text.correction import Correction
from edit_gec.text.detokenize import detokenize
from edit_gec.text.formats import find_format, is_understood

BATCH = 512


class Found(NamedTuple):
    """What a second run changes: texts, those that the first run changed, those that the second did, and how."""

    texts: int
    changed: int
    again: list[Correction]


def read_texts(path: Path, most: int) -> Iterator[tuple[str, str]]:
    """The texts of a file or folder, with their formats."""
    if path.is_dir():
        for file in sorted(each for each in path.rglob("*") if each.is_file()):
            if is_understood(format := find_format(path=file.name)):
                yield file.read_text(encoding="utf-8", errors="replace"), str(format)
    elif path.suffix == ".m2":
        yield from ((detokenize(block.tokens).text, "plain") for block in read_m2(str(path))[:most])
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:most]]
        yield from ((row.get("text") or row["src"], "plain") for row in rows)
    else:
        yield from ((line, "plain") for line in path.read_text(encoding="utf-8").splitlines()[:most] if line.strip())


def correct_all(corrector: Corrector, texts: Iterable[tuple[str, str]], *, lines: bool) -> Iterator[Correction]:
    given = list(texts)
    for begin in range(0, len(given), BATCH):
        part = given[begin : begin + BATCH]
        yield from corrector.correct_batch([text for text, _ in part], formats=[each for _, each in part], lines=lines)


def correct_again(corrector: Corrector, texts: list[tuple[str, str]], *, lines: bool) -> tuple[Found, list[Correction]]:
    first = list(correct_all(corrector, texts, lines=lines))
    changed = [
        (found.corrected, format)
        for found, (_, format) in zip(first, texts, strict=True)
        if found.corrected != found.text
    ]
    again = [each for each in correct_all(corrector, changed, lines=lines) if each.corrected != each.text]
    return Found(len(texts), len(changed), again), first


def double(corrections: Iterable[Correction]) -> Iterator[tuple[str, int, int]]:
    """The texts with one replaced word written twice, and where."""
    for found in corrections:
        for edit in found.edits:
            word = edit.original.lower()
            if word.isalpha() and edit.replacement.isalpha() and not may_stand_twice(word, found.text, edit.start):
                text = f"{found.text[: edit.end]} {word}{found.text[edit.end :]}"
                yield text, edit.start, edit.end + 1 + len(edit.original)


def count_missed(corrector: Corrector, doubled: list[tuple[str, int, int]], *, lines: bool) -> list[str]:
    """The doubled texts in which no edit touches the doubled word."""
    found = correct_all(corrector, ((text, "plain") for text, _, _ in doubled), lines=lines)
    return [
        text
        for (text, start, end), each in zip(doubled, found, strict=True)
        if not any(edit.start < end and edit.end > start for edit in each.edits)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=10_000, help="texts of a file")
    parser.add_argument("--allowed", type=float, default=40.0)
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--lines", action="store_true", help="as lines, not as documents")
    parser.add_argument("--model", default="edit5-mini")
    arguments = parser.parse_args()
    corrector = Corrector.load(arguments.model)
    failed = False
    for path in arguments.paths:
        texts = list(read_texts(path, arguments.most))
        found, first = correct_again(corrector, texts, lines=arguments.lines)
        doubled = list(double(first)) if not path.is_dir() else []
        missed = count_missed(corrector, doubled, lines=arguments.lines)
        print(
            f"{path}: {found.texts:,} texts, {found.changed:,} changed, {len(found.again):,} of them again; "
            f"{len(doubled):,} doubled words, {len(missed):,} left alone",
            flush=True,
        )
        for each in found.again[: arguments.show]:
            for edit in each.edits:
                around = each.text[max(0, edit.start - 40) : edit.start], each.text[edit.end : edit.end + 30]
                print(f"  {around[0]}[{edit.original} -> {edit.replacement}]{around[1]}  {edit.confidence:.2f}")
        for text in missed[: arguments.show]:
            print(f"  doubled: {text}")
        failed |= 1000 * (len(found.again) + len(missed)) > arguments.allowed * max(1, found.changed)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
