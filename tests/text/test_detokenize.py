"""Detokenized sentences: what is written, and where each token stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.text.detokenize import WRITTEN, detokenize, splits_hyphens

TOKENS = st.lists(
    st.one_of(
        st.sampled_from([*"\"',.;:!?()[]-/$%", "n't", "'s", "``", "''", "-LRB-", "can", "not", "dogs", "..."]),
        st.text(alphabet="abXé1🏠", min_size=1, max_size=5),
    ),
    max_size=12,
)


@given(TOKENS, st.booleans())
def test_each_token_keeps_its_place(tokens: list[str], split: bool) -> None:
    raw = detokenize(tokens, split)
    assert [raw.text[start:end] for start, end in raw.spans] == [WRITTEN.get(token, token) for token in tokens]
    between = [raw.text[a:b] for (_, a), (b, _) in zip(raw.spans, raw.spans[1:], strict=False)]
    assert set(between) <= {"", " "} and raw.text == raw.text.strip()


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("It is n't mine , said Ann .", "It isn't mine, said Ann."),
        ('He said : " No , I can not . " Then he left ...', 'He said: "No, I cannot." Then he left...'),
        ("The dogs ' owner ( a well - known man ) paid $ 5 .", "The dogs' owner (a well-known man) paid $5."),
        ("`` I 'll go and / or stay , '' she said .", '"I\'ll go and/or stay," she said.'),
    ],
)
def test_detokenize(tokens: str, text: str) -> None:
    assert detokenize(tokens.split()).text == text


def test_hyphens_of_a_corpus() -> None:
    assert splits_hyphens(["a well - known man".split()])
    assert not splits_hyphens(["a well-known man".split(), "he is -".split(), "a two-day trip".split()])
