"""Model folder -> ONNX graphs next to its weights, in the layout of the Hugging Face hub.

    FOLDER/onnx/encode.onnx  point.onnx  encode_plan.onnx  decode.onnx  weights.json    some 100 kB in all
    FOLDER/onnx/encode-int8.onnx  encode_plan-int8.onnx                         where the weights are in bytes

Opset 17 with operators of ONNX Runtime. The graphs hold no weights: weights.json names those that each takes from
FOLDER/model.safetensors, so nothing is stored twice.
"""

from __future__ import annotations

from pathlib import Path

from edit_gec.backends.graphs import build, external_names
from edit_gec.backends.sessions import FOLDER, INDEX, graph_files, take_tensor
from edit_gec.modeling.weights import read_weights
from edit_gec.text.files import atomic_write, write_json


def export(folder: Path) -> list[Path]:
    """Write the graphs of an EdiT5 folder; returns their paths.

    Raises InputError or ModelError for other folders, MissingExtraError without the package onnx.
    """
    from edit_gec.modeling.config import edit5_config, read_config

    config = edit5_config(read_config(folder), str(folder / "config.json"))
    weights = read_weights(folder)
    graphs = dict(zip(graph_files(), build(config).values(), strict=True))
    if weights.is_packed("encoder.layers.0.attention.qkv.weight"):
        for name, graph in zip(graph_files(int8=True), build(config, int8=True).values(), strict=True):
            graphs.setdefault(name, graph)
    index = {name: external_names(graph) for name, graph in graphs.items()}
    for name in {name for names in index.values() for name in names}:
        take_tensor(weights, name)  # raises where the folder lacks it
    (folder / FOLDER).mkdir(exist_ok=True)
    for name, graph in graphs.items():
        atomic_write(folder / FOLDER / name, graph.SerializeToString())
    write_json(folder / FOLDER / INDEX, index, indent=1)
    return [folder / FOLDER / name for name in graphs]
