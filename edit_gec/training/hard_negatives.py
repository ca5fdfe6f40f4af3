"""Hard negatives: clean sentences that a model changes all the same, for the `hard` share of a recipe's stage.

    python -m edit_gec.training.hard_negatives --model FOLDER --text PROSE.txt --output DATA/hard/NAME.txt

The text must be clean, and not part of the training text of the model. A sentence is taken if one of its edits reaches
a threshold below the model's own, so that near misses count. It is left out if one of the edits has a very high
confidence, because then the text is more likely to be wrong than the model, or if one corrects an unknown word, which
may be a name. Read a hundred of the lines before training on them: every true error among them teaches the wrong thing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from edit_gec.corrector import Corrector
from edit_gec.editing.lexicon import WordList
from edit_gec.errors import InputError
from edit_gec.text.correction import Correction
from edit_gec.text.counts import format_count
from edit_gec.text.files import write_lines
from edit_gec.text.words import WORD
from edit_gec.training.clean_prose import find_corpora, is_clean, read_lines, sentences_of
from edit_gec.training.entry import run_main

MIN_CONFIDENCE = 0.20  # of an edit that makes its sentence a hard one
MAX_CONFIDENCE = 0.80  # an edit with this confidence may well be right
CHUNK = 256  # sentences that are corrected together


def find_hard(
    corrector: Corrector, sentences: Iterable[str], *, max_confidence: float = MAX_CONFIDENCE
) -> Iterator[str]:
    """The sentences that the corrector changes, without those with an edit of `max_confidence` or more, and those in
    which it corrects an unknown word."""
    waiting = iter(sentences)
    chunk = list(islice(waiting, CHUNK))
    while chunk:
        for correction in corrector.correct_batch(chunk, lines=True, markup=False):
            if correction.edits and is_hard(correction, corrector.spelling, max_confidence):
                yield correction.text
        chunk = list(islice(waiting, CHUNK))


def is_hard(correction: Correction, spelling: WordList | None, max_confidence: float = MAX_CONFIDENCE) -> bool:
    """Whether every edit is below `max_confidence`, and none corrects a word that is not in the list."""
    if any(edit.confidence >= max_confidence for edit in correction.edits):
        return False
    words = [word for edit in correction.edits for word in WORD.findall(edit.original)]
    return spelling is None or all(spelling.knows(word) for word in words)


def read_sentences(path: Path) -> Iterator[str]:
    """Clean sentences of a text file, or of all text files in a folder, each once.

    Raises InputError where there is none.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; expected clean text, .txt or .txt.xz")
    files = list(find_corpora(path).values()) if path.is_dir() else [path]
    seen: set[str] = set()
    for line in (line for file in files for line in read_lines(file)):
        for sentence in sentences_of(line):
            if is_clean(sentence) and sentence not in seen:
                seen.add(sentence)
                yield sentence
    if not seen:
        raise InputError(f"{path}: no clean English sentence in it")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the hard sentences of a text; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", default="edit5-mini", help="model by name or folder (default: edit5-mini)")
    add("--text", type=Path, required=True, help="clean text that the model was not trained on: a file or a folder")
    add("--output", type=Path, required=True, help=".txt in DATA/hard")
    add("--sentences", type=int, default=300_000, help="read at most N sentences (default: 300000)")
    add(
        "--min-confidence",
        type=float,
        default=MIN_CONFIDENCE,
        help=f"take sentences with an edit of at least this confidence (default: {MIN_CONFIDENCE})",
    )
    add(
        "--max-confidence",
        type=float,
        default=MAX_CONFIDENCE,
        help=f"leave out sentences with an edit of this confidence (default: {MAX_CONFIDENCE})",
    )
    add("--device", default="cpu")
    args = parser.parse_args(argv)
    corrector = Corrector.load(args.model, device=args.device).with_thresholds(min_confidence=args.min_confidence)
    sentences = islice(read_sentences(args.text), args.sentences)
    count = write_lines(args.output, find_hard(corrector, sentences, max_confidence=args.max_confidence))
    sys.stdout.write(f"{args.output}: {format_count(count, 'sentence')}\n")
    return 0


if __name__ == "__main__":
    run_main(main)
