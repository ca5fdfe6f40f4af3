"""config.json of a model folder, and the shapes of T5 and EdiT5 that it gives. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from edit_gec.errors import InputError, ModelError

NEGATIVE = -1e9  # masks; -inf would give NaN in rows without any source
MOST_CONFIG = 1 << 20  # bytes of a config.json
MOST_LIST = 64 << 20  # of a vocabulary or a list of words
POINT_DISTANCE = 8  # distances in the kept sequence beyond this share one bias

# A config.json that declares more is broken; without bounds it would be built, layer by layer, until memory ends.
LARGEST = {
    **dict.fromkeys(("vocab_size", "d_model", "d_ff"), 10**6),
    **dict.fromkeys(("d_kv", "num_heads", "num_layers", "num_decoder_layers"), 1000),
    **dict.fromkeys(("relative_attention_num_buckets", "relative_attention_max_distance"), 10**6),
}


@dataclass(frozen=True)
class T5Config:
    """Shape of a T5; names as in Hugging Face's config.json, `gated` for feed_forward_proj = "gated-gelu"."""

    vocab_size: int = 32128
    d_model: int = 768
    d_kv: int = 64
    d_ff: int = 2048
    num_layers: int = 12
    num_decoder_layers: int = 12
    num_heads: int = 12
    relative_attention_num_buckets: int = 32
    relative_attention_max_distance: int = 128
    layer_norm_epsilon: float = 1e-6
    gated: bool = True
    tie_word_embeddings: bool = False  # the output layer is the embedding
    scale_decoder_outputs: bool = False  # by d^-0.5 before the output layer: v1.0 does, v1.1 does not
    attention_scale: float = 1.0  # T5 has none; without it Muon drives attention into saturation (profiles/log)

    def __post_init__(self) -> None:
        for name, most in LARGEST.items():
            value = getattr(self, name)
            if type(value) is not int or not 0 < value <= most:  # True is an int
                raise InputError(f"{name} is {value!r}; expected an integer from 1 to {most}")
        if not 4 <= self.relative_attention_num_buckets < self.relative_attention_max_distance:
            n = self.relative_attention_num_buckets
            distance = self.relative_attention_max_distance
            raise InputError(f"relative_attention: {n} buckets for distances up to {distance}; 4 or more, but fewer")
        for name in ("layer_norm_epsilon", "attention_scale"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 < value <= 1:
                raise InputError(f"{name} is {value!r}; expected a number above 0 and up to 1.0")


C = TypeVar("C")


@dataclass(frozen=True)
class EdiT5Config(T5Config):
    """Shape of an EdiT5. vocab_size counts the slots, which are its last ids (<extra_id_0> the very last)."""

    num_decoder_layers: int = 1
    tie_word_embeddings: bool = True
    scale_decoder_outputs: bool = True
    slots: int = 128
    point_width: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least, most in (("slots", 3, self.vocab_size - 1), ("point_width", 1, 10**6)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise InputError(f"{name} is {value!r}; expected an integer from {least} to {most}")

    @property
    def max_pieces(self) -> int:
        """Longest source in pieces, sentinel and </s> not counted: every slot must have a name."""
        return self.slots - 2


def make_shape(kind: Callable[..., C], fields: dict[str, Any], source: str) -> C:
    """A configuration with these fields. Raises ModelError, naming `source`, where they do not fit."""
    try:
        return kind(**fields)
    except (InputError, TypeError) as error:  # TypeError: an entry is missing
        raise ModelError(f"{source}: {error}") from None


def check_size(path: Path, most: int) -> None:
    """Raises ModelError for a file of a model that has more than so many bytes, before it is read."""
    size = path.stat().st_size
    if size > most:
        raise ModelError(f"{path}: has {size} bytes, which no such file of a model has; expected {most} at most")


def read_config(folder: Path, file: str = "config.json") -> dict[str, Any]:
    """config.json of a model folder. Raises ModelError when it is missing or not a JSON object."""
    path = folder / file
    if not path.is_file():
        raise ModelError(f"{folder}: not a model folder, it has no {file}")
    check_size(path, MOST_CONFIG)
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise ModelError(f"{path}: not readable as JSON ({error})") from None
    if not isinstance(config, dict):
        raise ModelError(f"{path}: not a JSON object")
    return config


def edit5_config(config: dict[str, Any], source: str = "config.json") -> EdiT5Config:
    """EdiT5Config of a config.json. Raises ModelError when it belongs to another kind of model."""
    if config.get("model_type") != "edit5":
        raise ModelError(f"{source}: model_type {config.get('model_type')!r}; expected edit5")
    fields = {name: config[name] for name in EdiT5Config.__dataclass_fields__ if name in config}
    return make_shape(EdiT5Config, fields, source)
