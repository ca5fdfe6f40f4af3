"""Sentences to measure on: read from a text or M2 file, and chosen to cover short and long ones.

    lengths in the file    3 4 5 5 6 7 9 12 14 20 31 60          four of them: 3 6 12 60

A `Text` also says what random weights make of its sentence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.errors import InputError
from edit_gec.text import files

if TYPE_CHECKING:
    from edit_gec.editing.plan import Plan
    from edit_gec.modeling.tokenizer import Tokens


@dataclass(frozen=True)
class Text:
    """A sentence, and what it is corrected to (None: what the model makes of it).

    `insertions` are the inserted pieces where they are others than alignment finds: (kept pieces before it, texts of
    its pieces) for each slot; `deleted` are the pieces that go.
    """

    source: str
    corrected: str | None = None
    insertions: tuple[tuple[int, tuple[str, ...]], ...] | None = None
    deleted: tuple[int, ...] = ()

    def plan(self, tokens: Tokens) -> Plan:
        """The edit plan of the correction."""
        from edit_gec.editing.alignment import align
        from edit_gec.editing.plan import Plan

        ids = tokens.ids(self.source)
        if self.insertions is None:
            return align(ids, tokens.ids(self.corrected or ""), tokens)
        order = tuple(n for n in range(len(ids) + 1) if n not in self.deleted)
        surfaces = {tokens.surface(n): n for n in reversed(range(tokens.pieces))}
        return Plan(
            len(ids) + 1,
            order,
            tuple((k, tuple(surfaces[piece.encode()] for piece in pieces)) for k, pieces in self.insertions),
        )


# 23 pieces; 27 for the T5; "<extra_id_1> I was <extra_id_6> I was <extra_id_8> _ a </s>" for EdiT5, 10 of its tokens
CASE_STUDY = Text(
    "i was walking through the park when struck by bicycle ... my arm hurts a little now .",
    "I was walking through the park when I was struck by a bicycle ... my arm hurts a little now .",
    ((1, (" I", " was")), (6, (" I", " was")), (8, (" ", "a"))),
    (1, 2),
)


def read_texts(path: str | Path) -> list[Text]:
    """One sentence a line; after a tab what it is corrected to. Raises InputError when there are none."""
    texts = [parse_text(line) for line in files.read(str(path)).text.splitlines() if line.strip()]
    if not texts:
        raise InputError(f"{path}: no sentence to profile; expected one on each line")
    return texts


def parse_text(line: str) -> Text:
    """A sentence, and after a tab its correction.

    >>> parse_text("She go.\\tShe goes.").corrected
    'She goes.'
    """
    columns = line.split("\t")
    return Text(columns[0], columns[1] if len(columns) > 1 else None)


def read_sentences(path: str | Path) -> list[str]:
    """One sentence a line; of an M2 file the sources, written as text. Raises InputError when there are none."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read it as text ({error}); expected one sentence on each line") from None
    if path.suffix == ".m2":
        from edit_gec.text.detokenize import detokenize, splits_hyphens

        tokens = [line[2:].split() for line in lines if line.startswith("S ")]
        split_hyphens = splits_hyphens(tokens)
        lines = [detokenize(sentence, split_hyphens).text for sentence in tokens]
    found = [stripped for line in lines if (stripped := line.strip())]
    if not found:
        raise InputError(f"{path}: no sentences; expected one on each line, or an M2 file")
    return found


def spread_lengths(sentences: Sequence[str], count: int, length: Callable[[str], int]) -> list[str]:
    """`count` sentences at equal steps of the order by length, the shortest and the longest among them.

    >>> spread_lengths(["a", "bbbb", "cc", "ddd", "eeeee"], 3, len)
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
