"""A decoder-only network that runs in torch: the reference for ONNX Runtime, and what GPUs use."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from edit_gec.backends.causal_graphs import LIKELIEST
from edit_gec.modeling.causal_lm import CausalLM


class LayerPast:
    """Keys and values of one layer's past [2, B, G, S, k], and then those that are read [2, B, G, T, k]."""

    def __init__(self, past: Tensor | None) -> None:
        self.past = past
        self.read: Tensor

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions; returns all keys and values so far."""
        self.read = torch.stack((k, v))
        both = self.read if self.past is None else torch.cat((self.past, self.read), dim=3)
        return both[0], both[1]


class TorchLanguageNetwork:
    """speculative.language_model.LanguageNetwork over a CausalLM; numpy in and out."""

    def __init__(self, model: CausalLM) -> None:
        self.model = model

    @torch.inference_mode()
    def read(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, past: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The states [B, T, d] of ids, positions [B, T], and their keys and values [2 M, B, T, G, k], the past [2 M, B,
        S, G, k] of what comes after; visible [B, T, S + T]."""
        layers = range(len(self.model.layers))
        before = None if past is None else self._tensor(past).to(self.model.embedding.weight.dtype).transpose(2, 3)
        caches = [LayerPast(None if before is None else before[2 * n : 2 * n + 2]) for n in layers]
        hidden = self.model(*(self._tensor(each) for each in (ids, positions, visible)), caches)  # [B, T, d]
        read = torch.cat([cache.read for cache in caches]).transpose(2, 3)
        return hidden.float().cpu().numpy(), read.float().cpu().numpy()

    @torch.inference_mode()
    def log_probabilities(self, hidden: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """log p of tokens [N] after states [N, d]."""
        return self.likeliest(hidden, tokens)[0]

    @torch.inference_mode()
    def likeliest(self, hidden: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`log_probabilities` [N], the K likeliest tokens [N, K] after each state, and log p of these [N, K]."""
        logits = self.model.logits(self._tensor(hidden).to(self.model.embedding.weight.dtype)).float()  # [N, V]
        logits = logits - logits.logsumexp(-1, keepdim=True)
        values, found = logits.topk(min(LIKELIEST, logits.shape[-1]))
        chosen = logits.gather(1, self._tensor(tokens)[:, None])[:, 0]
        return chosen.cpu().numpy(), found.cpu().numpy(), values.cpu().numpy()

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.model.device)
