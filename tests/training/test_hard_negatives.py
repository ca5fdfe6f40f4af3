"""Hard negatives: what a model changes in clean text, less what may be right or is spelling."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import PROSE

from edit_gec.corrector import Corrector
from edit_gec.editing.lexicon import WordList
from edit_gec.errors import InputError
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Edit
from edit_gec.training.hard_negatives import find_hard, is_hard, main, read_sentences
from edit_gec.training.pairs import read_hard_sentences

WORDS = WordList(["she", "goes", "go", "home", "to", "the"])


def correction(*edits: tuple[str, str, float]) -> Correction:
    """ "She goes home." with edits of some of its words, by their confidence."""
    text = "She goes home to Zork."
    made = [Edit(text.find(old), text.find(old) + len(old), old, new, sure) for old, new, sure in edits]
    return Correction(text, text, tuple(sorted(made, key=lambda edit: edit.start)))


def test_what_is_hard() -> None:
    assert is_hard(correction(("goes", "go", 0.5)), WORDS)
    assert is_hard(correction((" to", "", 0.5), ("goes", "go", 0.79)), WORDS)
    assert not is_hard(correction(("goes", "go", 0.5), (" to", "", 0.8)), WORDS), "sure: perhaps a true error"
    assert not is_hard(correction(("goes", "go", 0.5), ("Zork", "York", 0.5)), WORDS), "spelling"
    assert is_hard(correction(("Zork", "York", 0.5)), None), "a model without a list knows no spelling"


def test_sentences_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She goes home. It rains.\nIt rains. see https://x.y\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("The tea is hot.\n", encoding="utf-8")
    assert list(read_sentences(tmp_path)) == ["She goes home.", "It rains.", "The tea is hot."]
    assert list(read_sentences(tmp_path / "b.txt")) == ["The tea is hot."]
    (tmp_path / "c.txt").write_text("xx\n", encoding="utf-8")
    for name, message in (("c.txt", "no clean English sentence"), ("d.txt", "no such file or folder")):
        with pytest.raises(InputError, match=message):
            list(read_sentences(tmp_path / name))


def test_a_stage_reads_what_was_written(model_folder: Path, tmp_path: Path) -> None:
    corrector = Corrector.load(model_folder, min_confidence=0.2)
    sentences = list(read_sentences(PROSE))
    changed = {c.text for c in corrector.correct_batch(sentences, lines=True, markup=False) if c.edits}
    found = list(find_hard(corrector, sentences, max_confidence=1.1))
    assert set(found) == changed and 0 < len(found) == len(set(found))
    assert set(find_hard(corrector, sentences, max_confidence=0.3)) < changed
    output = tmp_path / "hard" / "some.txt"
    options = ["--model", str(model_folder), "--text", str(PROSE), "--output", str(output), "--min-confidence", "0.2"]
    assert main([*options, "--max-confidence", "1.1"]) == 0
    written = read_hard_sentences(output.parent)
    assert written and set(written) <= set(sentences)
    assert main([*options, "--min-confidence", "1"]) == 0 and not read_hard_sentences(output.parent), (
        "nothing is that sure"
    )
    assert [path.name for path in output.parent.iterdir()] == ["some.txt"]
