"""How many errors that are planted in edited documents are found, by kind.

    python profiles/score/planted.py FOLDER                      the shipped model
    python profiles/score/planted.py FOLDER --model edit5-mini-1

Errors are planted in running text: lines of 60 characters and more, far apart, in words that are no markup. Places and
errors depend on the documents and the seed alone. Found: an edit touches the place, or the space before it. Restored:
the text there is as it was.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from edit_gec.corrector import Corrector
from edit_gec.lab.evaluation.documents import SourceDocument, read_documents

WORD = re.compile(r"(?<![\w'’-])[A-Za-z]+(?![\w'’-])")
AGREEMENT = {"is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has", "does": "do"}
HOMOPHONES = {"its": "it's", "their": "there", "than": "then", "your": "you're", "whose": "who's", "then": "than"}
RUNNING = 60  # characters of a line
APART = 120  # characters between two places


class Plant(NamedTuple):
    """An error in a document: text[start:end] becomes `wrong`."""

    kind: str
    start: int
    end: int
    wrong: str


def misspell(word: str, draw: random.Random) -> str:
    """One letter left out or doubled, or two exchanged, behind the first."""
    at = draw.randrange(1, len(word) - 1)
    choice = draw.randrange(3)
    if choice == 0 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if choice == 1 else word[: at + 1] + word[at:]


def possible(text: str, match: re.Match[str], draw: random.Random) -> Iterator[Plant]:
    """The errors that a word can get."""
    word, start, end = match[0], *match.span()
    if word.islower() and len(word) >= 6:
        yield Plant("spelling", start, end, misspell(word, draw))
    if word in AGREEMENT:
        yield Plant("agreement", start, end, AGREEMENT[word])
    if word in HOMOPHONES:
        yield Plant("homophone", start, end, HOMOPHONES[word])
    if word in ("a", "an"):
        yield Plant("a or an", start, end, "an" if word == "a" else "a")
    if text[end : end + 1] == " ":
        if word in ("the", "a", "an"):
            yield Plant("article missing", start, end + 1, "")
        if word.islower():
            yield Plant("doubled word", end, end, " " + word)


def plant(document: SourceDocument, draw: random.Random) -> list[Plant]:
    """Errors of all kinds in one document, none of them next to another."""
    text, mask, last = document.text, document.mask, -APART
    chosen = []
    for match in WORD.finditer(text):
        start, end = match.span()
        line = text[text.rfind("\n", 0, start) + 1 : text.find("\n", end)]
        if start < last + APART or any(mask[max(0, start - 2) : end + 2]) or len(line) < RUNNING:
            continue
        found = list(possible(text, match, draw))
        rare = [each for each in found if each.kind not in ("spelling", "doubled word", "article missing")]
        if found and (rare or draw.random() < 0.08):
            chosen.append(draw.choice(rare or found))
            last = end
    return chosen


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="edit5-mini")
    parser.add_argument("--most", type=int, default=120, help="errors of each kind")
    parser.add_argument("--lost", action="store_true", help="show what is not found")
    options = parser.parse_args(argv)
    draw = random.Random(7)
    documents = read_documents(options.folder)
    every = defaultdict(list)
    for document in documents:
        for each in plant(document, draw):
            every[each.kind].append((document.path, each))
    kept = [pair for of_kind in every.values() for pair in draw.sample(of_kind, min(options.most, len(of_kind)))]
    corrector = Corrector.load(options.model)
    planted, found, restored = Counter[str](), Counter[str](), Counter[str]()
    for document in documents:
        plants = sorted((each for path, each in kept if path == document.path), key=lambda each: each.start)
        text, places = apply_plants(document.text, plants)
        correction = corrector.correct(text, format=document.format)
        for each, (start, end) in zip(plants, places, strict=True):
            near = [edit for edit in correction.edits if edit.start <= end and start - 1 <= edit.end]
            planted[each.kind] += 1
            found[each.kind] += bool(near)
            low, high = max(0, each.start - 12), each.end + 12
            shift = start - each.start
            window = text[low + shift : high + shift + len(each.wrong) - (each.end - each.start)]
            for edit in reversed(near):
                at = edit.start - low - shift
                window = window[:at] + edit.replacement + window[at + len(edit.original) :]
            restored[each.kind] += window == document.text[low:high]
            if options.lost and not near:
                sys.stdout.write(f"{each.kind}: {document.path}: {text[max(0, start - 40) : end + 30]!r}\n")
    for counter in (planted, found, restored):
        counter["all"] = counter.total()
    for kind in sorted(planted):
        n = planted[kind]
        sys.stdout.write(f"{kind:16} {n:4}  found {found[kind] / n:.0%}  restored {restored[kind] / n:.0%}\n")


def apply_plants(text: str, plants: Sequence[Plant]) -> tuple[str, list[tuple[int, int]]]:
    """The text with its errors, and where each of them stands in it."""
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    done = length = 0
    for each in plants:
        parts += [text[done : each.start], each.wrong]
        length += each.start - done
        places.append((length, length + len(each.wrong)))
        length += len(each.wrong)
        done = each.end
    return "".join([*parts, text[done:]]), places


if __name__ == "__main__":
    main()
