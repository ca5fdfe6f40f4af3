"""A decoder-only network that runs in torch: the reference for ONNX Runtime, and what GPUs use."""

from __future__ import annotations

import numpy as np
import torch

from edit_gec.backends.causal_graphs import LIKELIEST
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
        logits, chosen = self._read(ids, positions, visible, asked, tokens)
        return (chosen - logits.logsumexp(-1)).cpu().numpy()

    @torch.inference_mode()
    def likeliest(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, asked: np.ndarray, tokens: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`log_probabilities` [N], the K likeliest tokens [N, K] of each place, and log p of these [N, K]."""
        logits, chosen = self._read(ids, positions, visible, asked, tokens)
        totals = logits.logsumexp(-1)
        values, found = logits.topk(min(LIKELIEST, logits.shape[-1]))
        return tuple(each.cpu().numpy() for each in (chosen - totals, found, values - totals[:, None]))  # type: ignore[return-value]

    def _read(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, asked: np.ndarray, tokens: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [N, V] of the places and those [N] of the tokens."""
        where = self.model.device
        hidden = self.model(*(torch.from_numpy(each).to(where) for each in (ids, positions, visible)))  # [B, T, d]
        places = torch.from_numpy(asked).to(where)
        logits = self.model.logits(hidden[places[:, 0], places[:, 1]]).float()  # [N, V]
        return logits, logits.gather(1, torch.from_numpy(tokens).to(where)[:, None])[:, 0]
