"""ONNX Runtime's sessions of a model folder's graphs.

The graphs hold no weights (graphs.py): those come from the model's safetensors file and are handed to the sessions, so
that a folder has them once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edit_gec.errors import ModelError
from edit_gec.modeling.weights import SCALES, Weights

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions

FOLDER = "onnx"  # of a model folder
INDEX = "weights.json"  # next to the graphs: which weights each takes
REMEDY = "make it with edit-gec export"
DIGITS = ".digits"  # after the name of a matrix whose products are computed in int8, as SCALES
SMOOTHED = ".smoothed"  # after the name of a norm and of the matrix behind it (causal_weights.py)
TABLES = ("embedding.weight", "tag_embedding.weight", "rank_embedding.weight")  # are looked up by rows
PROVIDER = "CPUExecutionProvider"


class Sessions(NamedTuple):
    """The graphs of graphs.py, ready to run."""

    encode: InferenceSession
    point: InferenceSession
    encode_plan: InferenceSession
    decode: InferenceSession


def graph_files(*, int8: bool = False) -> tuple[str, str, str, str]:
    """Names of the graphs, in the order of Sessions; the decoder computes in float32 in any case."""
    kind = "-int8" if int8 else ""
    return f"encode{kind}.onnx", "point.onnx", f"encode_plan{kind}.onnx", "decode.onnx"


def has_graphs(folder: Path) -> bool:
    """Whether a model folder was exported."""
    return (folder / FOLDER / INDEX).is_file()


def open_sessions(
    folder: Path, weights: Weights, *, int8: bool = False, threads: int = 1, profiles: Path | None = None
) -> Sessions:
    """The sessions of a folder; `threads` of one run. Where `profiles` is given, ONNX Runtime's profiler is on and
    writes there when a session's `end_profiling` is called.

    Raises ModelError where a graph is missing or broken, or a weight is missing.
    """
    shared: dict[str, Any] = {}  # a weight that several graphs take is held once
    sessions = []
    for name in graph_files(int8=int8):
        options = session_options(threads)
        if profiles is not None:
            options.enable_profiling = True
            options.profile_file_prefix = str(profiles / name)
        sessions.append(open_session(folder / FOLDER / name, partial(take_tensor, weights), shared, options))
    return Sessions(*sessions)


def session_options(threads: int) -> SessionOptions:
    """How a session runs. Raises ModelError where this onnxruntime has no PROVIDER."""
    import onnxruntime

    if PROVIDER not in onnxruntime.get_available_providers():
        raise ModelError(f"backend onnx: this onnxruntime has no {PROVIDER}; pip install onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # a thread that waits sleeps: spinning took as much processor time again as the judge's work (profiles/LOG.md)
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # what fails is said by the exception
    return options


def open_session(
    graph: Path, take: Callable[[str], np.ndarray], shared: dict[str, Any], options: SessionOptions
) -> InferenceSession:
    """A session of one graph; `take` gives its weights by name, unless they are in `shared`. INDEX says which it takes.

    Raises ModelError where the graph is missing or broken.
    """
    import onnxruntime

    for path in (graph, graph.parent / INDEX):
        if not path.is_file():  # a pipe would be waited for
            raise ModelError(f"{path}: is missing; {REMEDY}")
    try:
        content = graph.read_bytes()
        names = json.loads((graph.parent / INDEX).read_text(encoding="utf-8"))[graph.name]
    except OSError as error:
        raise ModelError(f"{graph}: cannot be read ({error.strerror}); {REMEDY}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelError(f"{graph.parent / INDEX}: does not name the weights of {graph.name}; {REMEDY}") from None
    for name in names:
        if name not in shared:
            shared[name] = onnxruntime.OrtValue.ortvalue_from_numpy(take(name))
    options.add_external_initializers(names, [shared[name] for name in names])
    try:
        return onnxruntime.InferenceSession(content, options, providers=[PROVIDER])
    except Exception as error:  # ONNX Runtime's own errors share no public class
        raise ModelError(f"{graph}: not a graph of this model ({first_line(error)}); {REMEDY}") from None


def first_line(error: Exception) -> str:
    """What a library says of its error, in one line of 200 characters at most."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def take_tensor(weights: Weights, name: str) -> np.ndarray:
    """A weight as the graphs want it: matrices [K, N] with the rows of the file as columns, all but TABLES."""
    if name.endswith(DIGITS):
        return np.ascontiguousarray(weights.digits(name.removesuffix(DIGITS)).T)
    if name.endswith(SCALES):
        return weights.scales(name.removesuffix(SCALES))
    tensor = weights.dense(name)
    return np.ascontiguousarray(tensor.T if tensor.ndim == 2 and name not in TABLES else tensor)
