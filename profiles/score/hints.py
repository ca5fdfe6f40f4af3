"""How often a hint is at a real error, by the probability of a change that it takes (editing/alternatives.py).

    python profiles/score/hints.py wi-3k.m2 clean.txt --doubts 0.9 0.95 0.99

A hint is at an error where a gold edit of some annotator touches it. False hints are counted in the clean sentences,
beside the false edits of the default.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from edit_gec.annotation.m2 import M2Sentence, read_lines, read_m2
from edit_gec.corrector import Corrector
from edit_gec.editing.alternatives import Suggester
from edit_gec.text.correction import Correction
from edit_gec.text.detokenize import detokenize, splits_hyphens
from edit_gec.text.edits import Edit
from edit_gec.text.sentences import split

Gold = list[tuple[int, int, str]]


def gold_edits(sentence: M2Sentence, split_hyphens: bool) -> tuple[str, Gold]:
    """The sentence as it was typed, and its gold edits in characters."""
    raw = detokenize(sentence.tokens, split_hyphens)
    places = [*raw.spans, (len(raw.text), len(raw.text))]
    gold: Gold = []
    for edits in sentence.annotators.values():
        for edit in edits:
            start = places[edit.start][0]
            end = max(start, places[edit.end - 1][1]) if edit.end > edit.start else start
            gold.append((start, end, edit.correction))
    return raw.text, gold


def find_hints(suggester: Suggester, correction: Correction) -> list[Edit]:
    """The hints of one sentence."""
    text = correction.text
    lines = split(text, lines=True, markup=False)
    return [hint for line in lines for hint in suggester.suggest(text, line, correction.edits, hints=True).hints]


def touches(hint: Edit, gold: Gold) -> bool:
    """Whether a gold edit overlaps the hint; an insertion counts within two characters of it."""
    margin = 2 if hint.start == hint.end else 0
    return any(start <= hint.end + margin and hint.start <= end + margin for start, end, _ in gold)


def has_answer(hint: Edit, gold: Gold) -> bool:
    """Whether the hint offers what a gold edit writes there."""
    offered = {each.strip().casefold() for each in (hint.replacement, *hint.alternatives)}
    return any(new.casefold() in offered for start, end, new in gold if start <= hint.end and hint.start <= end)


def shape(hint: Edit) -> str:
    """insert, delete or replace."""
    return "insert" if not hint.original.strip() else "delete" if not hint.replacement.strip() else "replace"


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each threshold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("m2", type=Path)
    parser.add_argument("clean", type=Path)
    parser.add_argument("--doubts", type=float, nargs="+", default=[0.9, 0.95, 0.97, 0.98, 0.99, 0.995])
    parser.add_argument("--model", default="edit5-mini")
    options = parser.parse_args(argv)
    corrector = Corrector.load(options.model)
    sentences = read_m2(options.m2)
    split_hyphens = splits_hyphens([sentence.tokens for sentence in sentences])
    texts, golds = zip(*(gold_edits(each, split_hyphens) for each in sentences), strict=True)
    found = corrector.correct_batch(texts, lines=True, markup=False)
    clean = corrector.correct_batch(read_lines(options.clean), lines=True, markup=False)
    made, false = (sum(len(each.edits) for each in group) for group in (found, clean))
    sys.stdout.write(f"edits: {made} in {len(found)} sentences, {false} in {len(clean)} clean ones\n")
    for doubt in options.doubts:
        suggester = replace(corrector.suggester(), hint_doubt=doubt)
        hints, right, answered = Counter[str](), Counter[str](), Counter[str]()
        for correction, gold in zip(found, golds, strict=True):
            for hint in find_hints(suggester, correction):
                names = (shape(hint), "all")
                hints.update(names)
                right.update(names if touches(hint, gold) else ())
                answered.update(names if has_answer(hint, gold) else ())
        wrong = Counter(shape(hint) for correction in clean for hint in find_hints(suggester, correction))
        for name in sorted(hints):
            share, answer = (f"{count[name] / hints[name]:.0%}" for count in (right, answered))
            in_clean = wrong.total() if name == "all" else wrong[name]
            sys.stdout.write(
                f"{doubt:<6g} {name:8} {hints[name]:5} {share} at errors, {answer} answered; clean {in_clean}\n"
            )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
