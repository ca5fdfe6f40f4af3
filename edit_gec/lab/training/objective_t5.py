"""The training objective of a T5: the whole correction, teacher-forced (kind = "t5" in a recipe).

    source   She go home .          inputs   <pad> She  goes home .
                                    outputs  She   goes home .    </s>
                                    copied   0     -    2    3    4       (source position; "goes" is new)

Nine tokens of ten are copies, so the model must learn to copy first. The decoder of a T5 does not know its place in the
source; it has to match its last output. So a separate loss guides one head of each layer to the piece that is copied
next (guided alignment, Chen et al. 2016). At run time the model is a plain T5.

The states of a frozen encoder that was trained for tags hardly encode the neighbours of a piece (a linear probe finds
39 % of them, and 99 % of the pieces themselves). One more encoder layer on top of the shared ones makes up for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.editing.alignment import align
from edit_gec.errors import InputError, ModelError
from edit_gec.lab.training.labelled_text import TrainingPair
from edit_gec.lab.training.objective import Example, Objective
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.modeling import checkpoint, shared_encoder
from edit_gec.modeling.config import NEGATIVE, T5Config, make_shape, read_config
from edit_gec.modeling.edit5 import CrossEntropy, EdiT5
from edit_gec.modeling.padding import IGNORE, pad
from edit_gec.modeling.t5 import SLOTS, T5, deepen
from edit_gec.modeling.tokenizer import EOS, FILE, PAD, Tokens

GUIDED_HEAD = 0
LOOK_BACK = 3.0  # nats by which the first heads of the decoder's self-attention look one and two tokens back at first


@dataclass(frozen=True)
class T5Example(Example):
    """Source ids [S], output ids [T] and the source position that each output is a copy of [T]."""

    outputs: list[int]
    copied: list[int]


def make_example(source: str, target: str, tokens: Tokens, *, sentinel: bool) -> T5Example | None:
    """The training example of a pair; None for an empty source. `sentinel` is what a shared encoder wants."""
    ids, outputs = tokens.ids(source), tokens.ids(target)
    if not ids:
        return None
    plan = align(ids, outputs, tokens)
    inserted = dict(plan.insertions)
    first = 0 if sentinel else -1  # where the plan's piece 0, the sentinel, stands among the ids
    copied: list[int] = []
    for k, piece in enumerate(plan.order, start=1):
        copied += [*([piece + first] if piece else []), *[IGNORE] * len(inserted.get(k, ()))]
    wrapped = [*([tokens.slot(0)] if sentinel else []), *ids, EOS]
    return T5Example(wrapped, [*outputs, EOS], [*copied, len(wrapped) - 1])


class T5Losses(nn.Module):
    """Cross-entropy and guided attention of a batch, and what they count."""

    def __init__(self, model: T5, recipe: Recipe) -> None:
        super().__init__()
        self.t5 = model
        self.recipe = recipe
        self.cross_entropy = CrossEntropy("none")
        self.queries: list[Tensor] = []
        for layer in model.decoder.layers if recipe.guide else ():
            query: Any = layer.cross.q  # type: ignore[union-attr]
            query.register_forward_hook(lambda _module, _inputs, output: self.queries.append(output))

    def forward(self, *, ids: Tensor, inputs: Tensor, outputs: Tensor, copied: Tensor, step: int) -> dict[str, Tensor]:
        """ids [B, S]; inputs, outputs, copied [B, T] -> loss and sums."""
        t5 = self.t5
        mask = ids != PAD
        cross_keys = t5.decoder.cross_keys(t5.encode(ids, mask))
        padding = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]
        self.queries.clear()
        hidden = t5.decoder(t5.embedding(inputs), cross_keys, padding)
        wanted = outputs != IGNORE
        logits = t5.logits(hidden[wanted])  # [N, V]
        right = outputs[wanted]
        before = F.pad(copied[:, :-1], (1, 0), value=IGNORE)
        edited = ((copied != before + 1) & (inputs != PAD) | (copied == IGNORE))[wanted]
        losses = self.cross_entropy(logits, right)
        weights = 1 + (self.recipe.edit_weight - 1) * edited.float()
        attention, found = self.guided(cross_keys, mask, copied)
        with torch.no_grad():
            hits = logits.argmax(-1) == right
            sums = {"loss_sum": losses.sum(), "tokens": wanted.sum(), "hits": hits.sum(), "found": found,
                    "edited": edited.sum(), "edited_hits": (hits & edited).sum(), "attention": attention,
                    "copied": (copied >= 0).sum(), "pairs": torch.tensor(len(ids)), "pieces": mask.sum()}  # fmt: skip
        loss = (losses * weights).sum() / weights.sum() + self.recipe.guide * attention / (copied >= 0).sum()
        return {"loss": loss, **sums}

    def guided(self, cross_keys: list[tuple[Tensor, Tensor]], mask: Tensor, copied: Tensor) -> tuple[Tensor, Tensor]:
        """Mean over layers of -log attention of one head to the copied pieces, and how many the last layer finds; zeros
        where no head is guided."""
        total = torch.zeros((), device=mask.device)
        if not self.queries:
            return total, total
        scores = total
        for layer, query, (key, _) in zip(self.t5.decoder.layers, self.queries, cross_keys, strict=True):
            (q,) = layer.cross.split(query, 1)  # type: ignore[operator]
            scores = (q[:, GUIDED_HEAD] @ key[:, GUIDED_HEAD].transpose(1, 2)).float() * self.t5.config.attention_scale
            scores = scores.masked_fill(~mask[:, None, :], NEGATIVE)  # [B, T, S]
            total = total + F.cross_entropy(scores[copied >= 0], copied[copied >= 0], reduction="sum")
        return total / len(cross_keys), (scores.argmax(-1) == copied).sum()


class T5Objective(Objective):
    """Examples, loss and folders of a T5 in training.

    Figures: nats per token, shares of tokens and of edited tokens that are right, and of copies whose piece the guided
    head of the last layer finds.
    """

    shares: ClassVar = {
        "token_loss": ("loss_sum", "tokens"), "accuracy": ("hits", "tokens"),
        "edited_accuracy": ("edited_hits", "edited"), "attention_loss": ("attention", "copied"),
        "found": ("found", "copied"),
    }  # fmt: skip

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        super().__init__(recipe, folder)
        self.encoder = folder / recipe.encoder if recipe.encoder else None

    def tokens(self) -> Tokens:
        """The vocabulary of the recipe's folder; for a shared encoder with the slots of its EdiT5."""
        return Tokens.load(self.folder, SLOTS)

    def make_example(self, pair: TrainingPair, tokens: Tokens) -> T5Example | None:
        """One pair as the model sees it; None when it cannot."""
        return make_example(pair.source, pair.target, tokens, sentinel=self.encoder is not None)

    def collate(self, examples: Sequence[T5Example]) -> dict[str, Tensor]:
        """A batch as the loss reads it."""
        return {
            "ids": pad([e.ids for e in examples], PAD),
            "inputs": pad([[PAD, *e.outputs[:-1]] for e in examples], PAD),
            "outputs": pad([e.outputs for e in examples], IGNORE),
            "copied": pad([e.copied for e in examples], IGNORE),
        }

    def make_losses(self, model: T5, stage: TrainingStage) -> nn.Module:
        """What the Trainer trains: the same in every stage."""
        return T5Losses(model, self.recipe)

    def rate_of(self, name: str) -> float:
        """Learning rate of a parameter against the recipe's; 0: frozen."""
        if self.encoder is None or not name.startswith(("embedding.", "encoder.")) or name.startswith("encoder.norm."):
            return 1.0
        is_own = name.startswith("encoder.layers.") and int(name.split(".")[2]) >= self.shared_layers
        return float(is_own)

    @cached_property
    def shared_layers(self) -> int:
        """How many encoder layers stay as the EdiT5 has them. Raises InputError where `own_layers` leaves none."""
        layers = int(read_config(self.folder / self.recipe.encoder)["num_layers"])
        if self.recipe.own_layers >= layers:
            raise InputError(f"own_layers = {self.recipe.own_layers}; expected fewer than the encoder's {layers}")
        return layers - self.recipe.own_layers

    def start_model(self, stage: TrainingStage, before: Path | None, init: Path | None) -> T5:
        """What a stage starts from: the model of the stage before, a T5, an EdiT5's encoder and chance, or chance.

        A shared encoder is always that of the EdiT5 as it is now: its T5 adapts to it in a fraction of its training.

        Raises ModelError when model and vocabulary, or model and encoder, do not fit.
        """
        if before is not None:
            edit5 = EdiT5.load(self.encoder) if self.encoder else None
            model = load_stage(before, edit5)
            if edit5 is not None:  # which may have been trained further since
                shared_encoder.renew_encoder(model, edit5, self.shared_layers)
        elif init is not None:
            model = checkpoint.load_t5(init)
        else:
            shape = replace(self.recipe.config, num_decoder_layers=stage.layers)
            if not self.encoder:  # a small text has fewer pieces than the recipe asks for
                shape = replace(shape, vocab_size=min(shape.vocab_size, self.tokens().size))
            model = T5(shape)
            look_back(model)
            if self.encoder:
                shared_encoder.take_encoder(model, EdiT5.load(self.encoder))
        pieces = self.tokens().pieces
        given = model.config.vocab_size
        if given < pieces:
            raise ModelError(f"{self.folder / FILE}: {pieces} pieces, the model has {given}; another model's?")
        return model if model.config.num_decoder_layers == stage.layers else deepen(model, stage.layers)

    def save_stage(self, model: T5, folder: Path) -> None:
        """Write the model of a finished stage, under our names and with its attention scale."""
        tensors = {name: p.detach().cpu().contiguous() for name, p in model.state_dict().items()}
        checkpoint.write_folder(folder, {"model_type": "t5-in-training", **asdict(model.config)}, tensors)

    def write_model(self, stage: Path, output: Path) -> None:
        """Write the folder to ship: a Hugging Face T5 in bf16, or one without the encoder that it shares, with a byte
        for each weight."""
        model = load_stage(stage)
        stages = [asdict(s) for s in self.recipe.stages]
        trained: dict[str, Any] = {"n_positions": self.recipe.max_pieces, "thresholds": self.recipe.thresholds}
        trained |= {"respelt": self.recipe.respelt}
        trained |= {"trained": stages}
        if self.encoder:
            shared_encoder.save(model, output, self.encoder, own_layers=self.recipe.own_layers, **trained)
        else:
            checkpoint.save_t5(model.to(torch.bfloat16), output, **trained)


def load_stage(folder: Path, edit5: EdiT5 | None = None) -> T5:
    """The T5 of a finished stage, or of a folder that shares an encoder: that of `edit5` if given, as it is now.

    Raises ModelError for anything else.
    """
    config = read_config(folder)
    if config.get("model_type") == shared_encoder.MODEL_TYPE:
        return shared_encoder.load(folder, edit5, renew=edit5 is not None)[0]
    if config.get("model_type") != "t5-in-training":
        raise ModelError(f"{folder}: not a stage of a T5's training")
    fields = {name: config[name] for name in T5Config.__dataclass_fields__ if name in config}
    shape = make_shape(T5Config, fields, str(folder / "config.json"))
    return checkpoint.load_module(lambda: T5(shape), checkpoint.read_tensors(folder), str(folder))


def look_back(model: T5) -> None:
    """Let two heads of the decoder's self-attention start with the last tokens: a match needs more than one."""
    with torch.no_grad():
        for head in range(min(2, model.config.num_heads)):
            model.decoder.relative.weight[head + 1, head] += LOOK_BACK
