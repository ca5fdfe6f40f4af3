"""Decoder-only models: the same logits as `transformers`, cached or not, from folders and from GGUF files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from support.tiny_causal import make_oracle, save_folder, save_gguf

from edit_gec.errors import EditGecError, InputError, ModelError
from edit_gec.modeling.causal_checkpoint import export_hugging_face, load_causal
from edit_gec.modeling.causal_lm import CausalLM, causal_visibility
from edit_gec.modeling.t5 import Cache

LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64, "rope_theta": 10000.0,
}  # fmt: skip
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "tied": ("llama", {"tie_word_embeddings": True}),
    "biases": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "one head each": ("llama", {"num_key_value_heads": 6}),
    "wide heads": ("llama", {"head_dim": 16}),
    "llama3": ("llama", {"rope_parameters": LLAMA3}),
    "linear": ("llama", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0}}),
    "mistral": ("mistral", {"sliding_window": None}),
    "qwen2": ("qwen2", {"tie_word_embeddings": True}),
}


def read(model: CausalLM, rows: list[list[int]]) -> torch.Tensor:
    """Logits of texts, padded on the right."""
    most = max(map(len, rows))
    ids = torch.tensor([row + [0] * (most - len(row)) for row in rows])
    with torch.inference_mode():
        return model.logits(model(ids, torch.arange(most).expand(len(rows), -1), causal_visibility([*map(len, rows)])))


@pytest.fixture(scope="module", params=KINDS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[CausalLM, Any]:
    kind, shape = KINDS[request.param]
    folder = tmp_path_factory.mktemp("causal")
    oracle = save_folder(folder, kind, **shape)
    return load_causal(folder), oracle


def test_logits_are_those_of_transformers(pair: tuple[CausalLM, Any]) -> None:
    """Alone and in a batch with a longer text."""
    model, oracle = pair
    rows = [[0, *(n * 37 % 250 for n in range(1, length))] for length in (5, 1, 90)]
    together = read(model, rows)
    for n, row in enumerate(rows):
        with torch.inference_mode():
            wanted = oracle(torch.tensor([row])).logits[0]
        assert torch.allclose(read(model, [row])[0], wanted, atol=1e-4)
        assert torch.allclose(together[n, : len(row)], wanted, atol=1e-4)


def test_export_is_what_was_read(pair: tuple[CausalLM, Any]) -> None:
    """The tensors that `transformers` wrote; the same logits in its model."""
    import transformers

    model, oracle = pair
    if model.config.rotary.kind != "default":
        with pytest.raises(InputError, match="rotary"):
            export_hugging_face(model)
        return
    config, tensors = export_hugging_face(model)
    wanted = oracle.state_dict()
    assert all(torch.equal(tensor, wanted[name]) for name, tensor in tensors.items())
    make: Any = transformers.AutoModelForCausalLM
    again = make.from_config(transformers.AutoConfig.for_model(**config)).eval()
    again.load_state_dict(tensors, strict=not model.config.tie_word_embeddings)
    again.tie_weights()
    row = torch.tensor([[0, 5, 77, 31]])
    with torch.inference_mode():
        assert torch.allclose(again(row).logits, oracle(row).logits, atol=1e-5)


def test_cached_positions_are_uncached_ones(pair: tuple[CausalLM, Any]) -> None:
    model, _ = pair
    row = [0, *(n * 31 % 250 for n in range(1, 20))]
    caches = [Cache() for _ in model.layers]
    found = []
    with torch.inference_mode():
        for start, end in ((0, 7), (7, 8), (8, 20)):
            places = torch.arange(start, end)
            visible = torch.arange(end)[None] <= places[:, None]
            found.append(model(torch.tensor([row[start:end]]), places[None], visible[None], caches))
        logits = model.logits(torch.cat(found, dim=1))
    assert torch.allclose(logits, read(model, [row]), atol=1e-4)


@pytest.mark.parametrize("quantisation", ["F32", "Q8_0", "Q4_1"])
def test_gguf_holds_the_same_model(tmp_path: Path, quantisation: str) -> None:
    """The model whose weights are what its quantisation keeps of them; queries and keys come back into their order."""
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize, quantize

    oracle = make_oracle(hidden_size=64, intermediate_size=96, num_attention_heads=4)
    kind = GGMLQuantizationType[quantisation]
    with torch.no_grad():
        for parameter in oracle.parameters():
            if parameter.ndim == 2:
                parameter.copy_(torch.from_numpy(dequantize(quantize(parameter.numpy(), kind), kind)))
    save_gguf(tmp_path / "model.gguf", oracle, quantisation)
    row = [0, *(n * 37 % 250 for n in range(1, 40))]
    with torch.inference_mode():
        wanted = oracle(torch.tensor([row])).logits
    assert torch.allclose(read(load_causal(tmp_path / "model.gguf"), [row]), wanted, atol=0.02)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_type": "gpt2"}, "model_type 'gpt2'"),
        ({"model_type": "qwen3"}, "model_type 'qwen3'"),
        ({"hidden_act": "gelu"}, "hidden_act 'gelu'"),
        ({"model_type": "mistral", "sliding_window": 16}, "sliding_window 16"),
        ({"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, "'yarn'"),
        ({"num_attention_heads": 5}, "5 heads"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000"),
        ({"hidden_size": None}, "hidden_size is None"),
        ({"intermediate_size": 48}, "has shape"),
    ],
)
def test_other_models_are_refused_by_name(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    save_folder(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(ModelError, match=reason) as caught:
        load_causal(tmp_path)
    assert "\n" not in str(caught.value)


def test_gguf_of_another_architecture_or_cut_off(tmp_path: Path) -> None:
    """Every beginning of a file is refused in one line."""
    path = tmp_path / "model.gguf"
    save_gguf(path, make_oracle())
    whole = path.read_bytes()
    for length in (0, 3, 100, len(whole) // 2, len(whole) - 50):
        path.write_bytes(whole[:length])
        with pytest.raises(EditGecError) as caught:
            load_causal(path)
        assert "\n" not in str(caught.value)
    save_gguf(path, make_oracle(), kind="bert")
    with pytest.raises(ModelError, match="architecture 'bert'"):
        load_causal(path)
    with pytest.raises(ModelError, match="no such file"):
        load_causal(tmp_path / "none.gguf")
