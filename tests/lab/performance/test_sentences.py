"""Sentences to measure on."""

from __future__ import annotations

from pathlib import Path

import pytest

from edit_gec.errors import InputError
from edit_gec.lab.performance import sentences
from edit_gec.lab.performance.sentences import Text


def test_sentences_from_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One .\n\n  Two two .  \n", encoding="utf-8")
    assert sentences.read_sentences(tmp_path / "a.txt") == ["One .", "Two two ."]
    (tmp_path / "a.m2").write_text("S He go home .\nA 1 2|||R:VERB|||goes|||REQUIRED|||-NONE-|||0\n", encoding="utf-8")
    assert sentences.read_sentences(tmp_path / "a.m2") == ["He go home."]
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="no sentences"):
        sentences.read_sentences(tmp_path / "empty.txt")
    with pytest.raises(InputError, match="cannot read it as text"):
        sentences.read_sentences(tmp_path / "absent.txt")
    assert sentences.digest(["a", "b"]) != sentences.digest(["a b"])
    assert sentences.spread_lengths(["ccc", "a", "bb", "a"], 2, len) == ["a", "ccc"]


def test_a_text_and_what_it_becomes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She go.\tShe goes.\n\nHe runs.\n", encoding="utf-8")
    assert sentences.read_texts(tmp_path / "a.txt") == [Text("She go.", "She goes."), Text("He runs.")]
    (tmp_path / "empty.txt").write_text(" \n", encoding="utf-8")
    with pytest.raises(InputError, match="no sentence to profile; expected one on each line"):
        sentences.read_texts(tmp_path / "empty.txt")
