"""Random models that edit most sentences."""

from __future__ import annotations

import torch
from torch.nn.functional import normalize

from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tokenizer import EOS


def write_one_piece(model: EdiT5) -> None:
    """Let a random model write a single piece into each slot; else it would write none, or go on and on."""
    with torch.no_grad():
        weight = model.embedding.weight
        size = float(weight.norm(dim=1).mean())
        away = normalize(weight[EOS], dim=0) * size
        weight -= away / 2
        weight[-model.config.slots :] += 3 * away  # behind a slot anything but the end
        weight[EOS] = -4 * away
