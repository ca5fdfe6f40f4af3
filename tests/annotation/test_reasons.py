"""Reasons: every one is one sentence, and none speaks of words that are not there."""

from __future__ import annotations

import pytest

from edit_gec.annotation import reasons
from edit_gec.annotation.reasons import are_confused, give_reason, is_contraction
from edit_gec.text.kinds import NAMES


def test_a_reason_is_one_sentence() -> None:
    for reason in [*reasons._SAME_GROUP.values(), *reasons._BY_TYPE.values(), *reasons._MISSING_MARKS.values()]:
        assert reason.endswith(".") and reason.count(". ") == 0 and reason[0] in "“" + reason[0].upper()


def test_reasons_are_about_types_that_exist() -> None:
    assert {kind.partition(":")[2] for kind in reasons._BY_TYPE} <= set(NAMES)


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        ("R:OTHER", "its", "it’s", "“it’s” means"),
        ("R:VERB:SVA", "dont", "doesn't", "“Doesn’t” goes with"),
        ("R:ORTH", "well known", "well-known", "hyphen"),
        ("R:ORTH", "Dog", "dog", "No capital"),
        ("R:ORTH", "every day", "everyday", "one word"),
        ("U:PUNCT", ",", "", "No punctuation"),
        ("R:PUNCT", ",", ".", "full stop"),
        ("M:PUNCT", "", "?", "question mark"),
    ],
)
def test_reasons_by_words(kind: str, old: str, new: str, said: str) -> None:
    assert said in str(give_reason(kind, old, new))


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert give_reason("R:OTHER", "make do", "have a go") is None
    assert not are_confused("its", "its") and not is_contraction("dogs", "dog") and is_contraction("lets", "let's")
