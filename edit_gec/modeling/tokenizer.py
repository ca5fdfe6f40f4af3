"""Sentences <-> SentencePiece ids with character offsets; slot tokens <extra_id_k>.

    >>> tokens = Tokens.load("models/edit5-mini")                                          # doctest: +SKIP
    >>> pieces = tokens.encode("She go home.")                                             # doctest: +SKIP
    >>> pieces.text(1, 2), pieces.starts[1], pieces.ends[1]                                # doctest: +SKIP
    (' go', 3, 6)

Two kinds of vocabulary work: our own (identity normalisation, byte fallback: every string is expressible) and T5's
`spiece.model` (NFKC, no byte fallback: unknown characters are still *kept*, because kept pieces are copied from the
source by offset and never decoded). Slots have the ids that Hugging Face gives them: the last ones, in descending
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from edit_gec.errors import ModelError
from edit_gec.modeling import json_tokenizer
from edit_gec.modeling.config import MOST_LIST, check_size
from edit_gec.text.files import atomic_write

PAD = 0  # as in T5
EOS = 1
UNK = 2
FILE = "spiece.model"
SPACE = "▁"
_CONTINUATION = {bytes([b]) for b in range(0x80, 0xC0)}  # second and later bytes of a character in UTF-8


@dataclass(frozen=True)
class Pieces:
    """A tokenised sentence: ids and the half-open character span of each piece, which tile the sentence.

    `prefixed`: the first piece has a space that is not in the text (SentencePiece's dummy prefix), so that "She" and
    " she" are the same kind of piece wherever re-ordering puts it.
    """

    source: str
    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    prefixed: bool

    def __len__(self) -> int:
        return len(self.ids)

    def text(self, start: int, end: int) -> str:
        """Surface of the pieces start..end, the dummy prefix of the first piece included."""
        if start >= end:
            return ""
        surface = self.source[self.starts[start] : self.ends[end - 1]]
        return " " + surface if start == 0 and self.prefixed else surface

    @property
    def covered(self) -> str:
        """The part of the source that the pieces cover."""
        return self.source[self.starts[0] : self.ends[-1]] if self.ids else ""

    def before(self, end: int) -> str:
        """The source up to the end of the first `end` pieces."""
        return self.source[: self.ends[end - 1]] if end else ""

    def window(self, start: int, end: int) -> Pieces:
        """The pieces start..end as pieces of the same sentence (offsets unchanged)."""
        return Pieces(
            self.source,
            self.ids[start:end],
            self.starts[start:end],
            self.ends[start:end],
            self.prefixed and start == 0,
        )


class Vocabulary(Protocol):
    """What drafters, alignment and edits ask of a vocabulary: Tokens here, BytePieces of byte-level pairs."""

    end: int  # ends an output
    unknown: int | None  # stands for what cannot be expressed

    @property
    def size(self) -> int:
        """How many ids there are."""

    def encode(self, sentence: str) -> Pieces:
        """Pieces of one sentence, whose spans tile it."""

    def ids(self, text: str) -> list[int]:
        """Canonical ids of a text."""

    def decode(self, ids: Sequence[int]) -> str:
        """Text of some pieces, leading space kept; special ids are silent."""

    def surface(self, piece: int) -> bytes:
        """UTF-8 bytes that a piece writes."""

    def is_continuation(self, piece: int) -> bool:
        """Whether a piece starts inside a character."""

    def text_of_end(self, piece: int) -> list[int]:
        """Ids of the text that a piece writes before it ends an output."""


class Tokens:
    """A SentencePiece vocabulary plus slots; `size` counts both and is the number of rows of the embedding."""

    end = EOS
    unknown: int | None = UNK

    def __init__(self, processor: Any, slots: int) -> None:
        self.processor = processor
        self.pieces = int(processor.get_piece_size())
        self.slots = slots
        self.size: int = self.pieces + slots
        self._surfaces = [self._surface(i) for i in range(self.pieces)]

    @classmethod
    def load(cls, folder: str | Path, slots: int) -> Tokens:
        """Read `spiece.model` of a model folder, or where it is missing, `tokenizer.json` (json_tokenizer.py).

        Raises ModelError when both are missing or the one that counts is broken.
        """
        import sentencepiece

        path = Path(folder) / FILE
        if not path.is_file():
            path = Path(folder) / json_tokenizer.FILE
        if not path.is_file():
            raise ModelError(f"{folder}: no {FILE} here, and no {path.name}; {json_tokenizer.REMEDY}")
        check_size(path, MOST_LIST)
        try:
            content = path.read_bytes() if path.name == FILE else json_tokenizer.sentencepiece_model(path)
            processor = sentencepiece.SentencePieceProcessor(model_proto=content) if content else None
        except UnicodeDecodeError:  # SentencePiece quotes the broken piece
            raise ModelError(f"{path}: a piece is not UTF-8; copy or download it again") from None
        except (RuntimeError, OSError) as error:
            raise ModelError(f"{path}: not a SentencePiece model ({error})") from None
        if processor is None:  # which SentencePiece itself accepts, and then knows no piece
            raise ModelError(f"{path}: the file is empty; copy or download it again")
        if (processor.pad_id(), processor.eos_id(), processor.unk_id()) != (PAD, EOS, UNK):
            raise ModelError(
                f"{path}: special pieces of another kind; expected <pad> {PAD}, </s> {EOS}, <unk> {UNK}, as in T5"
            )
        try:
            return cls(processor, slots)
        except UnicodeDecodeError as error:
            raise ModelError(f"{path}: a piece is not UTF-8 ({error}); copy or download it again") from None

    def encode(self, sentence: str) -> Pieces:
        """Pieces of one sentence; their spans tile it, whatever the vocabulary's normalisation did."""
        if not sentence.isascii():  # lone surrogates are not text: they read as "?", and stay in the source
            sentence, source = sentence.encode("utf-8", errors="replace").decode(), sentence
        else:
            source = sentence
        encoded = self.processor.encode(sentence, return_type="offset_mapping")
        ids: list[int] = list(encoded["ids"])
        ends = [*accumulate((end for _, end in encoded["offsets"]), max)]
        if ends:  # normalisation may drop characters: they go with the next piece, or the last one
            ends[-1] = len(sentence)
        starts = (0, *ends[:-1])[: len(ends)]
        return Pieces(source, tuple(ids), starts, tuple(ends), self._is_prefixed(ids, sentence, ends))

    def _is_prefixed(self, ids: list[int], sentence: str, ends: list[int]) -> bool:
        if not ids:
            return True
        first = self._surfaces[ids[0]]
        written = sentence[: ends[0]].encode(errors="replace")
        return len(first) - len(first.lstrip(b" ")) > len(written) - len(written.lstrip(b" "))

    def ids(self, text: str) -> list[int]:
        """Canonical ids of a text, without offsets."""
        return list(self.processor.encode(text if text.isascii() else text.encode(errors="replace").decode()))

    def decode(self, ids: Sequence[int]) -> str:
        """Text of inserted pieces, leading space kept; special ids are silent, broken bytes become U+FFFD."""
        return b"".join(self._surfaces[i] for i in ids if i < self.pieces).decode("utf-8", errors="replace")

    def starts_word(self, piece: int) -> bool:
        """Whether the piece begins with a space."""
        return piece < self.pieces and self._surfaces[piece][:1] == b" "

    def surface(self, piece: int) -> bytes:
        """UTF-8 bytes that the piece writes."""
        return self._surfaces[piece] if piece < self.pieces else b""

    def is_continuation(self, piece: int) -> bool:
        """Whether the piece starts inside a character that is spelt in bytes."""
        return self.surface(piece)[:1] in _CONTINUATION

    def text_of_end(self, piece: int) -> list[int]:
        """Nothing: </s> has no text."""
        return []

    def slot(self, k: int) -> int:
        """Id of <extra_id_k>, 0 <= k < slots."""
        return self.size - 1 - k

    def wrap(self, ids: Sequence[int]) -> list[int]:
        """Source ids as an EdiT5's encoder reads them: sentinel <extra_id_0>, pieces, </s>."""
        return [self.slot(0), *ids, EOS]

    def _surface(self, piece: int) -> bytes:
        if self.processor.is_byte(piece):
            return bytes([int(self.processor.id_to_piece(piece)[3:5], 16)])
        if self.processor.is_control(piece):
            return b""
        if self.processor.is_unknown(piece):
            return " \u2047 ".encode()
        return str(self.processor.id_to_piece(piece)).replace(SPACE, " ").encode()


def train_vocabulary(corpus: Path, folder: Path, *, size: int, sentences: int = 600_000, threads: int = 2) -> None:
    """Learn our own vocabulary (unigram, identity normalisation, byte fallback) and write it to `folder`.

    A small text gives fewer than `size` pieces.
    What stands before a tab in a line of `corpus` is the name of its source (clean_prose.py), and no text.
    """
    import sentencepiece

    learnt = BytesIO()
    lines = corpus.read_text(encoding="utf-8").splitlines()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(line.rpartition("\t")[2] for line in lines),
        model_writer=learnt,
        vocab_size=size,
        hard_vocab_limit=False,  # a small text has fewer pieces
        model_type="unigram",
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        byte_fallback=True,
        split_digits=True,
        character_coverage=0.9999,
        input_sentence_size=sentences,
        shuffle_input_sentence=True,
        pad_id=PAD,
        eos_id=EOS,
        unk_id=UNK,
        bos_id=-1,
        num_threads=threads,
        minloglevel=2,
    )
    atomic_write(folder / FILE, learnt.getvalue())
