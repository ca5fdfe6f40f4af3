"""EdiT5: a T5 encoder that tags and re-orders, and a one-layer decoder that writes only the insertions.

    pieces --12 layers--> h --1 layer--> tags                              (what stays, where something is inserted)
    h + tag embedding ----> points                                         (which kept piece comes next)
                      ----> + embedding of the new position --1 layer--> states for the insertion decoder

It follows section 3 of Mallinson et al. 2022 ("EdiT5"), with three differences. Tags also say where slots are open, so
no slot has to be guessed and all can be decoded at once. Points are biased by the distance in the kept sequence. The
insertion decoder knows the source position of its slot.

Shapes are as in t5.py; R is the rows of the insertion decoder (sentences or slots), T its length. Position 0 is the
sentinel <extra_id_0>, the last position is </s>.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.modeling import checkpoint
from edit_gec.modeling.config import NEGATIVE, POINT_DISTANCE, EdiT5Config, T5Config, edit5_config, read_config
from edit_gec.modeling.int8_argmax import most_likely
from edit_gec.modeling.onednn import Linear, linear
from edit_gec.modeling.t5 import T5, Decoder, Encoder, EncoderLayer, RelativeBias, RMSNorm, initialise, stacked
from edit_gec.modeling.tagset import INSERT, KEEP

if TYPE_CHECKING:
    from typing_extensions import Self

POINT_SAMPLE = 8  # one in eight monotone sentences trains the pointer; they all point to the next kept piece


PRESETS: dict[str, EdiT5Config] = {
    "edit5-base": EdiT5Config(vocab_size=32128, slots=128),
    "edit5-mini": EdiT5Config(vocab_size=8192, d_model=256, d_ff=704, num_heads=4, attention_scale=0.125, slots=192),
}


class Batch(NamedTuple):
    """One training batch. Streams exist only for the R sentences with slots."""

    ids: Tensor  # [B, S]
    mask: Tensor  # [B, S] true where there is a piece
    tags: Tensor  # [B, S] KEEP, DELETE, INSERT, REPLACE
    judged: Tensor  # [B, S] bool: the tag is known to be right
    successors: Tensor  # [B, S] the piece that comes next in the output
    moved: Tensor  # [B] whether the pieces leave the source order
    rows: Tensor  # [R] sentence of each stream
    stream: Tensor  # [R, T] decoder input: slot, pieces, slot, pieces, ...
    stream_target: Tensor  # [R, T] pieces, </s> at the end of each slot; -100 is padding
    anchors: Tensor  # [R, T] source position of the slot
    slot_numbers: Tensor  # [R, T] which slot of its sentence a position belongs to
    shown_tags: Tensor  # [R, S] the tags that the states show the decoder
    shown_ranks: Tensor  # [R, S] position in the output order under these tags, -1 for deleted pieces and padding


class Losses(NamedTuple):
    """Sums over the batch in nats, and what they count."""

    tag: Tensor
    point: Tensor
    insertion: Tensor
    pieces: Tensor
    inserted: Tensor


class EdiT5Output(NamedTuple):
    """Losses and logits of a training batch."""

    losses: Losses
    tag_logits: Tensor  # [B, S, 4]
    insertion_logits: Tensor  # [N, V], one row for each piece that the decoder has to write
    insertion_targets: Tensor  # [N]


class CrossEntropy(nn.Module):
    """Cross-entropies. A module can be compiled; the logits are then converted to float32 on the way."""

    def __init__(self, reduction: str) -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """logits [N, V], targets [N] -> a number ("sum") or [N] ("none"), in nats."""
        return F.cross_entropy(logits.float(), targets, reduction=self.reduction)


class EdiT5(nn.Module):
    """The network: its stages one by one for `decode.predict`, and `forward` for training."""

    def __init__(self, config: EdiT5Config) -> None:
        super().__init__()
        d, epsilon = config.d_model, config.layer_norm_epsilon
        self.config = config
        self.loaded_fingerprints: list[str] = []  # of the weights in the folder, where these are narrower
        self.embedding = nn.Embedding(config.vocab_size, d)
        self.encoder = Encoder(config)
        self.tag_layer = EncoderLayer(config)
        self.tag_norm = RMSNorm(d, epsilon)
        self.tag_head = nn.Linear(d, 4)
        self.tag_embedding = nn.Embedding(4, d)
        self.point_query = nn.Linear(d, config.point_width)
        self.point_key = nn.Linear(d, config.point_width)
        self.point_distance = nn.Parameter(torch.zeros(2 * POINT_DISTANCE + 1))
        self.rank_embedding = nn.Embedding(config.slots, d)
        self.memory_layer = EncoderLayer(config)
        self.memory_norm = RMSNorm(d, epsilon)
        self.anchor = Linear(d, d, bias=False)
        self.anchor_distance = RelativeBias(config, bidirectional=True)
        self.decoder = Decoder(config)
        self.insertion_loss = CrossEntropy("sum")
        initialise(self, config)
        with torch.no_grad():
            for added in (self.tag_embedding, self.rank_embedding):
                added.weight.mul_(0.1)  # added to h, which they must not drown
            for head in (self.tag_head, self.point_query, self.point_key):
                head.bias.zero_()
            self.point_distance[POINT_DISTANCE + 1] = 6.0  # start from the source order

    # ---------------------------------------------------------------- stages, in the order of use

    def encode(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """ids, mask [B, S] -> encoded [B, S, d] and the attention bias [B, H, S, S] that the later layers share."""
        bias = self.encoder.bias(mask)
        return self.encoder(self.embedding(ids), bias), bias

    def tag(self, encoded: Tensor, bias: Tensor) -> Tensor:
        """Tag logits [B, S, 4]."""
        return self.tag_head(self.tag_norm(self.tag_layer(encoded, bias)))  # type: ignore[no-any-return]

    def point(self, encoded: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Scores [B, S, S]: piece m is followed by piece j. Deleted pieces and padding are masked both ways.

        Not in the paper: a learnt bias by distance in the kept sequence. Monotone order then needs no learning.
        """
        tagged = encoded + self.tag_embedding(tags)
        query, key = self.point_query(tagged), self.point_key(tagged)
        kept = ((tags == KEEP) | (tags == INSERT)) & mask
        order = kept.long().cumsum(1)
        distance = (order[:, None, :] - order[:, :, None]).clamp(-POINT_DISTANCE, POINT_DISTANCE)  # [B, S, S]
        scores = (query @ key.transpose(1, 2)).float() * self.config.point_width**-0.5
        scores = scores + self.point_distance[distance + POINT_DISTANCE]
        return scores.masked_fill(~(kept[:, :, None] & kept[:, None, :]), NEGATIVE)  # type: ignore[no-any-return]

    def encode_plan(self, encoded: Tensor, bias: Tensor, tags: Tensor, ranks: Tensor) -> Tensor:
        """States that the insertion decoder attends to [B, S, d]: all pieces, deleted ones too, with tags and ranks.

        tags, ranks [B, S]; a rank is the position in the output order, -1 for deleted pieces and padding.
        """
        position = self.rank_embedding(ranks.clamp(min=0)) * (ranks >= 0)[..., None]
        hidden = encoded + self.tag_embedding(tags) + position
        return self.memory_norm(self.memory_layer(hidden, bias))  # type: ignore[no-any-return]

    def cross_bias(self, anchors: Tensor, mask: Tensor) -> Tensor:
        """Bias of the decoder's attention to the source [R, H, T, S], by distance from the slot's anchor [R, T].

        Not in the paper: with this bias a one-layer decoder attends to the words around its slot from the first step.
        """
        positions = torch.arange(mask.shape[1], device=mask.device)
        distance = self.anchor_distance(positions[None, None, :] - anchors[:, :, None])
        return distance + torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]  # type: ignore[no-any-return]

    def embed_slots(self, stream: Tensor, states: Tensor, anchors: Tensor) -> Tensor:
        """Decoder input [R, T, d]: the embedding of the piece plus the encoding of its slot's anchor."""
        at = anchors[:, :, None].expand(-1, -1, states.shape[-1])
        return self.embedding(stream) + self.anchor(states.gather(1, at))  # type: ignore[no-any-return]

    def output(self, hidden: Tensor) -> Tensor:
        """Decoder output [..., d] -> logits over the vocabulary [..., V], tied to the embedding."""
        return linear(hidden * self.config.d_model**-0.5, self.embedding)

    def most_likely(self, hidden: Tensor, banned: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability and id [R] of the most likely next piece, given hidden [R, d].

        Pieces that are `banned` [V] are excluded.
        """
        return most_likely(self.embedding, hidden * self.config.d_model**-0.5, banned)

    # ---------------------------------------------------------------- training

    def forward(
        self, batch: Batch, *, sequential: bool = False, revise: Callable[[Batch, Tensor], Batch] | None = None
    ) -> EdiT5Output:
        """Losses of a batch, teacher-forced.

        With `sequential` a slot sees the slots before it, as in the paper. Otherwise slots are independent, as in
        slot-parallel decoding. One model learns both. `revise` replaces the streams of the batch once the tag logits
        [B, S, 4] are known; the decoder then learns on predicted tags (predicted_tags.py).
        """
        encoded, bias = self.encode(batch.ids, batch.mask)
        tag_logits = self.tag(encoded, bias)
        tag = F.cross_entropy(tag_logits[batch.judged].float(), batch.tags[batch.judged], reduction="sum")
        point = self.point_loss(encoded, batch)
        batch = revise(batch, tag_logits.detach()) if revise else batch
        r = batch.rows
        states = self.encode_plan(encoded[r], bias[r], batch.shown_tags, batch.shown_ranks)
        hidden = self.decoder(
            self.embed_slots(batch.stream, states, batch.anchors),
            self.decoder.cross_keys(states),
            self.cross_bias(batch.anchors, batch.mask[r]),
            blocked=None if sequential else batch.slot_numbers[:, :, None] != batch.slot_numbers[:, None, :],
        )
        written = batch.stream_target >= 0
        logits = self.output(hidden[written])
        targets = batch.stream_target[written]
        insertion = self.insertion_loss(logits, targets)
        losses = Losses(tag, point, insertion, batch.mask.sum(), written.sum())
        return EdiT5Output(losses, tag_logits, logits, targets)

    def point_loss(self, encoded: Tensor, batch: Batch) -> Tensor:
        """Loss in nats of the successors of kept pieces, over sentences with moves and one in POINT_SAMPLE without.

        Unlike the paper (section 3.2) there are no Sinkhorn layers: decoding visits each piece once anyway.
        """
        sampled = batch.ids.where(batch.mask, 0).sum(1) % POINT_SAMPLE == 0  # whatever else is in the batch
        chosen = batch.moved | sampled  # [B]
        tags = batch.tags[chosen]
        mask = batch.mask[chosen]
        successors = batch.successors[chosen]
        scores = self.point(encoded[chosen], tags, mask)  # [C, S, S]
        pointing = ((tags == KEEP) | (tags == INSERT)) & mask & (successors > 0)
        return F.cross_entropy(scores[pointing], successors[pointing], reduction="sum")

    # ---------------------------------------------------------------- folders

    @classmethod
    def load(cls, folder: str | Path, dtype: torch.dtype = torch.float32) -> Self:
        """An EdiT5 folder as `save` writes it, in evaluation mode. Raises ModelError for anything else."""
        folder = Path(folder)
        config = edit5_config(read_config(folder), str(folder / "config.json"))
        model = checkpoint.load_module(lambda: cls(config), checkpoint.read_tensors(folder), str(folder))
        if dtype == torch.float16:  # rounded twice, the numbers would be others
            model.loaded_fingerprints = [fingerprint(model, n + 1) for n in range(config.num_layers)]
        return model.to(dtype).eval()

    def save(self, folder: str | Path, *, small: bool = False, **extra: Any) -> None:
        """Write config.json (with `extra` entries, thresholds for instance) and the weights in float32; `small`: in a
        byte each."""
        tensors = {name: p.detach().to("cpu", torch.float32).contiguous() for name, p in self.state_dict().items()}
        config = {"model_type": "edit5", **asdict(self.config), **extra}
        checkpoint.write_folder(Path(folder), config, tensors, small=small)


def fingerprint(edit5: EdiT5, layers: int) -> str:
    """Tells encoders apart by their first `layers`: a hash of the last of these in bfloat16, which no training of it
    leaves as it was, and of the norm."""
    if edit5.loaded_fingerprints:
        return edit5.loaded_fingerprints[layers - 1]
    digest = hashlib.sha256()
    layer: Any = edit5.encoder.layers[layers - 1]
    for tensor in (edit5.encoder.norm.weight, layer.attention.o.weight):
        digest.update(tensor.detach().to("cpu", torch.bfloat16).view(torch.int16).numpy().tobytes())
    return digest.hexdigest()[:16]


def warm_start(t5: T5, slots: int = 128) -> tuple[EdiT5, list[str]]:
    """An EdiT5 with the encoder, the embedding and the first decoder layer of a T5; and the names of its new weights.

    The slots are the last `slots` rows of the embedding: T5's own <extra_id_k> and padding rows.
    """
    c = t5.config
    shape = {name: getattr(c, name) for name in T5Config.__dataclass_fields__}
    shape.update(num_decoder_layers=1, tie_word_embeddings=True, scale_decoder_outputs=True)
    model = EdiT5(EdiT5Config(**shape, slots=slots))
    own, given = model.state_dict(), t5.state_dict()
    copied = {name: given[name] for name in own if name in given and given[name].shape == own[name].shape}
    model.load_state_dict({**own, **copied})
    with torch.no_grad():
        for layer in (model.tag_layer, model.memory_layer):  # start as copies of the last layer, not as noise
            layer.load_state_dict(model.encoder.layers[-1].state_dict())
    new = [name for name in own if name not in copied]
    return model, new


def grow(model: EdiT5, layers: int) -> EdiT5:
    """The same model with an encoder of `layers` layers: copies of its stack, one above the other."""
    deeper = EdiT5(replace(model.config, num_layers=layers))
    deeper.load_state_dict(stacked(model.state_dict(), "encoder", model.config.num_layers, layers))
    return deeper
