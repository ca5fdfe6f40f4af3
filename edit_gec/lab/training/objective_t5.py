"""The training objective of a T5: the whole correction, teacher-forced (kind = "t5" in a recipe).

    source   She go home .          inputs   <pad> She  goes home .
                                    outputs  She   goes home .    </s>

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


@dataclass(frozen=True)
class T5Example(Example):
    """Source ids [S] and output ids [T]."""

    outputs: list[int]


def make_example(source: str, target: str, tokens: Tokens, *, sentinel: bool) -> T5Example | None:
    """The training example of a pair; None for an empty source. `sentinel` is what a shared encoder wants."""
    ids = tokens.ids(source)
    if not ids:
        return None
    return T5Example([*([tokens.slot(0)] if sentinel else []), *ids, EOS], [*tokens.ids(target), EOS])


class T5Losses(nn.Module):
    """Cross-entropy of a batch, and what it counts."""

    def __init__(self, model: T5) -> None:
        super().__init__()
        self.t5 = model
        self.cross_entropy = CrossEntropy("sum")

    def forward(self, *, ids: Tensor, inputs: Tensor, outputs: Tensor, step: int) -> dict[str, Tensor]:
        """ids [B, S]; inputs, outputs [B, T] -> loss and sums."""
        t5 = self.t5
        mask = ids != PAD
        padding = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]
        hidden = t5.decoder(t5.embedding(inputs), t5.decoder.cross_keys(t5.encode(ids, mask)), padding)
        wanted = outputs != IGNORE
        logits = t5.logits(hidden[wanted])  # [N, V]
        losses, tokens = self.cross_entropy(logits, outputs[wanted]), wanted.sum()
        hits = (logits.argmax(-1) == outputs[wanted]).sum()
        counts = {"pairs": torch.tensor(len(ids)), "pieces": mask.sum(), "tokens": tokens, "hits": hits}
        return {"loss": losses / tokens, "loss_sum": losses, **counts}


class T5Objective(Objective):
    """Examples, loss and folders of a T5 in training."""

    shares: ClassVar = {"token_loss": ("loss_sum", "tokens"), "accuracy": ("hits", "tokens")}

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
        }

    def make_losses(self, model: T5, stage: TrainingStage) -> nn.Module:
        """What the Trainer trains: the same in every stage."""
        return T5Losses(model)

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
