"""Files of decoder-only models, a Hugging Face configuration or a GGUF file, without torch.

GGUF keeps the rows of queries and keys in the order of its own rotation (pairs of neighbours); they are put back into
the order of Hugging Face (halves). What is not of Llama's shape is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edit_gec.catalog import GGUF
from edit_gec.errors import ModelError
from edit_gec.modeling.causal_config import CausalConfig, Rotary
from edit_gec.modeling.config import make_shape, read_config
from edit_gec.modeling.gguf_files import Stored, read_gguf_file

KINDS = ("llama", "mistral", "qwen2")  # model_type of config.json, general.architecture of GGUF
OURS = "causal-lm"  # model_type of a folder that names its base
ROTARIES = ("default", "linear", "llama3")

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
    return make_shape(CausalConfig, fields, source)


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


# ---------------------------------------------------------------- GGUF


def read_gguf(path: Path) -> tuple[CausalConfig, dict[str, list[Stored]]]:
    """Configuration of a GGUF file, and its tensors by our names: the parts that are stacked to make each.

    Raises ModelError for another architecture, and as read_gguf_file does.
    """
    values, tensors = read_gguf_file(path)
    kind = values.get("general.architecture")
    if kind not in KINDS:
        raise ModelError(f"{path}: architecture {kind!r}; expected one of {', '.join(KINDS)}")
    config = _gguf_config(values, kind, tensors, str(path))
    return config, {
        ours: [_in_order(name, tensors[name], config) for name in theirs]
        for ours, theirs in gguf_names(config).items()
        if all(name in tensors for name in theirs)
    }


def _gguf_config(values: Mapping[str, Any], kind: str, tensors: Mapping[str, Stored], source: str) -> CausalConfig:
    def value(name: str, default: Any = None) -> Any:
        return values.get(f"{kind}.{name}", default)

    def number(name: str, default: float) -> float:
        if not isinstance(found := value(name, default), int | float):
            raise ModelError(f"{source}: {kind}.{name} is {found!r}; expected a number")
        return float(found)

    if value("rope.scaling.type", "none") != "none" or "rope_freqs.weight" in tensors:
        raise ModelError(
            f"{source}: scaled rotary positions; expected plain ones (a Hugging Face folder may have them)"
        )
    heads, wide = value("attention.head_count"), value("embedding_length")
    fields = {
        "vocab_size": len(tensors["token_embd.weight"].data) if "token_embd.weight" in tensors else 0,
        "hidden_size": wide,
        "intermediate_size": value("feed_forward_length"),
        "num_hidden_layers": value("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": value("attention.head_count_kv", heads),
        "head_dim": value("attention.key_length") or value("rope.dimension_count") or _divide(wide, heads),
        "max_position_embeddings": value("context_length", 2048),
        "rms_norm_eps": number("attention.layer_norm_rms_epsilon", 1e-6),
        "rotary": Rotary(theta=number("rope.freq_base", Rotary.theta)),
        "tie_word_embeddings": "output.weight" not in tensors,
        "qkv_bias": "blk.0.attn_q.bias" in tensors,
        "output_bias": "blk.0.attn_output.bias" in tensors,
        "mlp_bias": "blk.0.ffn_gate.bias" in tensors,
    }
    return make_shape(CausalConfig, fields, source)


def _in_order(name: str, tensor: Stored, config: CausalConfig) -> Stored:
    """A tensor; rows of queries and keys in Hugging Face's order."""
    is_query, is_key = ".attn_q." in name, ".attn_k." in name
    heads = config.num_attention_heads if is_query else config.num_key_value_heads
    if config.qkv_bias or not (is_query or is_key):  # Qwen2 rotates as Hugging Face does
        return tensor
    if len(tensor.data) != heads * config.head_dim:
        raise ModelError(f"{name} has {len(tensor.data)} rows; expected {heads} heads of {config.head_dim}")
    pairs = tensor.data.reshape(heads, config.head_dim // 2, 2, -1)  # a pair of neighbours turns together
    return Stored(pairs.swapaxes(1, 2).reshape(tensor.data.shape), tensor.kind)
