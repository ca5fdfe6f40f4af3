"""Commas after introductions: what is surely missing, and what is not."""

from __future__ import annotations

import doctest

import pytest

from edit_gec.lab.training import comma_style
from edit_gec.lab.training.comma_style import lacks_comma

BARE = [
    "However we decided to stay.",
    "For example this house is empty.",
    "In addition the price rose.",
    "Unfortunately there was no time.",
    "“Of course you can stay.”",
    "At last they found the key.",
    "When he came he brought a cake.",
    "If you want you can use my bike.",
    "Because it was raining we stayed inside.",
    "After she left I cried.",
    "Although the room was small we liked it.",
    "If you press the button the door will open.",
]
FINE = [
    "However, we decided to stay.",
    "However hard he tries, he fails.",
    "In addition to the price, the quality fell.",
    "For example, this house is empty.",
    "Instead of the bus he took the train.",
    "After all the work, we slept.",
    "Finally being able to sleep, he smiled.",
    "When he came, he brought a cake.",
    "If you want, you can use my bike.",
    "Because he said that he was ill.",
    "When did you think he was coming?",
    "If you know what you want, say so.",
    "After the war he moved to Leeds.",
    "Before lunch we went for a walk.",
    "Once I thought he was right.",
    "Since then we have been friends.",
    "As the index of the fluid is low, the light bends.",
    "He was tired when he came home.",
    "Then we left.",
    "Thus it begins.",
    "",
]


@pytest.mark.parametrize("sentence", BARE)
def test_a_missing_comma_is_seen(sentence: str) -> None:
    assert lacks_comma(sentence)


@pytest.mark.parametrize("sentence", FINE)
def test_what_needs_no_comma_is_left(sentence: str) -> None:
    assert not lacks_comma(sentence)


def test_examples() -> None:
    assert doctest.testmod(comma_style).failed == 0
