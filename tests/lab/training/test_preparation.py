"""What a training makes before it begins: each file once, from what is there, and one line where something lacks."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.tiny_training import write_data

from edit_gec.editing.lexicon import FILE as WORDS
from edit_gec.errors import InputError
from edit_gec.lab.training.preparation import check_data, copy_vocabulary, learn_vocabulary, needs_prose, prepare_files
from edit_gec.lab.training.recipe import Recipe, TrainingStage
from edit_gec.modeling.tokenizer import FILE, Tokens

NOISY = Recipe("tiny", vocabulary=420, stages=(TrainingStage("one", 1),))
REAL = replace(NOISY, stages=(TrainingStage("one", 1, real=1.0),))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "recipe").mkdir()
    return tmp_path / "recipe"


def test_each_file_is_made_once(data: Path, folder: Path) -> None:
    prepare_files(NOISY, folder, data, None)
    made = [data / "pairs" / "prose.txt", folder / FILE, folder / WORDS]
    assert all(path.stat().st_size for path in made)
    assert Tokens.load(folder, 0).pieces <= 420
    for path in made:
        path.write_bytes(b"mine")
    prepare_files(NOISY, folder, data, None)
    assert [path.read_bytes() for path in made] == [b"mine"] * 3


def test_a_given_vocabulary_is_copied_and_needs_no_text(
    data: Path, folder: Path, tmp_path: Path, tokens: Tokens
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / FILE).write_bytes(tokens.processor.serialized_model_proto())
    prepare_files(REAL, folder, data, given)
    assert (folder / FILE).read_bytes() == (given / FILE).read_bytes()
    assert not (data / "pairs").exists(), "real edits need no prose"
    prepare_files(NOISY, folder, data, given)
    assert (data / "pairs" / "prose.txt").exists()


def test_the_vocabulary_of_the_encoder(data: Path, folder: Path, tokens: Tokens) -> None:
    beside = folder.parent / "edit5"
    beside.mkdir()
    (beside / FILE).write_bytes(tokens.processor.serialized_model_proto())
    recipe = replace(REAL, kind="t5", encoder="../edit5")
    prepare_files(recipe, folder, data, None)
    assert (folder / FILE).read_bytes() == (beside / FILE).read_bytes()
    assert not (folder / WORDS).exists(), "a T5 chooses no words"


@pytest.mark.parametrize(
    ("recipe", "needed"),
    [
        (NOISY, True),
        (REAL, False),
        (replace(NOISY, stages=(*REAL.stages, TrainingStage("mean", average={"one": 1.0}))), False),
        (replace(NOISY, stages=(*REAL.stages, TrainingStage("two", 1, real=0.5))), True),
    ],
)
def test_who_needs_prose(recipe: Recipe, needed: bool) -> None:
    assert needs_prose(recipe) is needed


def test_data_that_lacks_something(data: Path) -> None:
    check_data(NOISY, data)
    check_data(REAL, data)
    (data / "spelling" / "varcon.txt.xz").unlink()
    with pytest.raises(InputError, match=r"varcon\.txt\.xz"):
        check_data(NOISY, data)
    check_data(REAL, data)
    shutil.rmtree(data / "edits")
    with pytest.raises(InputError, match="edits"):
        check_data(REAL, data)


def test_real_edits_that_come_later_are_checked_at_once(data: Path) -> None:
    late = replace(NOISY, stages=(TrainingStage("one", 1, end={"real": 0.2}),))
    check_data(late, data)
    shutil.rmtree(data / "edits")
    with pytest.raises(InputError, match="edits"):
        check_data(late, data)


def test_a_vocabulary_as_large_as_the_text_allows(data: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = data / "prose" / "tatoeba_en.txt"
    learn_vocabulary(text, folder, 420)
    assert Tokens.load(folder, 0).pieces == 420 and capsys.readouterr().err == ""
    learn_vocabulary(text, folder, 30_000)
    made = Tokens.load(folder, 0).pieces
    assert 420 < made < 30_000
    assert capsys.readouterr().err == (
        f"{text}: too little text for a vocabulary of 30000 pieces; the model gets {made}\n"
    )
    with pytest.raises(InputError, match="vocabulary = 20 in the recipe: too small") as raised:
        learn_vocabulary(text, folder, 20)
    assert "\n" not in str(raised.value)


def test_files_go_next_to_the_model_as_far_as_they_are_there(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "model"
    output.mkdir()
    copy_vocabulary(folder, output)
    assert list(output.iterdir()) == []
    (folder / FILE).write_bytes(b"pieces")
    copy_vocabulary(folder, output)
    assert [path.name for path in output.iterdir()] == [FILE]
    (folder / WORDS).write_bytes(b"words")
    copy_vocabulary(folder, output)
    assert sorted(path.name for path in output.iterdir()) == sorted([FILE, WORDS])
