"""Files of decoder-only models, a Hugging Face configuration or a GGUF file, without torch.

GGUF keeps the rows of queries and keys in the order of its own rotation (pairs of neighbours); they are put back into
the order of Hugging Face (halves). What is not of Llama's shape is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from edit_gec.catalog import GGUF
from edit_gec.errors import InputError, MissingExtraError, ModelError
from edit_gec.modeling.causal_config import CausalConfig, Rotary
from edit_gec.modeling.config import read_config

KINDS = ("llama", "mistral", "qwen2")  # model_type of config.json, general.architecture of GGUF
OURS = "causal-lm"  # model_type of a folder that names its base
ROTARIES = ("default", "linear", "llama3")
GGUF_TYPES = frozenset("F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K".split())

# our name (n: layer) -> the names of Hugging Face, and those of GGUF, stacked along the rows
_LAYER: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "attention_norm.weight": (("input_layernorm.weight",), ("attn_norm.weight",)),
    "attention.qkv": (
        ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), ("attn_q", "attn_k", "attn_v"),
    ),
    "attention.o": (("self_attn.o_proj",), ("attn_output",)),
    "feed_forward_norm.weight": (("post_attention_layernorm.weight",), ("ffn_norm.weight",)),
    "wi": (("mlp.gate_proj", "mlp.up_proj"), ("ffn_gate", "ffn_up")),
    "wo": (("mlp.down_proj",), ("ffn_down",)),
}  # fmt: skip
_TOP = {
    "embedding.weight": ("model.embed_tokens.weight", "token_embd.weight"),
    "norm.weight": ("model.norm.weight", "output_norm.weight"),
    "output.weight": ("lm_head.weight", "output.weight"),
}


def is_causal(path: Path) -> bool:
    """Whether a path is a decoder-only model: a GGUF file, or a folder whose config.json says so."""
    if path.suffix == GGUF:
        return True
    config = read_config(path)
    names = config.get("architectures")
    named = isinstance(names, list) and any(str(name).endswith("ForCausalLM") for name in names)
    return named or config.get("model_type") in (*KINDS, OURS)


def hugging_face_names(config: CausalConfig) -> dict[str, list[str]]:
    """Our parameter name -> the Hugging Face tensors that are stacked to make it."""
    return _names(config, 0, "model.layers.{n}.{name}")


def gguf_names(config: CausalConfig) -> dict[str, list[str]]:
    """Our parameter name -> the GGUF tensors that are stacked to make it."""
    return _names(config, 1, "blk.{n}.{name}")


def _names(config: CausalConfig, which: int, layer: str) -> dict[str, list[str]]:
    names = {ours: [theirs[which]] for ours, theirs in _TOP.items()}
    if config.tie_word_embeddings:
        del names["output.weight"]
    biased = {
        "attention.qkv": config.qkv_bias, "attention.o": config.output_bias,
        "wi": config.mlp_bias, "wo": config.mlp_bias,
    }  # fmt: skip
    for n in range(config.num_hidden_layers):
        for ours, theirs in _LAYER.items():
            kinds = [""] if ours.endswith(".weight") else [".weight", *([".bias"] if biased[ours] else [])]
            for kind in kinds:
                names[f"layers.{n}.{ours}{kind}"] = [layer.format(n=n, name=f"{name}{kind}") for name in theirs[which]]
    return names


# ---------------------------------------------------------------- config.json


def causal_config(config: Mapping[str, Any], *, tied: bool, source: str) -> CausalConfig:
    """CausalConfig of a Hugging Face configuration. Raises ModelError for a model that is not of Llama's shape."""
    kind = config.get("model_type")
    if kind not in KINDS:
        raise ModelError(f"{source}: model_type {kind!r}; expected one of {', '.join(KINDS)}")
    if config.get("hidden_act", "silu") != "silu":
        raise ModelError(f"{source}: hidden_act {config['hidden_act']!r}; expected silu")
    is_windowed = config.get("use_sliding_window", kind == "mistral") and config.get("sliding_window")
    if is_windowed:
        raise ModelError(f"{source}: sliding_window {config['sliding_window']}; expected attention to the whole text")
    heads = config.get("num_attention_heads")
    width = config.get("head_dim") or _divide(config.get("hidden_size"), heads)
    fields = {name: config[name] for name in CausalConfig.__dataclass_fields__ if name in config}
    fields |= {
        "num_key_value_heads": config.get("num_key_value_heads") or heads,
        "head_dim": width,
        "rotary": read_rotary(config, source),
        "tie_word_embeddings": tied,
        "qkv_bias": kind == "qwen2" or bool(config.get("attention_bias")),
        "output_bias": kind != "qwen2" and bool(config.get("attention_bias")),
        "mlp_bias": bool(config.get("mlp_bias")),
    }
    return _make(fields, source)


def read_rotary(config: Mapping[str, Any], source: str) -> Rotary:
    """The rotary positions of a configuration, as transformers 4 (rope_theta, rope_scaling) or 5 writes it."""
    given = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = given.get("rope_type", given.get("type", "default"))
    if kind not in ROTARIES or float(config.get("partial_rotary_factor", 1.0)) != 1.0:
        raise ModelError(f"{source}: rotary positions {kind!r}; expected one of {', '.join(ROTARIES)}, in full")
    known = {name: given[name] for name in Rotary.__dataclass_fields__ if name in given}
    theta = given.get("rope_theta", config.get("rope_theta", Rotary.theta))
    return Rotary(**{**known, "theta": float(theta), "kind": kind})


def _divide(whole: Any, parts: Any) -> Any:
    return whole // parts if isinstance(whole, int) and isinstance(parts, int) and parts > 0 else None


def _make(fields: dict[str, Any], source: str) -> CausalConfig:
    try:
        return CausalConfig(**fields)
    except (InputError, TypeError) as error:  # TypeError: an entry is missing
        raise ModelError(f"{source}: {error}") from None


# ---------------------------------------------------------------- GGUF


def open_gguf(path: Path) -> Any:
    """The reader of a GGUF file. Raises ModelError for a file that is none, or is cut off."""
    try:
        from gguf import GGUFReader
    except ModuleNotFoundError:
        raise MissingExtraError("GGUF files need gguf: pip install '.[lm]' in edit-gec's folder") from None
    if not path.is_file():
        raise ModelError(f"{path}: no such file; expected a GGUF file")
    try:
        return GGUFReader(path)
    except Exception as error:  # of numpy, of the reader's own checks, of the disk
        raise ModelError(f"{path}: not a whole GGUF file ({error}); copy or download it again") from None


def gguf_field(reader: Any, name: str, default: Any = None) -> Any:
    """The value of a metadata field."""
    field = reader.fields.get(name)
    return default if field is None else field.contents()


class Stored(NamedTuple):
    """A tensor as GGUF stores it: numbers, or rows of quantised blocks in bytes."""

    data: np.ndarray
    kind: str  # of GGUF_TYPES

    def dense(self) -> np.ndarray:
        """The values, in float32."""
        from gguf import GGMLQuantizationType
        from gguf.quants import dequantize

        values: np.ndarray = dequantize(self.data, GGMLQuantizationType[self.kind]).astype(np.float32, copy=True)
        return values


def read_gguf(path: Path) -> tuple[CausalConfig, dict[str, list[Stored]]]:
    """Configuration of a GGUF file, and its tensors by our names: the parts that are stacked to make each.

    Raises ModelError for another architecture or an unknown quantisation.
    """
    reader = open_gguf(path)
    kind = gguf_field(reader, "general.architecture")
    if kind not in KINDS:
        raise ModelError(f"{path}: architecture {kind!r}; expected one of {', '.join(KINDS)}")
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    config = _gguf_config(reader, kind, tensors, str(path))
    return config, {
        ours: [_take(tensors[name], config, str(path)) for name in theirs]
        for ours, theirs in gguf_names(config).items()
        if all(name in tensors for name in theirs)
    }


def _gguf_config(reader: Any, kind: str, tensors: Mapping[str, Any], source: str) -> CausalConfig:
    def value(name: str, default: Any = None) -> Any:
        found = gguf_field(reader, f"{kind}.{name}", default)
        return int(found) if isinstance(found, int) else found

    if gguf_field(reader, f"{kind}.rope.scaling.type", "none") != "none" or "rope_freqs.weight" in tensors:
        raise ModelError(
            f"{source}: scaled rotary positions; expected plain ones (a Hugging Face folder may have them)"
        )
    heads, wide = value("attention.head_count"), value("embedding_length")
    embedding = tensors.get("token_embd.weight")
    fields = {
        "vocab_size": int(embedding.shape[1]) if embedding is not None else 0,
        "hidden_size": wide,
        "intermediate_size": value("feed_forward_length"),
        "num_hidden_layers": value("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": value("attention.head_count_kv", heads),
        "head_dim": value("attention.key_length") or value("rope.dimension_count") or _divide(wide, heads),
        "max_position_embeddings": value("context_length", 2048),
        "rms_norm_eps": float(value("attention.layer_norm_rms_epsilon", 1e-6)),
        "rotary": Rotary(theta=float(value("rope.freq_base", Rotary.theta))),
        "tie_word_embeddings": "output.weight" not in tensors,
        "qkv_bias": "blk.0.attn_q.bias" in tensors,
        "output_bias": "blk.0.attn_output.bias" in tensors,
        "mlp_bias": "blk.0.ffn_gate.bias" in tensors,
    }
    return _make(fields, source)


def _take(tensor: Any, config: CausalConfig, source: str) -> Stored:
    """A tensor; rows of queries and keys in Hugging Face's order."""
    kind = tensor.tensor_type.name
    if kind not in GGUF_TYPES:
        known = ", ".join(sorted(GGUF_TYPES))
        raise ModelError(f"{source}: {tensor.name} is stored as {kind}; expected one of {known}")
    is_query, is_key = ".attn_q." in tensor.name, ".attn_k." in tensor.name
    if config.qkv_bias or not (is_query or is_key):  # Qwen2 rotates as Hugging Face does
        return Stored(tensor.data, kind)
    heads = config.num_attention_heads if is_query else config.num_key_value_heads
    pairs = tensor.data.reshape(heads, config.head_dim // 2, 2, -1)  # a pair of neighbours turns together
    return Stored(pairs.swapaxes(1, 2).reshape(tensor.data.shape), kind)
