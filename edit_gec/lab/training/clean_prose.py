"""Training text: clean sentences from prose corpora, and the use of each corpus.

`prepare` reads every `.txt` and `.txt.xz` file of a folder (one paragraph a line), splits paragraphs into sentences as
the product does, keeps the well-edited ones, drops duplicates and everything that an evaluation set contains, and
writes one unit a line, after the name of its corpus; `read_units` reads them. corpora.tsv says how much of a corpus is
used.

    tatoeba_en<TAB>She goes to school every day.        ProseUnit("She goes to school every day.", punctuation=True)

    >>> is_clean("She goes to school every day.")
    True
    >>> is_clean("so -- so you know, the, the thing")
    False

Corruption happens later, afresh in every epoch (corruptor.py, run.py); nothing here knows about errors.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from edit_gec.errors import InputError
from edit_gec.lab.training.comma_style import lacks_comma
from edit_gec.lab.training.entry import run_main
from edit_gec.lab.training.fragments import fragment as fragment
from edit_gec.text.boundaries import boundaries
from edit_gec.text.files import write_lines
from edit_gec.text.rows import read_table


class Corpus(NamedTuple):
    """How a corpus is used. `share`: how many of its units are taken; 1.5 is all of them, and half of them twice.

    `punctuation`: whether its commas are as careful editors set them, so that they can be learnt.
    """

    share: float
    punctuation: bool


OWN = Corpus(1.0, True)  # what is in the folder but not in the table
CORPORA = {
    name: Corpus(float(share), punctuation == "yes")
    for name, _domain, share, punctuation in read_table(Path(__file__).parent / "corpora.tsv")[1:]
}
MAX_WORDS = 60  # longer units are windows of longer texts at run time
JOIN_SHARE = 0.25  # of units are two neighbouring sentences: run-ons and commas need both sides
UNPUNCTUATED_SHARE = 0.5  # of lines without a final stop (headings, list items) are kept


class ProseUnit(NamedTuple):
    """One line of training text. `punctuation`: whether its marks may be learnt from."""

    text: str
    punctuation: bool


_STOP = re.compile(r"(?<=[.!?])[\"'”’)]*\s+")
_NOISE = re.compile(
    r"[{}<>|\\_=^~`*#@\[\]\t�]|https?:|www\.|--|\.\.|…|\b(?:um|uh|uhm|hmm|mhm)\b|\byou know,|\bI mean,|[!?]{2}",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"[^\x00-\x7f’‘“”–—é]")
_DATED = re.compile(  # nobody writes so today
    r"\b(?:thee|thou|thy|thine|hath|doth|dost|hast|shalt|canst|ye|to-(?:day|morrow|night)|shew(?:ed|n|s)?|connexion|"
    r"(?:some|any|every) one (?:else|who|has|had|was|is))\b|(?<!\w)['’]t(?:is|was)\b",
    re.IGNORECASE,
)
_DOUBLED = re.compile(r"\b(\w+),? \1\b", re.IGNORECASE)
_LEGITIMATE_DOUBLES = {"that", "had", "bye", "no", "very", "ha", "knock", "so", "well", "long"}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FINAL = re.compile(r"[.!?][\"'”’)]*$")
_MARKUP = re.compile(r"<[^<>]*>|\]\([^()]*\)|\]\[[^\[\]]*\]|\\[A-Za-z]+\*?|:[a-z]+:(?=`)")


def is_clean(sentence: str) -> bool:
    """Whether a sentence looks well edited: whole, no markup, no disfluency, not dated, mostly English letters."""
    if _NOISE.search(sentence) or not (sentence[:1].isupper() or sentence.startswith(tuple("\"'“‘(0123456789"))):
        return False
    words = _WORD.findall(sentence)
    letters = sum(map(len, words))
    if not 2 <= len(words) <= MAX_WORDS or letters < 0.65 * len(sentence):
        return False
    if _FOREIGN.search(sentence):
        return False
    if any(sentence.count(a) != sentence.count(b) for a, b in ("()", "“”")) or sentence.count('"') % 2:
        return False
    doubled = _DOUBLED.search(sentence)
    return (doubled is None or doubled.group(1).lower() in _LEGITIMATE_DOUBLES) and not _DATED.search(sentence)


def fingerprint(sentence: str) -> bytes:
    """Hash of the letters alone, so that case, spacing, digits and punctuation do not hide a duplicate."""
    letters = "".join(filter(str.isalpha, sentence.lower()))
    return hashlib.blake2b(letters.encode(), digest_size=8).digest()


def read_lines(path: Path) -> Iterator[str]:
    """Stripped lines of a `.txt` or `.txt.xz` file."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield " ".join(line.split())


def find_corpora(folder: Path) -> dict[str, Path]:
    """Name -> file of every corpus in a folder: those of CORPORA in its order, then others by name.

    Raises InputError when there is no `.txt` or `.txt.xz` file.
    """
    files = [path for path in sorted(folder.glob("*")) if path.name.endswith((".txt", ".txt.xz")) and path.is_file()]
    found = {path.name.removesuffix(".xz").removesuffix(".txt"): path for path in files}
    if not found:
        raise InputError(f"{folder}: no .txt or .txt.xz file with prose here; see data/README.md")
    known = [name for name in CORPORA if name in found]
    return {name: found[name] for name in [*known, *(name for name in found if name not in CORPORA)]}


def sentences_of(paragraph: str) -> Iterator[str]:
    """Sentences of a paragraph, cut where the product cuts them; is_clean drops those with addresses or code."""
    start = 0
    for end in boundaries(paragraph, bytearray(len(paragraph))):
        yield paragraph[start:end].strip()
        start = end


def units(
    paragraphs: Iterable[str], share: float, rng: random.Random, excluded: Container[bytes] = frozenset()
) -> Iterator[str]:
    """Clean sentences of some paragraphs, some of them joined with their neighbour, `share` of them in all.

    Sentences whose fingerprint is `excluded` are left out, and those that lack a comma after their introduction.
    """
    for paragraph in paragraphs:
        previous = ""
        for sentence in sentences_of(paragraph):
            final = bool(_FINAL.search(sentence))
            if not is_clean(sentence) or (not final and rng.random() > UNPUNCTUATED_SHARE):
                previous = ""
                continue
            if lacks_comma(sentence) or fingerprint(sentence) in excluded:
                previous = ""
                continue
            if rng.random() < share:
                joined = f"{previous} {sentence}"
                fits = previous and len(joined.split()) <= MAX_WORDS
                yield joined if fits and rng.random() < JOIN_SHARE else sentence
            previous = sentence if final else ""


def read_evaluation(path: Path) -> Iterator[str]:
    """Lines, paragraphs and sentences of an evaluation file, or of all files of a folder, with and without markup.

    M2 files give their source sentences, JSON lines all their strings; lines without a blank one between them are also
    read as one paragraph, since documents are wrapped. Raises InputError for a path that is not there.
    """
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                yield from read_evaluation(file)
        return
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; name the evaluation text that training must not see")
    lines = list(read_lines(path))
    if path.suffix == ".jsonl":
        lines = [line for row in lines if row for text in _strings(json.loads(row)) for line in (*text.split("\n"), "")]
    elif path.suffix == ".m2":
        lines = [part for line in lines if line.startswith("S ") for part in (line[2:], "")]
    paragraphs = "\n".join(line.strip() for line in lines).split("\n\n")
    for text in (*lines, *(paragraph.replace("\n", " ") for paragraph in paragraphs)):
        for plain in {text, _MARKUP.sub("", text)}:
            yield from (plain, *sentences_of(plain), *_STOP.split(plain))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def prepare(prose: Path, output: Path, *, exclude: Iterable[Path] = (), seed: int = 1) -> int:
    """Write the training text for one corpora folder, shuffled; returns the number of units.

    `exclude` names evaluation files or folders of them (plain text, M2, JSON lines, documents with markup): sentences
    with the letters of one of theirs are dropped. Raises InputError if `prose` holds no text.
    """
    rng = random.Random(seed)
    excluded = {fingerprint(part) for path in exclude for part in read_evaluation(path)}
    seen = set(excluded)
    kept: list[str] = []
    for name, path in find_corpora(prose).items():
        share = CORPORA.get(name, OWN).share
        for unit in units(read_lines(path), share, rng, excluded):
            mark = fingerprint(unit)
            if mark not in seen:
                seen.add(mark)
                kept += [f"{name}\t{unit}"] * max(1, int(share) + (rng.random() < share % 1))
    if not kept:
        raise InputError(f"{prose}: no clean sentence in the text here; is it English prose, one paragraph a line?")
    rng.shuffle(kept)
    return write_lines(output, kept)


def read_units(path: Path) -> list[ProseUnit]:
    """What `prepare` wrote. A line without a tab is text that teaches punctuation, too."""
    units: list[ProseUnit] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            name, _tab, text = line.rstrip("\n").rpartition("\t")
            units.append(ProseUnit(text, CORPORA.get(name, OWN).punctuation))
    return units


def draw_clean(paths: Sequence[Path], count: int, rng: random.Random) -> list[str]:
    """`count` clean sentences, as many from each text file; fewer where a file has no more.

    Raises InputError where a file is missing or has no clean sentence.
    """
    sentences: list[str] = []
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: no such file; give a text file, .txt or .txt.xz, with a paragraph on each line")
        lines = list(read_lines(path))
        rng.shuffle(lines)
        found = list(islice(units(lines, 1.0, rng), -(-count // len(paths))))
        if not found:
            raise InputError(f"{path}: no clean English sentence in it")
        sentences += found
    return sentences


def main() -> None:
    """Write the training text of a data folder."""
    import argparse
    import sys

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with prose/; writes pairs/prose.txt there")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="evaluation files or folders")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    output = args.data / "pairs" / "prose.txt"
    count = prepare(args.data / "prose", output, exclude=args.exclude, seed=args.seed)
    sys.stderr.write(f"{output}: {count} units\n")


if __name__ == "__main__":
    run_main(main)
