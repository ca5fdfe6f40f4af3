"""M2 files: what is read is written again, and what does not fit is one line that says where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.annotation import m2
from edit_gec.annotation.m2 import M2Edit
from edit_gec.errors import InputError

TOKENS = st.lists(st.sampled_from(["He", "go", "home", ".", "é", "🙂"]), max_size=6)


def test_m2_round_trip(tmp_path: Path) -> None:
    text = (
        "S He go home\n"
        "A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n"
        "A 3 3|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0\n"
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||3\n\n"
    )
    path = tmp_path / "x.m2"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    (sentence,) = m2.read_m2(path)
    assert m2.format_m2([sentence]) == text
    assert m2.apply_edits(sentence.tokens, sentence.annotators[0]) == "He goes home .".split()
    assert m2.apply_edits(sentence.tokens, sentence.annotators[3]) == sentence.tokens


@given(TOKENS, TOKENS, TOKENS)
def test_an_edit_replaces_its_tokens_and_keeps_the_others(left: list[str], old: list[str], right: list[str]) -> None:
    edit = M2Edit(len(left), len(left) + len(old), "R:OTHER", "new words")
    assert m2.apply_edits([*left, *old, *right], [edit]) == [*left, "new", "words", *right]
    assert m2.apply_edits([*left, *old, *right], [edit._replace(type="UNK")]) == [*left, *old, *right]


def test_overlapping_edits_are_named() -> None:
    m2.check_overlap([M2Edit(0, 1, "R:X", "a"), M2Edit(1, 2, "R:X", "b"), M2Edit(0, 2, "UNK", "")], "here")
    with pytest.raises(InputError, match=r"^here: edits 0 2 and 1 3 overlap; keep one of them$"):
        m2.check_overlap([M2Edit(1, 3, "R:X", "b"), M2Edit(0, 2, "R:X", "a")], "here")
