"""A decoder-only network from its files: a Hugging Face folder with safetensors, one GGUF file, or a folder of ours.

load_causal("models/smollm2")            a folder that names its base (bases.py), and may hold adapters (adapters.py)
load_causal("SmolLM2-135M.Q4_1.gguf")    weights and vocabulary in one file, dequantised once
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from edit_gec.errors import InputError
from edit_gec.modeling.adapters import read_adapters
from edit_gec.modeling.bases import find_base
from edit_gec.modeling.causal_config import CausalConfig
from edit_gec.modeling.causal_files import causal_config, hugging_face_names, read_gguf
from edit_gec.modeling.causal_lm import CausalLM
from edit_gec.modeling.checkpoint import load_module, read_tensors
from edit_gec.modeling.config import read_config


def load_causal(path: str | Path, dtype: torch.dtype = torch.float32) -> CausalLM:
    """The model of a folder or a GGUF file, its adapters merged, in evaluation mode.

    Raises ModelError for another architecture, quantisation, a broken file or a missing base; MissingExtraError without
    `gguf`.
    """
    path = Path(path)
    base = find_base(path)
    config, tensors = _read_gguf(base) if base.suffix == ".gguf" else _read_folder(base)
    for adapter in read_adapters(path, config):
        if adapter.name in tensors:
            merged = tensors[adapter.name].float().clone()
            adapter.add_to(merged.numpy())
            tensors[adapter.name] = merged
    return load_module(lambda: CausalLM(config), tensors, str(base)).to(dtype).eval()


def _read_gguf(path: Path) -> tuple[CausalConfig, dict[str, Tensor]]:
    config, stored = read_gguf(path)
    return config, {name: _stack([torch.from_numpy(part.dense()) for part in parts]) for name, parts in stored.items()}


def _read_folder(folder: Path) -> tuple[CausalConfig, dict[str, Tensor]]:
    tensors = read_tensors(folder)
    config = causal_config(read_config(folder), tied="lm_head.weight" not in tensors, source=str(folder))
    return config, {
        ours: _stack([tensors[name] for name in theirs])
        for ours, theirs in hugging_face_names(config).items()
        if all(name in tensors for name in theirs)
    }


def _stack(parts: list[Tensor]) -> Tensor:
    return torch.cat([part.float() for part in parts]) if len(parts) > 1 else parts[0]


def export_hugging_face(model: CausalLM) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The configuration and the tensors of a model as `transformers` has them: what `load_causal` reads, undone.

    Only models without scaled rotary positions; raises InputError for others.
    """
    c = model.config
    if c.rotary.kind != "default":
        raise InputError(f"rotary positions {c.rotary.kind}: expected plain ones")
    kind = "qwen2" if c.qkv_bias and not c.output_bias else "llama"
    names = ("attention_bias", "mlp_bias") if kind == "llama" else ()
    plain = [name for name in CausalConfig.__dataclass_fields__ if not name.endswith("_bias") and name != "rotary"]
    config = {name: getattr(c, name) for name in plain} | {"rope_theta": c.rotary.theta, "model_type": kind}
    config |= dict(zip(names, (c.output_bias, c.mlp_bias), strict=False))
    wide = c.num_attention_heads * c.head_dim, *[c.num_key_value_heads * c.head_dim] * 2
    rows = {"attention.qkv": wide, "wi": (c.intermediate_size, c.intermediate_size)}
    tensors: dict[str, Tensor] = {}
    state = model.state_dict()
    for ours, theirs in hugging_face_names(c).items():
        sizes = next((rows[part] for part in rows if f".{part}." in ours), (len(state[ours]),))
        tensors.update(zip(theirs, state[ours].split(list(sizes)), strict=True))
    return config, tensors


def as_hugging_face(model: CausalLM) -> Any:
    """The same network as a model of `transformers`, in evaluation mode. Raises InputError as `export_hugging_face`."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config, tensors = export_hugging_face(model)
    make: Any = AutoModelForCausalLM
    made = make.from_config(AutoConfig.for_model(**config)).to(model.embedding.weight.dtype)
    made.load_state_dict(tensors, strict=False)  # a tied output layer has no tensor of its own
    made.tie_weights()
    return made.eval()
