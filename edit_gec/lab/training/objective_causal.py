"""The training objective of a decoder-only language model: adapters by peft that teach it to correct (kind = "causal").

    <begin> She go home . \\n She goes home . <end>         only what stands behind the line break is learnt

The base stays as it is, in bfloat16; what is trained is a product of two thin matrices beside each of its matrices (Hu
et al. 2021). The base is the `init` of the one stage. The model folder has adapter_model.safetensors with
adapter_config.json, as peft writes them but in a byte for each weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from edit_gec.lab.training.labelled_text import TrainingPair
from edit_gec.lab.training.objective import Example, Objective
from edit_gec.lab.training.recipe import TrainingStage
from edit_gec.modeling.adapters import FILE
from edit_gec.modeling.bases import find_base
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import as_hugging_face, load_causal
from edit_gec.modeling.padding import IGNORE, pad
from edit_gec.modeling.quantization import pack
from edit_gec.text.files import atomic_write, write_json

SEPARATOR = "\n"
MATRICES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
RANK = 16


@dataclass(frozen=True)
class CausalExample(Example):
    """The ids of a pair, and where its target begins."""

    start: int


class TargetLoss(nn.Module):
    """Cross-entropy of the targets' tokens; the output layer sees no other position. A checkpoint has the adapters."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, *, ids: Tensor, wanted: Tensor, step: int) -> dict[str, Tensor]:
        """ids, wanted [B, T] -> the mean loss of a token, and sums. Padding is on the right, where no token looks."""
        causal = self.model.get_base_model()
        hidden = causal.model(input_ids=ids, use_cache=False).last_hidden_state  # [B, T, d]
        asked = wanted != IGNORE
        logits = causal.lm_head(hidden[asked])  # [N, V]
        loss = F.cross_entropy(logits.float(), wanted[asked])
        tokens = asked.sum()
        counts = {"pairs": torch.tensor(len(ids)), "pieces": torch.tensor(ids.numel()), "tokens": tokens}
        return {"loss": loss, "loss_sum": loss * tokens, **counts}

    def state_dict(self, *args: Any, **how: Any) -> dict[str, Any]:  # type: ignore[override]
        """What is trained."""
        return {name: tensor for name, tensor in super().state_dict(*args, **how).items() if "lora_" in name}

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Take over what is trained; the base is there."""
        super().load_state_dict(state_dict, strict=False, assign=assign)
        return torch.nn.modules.module._IncompatibleKeys([], [])


class CausalObjective(Objective):
    """Examples, loss and folders of adapters in training."""

    shares: ClassVar = {"token_loss": ("loss_sum", "tokens")}

    @cached_property
    def base(self) -> Path:
        """The weights and the vocabulary of the base. Raises ModelError where they are missing."""
        (stage,) = self.recipe.stages
        return find_base(self.folder / stage.init)

    def tokens(self) -> BytePairs:
        """The vocabulary of the base."""
        return BytePairs.load(self.base)

    def make_example(self, pair: TrainingPair, tokens: BytePairs) -> CausalExample:
        """The pair as one text."""
        begin = [] if tokens.begin is None else [tokens.begin]
        end = tokens.begin if tokens.begin is not None else tokens.end
        assert end is not None, "a vocabulary without any special token"
        prompt = [*begin, *tokens.encode(pair.source + SEPARATOR).ids]
        return CausalExample([*prompt, *tokens.encode(pair.target).ids, end], len(prompt))

    def collate(self, examples: Sequence[CausalExample]) -> dict[str, Tensor]:
        """ids, wanted [B, T]: `wanted` is the next token where it is one of the target, else IGNORE."""
        wanted = [[IGNORE] * (e.start - 1) + e.ids[e.start :] + [IGNORE] for e in examples]
        return {"ids": pad([e.ids for e in examples], 0), "wanted": pad(wanted, IGNORE)}

    def make_losses(self, model: Any, stage: TrainingStage) -> nn.Module:
        """The loss of the targets."""
        return TargetLoss(model)

    def rate_of(self, name: str) -> float:
        """Only adapters learn."""
        return float("lora_" in name)

    def start_model(self, stage: TrainingStage, before: Path | None, init: Path | None) -> Any:
        """The base as a model of `transformers` in bfloat16, with fresh adapters in float32."""
        import transformers
        from peft import LoraConfig, get_peft_model

        if self.base.suffix == ".gguf":  # `transformers` would keep the weights packed, and compute slowly
            model = as_hugging_face(load_causal(self.base, torch.bfloat16))
        else:
            make: Any = transformers.AutoModelForCausalLM
            model = make.from_pretrained(self.base, dtype=torch.bfloat16)
        adapted = get_peft_model(model, LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=MATRICES))
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.float()
        return adapted

    def save_stage(self, model: Any, folder: Path) -> None:
        """Write the adapters as peft does."""
        model.save_pretrained(folder)
        write_json(folder / "config.json", {"model_type": "adapters"})

    def write_model(self, stage: Path, output: Path) -> None:
        """Write the adapters in a byte for each weight; modeling/adapters.py reads both."""
        from safetensors.torch import load_file, save

        atomic_write(output / FILE, save(pack(load_file(stage / FILE)), metadata={"format": "pt"}))
        config = "adapter_config.json"
        atomic_write(output / config, (stage / config).read_bytes())
