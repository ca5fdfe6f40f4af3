"""A decoder-only network that ONNX Runtime runs: on a CPU, without torch.

| precision | weights | products |
|---|---|---|
| float32 | dequantised | float32; the oracle is torch |
| int8 | a scale for each column | int8, of inputs in two parts (causal_graphs.py) |
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edit_gec.backends.causal_graphs import PRECISIONS, causal_graph_files
from edit_gec.backends.causal_weights import EMBEDDING, OUTPUT, Rows, read_causal_weights
from edit_gec.backends.sessions import FOLDER, REMEDY, first_line, has_graphs, open_session, session_options
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.causal_config import CausalConfig
from edit_gec.modeling.config import NEGATIVE
from edit_gec.modeling.processor import multiplies_bytes

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MOST_LOGITS = 128  # rows of logits at once: 25 MB for 49,152 tokens


@dataclass(frozen=True, eq=False)
class OnnxLanguageNetwork:
    """speculative.language_model.LanguageNetwork over ONNX Runtime's sessions."""

    config: CausalConfig
    reading: InferenceSession
    normalise: InferenceSession
    embedding: Rows
    output: Rows
    precision: str

    @classmethod
    def load(cls, folder: Path, *, precision: str = "auto", threads: int = 1) -> OnnxLanguageNetwork:
        """The network of a folder with exported graphs, on `threads` threads. "auto" is int8 where the processor is
        fast at it, else float32.

        Raises ModelError where a graph or the weights are missing, broken or of another model, InputError for another
        precision.
        """
        if not has_graphs(folder):
            raise ModelError(f"{folder} has no graphs; {REMEDY} {folder}")
        precision = _choose(precision)
        weights = read_causal_weights(folder)
        shared: dict[str, Any] = {}
        reading, normalise = (
            open_session(folder / FOLDER / name, weights.take, shared, session_options(threads))
            for name in causal_graph_files(precision)
        )
        embedding = weights.table(EMBEDDING)
        output = embedding if weights.config.tie_word_embeddings else weights.table(OUTPUT)
        network = cls(weights.config, reading, normalise, embedding, output, precision)
        network.try_out(folder)
        return network

    def try_out(self, folder: Path) -> None:
        """Read two tokens. Raises ModelError where a graph or a weight is of another shape."""
        ids, visible = np.array([[0, self.config.vocab_size - 1]]), np.tri(2, dtype=bool)[None]
        try:
            hidden, _ = self.read(ids, np.array([[0, 1]]), visible)
            found = self.log_probabilities(hidden[0], np.array([0, 0]))
        except Exception as error:  # ONNX Runtime's own errors share no public class
            raise ModelError(f"{folder}: graphs and weights do not fit each other ({first_line(error)})") from None
        if not np.isfinite(found).all():
            raise ModelError(f"{folder}: the graphs compute values that are no numbers")

    def read(
        self, ids: np.ndarray, positions: np.ndarray, visible: np.ndarray, past: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The states [B, T, d] of ids, positions [B, T], and their keys and values [2 M, B, T, G k], the past [2 M, B,
        S, G k] of what comes after; visible [B, T, S + T]."""
        c = self.config
        if past is None:
            past = np.zeros((2 * c.num_hidden_layers, len(ids), 0, c.num_key_value_heads * c.head_dim), np.float32)
        frequencies = c.rotary.frequencies(c.head_dim)
        most = max(int(positions.max()) + 1, ids.shape[1])  # ONNX Runtime wants as many angles as there are columns
        angles = np.arange(most, dtype=np.float32)[:, None] * frequencies  # [P, k / 2]
        inputs = {
            "x": self.embedding(ids),
            "positions": positions,
            "cosines": np.cos(angles),
            "sines": np.sin(angles),
            "mask": np.where(visible, np.float32(0), np.float32(NEGATIVE))[:, None, None],
            "past": past,
        }
        hidden, read = self.reading.run(None, inputs)
        return hidden, read

    def log_probabilities(self, hidden: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """log p of tokens [N] after states [N, d]."""
        logits = np.einsum("nd,nd->n", hidden, self.output(tokens))
        found: np.ndarray = logits - self._normalise(hidden, "total")[0]
        return found

    def likeliest(self, hidden: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`log_probabilities` [N], the K likeliest tokens [N, K] after each state, and log p of these [N, K]."""
        total, largest, found = self._normalise(hidden, "total", "largest", "tokens")
        return np.einsum("nd,nd->n", hidden, self.output(tokens)) - total, found, largest - total[:, None]

    def _normalise(self, hidden: np.ndarray, *outputs: str) -> list[np.ndarray]:
        """Outputs of the second graph for all states [N, d], not too many of them at once."""
        parts = [hidden[n : n + MOST_LOGITS] for n in range(0, len(hidden), MOST_LOGITS)]
        found = [self.normalise.run(outputs, {"hidden": part}) for part in parts]
        return [np.concatenate(each) for each in zip(*found, strict=True)]


def _choose(precision: str) -> str:
    if precision == "auto":
        return "int8" if multiplies_bytes() else "float32"
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision}: expected one of {', '.join(PRECISIONS)}")
    return precision
