"""A newcomer's first training: data/README.md followed word by word, and what is missing said in one line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROSE

from edit_gec.cli.main import main
from edit_gec.corrector import Corrector
from edit_gec.modeling.edit5 import EdiT5

ROOT = Path(__file__).parents[3]
README = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
FIRST = README.partition("### A first training")[2].partition("\n### ")[0]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", FIRST, flags=re.DOTALL)


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block of the README in a folder where `edit-gec` is this package, on one core."""
    command = f'set -e; edit-gec() {{ "{sys.executable}" -m edit_gec "$@"; }}\n{script}'
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the README is read: the sample text, and the recipe as printed."""
    (tmp_path / "data" / "samples").mkdir(parents=True)
    shutil.copyfile(PROSE, tmp_path / "data" / "samples" / "prose.txt")
    prepare, _ = blocks("sh")
    assert shell(prepare, tmp_path).returncode == 0
    (recipe,) = blocks("toml")
    (tmp_path / "first" / "recipe.toml").write_text(recipe, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_readme_word_by_word(place: Path) -> None:
    done = shell(blocks("sh")[1], place)
    assert done.returncode == 0, done.stderr[-3000:]
    finished, corrected = done.stdout.splitlines()
    assert finished == "runs/first/model" and corrected
    assert re.match(
        r"DATA/pairs/prose.txt: too little text for a vocabulary of 1000 pieces; the model gets \d+$",
        done.stderr.splitlines()[1],
    )
    assert done.stderr.startswith("first: text, vocabulary and word list") and "Traceback" not in done.stderr
    folder = place / "runs" / "first" / "model"
    assert EdiT5.load(folder).config.num_layers == 2 and (folder / "words.txt").exists()
    Corrector.load(folder).correct("She go home.")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("rm DATA/prose/*", r"DATA/prose: no .txt or .txt.xz file with prose here; see data/README.md"),
        ("mkdir DATA/spelling", r"spelling folder 'DATA/spelling': no misspell_main.json.xz in it; expected the four"),
        ("echo 'real = 0.1' >> first/recipe.toml", r"DATA/edits: no .tsv or .tsv.xz files with real edits here"),
        ("sed -i 's/= 1000/= 100/' first/recipe.toml", r"vocabulary = 100 in the recipe: too small, .*"),
        ("sed -i 's/warmup/warm/' first/recipe.toml", r"first/recipe.toml: not a recipe \(stage: unknown key 'warm'; "),
        ("echo > DATA/prose/mine.txt", r"DATA/prose: no clean sentence in the text here; is it English prose"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_in_one_line(
    damage: str, message: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell(damage, place).returncode == 0
    monkeypatch.chdir(place)
    assert main(["train", "--recipe", "first/recipe.toml", "--data", "DATA", "--runs", "runs"]) == 2
    out, err = capsys.readouterr()
    *begun, said = err.splitlines()
    assert re.match("edit-gec: " + message, said), err
    assert (
        all(line.startswith("first: text, vocabulary and word list") for line in begun) and len(begun) < 2 and not out
    )
