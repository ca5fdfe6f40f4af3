"""Sentences to measure on: read from a text or M2 file, chosen so that short and long ones are all there.

lengths in the file    3 4 5 5 6 7 9 12 14 20 31 60          four wanted: 3 6 12 60
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from edit_gec.errors import InputError


def read_sentences(path: str | Path) -> list[str]:
    """One sentence a line; of an M2 file the sources, written as text. Raises InputError when there are none."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read it as text ({error}); one sentence on each line is wanted") from None
    if path.suffix == ".m2":
        from edit_gec.text.detokenize import detokenize, splits_hyphens

        tokens = [line[2:].split() for line in lines if line.startswith("S ")]
        split_hyphens = splits_hyphens(tokens)
        lines = [detokenize(sentence, split_hyphens).text for sentence in tokens]
    found = [stripped for line in lines if (stripped := line.strip())]
    if not found:
        raise InputError(f"{path}: no sentences; one on each line is wanted (or an M2 file)")
    return found


def spread(sentences: Sequence[str], count: int, length: Callable[[str], int]) -> list[str]:
    """`count` sentences at equal steps of the order by length, the shortest and the longest among them.

    >>> spread(["a", "bbbb", "cc", "ddd", "eeeee"], 3, len)
    ['a', 'ddd', 'eeeee']
    """
    ordered = sorted(dict.fromkeys(sentences), key=length)
    if count >= len(ordered):
        return ordered
    if count == 1:
        return [ordered[len(ordered) // 2]]
    return [ordered[round(n * (len(ordered) - 1) / (count - 1))] for n in range(count)]


def digest(sentences: Sequence[str]) -> str:
    """Eight hex digits: results on other sentences are not to be compared."""
    return hashlib.sha256("\n".join(sentences).encode("utf-8", errors="replace")).hexdigest()[:8]


# For a first look without a file; the results that count name theirs.
OWN = [
    "She go home.",
    "I has two banana.",
    "He dont like the the rain.",
    "We was there on third May with all our friend.",
    "My sister walk to the station every morning becuase she like the quiet street.",
    "i was walking through the park when struck by bicycle ... my arm hurts a little now .",
    "If I would have more time , I would learned to play piano, what my grandmother play very well.",
    "The childrens learned a new song at the school today, and they will sing it for their parents on Friday, when the "
    "whole class meet again in the big hall behind of the library.",
]
