"""From corpora in their published layouts and a T5 checkpoint to a model, with the recipe for base size, made tiny."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.lab.training.recipe import read_recipe
from edit_gec.lab.training.run import train
from edit_gec.modeling.checkpoint import save_t5
from edit_gec.modeling.config import T5Config, read_config
from edit_gec.modeling.t5 import T5
from edit_gec.modeling.tokenizer import FILE, Tokens

ROOT = Path(__file__).parents[3]
RECIPE = ROOT / "models" / "edit5-base" / "recipe.toml"
main = runpy.run_path(str(ROOT / "profiles" / "training" / "learner_corpora.py"))["main"]
LEARNERS = {
    "c4_200m": ("edits.tsv-00000-of-00010", "0a\t4\t9\tgo\n0b\t0\t3\tThe\n"),
    "clang8": ("clang8_source_target_en.spacy_tokenized.tsv", "It do n't rain .\tIt does n't rain .\n"),
    "m2": ("ABC.train.gold.bea19.m2", "S He go home .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n"),
}
FOLDERS = {"c4_200m": "c4_200m", "clang8": "clang8", "m2": "learner"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with nothing but learner corpora, made by the commands that the recipe names."""
    published = tmp_path / "published"
    published.mkdir()
    text = published / "target_sentences.tsv-00000-of-00010"
    text.write_text("0a\tShe walks home.\n0b\tOur house is old.\n", encoding="utf-8")
    for layout, (name, content) in LEARNERS.items():
        (published / name).write_text(content, encoding="utf-8")
        output = tmp_path / "data" / FOLDERS[layout] / f"{layout}.tsv"
        more = ["--text", str(text)] if layout == "c4_200m" else []
        assert main([layout, str(published / name), "-o", str(output), *more]) == 0
    return tmp_path / "data"


@pytest.fixture
def t5(tokens: Tokens, tmp_path: Path) -> Path:
    """A tiny T5 1.0 with its vocabulary, as Hugging Face keeps it."""
    folder = tmp_path / "t5"
    shape = T5Config(
        vocab_size=tokens.pieces + 128, d_model=32, d_kv=8, d_ff=48, num_heads=2, num_layers=2, num_decoder_layers=2
    )  # fmt: skip
    save_t5(T5(shape), folder)
    (folder / FILE).write_bytes(tokens.processor.serialized_model_proto())
    return folder


def test_the_recipe_for_base_size() -> None:
    recipe = read_recipe(RECIPE)
    assert (recipe.config.d_model, recipe.config.num_layers, recipe.config.vocab_size) == (768, 12, 32128)
    assert [(stage.edits, stage.real) for stage in recipe.stages] == [("c4_200m", 1), ("clang8", 1), ("learner", 1)]


def test_a_few_steps_from_learner_corpora(data: Path, t5: Path, tmp_path: Path) -> None:
    text = re.sub(r"^steps = \d+", "layers = 2\nsteps = 2", RECIPE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = text.replace("16384", "64").replace("max_pieces = 128", "max_pieces = 128\nbf16 = false")
    recipe = tmp_path / "recipe" / "recipe.toml"
    recipe.parent.mkdir()
    recipe.write_text(text, encoding="utf-8")
    model = train(recipe, data, tmp_path / "runs", init=t5)
    assert [stage["edits"] for stage in read_config(model)["trained"]] == ["c4_200m", "clang8", "learner"]
    Corrector.load(model).correct("He go home.")  # it loads and runs; what it writes after six steps may be anything
    assert not (data / "pairs").exists(), "no prose was needed"

    (data / "learner" / "m2.tsv").unlink()
    with pytest.raises(InputError, match=r"learner: no .tsv or .tsv.xz files with real edits here"):
        train(recipe, data, tmp_path / "other", init=t5)
