"""A decoder-only network that runs in torch: the reference for ONNX Runtime, and what GPUs use."""

from __future__ import annotations

import numpy as np
import torch

from edit_gec.modeling.causal_lm import CausalLM


class TorchLanguageNetwork:
    """speculative.language_model.LanguageNetwork over a CausalLM; numpy in and out."""

    def __init__(self, model: CausalLM) -> None:
        self.model = model

    @torch.inference_mode()
    def log_probabilities(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, asked: np.ndarray, tokens: np.ndarray
    ) -> np.ndarray:
        """log p of tokens [N] after the places `asked` [N, 2] (row, column) of ids, positions [B, T]; visible
        [B, T, T]."""
        where = self.model.device
        hidden = self.model(*(torch.from_numpy(each).to(where) for each in (ids, positions, visible)))  # [B, T, d]
        places = torch.from_numpy(asked).to(where)
        logits = self.model.logits(hidden[places[:, 0], places[:, 1]]).float()  # [N, V]
        chosen = logits.gather(1, torch.from_numpy(tokens).to(where)[:, None])[:, 0]
        return (chosen - logits.logsumexp(-1)).cpu().numpy()
