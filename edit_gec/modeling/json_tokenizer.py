"""tokenizer.json -> the SentencePiece model that it was made from. `transformers` 5 saves a T5 without spiece.model.

The file holds the same unigram pieces with their scores and the same table of normalisation; SentencePiece reads them
as it reads spiece.model, so offsets and everything else that `Tokens` does stay as they are. Tests hold the ids to
those of `tokenizers`, which `transformers` reads the file with.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from pathlib import Path
from typing import Any

from edit_gec.errors import MissingExtraError, ModelError

FILE = "tokenizer.json"
REMEDY = "copy spiece.model of the model that this one was trained from into the folder"
LARGEST = 10**6  # pieces, as many as config.json may declare
_EXTRA = re.compile(r"<extra_id_\d+>")  # slots stand in this file, and not in spiece.model
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_SPACES = ({"Regex": " {2,}"}, {"String": " "})  # what SentencePiece does with spaces anyway


def sentencepiece_model(path: Path) -> bytes:
    """The tokenizer.json of a T5 as the content of a spiece.model.

    Raises ModelError, with the remedy, for a broken file and for one of another kind of tokenizer.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        model = content["model"]
        pieces = [(str(piece), float(score)) for piece, score in model["vocab"]]
        kind, unknown = model["type"], model["unk_id"]
        charsmap = _charsmap(content.get("normalizer"))
        is_known = _splits_at_spaces(content.get("pre_tokenizer"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise ModelError(f"{path}: not the tokenizer.json of a T5 ({error!r}); {REMEDY}") from None
    if kind != "Unigram" or charsmap is None or not is_known or not 3 <= len(pieces) <= LARGEST:
        raise ModelError(f"{path}: {kind}, expected the Unigram pieces of a T5 with its normalisation; {REMEDY}")
    while _EXTRA.fullmatch(pieces[-1][0]):
        del pieces[-1]
    return _serialize(pieces, unknown, charsmap, byte_fallback=bool(model.get("byte_fallback")))


def _parts(step: Any, name: str) -> list[dict[str, Any]]:
    """A step of the tokenizer as the list of its parts; `name` is their name in a sequence."""
    if step is None:
        return []
    return list(step[name]) if step["type"] == "Sequence" else [step]


def _charsmap(normalizer: Any) -> bytes | None:
    """SentencePiece's table of normalisation; None where there is none, or something else beside it."""
    table = None
    for part in _parts(normalizer, "normalizers"):
        if part["type"] == "Precompiled":
            try:
                table = base64.b64decode(part["precompiled_charsmap"], validate=True)
            except binascii.Error:
                return None
        elif part["type"] != "Strip" and not (part["type"] == "Replace" and part["pattern"] in _SPACES):
            return None
    return table


def _splits_at_spaces(pre_tokenizer: Any) -> bool:
    """Whether words are split at spaces and begin with one, the first too, and nothing else is done."""
    parts = _parts(pre_tokenizer, "pretokenizers")
    first = [p.get("prepend_scheme", "always" if p.get("add_prefix_space", True) else "never") for p in parts
             if p["type"] == "Metaspace"]  # fmt: skip
    return first in (["always"], ["first"]) and all(p["type"] in ("Metaspace", "WhitespaceSplit") for p in parts)


def _serialize(pieces: list[tuple[str, float]], unknown: Any, charsmap: bytes, *, byte_fallback: bool) -> bytes:
    try:
        from sentencepiece import sentencepiece_model_pb2
    except ImportError:  # it comes with ONNX Runtime
        raise MissingExtraError(f"{FILE} needs protobuf; install it: pip install protobuf") from None
    proto: Any = sentencepiece_model_pb2
    kinds = proto.ModelProto.SentencePiece
    model = proto.ModelProto()
    for n, (piece, score) in enumerate(pieces):
        kind = kinds.UNKNOWN if n == unknown else kinds.CONTROL if n < 2 else kinds.NORMAL
        if byte_fallback and _BYTE.fullmatch(piece):
            kind = kinds.BYTE
        model.pieces.add(piece=piece, score=score, type=kind)
    trainer = model.trainer_spec
    trainer.model_type, trainer.vocab_size, trainer.byte_fallback = trainer.UNIGRAM, len(pieces), byte_fallback
    trainer.pad_id, trainer.eos_id, trainer.unk_id, trainer.bos_id = 0, 1, 2, -1
    model.normalizer_spec.precompiled_charsmap = charsmap
    return bytes(model.SerializeToString())
