"""Preparation of a training: text, a vocabulary, a word list, and a check that the data is complete.

    prepare_files(recipe, folder, data, init)

Each file is made once: DATA/pairs/prose.txt from DATA/prose/, and spiece.model and words.txt next to the recipe.
"""

from __future__ import annotations

import sys
from pathlib import Path

from edit_gec.editing.lexicon import FILE as WORDS
from edit_gec.errors import InputError
from edit_gec.lab.training import build_lexicon
from edit_gec.lab.training.clean_prose import prepare
from edit_gec.lab.training.edit_pairs import RealEdits
from edit_gec.lab.training.recipe import Recipe
from edit_gec.lab.training.synthetic.misspellings import find_spelling
from edit_gec.modeling.tokenizer import FILE, Tokens, train_vocabulary
from edit_gec.text.files import atomic_write


def prepare_files(recipe: Recipe, folder: Path, data: Path, init: Path | None) -> None:
    """Make the training text, the vocabulary (or copy that of `init` or of the encoder) and an EdiT5's word list,
    where they are missing.

    Raises InputError where the data lacks something that a stage needs.
    """
    check_data(recipe, data)
    text = data / "pairs" / "prose.txt"
    given = init or (folder / recipe.source_of_vocabulary if recipe.source_of_vocabulary else None)
    places = [place / FILE for place in (folder, given) if place is not None]
    vocabulary = next((place for place in places if place.exists()), None)
    learns = vocabulary is None and recipe.kind != "causal"  # which has the vocabulary of its base
    if not text.exists() and (needs_prose(recipe) or learns):
        prepare(data / "prose", text, seed=recipe.seed)
    if learns:
        learn_vocabulary(text, folder, recipe.vocabulary)
    elif vocabulary is not None and vocabulary != folder / FILE:
        atomic_write(folder / FILE, vocabulary.read_bytes())
    if recipe.kind == "edit5" and (data / "prose").exists() and not (folder / WORDS).exists():
        build_lexicon.write(data, folder / WORDS)


def check_data(recipe: Recipe, data: Path) -> None:
    """Raises InputError where the misspelling lists are not complete, or a stage's folder holds no real edits.

    The processes that make pairs would find it, too, but could not report it in one line.
    """
    if needs_prose(recipe):
        find_spelling(data)
    for folder in {data / stage.edits for stage in recipe.stages if stage.real or stage.end.get("real")}:
        RealEdits(folder)


def needs_prose(recipe: Recipe) -> bool:
    """Whether a stage makes errors in prose."""
    return any(stage.needs_prose for stage in recipe.stages)


def learn_vocabulary(text: Path, folder: Path, size: int) -> None:
    """Learn a vocabulary of `size` pieces, or as large as the text allows, and say so on standard error.

    Raises InputError when the size does not even hold the bytes and the letters of the text.
    """
    try:
        train_vocabulary(text, folder, size=size)
    except RuntimeError as error:  # SentencePiece's
        raise InputError(
            f"vocabulary = {size} in the recipe: too small, the bytes and the letters of {text} take some 350 pieces "
            f"({str(error).splitlines()[0]})"
        ) from None
    made = Tokens.load(folder, 0).pieces
    if made < size:
        sys.stderr.write(f"{text}: too little text for a vocabulary of {size} pieces; the model gets {made}\n")


def copy_vocabulary(folder: Path, output: Path) -> None:
    """Put the vocabulary and the word list of a recipe's folder next to a model, as far as they are there."""
    for name in (FILE, WORDS):
        if (folder / name).exists():
            atomic_write(output / name, (folder / name).read_bytes())
