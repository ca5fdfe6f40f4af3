"""Powers of two that norms divide by: products stay, one part in int8 is near them, graphs and file belong together."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from support.language_gains import Comparison, find_gains
from support.tiny_causal import save_folder

from edit_gec.backends.causal_weights import SMOOTHING, read_causal_weights
from edit_gec.errors import ModelError
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.speculative.language_model import LanguageModel

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from edit_gec.backends.export import export
from edit_gec.backends.onnx_language_network import OnnxLanguageNetwork

main = runpy.run_path(str(Path(__file__).parents[3] / "profiles" / "training" / "smoothing.py"))["main"]
SOURCE = "She go to school every day, because she likes it there."
QUESTION = Comparison("", SOURCE, (SOURCE.replace("go", "goes"), SOURCE.replace("because ", ""), "They were late."))
LARGE = 300.0  # some dimensions of what comes out of the norms


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model two of whose normed dimensions are far larger than the others, with powers of two found on a text."""
    oracle = save_folder(tmp_path, hidden_size=64, intermediate_size=96, num_attention_heads=4)
    with torch.no_grad():
        for layer in oracle.model.layers:
            pairs = (layer.input_layernorm, [layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj])
            after = (layer.post_attention_layernorm, [layer.mlp.gate_proj, layer.mlp.up_proj])
            for norm, matrices in (pairs, after):
                norm.weight[[3, 17]] *= LARGE
                for matrix in matrices:
                    matrix.weight[:, [3, 17]] /= LARGE
    oracle.save_pretrained(tmp_path)
    (tmp_path / "text.txt").write_text(f"{SOURCE}\nThey were late.\n\n")
    assert main(["--model", str(tmp_path), "--text", str(tmp_path / "text.txt")]) == 0
    return tmp_path


def run(folder: Path, precision: str) -> np.ndarray:
    network = OnnxLanguageNetwork.load(folder, precision=precision)
    return np.array(find_gains(LanguageModel(network, BytePairs.load(folder)), [QUESTION])[0])


def test_a_smoothed_product_is_the_product(folder: Path) -> None:
    weights = read_causal_weights(folder)
    state = load_causal(folder).state_dict()
    for norm, matrix in (("attention_norm", "attention.qkv"), ("feed_forward_norm", "wi")):
        scale, rows = (weights.dense(f"layers.1.{name}.weight.smoothed") for name in (norm, matrix))
        plain = state[f"layers.1.{norm}.weight"] * state[f"layers.1.{matrix}.weight"]
        assert np.array_equal(scale * rows, plain.numpy()) and not np.array_equal(rows, plain.numpy())


def test_one_part_of_smoothed_inputs_is_enough(folder: Path) -> None:
    """Without it the large dimensions take all of a scale."""
    export(folder)
    wanted = run(folder, "float32")
    error = np.abs(run(folder, "int8") - wanted).max()
    assert error < 0.05 * np.abs(wanted).max()
    names = (folder / "onnx" / "weights.json").read_text()
    assert "layers.0.wi.weight.smoothed.digits" in names and "layers.0.wo.weight.digits" in names


def test_graphs_and_powers_belong_together(folder: Path) -> None:
    export(folder)
    run(folder, "int8")
    (folder / SMOOTHING).unlink()
    with pytest.raises(ModelError, match=r"smoothing\.safetensors does not fit these graphs"):
        run(folder, "int8")
    assert run(folder, "float32").all()
