"""Model folder -> ONNX graphs next to its weights, in the layout of the Hugging Face hub.

    FOLDER/onnx/encode.onnx  point.onnx  encode_plan.onnx  decode.onnx  weights.json    some 100 kB in all
    FOLDER/onnx/encode-int8.onnx  encode_plan-int8.onnx                         where the weights are in bytes

Opset 17 with operators of ONNX Runtime. The graphs hold no weights: weights.json names those that each takes from
FOLDER/model.safetensors, so nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from edit_gec.backends.graphs import build, external_names
from edit_gec.backends.sessions import FOLDER, INDEX, graph_files, take_tensor
from edit_gec.modeling.weights import read_weights
from edit_gec.text.files import atomic_write, write_json

Take = Callable[[str], np.ndarray]  # a weight by its name in a graph


def export(folder: Path) -> list[Path]:
    """Write the graphs of an EdiT5 or of a decoder-only model; returns their paths.

    Raises InputError or ModelError for other folders, MissingExtraError without the package onnx.
    """
    from edit_gec.modeling.config import read_config

    is_edit5 = read_config(folder).get("model_type") == "edit5"
    graphs, take = _edit5_graphs(folder) if is_edit5 else _causal_graphs(folder)
    index = {name: external_names(graph) for name, graph in graphs.items()}
    for name in sorted({name for names in index.values() for name in names}):
        take(name)  # raises where the folder lacks it
    (folder / FOLDER).mkdir(exist_ok=True)
    for name, graph in graphs.items():
        atomic_write(folder / FOLDER / name, graph.SerializeToString())
    write_json(folder / FOLDER / INDEX, index, indent=1)
    return [folder / FOLDER / name for name in graphs]


def _edit5_graphs(folder: Path) -> tuple[dict[str, Any], Take]:
    from edit_gec.modeling.config import edit5_config, read_config

    config = edit5_config(read_config(folder), str(folder / "config.json"))
    weights = read_weights(folder)
    graphs = dict(zip(graph_files(), build(config).values(), strict=True))
    if weights.is_packed("encoder.layers.0.attention.qkv.weight"):
        for name, graph in zip(graph_files(int8=True), build(config, int8=True).values(), strict=True):
            graphs.setdefault(name, graph)
    return graphs, partial(take_tensor, weights)


def _causal_graphs(folder: Path) -> tuple[dict[str, Any], Take]:
    from edit_gec.backends.causal_graphs import PRECISIONS, build_causal
    from edit_gec.backends.causal_weights import read_causal_weights

    weights = read_causal_weights(folder)
    smooths = bool(weights.exponents)
    built = [build_causal(weights.config, precision, smooths=smooths) for precision in PRECISIONS]
    return {name: graph for graphs in built for name, graph in graphs.items()}, weights.take
