"""Training of a T5: its examples, and the real Trainer on tiny models."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from support.tiny_training import write_data

from edit_gec.errors import InputError, ModelError
from edit_gec.lab.training.objective_edit5 import EdiT5Objective
from edit_gec.lab.training.objective_t5 import T5Objective, load_stage, make_example
from edit_gec.lab.training.optim import optimizer_for
from edit_gec.lab.training.recipe import Recipe, TrainingStage, read_recipe
from edit_gec.lab.training.run import train
from edit_gec.modeling import checkpoint, shared_encoder
from edit_gec.modeling.config import EdiT5Config, read_config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.t5 import SLOTS, T5
from edit_gec.modeling.tokenizer import EOS, FILE, Tokens

RECIPE = """
name = "tiny"
kind = "t5"
encoder = "../edit5"
vocabulary = 600
max_pieces = 60
bf16 = false

[model]
d_model = 32
d_kv = 8
d_ff = 48
num_heads = 4
num_layers = 3
attention_scale = 1.0

[[stage]]
name = "copy"
layers = 1
steps = 12
clean = 1.0
batch_pieces = 128

[[stage]]
name = "correct"
layers = 2
steps = 4
batch_pieces = 128
"""


@pytest.fixture
def places(tmp_path: Path, tokens: Tokens) -> tuple[Path, Path]:
    """A data folder, and a recipe beside the folder of an EdiT5."""
    data = write_data(tmp_path / "data")
    torch.manual_seed(3)
    shape: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 2, "point_width": 16}
    EdiT5(EdiT5Config(vocab_size=tokens.pieces + SLOTS, slots=SLOTS, **shape)).save(tmp_path / "edit5")
    (tmp_path / "edit5" / FILE).write_bytes(tokens.processor.serialized_model_proto())
    (tmp_path / "t5").mkdir()
    (tmp_path / "t5" / "recipe.toml").write_text(RECIPE)
    return tmp_path / "t5" / "recipe.toml", data


@pytest.mark.parametrize("sentinel", [True, False])
def test_an_example_is_both_texts(tokens: Tokens, sentinel: bool) -> None:
    made = make_example("They walk to the the park.", "They walked to the park!", tokens, sentinel=sentinel)
    assert made is not None and tokens.decode(made.outputs[:-1]).strip() == "They walked to the park!"
    assert made.outputs[-1] == made.ids[-1] == EOS and (made.ids[0] == tokens.slot(0)) == sentinel
    assert make_example("", "Something.", tokens, sentinel=sentinel) is None


def test_a_t5_on_a_shared_encoder(places: tuple[Path, Path], tmp_path: Path) -> None:
    recipe, data = places
    folder = train(recipe, data, tmp_path / "runs")
    assert folder == tmp_path / "runs" / "tiny" / "model"
    names = set(checkpoint.read_tensors(folder))
    assert not any(name.startswith(("shared.", "encoder.block.0.", "encoder.block.1.")) for name in names)
    assert (
        any(name.startswith("encoder.block.2.") for name in names)
        and "decoder.block.1.layer.0.layer_norm.weight" in names
    )

    edit5 = EdiT5.load(tmp_path / "edit5")
    shutil.copytree(tmp_path / "edit5", folder.parent / "edit5")
    t5, found = shared_encoder.load(folder)
    assert shared_encoder.load_drafter(folder, t5, found) is None and found is not edit5
    assert t5.embedding is found.embedding and t5.encoder.layers[1] is found.encoder.layers[1]
    again, given = shared_encoder.load(folder, edit5)
    assert given is edit5 and again.embedding is edit5.embedding
    stage = load_stage(tmp_path / "runs" / "tiny" / "correct")
    ids = torch.tensor([[5, 9, 7, EOS]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    ours, theirs = (model(ids, mask, ids) for model in (again, stage))
    torch.testing.assert_close(ours, theirs, atol=0.05, rtol=0.05)  # the folder holds a byte for each weight
    for name in ("embedding.weight", "encoder.layers.1.attention.qkv.weight", "encoder.relative.weight"):
        assert torch.equal(stage.state_dict()[name], edit5.state_dict()[name]), f"{name} is frozen"
    start = T5Objective(read_recipe(recipe), recipe.parent).start_model(read_recipe(recipe).stages[0], None, None)
    assert isinstance(start, T5) and start.config.num_decoder_layers == 1


def test_a_stage_goes_on_with_the_encoder_as_it_is_now(places: tuple[Path, Path], tmp_path: Path) -> None:
    recipe, data = places
    read = read_recipe(recipe)
    train(recipe, data, tmp_path / "runs")
    before = tmp_path / "runs" / "tiny" / "correct"
    later = EdiT5.load(tmp_path / "edit5")
    with torch.no_grad():
        for p in later.parameters():
            p.add_(0.5)
    later.save(tmp_path / "edit5")
    old = load_stage(before).state_dict()
    new = T5Objective(read, recipe.parent).start_model(read.stages[1], before, None)
    theirs = later.state_dict()
    shipped = T5Objective(read, recipe.parent).start_model(read.stages[1], before.with_name("model"), None)
    assert torch.equal(shipped.embedding.weight, theirs["embedding.weight"]), "which no longer fits its folder"
    for name, p in new.state_dict().items():
        shared_layer = name.startswith(("embedding.", "encoder.layers.0.", "encoder.layers.1.", "encoder.relative."))
        torch.testing.assert_close(p, (theirs if shared_layer else old)[name], atol=0, rtol=0, msg=name)


def test_a_t5_trains_copies_of_the_last_layers(places: tuple[Path, Path], tmp_path: Path) -> None:
    """A later stage keeps the copies."""
    recipe, data = places
    recipe.write_text(RECIPE.replace("vocabulary", "own_layers = 1\nvocabulary"))
    folder = train(recipe, data, tmp_path / "runs")
    assert read_config(folder)["shared_layers"] == 1
    edit5 = EdiT5.load(tmp_path / "edit5").state_dict()
    stages = [load_stage(folder.with_name(stage.name)).state_dict() for stage in read_recipe(recipe).stages]
    frozen, trained = ("encoder.layers.0.attention.o.weight", "encoder.layers.1.attention.o.weight")
    assert all(torch.equal(stage[frozen], edit5[frozen]) for stage in stages)
    assert not any(torch.equal(stage[trained], edit5[trained]) for stage in stages)
    read = read_recipe(recipe)
    start = T5Objective(read, recipe.parent).start_model(read.stages[1], folder.with_name("correct"), None)
    assert torch.equal(start.state_dict()[trained], load_stage(folder.with_name("correct")).state_dict()[trained])


def test_own_layers_must_leave_a_shared_one(places: tuple[Path, Path], tmp_path: Path) -> None:
    recipe, data = places
    recipe.write_text(RECIPE.replace("vocabulary", "own_layers = 2\nvocabulary"))
    with pytest.raises(InputError, match="own_layers = 2; expected fewer than the encoder's 2"):
        train(recipe, data, tmp_path / "runs")


def test_learning_rates(places: tuple[Path, Path]) -> None:
    recipe, _ = places
    shutil.copyfile(recipe.parent.parent / "edit5" / FILE, recipe.parent / FILE)
    read = read_recipe(recipe)
    objective = T5Objective(read, recipe.parent)
    model = objective.start_model(read.stages[0], None, None)
    groups = optimizer_for(model, read.stages[0], read, objective.rate_of).param_groups
    assert not model.embedding.weight.requires_grad and model.encoder.norm.weight.requires_grad
    assert sorted(group["lr"] for group in groups) == [read.stages[0].lr, 2 * read.stages[0].lr]
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert sum(p.numel() for group in groups for p in group["params"]) == trained


def test_layers_that_a_t5_shares_stay() -> None:
    recipe = Recipe("x", frozen_layers=2, stages=(TrainingStage("a", 1),))
    model = EdiT5(EdiT5Config(vocab_size=50, slots=20, d_model=16, num_heads=2, d_kv=8, d_ff=32, num_layers=3))
    optimizer_for(model, recipe.stages[0], recipe, EdiT5Objective(recipe, Path()).rate_of)
    frozen = [name for name, parameter in model.named_parameters() if not parameter.requires_grad]
    stay = {name.removeprefix("encoder.").rpartition(".")[0] for name in frozen}
    assert {place.split(".")[0] for place in stay} == {"embedding", "relative", "norm", "layers"}
    assert {place.split(".")[1] for place in stay if place.startswith("layers")} == {"0", "1"}
    assert all(p.requires_grad for p in model.encoder.layers[2].parameters())


def test_an_encoder_that_does_not_fit(places: tuple[Path, Path], tmp_path: Path) -> None:
    recipe, data = places
    recipe.write_text(RECIPE.replace("d_ff = 48", "d_ff = 64"))
    with pytest.raises(ModelError, match="encoder: d_ff 64; expected 48 to share an encoder with this EdiT5"):
        train(recipe, data, tmp_path / "runs")
    recipe.write_text(RECIPE.replace("num_layers = 3", "num_layers = 1"))
    with pytest.raises(ModelError, match="num_layers 1; expected 2 or more"):
        train(recipe, data, tmp_path / "runs")
    recipe.write_text(RECIPE.replace("../edit5", "../edit6"))
    with pytest.raises(ModelError, match="edit6: not a model folder"):
        train(recipe, data, tmp_path / "runs")
