"""Training: recipes, batches, and the real Trainer on a tiny model: stages, interruption, two processes."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import PROSE
from safetensors.torch import load_file
from support.tiny_training import MODEL, write_data
from torch.utils.data import IterableDataset
from transformers import Trainer, TrainingArguments

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError, ModelError
from edit_gec.lab.training import course
from edit_gec.lab.training import recipe as recipe_module
from edit_gec.lab.training.collate import collate, make_example
from edit_gec.lab.training.optim import optimizer_for
from edit_gec.lab.training.pairs import Pairs, cut_batches
from edit_gec.lab.training.preparation import prepare_files
from edit_gec.lab.training.recipe import Recipe, TrainingStage, read_recipe
from edit_gec.lab.training.run import average, cut_log, train
from edit_gec.lab.training.trainer import checkpoints, compile_layers, run_trainer, update_average, update_of
from edit_gec.modeling import shared_encoder
from edit_gec.modeling.checkpoint import read_tensors, save_t5
from edit_gec.modeling.config import EdiT5Config, T5Config, read_config
from edit_gec.modeling.edit5 import PRESETS, EdiT5
from edit_gec.modeling.t5 import T5
from edit_gec.modeling.tokenizer import FILE, Tokens

RECIPE = f"""
name = "tiny"
vocabulary = 420
max_pieces = 60
bf16 = false
thresholds = {{ keep_bias = 0.5 }}
{MODEL}
[[stage]]
name = "one"
layers = 1
steps = 60
clean = 0.1
batch_pieces = 128
warmup = 5

[[stage]]
name = "two"
layers = 2
steps = 6
decay = 3
real = 0.3
batch_pieces = 128
"""


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """A data folder with a little of everything."""
    return write_data(tmp_path / "data")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    folder = tmp_path / "recipe"
    folder.mkdir()
    (folder / "recipe.toml").write_text(RECIPE)
    return folder / "recipe.toml"


# --- recipes ---------------------------------------------------------------------------------------------------------


def test_a_recipe(recipe: Path) -> None:
    read = read_recipe(recipe)
    assert (read.name, read.vocabulary, read.thresholds) == ("tiny", 420, {"keep_bias": 0.5})
    assert [(s.name, s.layers, s.steps, s.real) for s in read.stages] == [("one", 1, 60, 0.0), ("two", 2, 6, 0.3)]
    assert isinstance(read.config, EdiT5Config)
    assert (read.config.d_model, read.config.slots, read.config.vocab_size) == (32, 64, 420 + 64)
    assert read.config.attention_scale == PRESETS["edit5-mini"].attention_scale, "the rest is the preset's"
    assert Recipe("mini").config == PRESETS["edit5-mini"]


def test_the_recipes_that_we_ship() -> None:
    recipes = list((Path(__file__).parents[3] / "models").glob("[!.]*/**/recipe*.toml"))
    assert len(recipes) > 4 and all(read_recipe(path).stages for path in recipes)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("bf16", "bf17", "unknown key 'bf17'; expected one of name, kind, preset, model, vocabulary, "),
        ("layers = 1", "layers = ", "recipe.toml: not a recipe"),
        ("layers = 1", "layers = 'one'", "layers = 'one', expected int"),
        ("layers = 1", "depth = 1", "stage: unknown key 'depth'; expected one of name, steps, "),
        ("clean = 0.1", "clean = [1]", r"clean = \[1\], expected float"),
        ('name = "two"', 'name = "one"', "each with a name of its own"),
        ('name = "two"', 'name = "model"', "none called 'model'"),
        ("steps = 6\n", "average = { two = 1.0 }\n", "expected names of earlier stages with weights above 0"),
        ("steps = 6\n", "average = { one = 0.0 }\n", "expected names of earlier stages with weights above 0"),
        ("steps = 6\n", "steps = 6\naverage = { one = 1.0 }\n", "'two' has steps = 6, pieces = 0; steps, pieces or"),
        ("steps = 6\n", "", "stage 'two' has steps = 0, pieces = 0; steps, pieces or an average are expected"),
        ("steps = 6\n", "steps = 6\nmean = [1.0]\n", "stage: unknown key 'mean'; expected one of name, steps, "),
        ("vocabulary", "preset = 'huge'\nvocabulary", "preset 'huge' is none of edit5-base, edit5-mini"),
        ("d_model = 32", "d_model = 0", "d_model is 0"),
        ("d_model = 32", "width = 32", "model: unknown key 'width'; expected one of vocab_size, d_model"),
        ("bf16", "save_minutes = 0\nbf16", "save_minutes = 0; expected at least 0, and more than 0"),
        ("bf16", "own_layers = 1\nbf16", "own_layers = 1; expected at least 0, and 0 without the shared encoder"),
        ('name = "tiny"', "", "a recipe has no name; expected name = "),
        ('name = "one"', "", "a stage has no name"),
        ("[[stage]]", "[[steps]]", "unknown key 'steps'; .* frozen_layers, stage"),
    ],
)  # fmt: skip
def test_recipes_with_mistakes(before: str, after: str, message: str, recipe: Path) -> None:
    recipe.write_text(RECIPE.replace(before, after))
    with pytest.raises(InputError, match=message) as raised:
        read_recipe(recipe)
    assert str(recipe) in str(raised.value) and "\n" not in str(raised.value)


def test_every_key_is_documented() -> None:
    recipes, stages = (documented_keys(what) for what in ("recipe", "stage"))
    assert recipes == {field.name for field in fields(Recipe)} - {"stages"} | {"stage"}
    assert stages == {field.name for field in fields(TrainingStage)}


def documented_keys(what: str) -> set[str]:
    """The keys in the table of the module's docstring."""
    table = str(recipe_module.__doc__).partition(f"| key of a {what} | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    return {key.strip() for row in table.splitlines() for key in row.split("|")[1].split(",")}


def test_no_recipe(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.toml"):
        with pytest.raises(InputError, match="no readable recipe"):
            read_recipe(path)


# --- batches ---------------------------------------------------------------------------------------------------------


def drawn(corpora: Path, stage: TrainingStage, start: int = 0, count: int = 60) -> list[tuple[str, str]]:
    (corpora / "pairs").mkdir(exist_ok=True)
    shutil.copyfile(PROSE, corpora / "pairs" / "prose.txt")
    drawn = Pairs(corpora, corpora, Recipe("x"), stage, start).draw_pairs(random.Random(f"{stage.name} {start}"))
    return [(pair.source, pair.target) for pair in islice(drawn, count)]


def test_pairs_of_a_stage(corpora: Path) -> None:
    prose = set(PROSE.read_text(encoding="utf-8").splitlines())
    noisy = drawn(corpora, TrainingStage("noisy", 1, clean=0.0))
    prose |= {line.upper() for line in prose}
    left = sum(target in prose for _, target in noisy)
    assert 35 < left < 60, "some are reworded"
    assert sum(s != t for s, t in noisy) > 40
    assert (
        drawn(corpora, TrainingStage("noisy", 1, clean=0.0))
        == noisy
        != drawn(corpora, TrainingStage("noisy", 1, clean=0.0), 9)
    )
    clean = drawn(corpora, TrainingStage("clean", 1, clean=1.0))
    assert all(source == target for source, target in clean) and {t in prose for _, t in clean} == {True, False}
    many = drawn(corpora, TrainingStage("many", 1), count=1000)
    capitals = [pair for pair in many if all(text.isupper() for text in pair)]
    assert 1 <= len(capitals) <= 40 and any(source != target for source, target in capitals)
    assert set(drawn(corpora, TrainingStage("real", 1, real=1.0))) == {
        ("She walk to the station.", "She walks to the station.")
    }


def test_buckets_are_full_and_alike(tokens: Tokens) -> None:
    pool: list[Any] = [
        e for line in PROSE.read_text(encoding="utf-8").splitlines() if (e := make_example(line, line[1:], tokens))
    ]
    batches = list(cut_batches(pool, 200))
    assert sorted(len(e.ids) for batch in batches for e in batch) == sorted(len(e.ids) for e in pool)
    assert all(len(batch) * max(len(e.ids) for e in batch) <= 200 or len(batch) == 1 for batch in batches)
    assert all((len(a) + 1) * len(b[0].ids) > 200 for a, b in pairwise(batches))


def test_each_process_and_worker_draws_its_own_pairs(
    corpora: Path, recipe: Path, tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch.utils.data import DataLoader

    drawn(corpora, TrainingStage("x", 1), count=1)
    (recipe.parent / FILE).write_bytes(tokens.processor.serialized_model_proto())
    pairs = Pairs(recipe.parent, corpora, read_recipe(recipe), TrainingStage("one", 1, batch_pieces=64), 0)

    def first(rank: str, workers: int) -> list[Any]:
        monkeypatch.setenv("RANK", rank)
        return [batch["ids"].tolist() for batch in islice(DataLoader(pairs, None, num_workers=workers), workers or 1)]

    a, b = first("0", 2)
    assert a != b, "two workers"
    assert first("0", 0) != first("1", 0), "two processes"


def test_optimizer_state_comes_back(model: EdiT5, tokens: Tokens, make_model: Any) -> None:
    def step(model: EdiT5, optimizer: Any, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for p in model.parameters():
            p.grad = torch.randn(p.shape, generator=generator)
        optimizer.step()

    stage, recipe = TrainingStage("x", 10, lr=1e-3), Recipe("x", adamw=2.0)
    one, other = make_model(), make_model()
    first, second = optimizer_for(one, stage, recipe), optimizer_for(other, stage, recipe)
    assert sorted(group["lr"] for group in first.param_groups) == [1e-3, 2e-3]
    assert sum(len(group["params"]) for group in first.param_groups) == len(list(one.parameters()))
    step(one, first, 1)
    other.load_state_dict(one.state_dict())
    second.load_state_dict(copy.deepcopy(first.state_dict()))  # as a file would
    first.param_groups[0]["lr"] = second.param_groups[0]["lr"] = 5e-4  # as a scheduler does
    step(one, first, 2)
    step(other, second, 2)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=5e-6, rtol=0)


def test_compilation_needs_a_compiler(model: EdiT5, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(InputError, match=r"no C\+\+ compiler found"):
        compile_layers(model)


@pytest.mark.filterwarnings("ignore")  # what torch's compiler warns of
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
def test_compiled_layers_learn_the_same(model: EdiT5, tokens: Tokens) -> None:
    compiled = copy.deepcopy(model).train()
    compile_layers(compiled)
    # Two shapes, one compilation. Another would be made, slowly, for a batch of one.
    for sentences in (["She go home.", "I is here."], ["We was at the sea for a week.", "It is old.", "It go."]):
        examples = [make_example(s, s.replace("is", "am").replace("go", "goes"), tokens) for s in sentences]
        batch = collate([e for e in examples if e is not None], tokens)
        for network in (model.train(), compiled):
            network.zero_grad()
            losses = network(batch).losses
            (losses.tag + losses.insertion).backward()
        for p, q in zip(model.parameters(), compiled.parameters(), strict=True):
            torch.testing.assert_close(q.grad, p.grad, atol=1e-4, rtol=1e-3)


# --- training --------------------------------------------------------------------------------------------------------


def interrupt_at(log: Path) -> None:
    """What Ctrl-C does, once the training has logged something."""
    for _ in range(600):
        if log.exists():
            os.kill(os.getpid(), signal.SIGINT)
            return
        time.sleep(0.1)


def test_a_log_forgets_the_steps_that_are_repeated(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    assert cut_log(log, 0) == 0 and not log.exists()
    log.write_text("".join(f'{{"step": {step}}}\n' for step in (50, 100, 150)) + '{"step": 2', encoding="utf-8")
    assert cut_log(log, 100) == 100
    assert [json.loads(line)["step"] for line in log.read_text().splitlines()] == [50, 100]


def test_stages_interrupted_and_resumed(corpora: Path, recipe: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    one, two = runs / "tiny" / "one", runs / "tiny" / "two"
    before = signal.getsignal(signal.SIGINT)
    hand = threading.Thread(target=interrupt_at, args=[one / "log.jsonl"])
    hand.start()
    said: list[str] = []
    with pytest.raises(InputError, match=r"one: stopped at step 5\d; the same command goes on from there"):
        train(recipe, corpora, runs, say=said.append)
    assert said == ["tiny: text, vocabulary and word list, where they are missing", "one: starts at step 0"]
    hand.join()
    assert signal.getsignal(signal.SIGINT) is before, "Ctrl-C is the caller's again"
    assert [p.name[:12] for p in one.glob("checkpoint-*")] == ["checkpoint-5"] and not (one / "config.json").exists()
    assert (corpora / "pairs" / "prose.txt").exists() and (recipe.parent / FILE).exists()

    model = train(recipe, corpora, runs, say=said.append)
    assert said[3].startswith("one: goes on from step 5") and said[4] == "two: starts at step 0"
    assert model == runs / "tiny" / "model"
    assert [EdiT5.load(folder).config.num_layers for folder in (one, two, model)] == [1, 2, 2]
    steps = [json.loads(line)["step"] for line in (one / "log.jsonl").read_text().splitlines()]
    assert steps[0] == 50 and steps[-1] == 60 and steps == sorted(steps), "from where it was, not from the start"
    config = read_config(model)
    assert config["thresholds"] == {"keep_bias": 0.5} and [stage["name"] for stage in config["trained"]] == [
        "one",
        "two",
    ]
    assert Corrector.load(model).correct("They walk home.").corrected == "They walk home."

    stamp = [(folder / "model.safetensors").stat().st_mtime_ns for folder in (one, two)]
    assert train(recipe, corpora, runs) == model
    assert [(folder / "model.safetensors").stat().st_mtime_ns for folder in (one, two)] == stamp, "nothing is repeated"


def test_a_model_learns_from_a_t5(corpora: Path, recipe: Path, tokens: Tokens, tmp_path: Path) -> None:
    t5 = T5(T5Config(vocab_size=tokens.pieces + 64, d_model=32, d_kv=8, d_ff=48, num_heads=2, num_layers=2))
    save_t5(t5, tmp_path / "t5")
    (tmp_path / "t5" / FILE).write_bytes(tokens.processor.serialized_model_proto())
    recipe.write_text(
        RECIPE[: RECIPE.index("[[stage]]")] + '[[stage]]\nname = "only"\nlayers = 2\nsteps = 2\nbatch_pieces = 64\n'
    )
    model = EdiT5.load(train(recipe, corpora, tmp_path / "runs", init=tmp_path / "t5"))
    assert (recipe.parent / FILE).read_bytes() == (tmp_path / "t5" / FILE).read_bytes(), "with its vocabulary"
    assert model.config.vocab_size == tokens.pieces + 64
    name = "encoder.layers.0.attention.o.weight"
    moved = float((model.state_dict()[name] - t5.state_dict()[name]).abs().max())
    assert 0 < moved < 0.1
    (recipe.parent / FILE).write_bytes((Path(__file__).parents[3] / "models/edit5-mini" / FILE).read_bytes())
    with pytest.raises(ModelError, match=r"8064 entries with slots, the model has 664; another model's\?"):
        train(recipe, corpora, tmp_path / "other", init=tmp_path / "t5")


def test_heads_learn_on_the_encoder_of_a_t5(corpora: Path, recipe: Path, tokens: Tokens, tmp_path: Path) -> None:
    """Whose second layer is its own."""
    shape: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 2, "num_layers": 2}
    given = EdiT5(EdiT5Config(vocab_size=tokens.pieces + 64, slots=64, point_width=8, **shape))
    given.save(tmp_path / "given")
    t5 = T5(T5Config(vocab_size=tokens.pieces + 64, num_decoder_layers=1, tie_word_embeddings=True, **shape))
    shared_encoder.renew_encoder(t5, given, 1)
    shared_encoder.save(t5, tmp_path / "t5", tmp_path / "given", own_layers=1)
    for name in ("given", "t5"):
        (tmp_path / name / FILE).write_bytes(tokens.processor.serialized_model_proto())
    stage = '[[stage]]\nname = "only"\nlayers = 2\nsteps = 2\nreal = 1.0\nbatch_pieces = 64\n'
    recipe.write_text('encoder = "../t5"\n' + RECIPE[: RECIPE.index("[[stage]]")] + stage)
    folder = train(recipe, corpora, tmp_path / "runs")
    assert not any(name.startswith(("embedding.", "encoder.")) for name in read_tensors(folder)), "heads alone"
    begun = shared_encoder.load_start(tmp_path / "t5").state_dict()
    made = shared_encoder.load_heads(folder, *shared_encoder.load(tmp_path / "t5"))
    same = {name for name, p in made.state_dict().items() if torch.equal(p, begun[name])}
    frozen = {name for name in begun if name.startswith(("embedding.", "encoder."))}
    assert frozen <= same and "tag_head.weight" not in same and "tag_layer.attention.o.weight" not in same


LONG = """
[[stage]]
name = "long"
init = "../given"
layers = 2
pieces = 14_080
batch_pieces = 64
later = [{ at = 0.2, batch_pieces = 128 }, { at = 0.8, max_pieces = 40 }]
warmup = 3
decay = 0.3
floor = 0.1
clean = 0.1
end = { clean = 0.3, real = 0.2 }
ema = 0.95
"""


@pytest.fixture
def long_run(corpora: Path, recipe: Path, tokens: Tokens, tmp_path: Path) -> Path:
    """A recipe that goes on from a given model, in pieces."""
    shape: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 2, "num_layers": 2, "point_width": 8}
    EdiT5(EdiT5Config(vocab_size=tokens.pieces + 64, slots=64, **shape)).save(tmp_path / "given")
    (recipe.parent / FILE).write_bytes(tokens.processor.serialized_model_proto())
    recipe.write_text(RECIPE[: RECIPE.index("[[stage]]")] + LONG)
    return recipe


def lines_of(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_long_run_is_interrupted_and_finishes(corpora: Path, long_run: Path, tmp_path: Path) -> None:
    stage = tmp_path / "runs" / "tiny" / "long"
    hand = threading.Thread(target=interrupt_at, args=[stage / "log.jsonl"])
    hand.start()
    with pytest.raises(InputError, match=r"long: stopped at step \d+; the same command goes on"):
        train(long_run, corpora, tmp_path / "runs")
    hand.join()
    (whole,) = checkpoints(stage)
    assert {"average.safetensors", "optimizer.pt", "model.safetensors"} <= {path.name for path in whole.iterdir()}
    seen = json.loads((whole / "complete.json").read_text())["pieces"]
    assert 0.5 * course.pieces(update_of(whole), read_recipe(long_run).stages[0]) < seen
    for step, name in ((120, "model.safetensors"), (121, "average.safetensors"), (122, "complete.json")):  # kill -9
        cut = stage / f"checkpoint-{step}"
        shutil.copytree(whole, cut)
        (cut / name).write_bytes((cut / name).read_bytes()[:-100])
    (stage / "checkpoint-123").mkdir()
    (stage / ".model.safetensors.x.partial").touch()
    assert checkpoints(stage) == [whole]

    model = train(long_run, corpora, tmp_path / "runs")
    assert not list(stage.rglob("*.partial"))
    lines = lines_of(stage / "log.jsonl")
    steps, pieces = ([line[name] for line in lines] for name in ("step", "seen_pieces"))
    assert steps[0] == 50 and steps == sorted(steps) and steps[-1] == course.steps(read_recipe(long_run).stages[0])
    assert pieces == sorted(pieces) and 0.5 * 14_080 < pieces[-1] <= 14_080 + 128
    assert Corrector.load(model).edit5.thresholds.keep_bias == 0.5


def test_the_average_is_the_model_of_a_stage(corpora: Path, long_run: Path, tmp_path: Path) -> None:
    long_run.write_text("save_minutes = 1e-9\n" + long_run.read_text().replace("pieces = 14_080", "steps = 3", 1))
    train(long_run, corpora, tmp_path / "runs")
    stage = tmp_path / "runs" / "tiny" / "long"
    average, weights = (load_file(stage / "checkpoint-3" / f"{name}.safetensors") for name in ("average", "model"))
    for name, tensor in EdiT5.load(stage).state_dict().items():
        torch.testing.assert_close(tensor, average[name])
    assert any(not torch.equal(average[name], weights[f"edit5.{name}"]) for name in average)


def test_real_edits_come_with_the_decay(corpora: Path, long_run: Path) -> None:
    (corpora / "pairs").mkdir()
    shutil.copyfile(PROSE, corpora / "pairs" / "prose.txt")
    pairs = Pairs(long_run.parent, corpora, read_recipe(long_run), read_recipe(long_run).stages[0], 0)

    def count() -> int:
        drawn = islice(pairs.draw_pairs(random.Random(1)), 300)
        return sum(pair.source == "She walk to the station." for pair in drawn)

    assert count() == 0
    pairs.progress = 1.0
    assert 30 < count() < 95


def test_the_average_follows_the_weights() -> None:
    model, average = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    average.load_state_dict(model.state_dict())
    expected = model.weight.detach().clone()
    for step in range(1, 200):
        with torch.no_grad():
            model.weight.add_(1.0)
        update_average(average, model, step, 0.9)
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * model.weight.detach()
    torch.testing.assert_close(average.weight.detach(), expected)


@pytest.mark.slow
def test_the_mean_of_stages(make_model: Callable[..., EdiT5], corpora: Path, recipe: Path, tmp_path: Path) -> None:
    models = {name: make_model(seed=n) for n, name in enumerate(("one", "two"))}
    for name, model in models.items():
        model.save(tmp_path / "tiny" / name)
    recipe.write_text(RECIPE + '\n[[stage]]\nname = "mean"\naverage = { one = 1.0, two = 3.0 }\n')
    assert train(recipe, corpora, tmp_path) == tmp_path / "tiny" / "model"  # nothing is left but to take the mean
    mean = EdiT5.load(tmp_path / "tiny" / "mean").state_dict()
    one, two = (model.state_dict() for model in models.values())
    assert any(not torch.equal(one[name], two[name]) for name in one)
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, 0.25 * one[name] + 0.75 * two[name])
    make_model(num_layers=1).save(tmp_path / "tiny" / "two")
    with pytest.raises(ModelError, match=r"tensors of other shapes than in .*one; expected the same model"):
        average({"one": 1.0, "two": 3.0}, tmp_path / "tiny", tmp_path / "tiny" / "mean")


def test_two_processes(corpora: Path, recipe: Path, tmp_path: Path) -> None:
    recipe.write_text(RECIPE.replace("steps = 60", "steps = 4").replace("batch_pieces = 128", "batch_pieces = 64"))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "edit_gec"]
    options: list[str | Path] = ["train", "--recipe", recipe, "--data", corpora, "--runs", tmp_path / "runs"]
    root = Path(__file__).parents[3]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    Corrector.load(tmp_path / "runs" / "tiny" / "model").correct("Hi.")  # it loads and runs
    assert not list(tmp_path.rglob("*.partial"))


class Killed(IterableDataset[dict[str, torch.Tensor]]):
    """Pairs whose process is killed."""

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield {}


class Zero(torch.nn.Module):
    """A model with a loss."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, **_: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": self.weight.sum()}


def test_a_killed_process_of_pairs_is_said(tmp_path: Path) -> None:
    arguments = TrainingArguments(
        output_dir=str(tmp_path), max_steps=1, use_cpu=True, report_to=[], disable_tqdm=True, dataloader_num_workers=1
    )
    trainer = Trainer(model=Zero(), args=arguments, train_dataset=Killed())
    with pytest.raises(InputError, match="a process that makes pairs was killed; the same command goes on"):
        run_trainer(trainer, tmp_path, None)


ENDING = """
import os, signal, sys, time
from pathlib import Path
from torch.utils.data import DataLoader
from edit_gec.lab.training.pairs import Pairs
from edit_gec.lab.training.recipe import read_recipe

recipe, data = map(Path, sys.argv[1:])
read = read_recipe(recipe)
pairs = Pairs(recipe.parent, data, read, read.stages[0])
batches = iter(DataLoader(pairs, batch_size=None, num_workers=2, prefetch_factor=100))
next(batches)
time.sleep(2)  # until more batches wait than a pipe holds
print(*(worker.pid for worker in batches._workers), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_processes_of_pairs_end_with_a_killed_training(corpora: Path, recipe: Path, tmp_path: Path) -> None:
    """Before, they waited for ever, one training in three."""
    prepare_files(read_recipe(recipe), recipe.parent, corpora, None)
    with (tmp_path / "pids").open("w+") as said:  # a pipe would stay open in what is left
        subprocess.run([sys.executable, "-c", ENDING, recipe, corpora], stdout=said, timeout=120, check=False)
        said.seek(0)
        pids = said.read().split()
    assert len(pids) == 2
    until = time.monotonic() + 20
    while left := [pid for pid in pids if Path("/proc", pid).exists()]:
        assert time.monotonic() < until, f"{left} live on"
        time.sleep(0.1)
