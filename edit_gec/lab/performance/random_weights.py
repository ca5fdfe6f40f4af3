"""Models of a preset's shape with random weights: latency does not depend on what the weights are.

    >>> model, tokens = build_edit5("edit5-base")                                          # doctest: +SKIP
    >>> target = build_target("t5-base", dtype="bfloat16")                                 # doctest: +SKIP

Their vocabulary is that of the shipped model, filled up with pieces that no text contains until it has the preset's
size: ids, embeddings and output layers are as large as they would be, texts get about as many pieces.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from edit_gec.errors import InputError

if TYPE_CHECKING:
    from torch import nn

    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Tokens
    from edit_gec.speculative.target import Target

    M = TypeVar("M", bound=nn.Module)

T5_SLOTS = 128  # rows of T5's embedding without a SentencePiece piece: its slots, and padding
_UNUSED = 5  # SentencePiece's type of pieces that are never produced


def build_edit5(preset: str, *, device: str = "cpu", dtype: str = "float32", seed: int = 0) -> tuple[EdiT5, Tokens]:
    """A random EdiT5 of a preset in evaluation mode, and its vocabulary. Raises InputError for an unknown preset."""
    from edit_gec.modeling.edit5 import PRESETS, EdiT5
    from edit_gec.modeling.tokenizer import Tokens

    if preset not in PRESETS:
        raise InputError(f"preset {preset}: {', '.join(PRESETS)} are EdiT5s")
    config = PRESETS[preset]
    tokens = Tokens(_processor(config.vocab_size - config.slots), config.slots)
    return _random(lambda: EdiT5(config), device, dtype, seed), tokens


def build_target(
    preset: str, *, device: str = "cpu", dtype: str = "float32", seed: int = 0, max_length: int | None = None
) -> Target:
    """A random T5 of a preset with its vocabulary, in evaluation mode. Raises InputError for an unknown preset."""
    from edit_gec.modeling.t5 import PRESETS, T5
    from edit_gec.modeling.tokenizer import Tokens
    from edit_gec.speculative.any_target import MAX_LENGTH
    from edit_gec.speculative.target import Target

    if preset not in PRESETS:
        raise InputError(f"preset {preset}: {', '.join(PRESETS)} are T5s")
    config = PRESETS[preset]
    tokens = Tokens(_processor(config.vocab_size - T5_SLOTS), 0)
    return Target(_random(lambda: T5(config), device, dtype, seed), tokens, max_length=max_length or MAX_LENGTH)


def vocabulary(pieces: int) -> bytes:
    """The shipped SentencePiece model with this many pieces, as a `spiece.model` holds it. Raises InputError when it
    has more of its own.

    A model is a protocol buffer, in which appended pieces (field 1: text, score, type) join those there are.
    """
    import sentencepiece

    from edit_gec.catalog import DEFAULT_MODEL, find_model
    from edit_gec.modeling.tokenizer import FILE

    shipped = (find_model(DEFAULT_MODEL) / FILE).read_bytes()
    own = int(sentencepiece.SentencePieceProcessor(model_proto=shipped).get_piece_size())
    if pieces < own:
        raise InputError(f"vocabulary of {pieces} pieces: the shipped one has {own} and cannot get smaller")
    added = b""
    for n in range(own, pieces):
        text = f"<unused_{n}>".encode()
        piece = bytes([0x0A, len(text)]) + text + b"\x15" + struct.pack("<f", -100.0) + bytes([0x18, _UNUSED])
        added += bytes([0x0A, len(piece)]) + piece
    return shipped + added


@cache
def _processor(pieces: int) -> object:
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_proto=vocabulary(pieces))


def _random(make: Callable[[], M], device: str, dtype: str, seed: int) -> M:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make().to(device, getattr(torch, dtype)).eval()
