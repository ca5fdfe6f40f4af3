"""Are synthetic errors like real ones? The distribution of both, type by type and direction by direction, as a table.

    >>> ours = tally([("He have two cat.", "He has two cats.")])
    >>> print(table(ours, tally([("She have a cats.", "She has a cat.")])))
    group                   row                              sample %  reference %  ratio  sample  reference
    type                    agreement                            50.0         50.0   1.00       1          1
    type                    number                               50.0         50.0   1.00       1          1
    number                  plural extra                          0.0        100.0   0.00       0          1
    number                  plural missing                      100.0          0.0      -       1          0
    auxiliary               have -> has                         100.0        100.0   1.00       1          1

Shares are within the group. The ratio is the sample's share by the reference's.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from edit_gec.annotation import m2
from edit_gec.errors import InputError
from edit_gec.lab.training.clean_prose import read_lines, units
from edit_gec.lab.training.synthetic.changes import Feature, WordChange, changes, features, tokens
from edit_gec.lab.training.synthetic.inflections import Lexicon

LEAST_SHARE = 1.5  # per cent of its group that a row needs, on one side at least, to be shown
GROUPS = (
    "type", "number", "comma missing", "auxiliary", "verb", "preposition missing", "preposition superfluous",
    "preposition replaced", "article replaced", "mark replaced", "word superfluous",
)  # fmt: skip


def tally(pairs: Iterable[tuple[str, str]]) -> Counter[Feature]:
    """How often each row occurs in (wrong, right) sentences."""
    lex = Lexicon.load()
    counts: Counter[Feature] = Counter()
    for wrong, right in pairs:
        target = tokens(right)
        found = changes(tokens(wrong), target)
        moved = _moved(found)
        for change in found:
            if (change.wrong or change.right).lower() in moved and not (change.wrong and change.right):
                counts["type", "order"] += bool(change.right)
            else:
                counts.update(features(change, target, lex))
    return counts


def _moved(found: Sequence[WordChange]) -> set[str]:
    """Words that are lost in one place and gained in another; marks and articles do not move."""
    lost = {change.wrong.lower() for change in found if not change.right}
    return {change.right.lower() for change in found if not change.wrong and len(change.right) > 3} & lost


def from_m2(path: Path) -> Iterator[tuple[str, str]]:
    """(wrong, right) sentences of an M2 file, by its first annotator. Raises InputError where it is malformed."""
    for sentence in m2.read_m2(path):
        edits = sentence.annotators[min(sentence.annotators)]
        yield " ".join(sentence.tokens), " ".join(m2.apply_edits(sentence.tokens, edits))


def read_clean(paths: Sequence[Path], count: int, rng: random.Random) -> list[str]:
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


def table(sample: Counter[Feature], reference: Counter[Feature]) -> str:
    """Rows of every group, the reference's most frequent first."""
    lines = [f"{'group':24}{'row':32}{'sample %':>9}{'reference %':>13}{'ratio':>7}{'sample':>8}{'reference':>11}"]
    for group in GROUPS:
        totals = [sum(n for (g, _), n in counts.items() if g == group) for counts in (sample, reference)]
        names = {name for g, name in chain(sample, reference) if g == group}
        for name in sorted(names, key=lambda name: (-reference[group, name], name)):
            ours, theirs = sample[group, name], reference[group, name]
            a, b = (100 * n / max(1, total) for n, total in zip((ours, theirs), totals, strict=True))
            if max(a, b) >= LEAST_SHARE:
                quotient = f"{a / b:.2f}" if b else "-"
                lines.append(f"{group:24}{name:32}{a:9.1f}{b:13.1f}{quotient:>7}{ours:8}{theirs:11}")
    return "\n".join(lines)
