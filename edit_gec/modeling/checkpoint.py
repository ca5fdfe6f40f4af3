"""Model folders on disk: Hugging Face T5 checkpoints are read, and written as safetensors.

A folder holds config.json, the weights (model.safetensors or pytorch_model.bin, or shards with an index) and the
vocabulary (spiece.model or tokenizer.json). A .bin file is a pickle: only tensors are read from it, no code runs. Our
T5 fuses matrices that Hugging Face keeps apart; `_ENCODER` and `_DECODER` are the whole translation.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from edit_gec.errors import ModelError
from edit_gec.modeling.config import T5Config, make_shape, read_config
from edit_gec.modeling.quantization import pack, unpack
from edit_gec.modeling.t5 import T5
from edit_gec.text.files import atomic_write, write_json

M = TypeVar("M", bound=nn.Module)

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLED = "pytorch_model.bin"
PICKLED_INDEX = "pytorch_model.bin.index.json"
CONVERT = "convert it: T5ForConditionalGeneration.from_pretrained(FOLDER).save_pretrained(FOLDER), by transformers"

# our name (n: layer) -> Hugging Face's names, stacked along the rows
_ENCODER = {
    "attention.norm.weight": ["0.layer_norm.weight"],
    "attention.qkv.weight": ["0.SelfAttention.q.weight", "0.SelfAttention.k.weight", "0.SelfAttention.v.weight"],
    "attention.o.weight": ["0.SelfAttention.o.weight"],
    "feed_forward.norm.weight": ["1.layer_norm.weight"],
    "feed_forward.wi.weight": ["1.DenseReluDense.wi.weight"],
    "feed_forward.wo.weight": ["1.DenseReluDense.wo.weight"],
}
_DECODER = {
    **{ours: theirs for ours, theirs in _ENCODER.items() if ours.startswith("attention")},
    **{ours: [name.replace("1.", "2.", 1) for name in theirs] for ours, theirs in _ENCODER.items() if "feed" in ours},
    "cross.norm.weight": ["1.layer_norm.weight"],
    "cross.q.weight": ["1.EncDecAttention.q.weight"],
    "cross.kv.weight": ["1.EncDecAttention.k.weight", "1.EncDecAttention.v.weight"],
    "cross.o.weight": ["1.EncDecAttention.o.weight"],
}


def hugging_face_names(config: T5Config) -> dict[str, list[str]]:
    """Our parameter name -> the Hugging Face tensors that are stacked to make it."""
    names = {"embedding.weight": ["shared.weight"]}
    if not config.tie_word_embeddings:
        names["output.weight"] = ["lm_head.weight"]
    stacks = (("encoder", _ENCODER, config.num_layers), ("decoder", _DECODER, config.num_decoder_layers))
    for stack, table, layers in stacks:
        names[f"{stack}.relative.weight"] = [f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        names[f"{stack}.norm.weight"] = [f"{stack}.final_layer_norm.weight"]
        for n in range(layers):
            for ours, theirs in table.items():
                gates = ["wi_0", "wi_1"] if config.gated and ours == "feed_forward.wi.weight" else ["wi"]
                names[f"{stack}.layers.{n}.{ours}"] = [
                    f"{stack}.block.{n}.layer.{name}".replace(".wi.", f".{gate}.") for name in theirs for gate in gates
                    if gate == gates[0] or ".wi." in name
                ]  # fmt: skip
    return names


def t5_config(config: dict[str, Any], *, tied: bool, source: str = "config.json") -> T5Config:
    """T5Config of a Hugging Face configuration; `tied` when the weights hold no output layer of their own.

    In these files tie_word_embeddings = false has always meant "do not scale the decoder's output" (v1.1); newer
    versions of `transformers` write that as scale_decoder_outputs. Raises ModelError for an unsupported kind of T5.
    """
    if config.get("model_type", "t5") not in ("t5", "mt5"):
        raise ModelError(f"{source}: model_type {config.get('model_type')!r}; expected a T5")
    activation = config.get("feed_forward_proj", "relu")
    if activation not in ("relu", "gated-gelu"):
        raise ModelError(f"{source}: feed_forward_proj {activation!r}; expected relu or gated-gelu")
    fields = {name: config[name] for name in T5Config.__dataclass_fields__ if name in config}
    fields.setdefault("num_decoder_layers", config.get("num_layers", 12))
    fields["num_decoder_layers"] = fields["num_decoder_layers"] or config.get("num_layers", 12)
    fields["scale_decoder_outputs"] = config.get("scale_decoder_outputs", config.get("tie_word_embeddings", True))
    fields.update(gated=activation == "gated-gelu", tie_word_embeddings=tied)
    return make_shape(T5Config, fields, source)


def hugging_face_config(c: T5Config) -> dict[str, Any]:
    """config.json that `transformers` reads as the same T5."""
    fields = {
        name: getattr(c, name) for name in T5Config.__dataclass_fields__ if name not in ("gated", "attention_scale")
    }
    return {
        **fields,
        "tie_word_embeddings": c.scale_decoder_outputs,
        "model_type": "t5",
        "architectures": ["T5ForConditionalGeneration"],
        "feed_forward_proj": "gated-gelu" if c.gated else "relu",
        "is_encoder_decoder": True,
        "decoder_start_token_id": 0,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "dropout_rate": 0.0,
    }


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder, memory-mapped unless they are packed (quantization.py) or pickled.

    Raises ModelError for missing, truncated or foreign files.
    """
    tensors: dict[str, Tensor] = {}
    for name in weight_files(folder):
        path = folder / name
        if not path.is_file():  # a pipe would be waited for
            raise ModelError(f"{folder}: {name} is missing")
        tensors.update(_read_pickled(path) if path.suffix == ".bin" else _read_safetensors(path))
    return unpack(tensors, str(folder))


def weight_files(folder: Path) -> list[str]:
    """Names of the files with the weights of a folder; safetensors where there are both kinds.

    Raises ModelError for a broken index.
    """
    for index, single in ((INDEX, WEIGHTS), (PICKLED_INDEX, PICKLED)):
        if (folder / index).is_file():
            return _indexed_files(folder / index)
        if (folder / single).is_file():
            return [single]
    return [WEIGHTS]


def _indexed_files(index: Path) -> list[str]:
    """The shards that an index names. Raises ModelError for a broken one, or one that names other places."""
    try:
        files = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        outside = [name for name in files if Path(name).name != name or name in (".", "..")]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise ModelError(f"{index}: not a weight index ({error!r})") from None
    if outside:
        raise ModelError(f"{index}: names a file outside the model folder")
    return files


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"{path}: broken weights ({error}); copy or download it again") from None


def _read_pickled(path: Path) -> dict[str, Tensor]:
    """The tensors of a pytorch_model.bin, of which nothing else is read. Raises ModelError for all other content."""
    try:
        with zipfile.ZipFile(path) as archive:  # compressed entries may grow without bound; torch writes none
            is_plain = all(entry.compress_type == zipfile.ZIP_STORED for entry in archive.infolist())
        content = torch.load(path, map_location="cpu", weights_only=True) if is_plain else None
    except (zipfile.BadZipFile, UnpicklingError, RuntimeError, OSError, ValueError, EOFError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"{path}: not plain weights of torch ({reason}); download it again, or {CONVERT}") from None
    if not isinstance(content, dict) or not all(isinstance(tensor, Tensor) for tensor in content.values()):
        raise ModelError(f"{path}: expected tensors by name and nothing else; {CONVERT}")
    return content


class _Unset(TorchFunctionMode):
    """Skips the initialisation of parameters: normal_ on the meta device imports 800 modules of torch (1.2 s)."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        return kwargs["tensor"] if function is nn.init.normal_ else function(*args, **kwargs)


def load_module(make: Callable[[], M], tensors: dict[str, Tensor], source: str) -> M:
    """The module that `make` builds, with these tensors. Every name must be there with its shape.

    Memory is allocated only after that. Tensors are removed from `tensors`, so as not to be held twice. Raises
    ModelError that names the first tensor that does not fit.
    """
    with torch.device("meta"), _Unset():
        module = make()
    expected = {name: tuple(p.shape) for name, p in module.state_dict().items()}
    found = {name: tuple(t.shape) for name, t in tensors.items()}
    wrong = [name for name in expected if found.get(name) != expected[name]]
    if wrong:
        name = wrong[0]
        given = f"has shape {list(found[name])}" if name in found else "is missing"
        raise ModelError(f"{source}: {name} {given}; expected {list(expected[name])} (config.json of another model?)")
    copies = {name: tensors.pop(name).to(torch.float32, copy=True) for name in expected}  # the file may be replaced
    for name, tensor in copies.items():
        if not torch.isfinite(tensor.sum()):
            raise ModelError(f"{source}: {name} holds values that are no numbers; copy or download the model again")
    module.load_state_dict(copies, assign=True)
    return module


def average(folders: Sequence[Path], weights: Sequence[float]) -> dict[str, Tensor]:
    """Weighted mean of the tensors of some folders, in float32. Raises ModelError where their shapes differ."""
    total: dict[str, Tensor] = {}
    for folder, weight in zip(folders, weights, strict=True):
        tensors = read_tensors(folder)
        if total and {name: t.shape for name, t in tensors.items()} != {name: t.shape for name, t in total.items()}:
            raise ModelError(f"{folder}: tensors of other shapes than in {folders[0]}; expected the same model")
        for name, tensor in tensors.items():
            share = tensor.float() * (weight / sum(weights))
            total[name] = total[name] + share if name in total else share
    return total


def fuse(tensors: dict[str, Tensor], config: T5Config, source: str) -> dict[str, Tensor]:
    """Hugging Face tensors -> ours. Missing names are left out; `load_module` reports them.

    Raises ModelError, naming `source`, for tensors that cannot be one matrix.
    """
    aliases = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    shared = next((tensors[a] for a in aliases if a in tensors), None)
    if shared is not None:
        tensors = {**tensors, "shared.weight": shared}
    return {
        ours: _stack({name: tensors[name] for name in theirs}, source)
        for ours, theirs in hugging_face_names(config).items()
        if all(name in tensors for name in theirs)
    }


def _stack(parts: dict[str, Tensor], source: str) -> Tensor:
    """The parts as one matrix, their rows one below the other."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    try:
        return torch.cat(list(parts.values()))
    except RuntimeError:
        shapes = ", ".join(f"{name} {list(part.shape)}" for name, part in parts.items())
        raise ModelError(f"{source}: expected matrices of one width, not {shapes}") from None


def load_t5(folder: str | Path, dtype: torch.dtype = torch.float32) -> T5:
    """Our T5 from a Hugging Face T5 folder, in evaluation mode."""
    folder = Path(folder)
    tensors = read_tensors(folder)
    config = read_config(folder)
    if "encoder" in config:
        raise ModelError(f"{folder}: not a complete T5, its encoder is {config['encoder']}'s; Target.export writes one")
    tied = "lm_head.weight" not in tensors
    shape = t5_config(config, tied=tied, source=str(folder / "config.json"))
    return load_module(lambda: T5(shape), fuse(tensors, shape, str(folder)), str(folder)).to(dtype).eval()


def save_t5(model: T5, folder: str | Path, **extra: Any) -> None:
    """Write a folder that `transformers` loads as T5ForConditionalGeneration (the vocabulary is the caller's).

    `extra` are further entries of config.json.
    """
    parameters = unscaled(model.state_dict(), model.config)
    tensors = separate(parameters, model.config)
    if model.output is None and not model.config.scale_decoder_outputs:
        tensors["lm_head.weight"] = parameters["embedding.weight"].clone()  # `transformers` ties only what it scales
    write_folder(Path(folder), {**hugging_face_config(model.config), **extra}, tensors)


def separate(parameters: dict[str, Tensor], config: T5Config) -> dict[str, Tensor]:
    """Our tensors -> Hugging Face's: the inverse of `fuse`."""
    tensors = {}
    for ours, theirs in hugging_face_names(config).items():
        for name, part in zip(theirs, parameters[ours].chunk(len(theirs)), strict=True):
            tensors[name] = part.contiguous().clone()
    return tensors


def unscaled(parameters: dict[str, Tensor], config: T5Config) -> dict[str, Tensor]:
    """Fold the attention scale, which T5 does not have, into the queries."""
    inner = config.num_heads * config.d_kv
    folded = {name: p.clone() for name, p in parameters.items() if name.endswith(("qkv.weight", "cross.q.weight"))}
    for parameter in folded.values():
        parameter[:inner] *= config.attention_scale
    return {**parameters, **folded}


def write_folder(folder: Path, config: dict[str, Any], tensors: dict[str, Tensor], *, small: bool = False) -> None:
    """Write config.json and model.safetensors, each complete or not at all; `small`: weights in a byte each."""
    from safetensors.torch import save

    atomic_write(folder / WEIGHTS, save(pack(tensors) if small else tensors, metadata={"format": "pt"}))
    write_json(folder / "config.json", config)
