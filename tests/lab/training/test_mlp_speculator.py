"""Training an MLP speculator: what it learns from pairs and from its target, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from support.tiny_t5 import pairs, random_target, trained_target

from edit_gec.errors import InputError, ModelError
from edit_gec.lab.training.mlp_speculator import main, read_pairs, train_speculator
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.decode import verify
from edit_gec.speculative.drafters import Gamma
from edit_gec.speculative.mlp_speculator import MLPDrafter, Speculator
from edit_gec.speculative.target import Target


def test_speculator_learns_from_the_targets_state(tokens: Tokens) -> None:
    """Two stages on the toy task: the loss falls, and what it drafts is accepted far more often than before."""
    target = trained_target(tokens)
    torch.manual_seed(0)
    speculator = Speculator(target.model.config.d_model, target.model.config.vocab_size, width=64, steps=3)
    sentences = [source for source, _ in pairs(20, seed=7)]
    before = {name: p.clone() for name, p in target.model.state_dict().items()}

    def alpha() -> float:
        outputs, statistics = verify(target, MLPDrafter(speculator, Gamma(3)), sentences)
        assert outputs == target.generate(sentences)
        return statistics.alpha

    untrained = alpha()
    first, second = train_speculator(speculator, target, pairs(128, seed=1), epochs=5, learning_rate=1e-2)
    assert len(first) == len(second) == 5 * 4
    assert sum(second[-5:]) < sum(second[:5]) + 0.1 and sum(first[-5:]) < 0.5 * sum(first[:5])
    assert untrained < 0.2 and alpha() > 0.5
    assert all(torch.equal(p, before[name]) for name, p in target.model.state_dict().items())


def test_a_speculator_learns_from_a_file(tokens: Tokens, tmp_path: Path) -> None:
    target = trained_target(tokens)
    target.export(tmp_path / "t5")
    lines = "".join(f"toy\t{source}\t{right}\n" for source, right in pairs(40, seed=4))
    (tmp_path / "pairs.tsv").write_text(lines)
    command = ["--target", str(tmp_path / "t5"), "--pairs", str(tmp_path / "pairs.tsv"), "--width", "16"]
    assert main([*command, "--output", str(tmp_path / "mlp"), "--epochs", "1"]) == 0
    loaded = Speculator.load(tmp_path / "mlp", target)
    torch.manual_seed(0)
    config = target.model.config
    again = Speculator(config.d_model, config.vocab_size, width=16)
    train_speculator(again, Target.load(tmp_path / "t5"), read_pairs(tmp_path / "pairs.tsv"))
    for name, parameter in again.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], parameter, atol=1e-4, rtol=0)
    with pytest.raises(ModelError, match="expected 'mlp-speculator'"):
        Speculator.load(tmp_path / "t5", target)
    with pytest.raises(ModelError, match="for a target of width 64 with"):
        Speculator.load(tmp_path / "mlp", random_target(tokens))
    config_json = tmp_path / "mlp" / "config.json"
    config_json.write_text(json.dumps({**json.loads(config_json.read_text()), "width": "wide"}))
    with pytest.raises(ModelError, match="width is 'wide'; expected an integer from 1"):
        Speculator.load(tmp_path / "mlp", target)
    (tmp_path / "none.tsv").write_text("\n")
    with pytest.raises(InputError, match=r"none.tsv: no pairs"):
        main([*command[:3], str(tmp_path / "none.tsv"), "--output", str(tmp_path / "no")])
