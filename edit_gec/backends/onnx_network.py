"""An EdiT5 run by ONNX Runtime: numpy in, numpy out, without torch.

The graphs hold no weights (graphs.py): those come from the model's safetensors file and are handed to the sessions, so
that a folder has them once. Shapes as in graphs.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edit_gec.backends.weights import Weights, read_weights
from edit_gec.errors import ModelError

if TYPE_CHECKING:
    import onnxruntime

FOLDER = "onnx"  # of a model folder
INDEX = "weights.json"  # beside the graphs: which weights each takes
REMEDY = "make it with edit-gec export"
DIGITS, SCALES = ".digits", ".scales"  # behind the name of a matrix whose products are in int8
EMBEDDING = "embedding.weight"  # is looked up by rows, and stays as it is; other matrices are turned


@dataclass(frozen=True)
class OnnxNetwork:
    """The sessions of a model's three graphs."""

    encoder: onnxruntime.InferenceSession
    plan_encoder: onnxruntime.InferenceSession
    decoder: onnxruntime.InferenceSession

    @classmethod
    def load(cls, folder: Path, *, int8: bool = False, threads: int = 1) -> OnnxNetwork:
        """The network of a model folder with exported graphs; `threads` of one run.

        Raises ModelError where a graph is missing or broken, InputError for broken weights.
        """
        weights = read_weights(folder)
        graphs = [folder / FOLDER / name for name in graph_files(int8=int8)]
        return cls(*(_session(graph, weights, threads) for graph in graphs))

    def encode(self, ids: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ids [B, S], bias [B, H, S, S] -> encoded [B, S, d], tag logits [B, S, 4]."""
        encoded, tag_logits = self.encoder.run(None, {"ids": ids, "bias": bias})
        return encoded, tag_logits

    def encode_plan(self, marked: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """marked [B, S, d] (encoded + tags + ranks) -> states [B, S, d], cross keys and values [B, H, S, k]."""
        states, keys, values = self.plan_encoder.run(None, {"marked": marked, "bias": bias})
        return states, keys, values

    def decode(self, **inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log-probabilities [C, V] at the places that are asked for, and all keys and values [R, H, L + T, k].

        `inputs` are those of the graph `decode` (graphs.py).
        """
        log_probabilities, keys, values = self.decoder.run(None, inputs)
        return log_probabilities, keys, values


def graph_files(*, int8: bool = False) -> tuple[str, str, str]:
    """Names of the three graphs; the decoder computes in float32 in any case."""
    kind = "-int8" if int8 else ""
    return f"encode{kind}.onnx", f"encode_plan{kind}.onnx", "decode.onnx"


def _session(graph: Path, weights: Weights, threads: int) -> Any:
    """A session of one graph. Which weights it takes stands in INDEX beside it."""
    import onnxruntime

    try:
        content = graph.read_bytes()
        names = json.loads((graph.parent / INDEX).read_text(encoding="utf-8"))[graph.name]
    except OSError as error:
        raise ModelError(f"{graph}: cannot be read ({error.strerror}); {REMEDY}") from None
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{graph.parent / INDEX}: does not name the weights of {graph.name}; {REMEDY}") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    tensors = [onnxruntime.OrtValue.ortvalue_from_numpy(take_tensor(weights, name)) for name in names]
    options.add_external_initializers(names, tensors)
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's own errors share no public class
        line = str(error).splitlines()[0][:200]
        raise ModelError(f"{graph}: not a graph of this model ({line}); {REMEDY}") from None


def take_tensor(weights: Weights, name: str) -> np.ndarray:
    """A weight as the graphs want it: matrices [K, N] with the rows of the file as columns, all but EMBEDDING."""
    if name.endswith(DIGITS):
        return np.ascontiguousarray(weights.digits(name.removesuffix(DIGITS)).T)
    if name.endswith(SCALES):
        return weights.scales(name.removesuffix(SCALES))
    tensor = weights.dense(name)
    return np.ascontiguousarray(tensor.T if tensor.ndim == 2 and name != EMBEDDING else tensor)
