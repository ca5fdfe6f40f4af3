"""One encoder for drafter and target: a T5 on the encoder of an EdiT5, and its folder.

    t5-mini/config.json        "encoder": "../edit5-mini", "shared_layers": 8, ...
    t5-mini/model.safetensors  its decoder and its own encoder layers; the other weights are edit5-mini's
    FOLDER/drafter/            optional: heads of an EdiT5 on the T5's encoder, trained on what this T5 writes

The T5 reads what EdiT5 reads: sentinel, pieces, </s>. It uses EdiT5's embedding and its first `shared_layers` encoder
layers. The layers after these and the final norm are its own. Computed as a whole it is a plain T5, which
`Target.export` writes. An EdiT5 can use the encoder of another in the same way; then only its heads are its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from edit_gec.catalog import MODEL_FOLDERS
from edit_gec.errors import ModelError
from edit_gec.modeling import checkpoint
from edit_gec.modeling.config import T5Config, read_config
from edit_gec.modeling.edit5 import EdiT5, fingerprint
from edit_gec.modeling.t5 import T5, Encoder

SHAPE = ("vocab_size", "d_model", "d_kv", "d_ff", "num_heads", "attention_scale", "gated", "layer_norm_epsilon",
         "relative_attention_num_buckets", "relative_attention_max_distance")  # fmt: skip
BODY = ("embedding.", "encoder.")  # of an EdiT5; the rest are its heads
MODEL_TYPE = "t5-shared-encoder"
HEADS = "edit5-heads"
DRAFTER = "drafter"


def check(t5: T5Config, edit5: EdiT5, source: str) -> None:
    """Raises ModelError when an EdiT5's encoder cannot stand in this T5."""
    for name in SHAPE:
        ours = getattr(edit5.config, name)
        theirs = getattr(t5, name)
        if ours != theirs:
            raise ModelError(f"{source}: {name} {theirs}; expected {ours} to share an encoder with this EdiT5")
    if t5.num_layers < edit5.config.num_layers:
        layers = edit5.config.num_layers
        raise ModelError(f"{source}: num_layers {t5.num_layers}; expected {layers} or more to share this encoder")


def take_encoder(t5: T5, edit5: EdiT5) -> None:
    """Copy an EdiT5's embedding, encoder layers and norm into a T5. Raises ModelError when they do not fit."""
    check(t5.config, edit5, "encoder")
    t5.embedding.load_state_dict(edit5.embedding.state_dict())
    t5.encoder.load_state_dict(edit5.encoder.state_dict(), strict=False)  # layers of its own stay


def renew_encoder(t5: T5, edit5: EdiT5, shared_layers: int) -> None:
    """The same for a T5 that stood on an earlier version of this EdiT5: its norm and its layers after `shared_layers`
    stay."""
    own = {name: p.clone() for name, p in t5.encoder.state_dict().items() if not _is_below(name, shared_layers)}
    take_encoder(t5, edit5)
    t5.encoder.load_state_dict(own, strict=False)


def _is_below(name: str, layer: int) -> bool:
    """Whether a tensor of an Encoder is its position bias or belongs to its first layers."""
    return int(name.split(".")[1]) < layer if name.startswith("layers.") else name.startswith("relative.")


def is_shared_with_t5(name: str, layers: int) -> bool:
    """Whether a parameter of an EdiT5 is one that a T5 with so many shared layers, or the heads that draft for it, use:
    the embedding, the first encoder layers and the final norm."""
    inside = name.removeprefix("encoder.")
    return name.startswith("embedding.") or (
        name != inside and (inside.startswith("norm.") or _is_below(inside, layers))
    )


def join(t5: T5, edit5: EdiT5, shared_layers: int | None = None) -> None:
    """Let a T5 use an EdiT5's embedding and its first encoder layers themselves, all by default. Raises ModelError when
    they do not fit."""
    check(t5.config, edit5, "target")
    t5.embedding = edit5.embedding
    t5.encoder.relative = edit5.encoder.relative
    for n, layer in enumerate(edit5.encoder.layers[:shared_layers]):
        t5.encoder.layers[n] = layer


def encode(t5: T5, edit5: EdiT5, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Run the shared layers once: what the T5's decoder reads, and what EdiT5's heads read, [B, S, d] each."""
    x = t5.embedding(ids)
    bias = t5.encoder.bias(mask)
    shared = sum(a is b for a, b in zip(t5.encoder.layers, edit5.encoder.layers, strict=False))
    for layer in t5.encoder.layers[:shared]:
        x = layer(x, bias)

    def finish(encoder: Encoder) -> Tensor:
        states = x
        for layer in encoder.layers[shared:]:
            states = layer(states, bias)
        return encoder.norm(states)  # type: ignore[no-any-return]

    return finish(t5.encoder), finish(edit5.encoder)


def save(t5: T5, folder: Path, encoder: Path, *, own_layers: int = 0, **extra: Any) -> None:
    """Write a T5 without what it shares with the EdiT5 in folder `encoder`: all but the last `own_layers` of that one's
    layers. The T5 has copies of these, and `extra` are further entries of its config.json."""
    edit5 = EdiT5.load(encoder)
    check(t5.config, edit5, "target")
    layers = edit5.config.num_layers - own_layers
    state = checkpoint.separate(t5.state_dict(), t5.config)
    own = {name: tensor for name, tensor in state.items() if not is_shared(name, layers)}
    config = {
        **checkpoint.hugging_face_config(t5.config),
        "model_type": MODEL_TYPE,  # the folder lacks the shared weights, so `transformers` cannot load it
        "attention_scale": t5.config.attention_scale,
        "encoder": os.path.relpath(encoder.resolve(), folder.resolve()),
        "encoder_fingerprint": fingerprint(edit5, layers),
        "shared_layers": layers,
        **extra,
    }
    del config["architectures"]
    checkpoint.write_folder(folder, config, own, small=True)


def is_shared(name: str, layers: int) -> bool:
    """Whether a tensor (Hugging Face's name) belongs to the embedding or the first encoder layers."""
    if name.startswith("encoder.block."):
        return int(name.split(".")[2]) < layers or "relative" in name
    return name == "shared.weight"


def read_with(t5: T5, edit5: EdiT5) -> EdiT5:
    """An EdiT5 that reads with the embedding and the encoder layers of a T5 itself, as many as it has of its own.

    `encode` then runs these layers once for both. The heads are copies; the final norm is the EdiT5's.
    """
    heads = EdiT5(edit5.config)
    heads.load_state_dict(edit5.state_dict())
    heads.embedding = t5.embedding
    heads.encoder.relative = t5.encoder.relative
    heads.encoder.layers = t5.encoder.layers[: edit5.config.num_layers]
    return heads.eval()


def load_start(folder: Path) -> EdiT5:
    """The EdiT5 of a folder; for a T5 that shares an encoder, its EdiT5 on the T5's own layers (`read_with`)."""
    if read_config(folder).get("model_type") == MODEL_TYPE:
        return read_with(*load(folder))
    return EdiT5.load(folder)


def save_heads(heads: EdiT5, folder: Path, **extra: Any) -> None:
    """Write an EdiT5 without its encoder and embedding, a byte for each weight; `load_heads` reads it."""
    state = heads.state_dict()
    own = {name: p.to("cpu").contiguous() for name, p in state.items() if not name.startswith(BODY)}
    config = {"model_type": HEADS, "encoder_fingerprint": fingerprint(heads, heads.config.num_layers), **extra}
    checkpoint.write_folder(folder, config, own, small=True)


def load_heads(folder: Path, t5: T5, edit5: EdiT5) -> EdiT5:
    """The heads that `save_heads` wrote, on the encoder of a T5 that shares layers of `edit5`.

    Raises ModelError when the folder holds no heads, or heads that were trained on another encoder. Encoders in float32
    are told apart, those in other dtypes are not.
    """
    config = read_config(folder)
    if config.get("model_type") != HEADS:
        raise ModelError(f"{folder}: model_type {config.get('model_type')!r}; expected {HEADS}")
    body = read_with(t5, edit5)
    if t5.embedding.weight.dtype == torch.float32:
        check_fingerprint(folder, config, fingerprint(body, edit5.config.num_layers), "its encoder")
    given = {name: p for name, p in body.state_dict().items() if name.startswith(BODY)}
    tensors = {**checkpoint.read_tensors(folder), **given}
    heads = checkpoint.load_module(lambda: EdiT5(edit5.config), tensors, str(folder))
    heads.embedding = body.embedding
    heads.encoder = body.encoder
    return heads.eval()


def load(folder: Path, edit5: EdiT5 | None = None, *, renew: bool = False) -> tuple[T5, EdiT5]:
    """A T5 that `save` wrote, and the EdiT5 that it names, or `edit5` if that has the same shared layers. With `renew`,
    these may have been trained further since; the T5 has to be, too.

    Raises ModelError when the folder is no such T5, when the EdiT5 is not there, or when it is not the one that the T5
    was trained with.
    """
    config = read_config(folder)
    if config.get("model_type") != MODEL_TYPE:
        raise ModelError(f"{folder}: model_type {config.get('model_type')!r}; expected {MODEL_TYPE!r}")
    if edit5 is None or not (renew or _find_version(folder, config, edit5) == config.get("encoder_fingerprint")):
        place = encoder_folder(folder, config)
        edit5 = EdiT5.load(place)
        check_fingerprint(folder, config, _find_version(folder, config, edit5), str(place))
    shape = checkpoint.t5_config({**config, "model_type": "t5"}, tied=True, source=str(folder / "config.json"))
    check(shape, edit5, str(folder))
    layers = _shared_layers(folder, config, edit5)
    tensors = checkpoint.fuse(checkpoint.read_tensors(folder), shape, str(folder))
    given = {"embedding.weight": edit5.embedding.weight}
    given |= {f"encoder.{name}": p for name, p in edit5.encoder.state_dict().items() if _is_below(name, layers)}
    t5 = checkpoint.load_module(lambda: T5(shape), {**tensors, **given}, str(folder))
    join(t5, edit5, layers)
    return t5.eval(), edit5


def _find_version(folder: Path, config: dict[str, Any], edit5: EdiT5) -> str:
    """The fingerprint of the layers that the T5 of a folder would use."""
    return fingerprint(edit5, _shared_layers(folder, config, edit5))


def _shared_layers(folder: Path, config: dict[str, Any], edit5: EdiT5) -> int:
    """How many encoder layers of an EdiT5 the T5 of a folder uses. Raises ModelError for a wrong entry."""
    most = edit5.config.num_layers
    layers = config.get("shared_layers", most)
    if not isinstance(layers, int) or not 1 <= layers <= most:
        raise ModelError(
            f"{folder / 'config.json'}: shared_layers {layers!r}; expected a whole number from 1 to {most}"
        )
    return layers


def load_drafter(folder: Path, t5: T5, edit5: EdiT5) -> EdiT5 | None:
    """The heads in a T5's folder that have learnt to draft for it, on its encoder; None where the folder has none.

    `t5` and `edit5` are what `load` returned. Raises ModelError as `load_heads` does.
    """
    drafter = folder / DRAFTER
    return load_heads(drafter, t5, edit5) if (drafter / "config.json").is_file() else None


def encoder_folder(folder: Path, config: dict[str, Any]) -> Path:
    """Where the EdiT5 of a target is: where its config says, next to it, or among our own models.

    A folder from a stranger must not choose what we read: of a path that leads anywhere else, only the last name
    counts. Raises ModelError.
    """
    named = Path(str(config["encoder"]))
    near = [folder / named] if not named.is_absolute() and named.parts.count("..") <= 1 else []
    beside = folder.resolve().parent / named.name
    for place in (*near, beside, *(models / named.name for models in MODEL_FOLDERS)):
        if named.name and (place / "config.json").is_file():
            return place
    raise ModelError(f"{folder}: it shares the encoder of {named.name}, which is neither at {named} nor at {beside}")


def check_fingerprint(folder: Path, config: dict[str, Any], found: str, source: str) -> None:
    """Raises ModelError when the encoder, which is that of `source`, is not the one that the folder was trained on."""
    if found != config.get("encoder_fingerprint"):
        raise ModelError(f"{folder}: trained on another version of {source}; train it again")
