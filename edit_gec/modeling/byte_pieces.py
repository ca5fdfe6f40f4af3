"""Byte-level pairs as a vocabulary of sentences: what tokenizer.Tokens is for SentencePiece.

    >>> pieces = BytePieces(BytePairs.load("smollm2"), line=True)                          # doctest: +SKIP
    >>> pieces.decode(pieces.ids("She goes."))                                             # doctest: +SKIP
    'She goes.'

`line`: a sentence and its correction stand on a line each, so line ends inside a sentence read as spaces.
`spaced`: a correction follows a word of the prompt, so it begins with a space that is not in its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from edit_gec.errors import ModelError
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.tokenizer import Pieces

LINE_ENDS = re.compile("[\n\r]")


class BytePieces:
    """Sentences <-> ids of a BytePairs; `ends` are the ids that end an output, `end` the one to draft."""

    unknown: int | None = None

    def __init__(self, pairs: BytePairs, *, line: bool = False, spaced: bool = False) -> None:
        self.pairs = pairs
        self.size = pairs.size
        self.line = line
        self.spaced = spaced
        self._surfaces = pairs.surfaces
        known = [each for each in (pairs.begin, pairs.end, *pairs.ends) if each is not None]
        lines = [number for number, surface in enumerate(self._surfaces) if b"\n" in surface] if line else []
        if not known and not lines:
            raise ModelError("vocabulary: no token ends a text (eos_token_id); expected one, or a prompt of lines")
        self.ends = frozenset((*known, *lines))
        self.end: int = pairs.encode("\n").ids[0] if line else pairs.end if pairs.end is not None else known[0]

    def read(self, sentence: str) -> str:
        """A sentence as it stands in the prompt, character for character."""
        return LINE_ENDS.sub(" ", sentence) if self.line else sentence

    def ids(self, text: str) -> list[int]:
        """The ids of a correction."""
        return list(self.pairs.encode(" " * self.spaced + self.read(text)).ids)

    def encode(self, sentence: str) -> Pieces:
        """Pieces of one sentence; their spans tile it."""
        encoded = self.pairs.encode(" " * self.spaced + self.read(sentence))
        ends = [*accumulate((max(0, end - self.spaced) for end in encoded.ends), max)]
        if ends:  # normalisation may drop characters: they go with the next piece, or the last one
            ends[-1] = len(sentence)
        return Pieces(sentence, encoded.ids, (0, *ends[:-1])[: len(ends)], tuple(ends), self.spaced)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of some ids, leading space kept; special ids are silent, broken bytes become U+FFFD."""
        return b"".join(map(self.surface, ids)).decode("utf-8", errors="replace")

    def surface(self, piece: int) -> bytes:
        """Bytes that a piece writes: none for those that the model has beyond the vocabulary."""
        return self._surfaces[piece] if 0 <= piece < self.size else b""

    def is_continuation(self, piece: int) -> bool:
        """Whether the piece starts inside a character."""
        return 0x80 <= (self.surface(piece)[:1] or b" ")[0] < 0xC0

    def text_of_end(self, piece: int) -> list[int]:
        """Ids of what a piece writes before the line end in it (".\\n" is one piece in Llama 3 and Qwen2)."""
        text = self.surface(piece).partition(b"\n")[0].decode("utf-8", errors="ignore") if self.line else ""
        return list(self.pairs.encode(text).ids)
