"""Tokens: spans tile the sentence whatever is in it, our vocabulary loses nothing, slots are where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import PROSE
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, nasty, thorough, valid

from edit_gec.errors import ModelError
from edit_gec.modeling.tokenizer import EOS, FILE, PAD, UNK, Pieces, Tokens


def check_tiling(pieces: Pieces) -> None:
    """The pieces' spans cover the sentence from its first character to its last, in order and without gaps."""
    assert len(pieces.ids) == len(pieces.starts) == len(pieces.ends)
    if not pieces.ids:
        return
    assert pieces.starts[0] == 0 and pieces.ends[-1] == len(pieces.source)
    assert pieces.starts[1:] == pieces.ends[:-1]
    assert all(start <= end for start, end in zip(pieces.starts, pieces.ends, strict=True))
    whole = pieces.text(0, len(pieces))
    assert whole == " " * pieces.prefixed + pieces.source
    assert whole == "".join(pieces.text(n, n + 1) for n in range(len(pieces)))


# --- laws ------------------------------------------------------------------------------------------------------------


@thorough
@given(nasty)
def test_spans_tile_the_sentence(tokens: Tokens, text: str) -> None:
    pieces = tokens.encode(text)
    check_tiling(pieces)
    assert pieces.source == text
    assert bool(pieces.ids) == bool(text)
    assert all(UNK < i < tokens.pieces for i in pieces.ids), "every character is spelt, in bytes if need be"


@thorough
@given(nasty)
def test_spans_tile_the_sentence_whatever_normalisation_does(t5_tokens: Tokens, text: str) -> None:
    pieces = t5_tokens.encode(text)
    check_tiling(pieces)
    assert pieces.source == text
    assert all(UNK <= i < t5_tokens.pieces for i in pieces.ids), "no text makes a slot, </s> or padding"


@law
@given(valid)
def test_ids_are_those_of_encode_and_decode_to_the_text(tokens: Tokens, t5_tokens: Tokens, text: str) -> None:
    for kind in (tokens, t5_tokens):
        assert tuple(kind.ids(text)) == kind.encode(text).ids
    # SentencePiece's own mark for a space is the one character that it cannot say
    assert tokens.decode(tokens.ids(text)) == (" " + text if text else "").replace("▁", " ")


@law
@given(nasty, st.integers(0, 20), st.integers(0, 20))
def test_windows_keep_the_offsets(tokens: Tokens, text: str, start: int, length: int) -> None:
    pieces = tokens.encode(text)
    window = pieces.window(start, start + length)
    assert window.source == text
    assert window.ids == pieces.ids[start : start + length]
    for n in range(len(window)):
        assert window.text(n, n + 1) == pieces.text(start + n, start + n + 1)


# --- cases -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I was", [" I", " was"]),
        (" I was", [" ", " I", " was"]),
        ("I  was", [" I", " ", " was"]),
        ("was\r\n\tI", [" was", "\r", "\n", "\t", "I"]),
        ("I\u00a0", [" I", "", "\u00a0"]),
        ("🏠", [" ", "", "", "", "🏠"]),
        ("", []),
    ],
)  # fmt: skip
def test_pieces_of_a_sentence(shipped: Tokens, text: str, pieces: list[str]) -> None:
    encoded = shipped.encode(text)
    assert [encoded.text(n, n + 1) for n in range(len(encoded))] == pieces


def test_a_space_that_the_text_has_is_no_prefix(t5_tokens: Tokens) -> None:
    assert t5_tokens.encode("I was").prefixed
    assert not t5_tokens.encode(" I was").prefixed
    assert not t5_tokens.encode("   I was").prefixed, "spaces are folded, and belong to the first piece"
    pieces = t5_tokens.encode("   I was  \t")
    assert pieces.text(0, 1) == "   I" and pieces.text(len(pieces) - 1, len(pieces)).endswith("s  \t")


def test_slots_are_the_last_ids_downwards(tokens: Tokens) -> None:
    assert tokens.size == tokens.pieces + tokens.slots
    assert [tokens.slot(k) for k in (0, 1, tokens.slots - 1)] == [tokens.size - 1, tokens.size - 2, tokens.pieces]
    assert tokens.decode([tokens.slot(3), *tokens.ids("was"), EOS, PAD]) == " was", "special ids are silent"
    assert tokens.surface(tokens.slot(3)) == b"" and not tokens.starts_word(tokens.slot(3))


def test_words_start_and_characters_go_on(tokens: Tokens) -> None:
    space, *emoji = tokens.ids("🏠")
    assert tokens.starts_word(space) and not any(map(tokens.starts_word, emoji))
    assert [tokens.is_continuation(i) for i in emoji] == [False, True, True, True]
    assert tokens.decode(emoji) == "🏠"
    assert tokens.decode(emoji[:2]) == "\ufffd", "half a character is no text"


@pytest.mark.parametrize("content", [None, b"", b"no vocabulary", b"\x00" * 100])
def test_broken_folders(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ModelError, match=FILE) as raised:
        Tokens.load(tmp_path, 8)
    assert "\n" not in str(raised.value)


def test_a_vocabulary_with_other_special_ids_is_refused(tmp_path: Path) -> None:
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        input=str(PROSE), model_prefix=str(tmp_path / "spiece"), vocab_size=100, minloglevel=2
    )  # with SentencePiece's own ids: <unk> 0, <s> 1, </s> 2
    with pytest.raises(ModelError, match="<pad> 0, </s> 1, <unk> 2"):
        Tokens.load(tmp_path, 8)
