"""Low-rank adapters: merged as `peft` merges them, into matrices that we keep fused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.tiny_causal import make_oracle, save_folder

from edit_gec.errors import ModelError
from edit_gec.modeling.adapters import CONFIG, FILE
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.modeling.causal_lm import causal_visibility

ALL = [f"{name}_proj" for name in ("q", "k", "v", "o", "gate", "up", "down")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model with adapters, written out by hand: name of the matrix, rank 2, alpha 6."""
    oracle = save_folder(tmp_path)
    torch.manual_seed(3)
    tensors = {}
    for name, parameter in oracle.named_parameters():
        if name.startswith("model.layers.1.") and parameter.ndim == 2:
            stem = f"base_model.model.{name.removesuffix('.weight')}"
            tensors[f"{stem}.lora_A.weight"] = torch.randn(2, parameter.shape[1])
            tensors[f"{stem}.lora_B.weight"] = torch.randn(parameter.shape[0], 2)
    save_file(tensors, tmp_path / FILE)
    (tmp_path / CONFIG).write_text(json.dumps({"peft_type": "LORA", "r": 2, "lora_alpha": 6}))
    return tmp_path


def test_every_matrix_is_the_sum(folder: Path) -> None:
    """W + alpha / r B A, in its own rows of the fused matrix."""
    oracle = make_oracle()
    tensors = load_file(folder / FILE)
    with torch.no_grad():
        for name, parameter in oracle.named_parameters():
            stem = f"base_model.model.{name.removesuffix('.weight')}"
            if f"{stem}.lora_A.weight" in tensors:
                parameter += 3 * tensors[f"{stem}.lora_B.weight"] @ tensors[f"{stem}.lora_A.weight"]
    compare(folder, oracle)


def compare(folder: Path, oracle: Any) -> None:
    model = load_causal(folder)
    ids = torch.tensor([[0, *(n * 37 % 250 for n in range(1, 30))]])
    with torch.inference_mode():
        found = model.logits(model(ids, torch.arange(30)[None], causal_visibility([30])))
        wanted = oracle(ids).logits
    assert torch.allclose(found, wanted, atol=1e-4 * float(wanted.abs().max()))


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # peft asks transformers for it
@pytest.mark.parametrize("options", [{}, {"use_rslora": True}, {"rank_pattern": {"q_proj": 3}}], ids=str)
def test_adapters_of_peft_are_merged_as_peft_does(tmp_path: Path, options: dict[str, Any]) -> None:
    peft = pytest.importorskip("peft")
    oracle = save_folder(tmp_path, attention_bias=True, mlp_bias=True)
    torch.manual_seed(5)
    trained = peft.get_peft_model(oracle, peft.LoraConfig(r=4, lora_alpha=10, target_modules=ALL, **options))
    with torch.no_grad():
        for name, parameter in trained.named_parameters():
            if "lora_" in name:
                parameter.copy_(torch.randn_like(parameter) * 0.3)
    trained.save_pretrained(tmp_path)
    merged = trained.merge_and_unload()
    assert not torch.equal(merged.model.layers[0].mlp.up_proj.weight, make_oracle().model.layers[0].mlp.up_proj.weight)
    compare(tmp_path, merged.eval())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"peft_type": "IA3"}, "peft_type is 'IA3'"),
        ({"use_dora": True}, "use_dora is True"),
        ({"bias": "all"}, "bias is 'all'"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save is"),
        ({"lora_alpha": "8"}, "lora_alpha is '8'"),
        ({"lora_alpha": float("nan")}, "lora_alpha is nan"),
    ],
    ids=str,
)
def test_other_adapters_are_refused(folder: Path, changes: dict[str, Any], reason: str) -> None:
    (folder / CONFIG).write_text(json.dumps({**json.loads((folder / CONFIG).read_text()), **changes}))
    with pytest.raises(ModelError, match=reason):
        load_causal(folder)


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        ("model.layers.1.self_attn.q_proj.lora_A", (2, 25), "lora_A and lora_B of"),
        ("model.layers.1.self_attn.q_proj.lora_B", (24, 3), "lora_A and lora_B of"),
        ("model.layers.0.self_attn.q_proj.lora_A", (2, 24), "lora_A and lora_B of"),
        ("model.layers.7.self_attn.q_proj.lora_A", (2, 24), "layers.7.self_attn.q_proj is not in the model"),
        ("model.layers.1.self_attn.x_proj.lora_A", (2, 24), "layers.1.self_attn.x_proj is not in the model"),
        ("lm_head.lora_A", (2, 24), "expected lora_A and lora_B of matrices of the layers"),
    ],
)
def test_adapters_of_another_model_are_refused(folder: Path, name: str, shape: tuple[int, int], reason: str) -> None:
    tensors = {**load_file(folder / FILE), f"base_model.model.{name}.weight": torch.ones(shape)}
    save_file(tensors, folder / FILE)
    with pytest.raises(ModelError, match=reason) as caught:
        load_causal(folder)
    assert "\n" not in str(caught.value)


def test_missing_and_broken_adapters(folder: Path) -> None:
    whole = (folder / FILE).read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\xff" * 20):
        (folder / FILE).write_bytes(content)
        with pytest.raises(ModelError, match="not a safetensors file"):
            load_causal(folder)
    (folder / FILE).unlink()
    with pytest.raises(ModelError, match="is missing"):
        load_causal(folder)
