r"""Learner corpora in the layouts they are published in -> tab-separated pairs of raw text that training draws from.

    python profiles/training/learner_corpora.py m2 wi+locness/m2/ABC.train.gold.bea19.m2 -o DATA/learner/wi.tsv
    python profiles/training/learner_corpora.py clang8 \
        clang8_source_target_en.spacy_tokenized.tsv -o DATA/clang8/en.tsv
    python profiles/training/learner_corpora.py c4_200m edits.tsv-00000-of-00010 \
        --text target_sentences.tsv-00000-of-00010 -o DATA/c4_200m/0.tsv

These corpora may not be redistributed; data/README.md names their sources and terms. Tokenised text is detokenised,
because a corrector reads raw text. Spans that an annotator marked without a correction stay unchanged.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from edit_gec.annotation import m2
from edit_gec.errors import InputError
from edit_gec.lab.training.clean_prose import fingerprint
from edit_gec.lab.training.entry import run_main
from edit_gec.text.counts import format_count
from edit_gec.text.detokenize import detokenize, splits_hyphens
from edit_gec.text.files import write_lines

Pair = tuple[str, str]
ByteEdit = tuple[int, int, str]  # bytes [start, end) of a sentence become the text


def read_m2(path: Path) -> Iterator[Pair]:
    """W&I+LOCNESS, FCE, NUCLE, Lang-8 of BEA-2019: a pair for each annotator's sentence. Raises InputError."""
    sentences = m2.read_m2(path)
    split = splits_hyphens([s.tokens for s in sentences])
    for sentence in sentences:
        targets = [m2.apply_edits(sentence.tokens, edits) for edits in sentence.annotators.values()]
        for target in dict.fromkeys(map(tuple, targets)):
            yield detokenize(sentence.tokens, split).text, detokenize(target, split).text


def read_tsv(path: Path) -> Iterator[Pair]:
    """Two columns of raw text: cLang-8 as made with --tokenize_text=False, sentence_pairs.tsv of C4_200M."""
    for number, line in enumerate(_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            raise InputError(f"{path}, line {number}: expected source and target, not {len(columns)} columns")
        yield columns[0], columns[1]


def read_clang8(path: Path) -> Iterator[Pair]:
    """cLang-8 as its run.sh makes it: two columns of spaCy's tokens."""
    for source, target in read_tsv(path):
        yield detokenize(source.split()).text, detokenize(target.split()).text


def read_c4_200m(path: Path, texts: Sequence[Path]) -> Iterator[Pair]:
    """The published edits, applied to C4: its *.json[.gz] files, or target_sentences.tsv, in the order of the edits.

    The edits make the source from the target: C4 is the correct text. Raises InputError where nothing fits.
    """
    if not texts:
        raise InputError(f"{path}: expected --text, the C4 files or target_sentences.tsv that these edits belong to")
    found = 0
    groups = _byte_edits(path)
    matches: Iterator[tuple[list[ByteEdit], str]]
    if any(".json" in text.name for text in texts):
        known = dict(groups)
        matches = ((known[h], target) for h, target in _c4(texts) if h in known)
    else:
        matches = _merge(groups, ((h, target) for text in texts for h, target in read_tsv(text)))
    for edits, target in matches:
        source = corrupted(target, edits)
        if source is not None:
            found += 1
            yield source, target
    if not found:
        raise InputError(f"{path}: none of its hashes is one of {texts[0]}; another shard, or another C4?")


def corrupted(target: str, edits: Iterable[ByteEdit]) -> str | None:
    """The source of a C4 sentence; None where the edits do not fit it."""
    content = target.encode()
    parts = []
    at = 0
    for start, end, text in edits:
        if not at <= start <= end <= len(content):
            return None
        parts += [content[at:start], text.encode()]
        at = end
    try:
        return b"".join([*parts, content[at:]]).decode()
    except UnicodeDecodeError:  # a cut within a character
        return None


def _byte_edits(path: Path) -> Iterator[tuple[str, list[ByteEdit]]]:
    rows = (line.split("\t", 3) for line in _lines(path))
    whole = (row for row in rows if len(row) == 4 and row[1].isdecimal() and row[2].isdecimal())
    for digest, group in groupby(whole, key=lambda row: row[0]):
        yield digest, [(int(start), int(end), text) for _, start, end, text in group]


def _c4(paths: Sequence[Path]) -> Iterator[Pair]:
    for path in paths:
        for line in _lines(path):
            for target in json.loads(line)["text"].split("\n"):
                yield hashlib.md5(target.encode(), usedforsecurity=False).hexdigest(), target


def _merge(
    groups: Iterator[tuple[str, list[ByteEdit]]], targets: Iterator[Pair]
) -> Iterator[tuple[list[ByteEdit], str]]:
    """Both are in the order of their hashes, so nothing needs to be remembered."""
    at = ""
    edits = list[ByteEdit]()
    for digest, target in targets:
        while at < digest:
            at, edits = next(groups, ("~", []))  # "~" comes after all hexadecimal digits
        if at == digest:
            yield edits, target


def _lines(path: Path) -> Iterator[str]:
    """Lines without their ends; .gz is unpacked. Only \\n ends one, as in the corpora's own tools."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                yield line.rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as UTF-8 text ({error})") from None


READERS = {"m2": read_m2, "tsv": read_tsv, "clang8": read_clang8}


def write(pairs: Iterable[Pair], output: Path, name: str, excluded: Iterable[bytes] = ()) -> int:
    """Write pairs to a file that training reads; returns how many. Sentences to exclude are given by fingerprint."""
    held_out = frozenset(excluded)

    def lines() -> Iterator[str]:
        for pair in pairs:
            source, target = (" ".join(side.split()) for side in pair)
            if source and target and held_out.isdisjoint((fingerprint(source), fingerprint(target))):
                yield f"{name}\t{source}\t{target}"

    return write_lines(output, lines())


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pairs of a corpus; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python profiles/training/learner_corpora.py", description="Corpora -> training pairs."
    )
    parser.add_argument("layout", choices=[*READERS, "c4_200m"])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, required=True, help=".tsv in a folder below the data folder")
    parser.add_argument("--text", nargs="+", type=Path, default=[], help="c4_200m: C4, or target_sentences.tsv")
    parser.add_argument("--exclude", nargs="+", type=Path, default=[], help="evaluation sets, M2 or lines of text")
    args = parser.parse_args(argv)
    readers: dict[str, Any] = {**READERS, "c4_200m": lambda path: read_c4_200m(path, args.text)}
    excluded = {fingerprint(line.removeprefix("S ")) for path in args.exclude for line in m2.read_lines(path)}
    pairs = (pair for path in args.files for pair in readers[args.layout](path))
    count = write(pairs, args.output, args.layout, excluded)
    sys.stderr.write(f"{args.output}: {format_count(count, 'pair')}\n")
    return 0


if __name__ == "__main__":
    run_main(main)
