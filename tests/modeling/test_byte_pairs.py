"""Byte pairs: the ids of `transformers`, offsets that tile the text, any text expressible."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tiny_causal import make_oracle, make_vocabulary, save_folder, save_gguf

from edit_gec.errors import ModelError
from edit_gec.modeling.byte_pairs import BytePairs


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> BytePairs:
    folder = tmp_path_factory.mktemp("pairs")
    save_folder(folder)
    return BytePairs.load(folder)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_expressible(tokens: BytePairs, text: str) -> None:
    encoded = tokens.encode(text)
    assert tokens.decode(encoded.ids) == text
    assert encoded.ends == tuple(sorted(encoded.ends)) and (not text or encoded.ends[-1] == len(text))
    assert 0 not in encoded.ids


def test_special_tokens_in_a_text_are_text(tokens: BytePairs) -> None:
    assert len(tokens.encode("<|endoftext|>").ids) > 1
    assert (tokens.begin, tokens.end) == (0, 0)
    assert tokens.decode([0, *tokens.encode("She").ids, 0]) == "She"


def test_lone_surrogates_read_as_question_marks(tokens: BytePairs) -> None:
    assert tokens.encode("a\ud800b").ids == tokens.encode("a?b").ids


def test_gguf_has_the_same_vocabulary(tokens: BytePairs, tmp_path: Path) -> None:
    save_gguf(tmp_path / "model.gguf", make_oracle())
    other = BytePairs.load(tmp_path / "model.gguf")
    text = "She goes to school; it's 1984 metres.\n\tÜber 東京 🙂"
    assert other.encode(text) == tokens.encode(text)
    assert tuple(make_vocabulary().encode(text, add_special_tokens=False).ids) == tokens.encode(text).ids
    assert other.begin == 0 and other.size == tokens.size


def test_folders_without_a_vocabulary(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no tokenizer\.json here"):
        BytePairs.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="not a vocabulary"):
        BytePairs.load(tmp_path)
