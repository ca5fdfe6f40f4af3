"""Teaching a language model to correct: rows of pairs, a training that learns, ends, resumes, and leaves adapters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from support.language_gains import Comparison, find_gains
from support.tiny_causal import save_folder

from edit_gec.errors import EditGecError, InputError
from edit_gec.lab.training.labelled_text import TrainingPair
from edit_gec.lab.training.objective_causal import RANK, CausalObjective
from edit_gec.lab.training.recipe import read_recipe
from edit_gec.lab.training.run import train
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.modeling.padding import IGNORE
from edit_gec.speculative.language_model import LanguageModel

WRONG, RIGHT = "She go to school every day.", "She goes to school every day."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    save_folder(folder)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Real edits only: no prose is needed."""
    (tmp_path / "edits").mkdir()
    (tmp_path / "edits" / "mine.tsv").write_text(f"x\t{WRONG}\t{RIGHT}\n" * 20, encoding="utf-8")
    return tmp_path


def write_recipe(folder: Path, base: Path, stage: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(
        f'name = "taught"\nkind = "causal"\nmax_pieces = 200\nadamw = 1.0\nworkers = 1\nsave_minutes = 1e-9\n'
        f'[[stage]]\nname = "only"\ninit = "{base}"\nreal = 1.0\nbatch_pieces = 128\n{stage}',
        encoding="utf-8",
    )
    return path


def test_only_the_target_is_learnt(base: Path, tmp_path: Path) -> None:
    objective = CausalObjective(read_recipe(write_recipe(tmp_path, base, "steps = 1\n")), tmp_path)
    tokens = objective.tokens()
    made = [objective.make_example(TrainingPair(*pair), tokens) for pair in ((WRONG, RIGHT), ("a", "b"))]
    examples = [*made]
    ids, start = examples[0].ids, examples[0].start
    assert ids[0] == 0 and ids[-1] == 0
    assert tokens.decode(ids[1:start]) == WRONG + "\n" and tokens.decode(ids[start:-1]) == RIGHT
    batch = objective.collate(examples)
    asked = batch["wanted"] != IGNORE
    assert asked.sum(1).tolist() == [len(each.ids) - each.start for each in examples]
    for row, each in enumerate(examples):
        places = asked[row].nonzero()[:, 0]
        assert batch["wanted"][row, places].tolist() == [each.ids[n + 1] for n in places.tolist()]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of peft and transformers about each other
def test_a_training_learns_resumes_and_leaves_adapters(base: Path, data: Path) -> None:
    """The correction becomes likelier; a longer run goes on from the checkpoint; the base stays as it is."""
    pytest.importorskip("peft")
    said: list[str] = []
    for steps in (10, 30):
        path = write_recipe(data, base, f"steps = {steps}\nlr = 0.01\n")
        run = train(path, data, data / "runs", say=said.append)
        if steps == 10:
            (run.parent / "only" / "config.json").unlink()  # as if it had been stopped there
    assert any("goes on from step 10" in line for line in said)
    saved = run.parent / "only" / "checkpoint-30" / "model.safetensors"
    assert all("lora_" in name for name in load_file(saved)), "a checkpoint holds no base"
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (run / name).write_bytes((base / name).read_bytes())
    assert json.loads((run / "adapter_config.json").read_text())["r"] == RANK
    question = Comparison(f"{WRONG}\n", WRONG, (RIGHT,))
    before, after = (find_gains(LanguageModel.load(folder), [question])[0][0] for folder in (base, run))
    assert after > before + 1
    taught, untaught = load_causal(run), load_causal(base)
    taught_layer: Any = taught.layers[0]
    untaught_layer: Any = untaught.layers[0]
    assert torch.equal(taught.embedding.weight, untaught.embedding.weight)
    assert not torch.equal(taught_layer.wi.weight, untaught_layer.wi.weight)


def test_data_without_edits_is_named(base: Path, tmp_path: Path) -> None:
    path = write_recipe(tmp_path, base, "steps = 1\n")
    with pytest.raises(EditGecError, match="edits"):
        train(path, tmp_path, tmp_path / "runs")
    path.write_text(path.read_text().replace("init = ", "edits = "), encoding="utf-8")
    with pytest.raises(InputError, match="no init; the folder of the language model is expected"):
        read_recipe(path)
