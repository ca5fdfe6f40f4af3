"""Connectives: where a comma is a kind of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.editing.confidence import Evidence, EvidenceKind, Scale, classify, possible_kinds
from edit_gec.editing.connectives import ASIDES, OPENERS, follows_connective


@pytest.mark.parametrize(
    "before",
    [
        "However",
        "It rained. In addition",
        "It rained! first of all",
        "It rained, and of course",
        "But for example",
        "He said that, in fact",
    ],
)
def test_after_a_connective(before: str) -> None:
    assert follows_connective(before)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "How",
        "Now",
        "I however",
        "He is also",
        "a piece of course",
        "She took it in addition",
        "Howevers",
        "However ,",
    ],
)
def test_elsewhere(before: str) -> None:
    assert not follows_connective(before)


@given(st.sampled_from(OPENERS + ASIDES), st.sampled_from(["", "It rained. ", "Why? "]))
def test_every_connective_opens_a_sentence(connective: str, before: str) -> None:
    assert follows_connective(before + connective)
    assert follows_connective(before + connective.capitalize())
    assert not follows_connective(before + connective + " it")


def test_only_a_comma_alone_is_of_this_kind() -> None:
    assert classify("", ",", "However") is EvidenceKind.CONNECTIVE
    assert classify("", ",", "Now") is classify("", ", the", "However") is EvidenceKind.INSERT
    assert classify(" it", ",", "However") is EvidenceKind.REPLACE


def test_what_it_can_become_is_bounded() -> None:
    """Nothing is left out before it is written that is of a better kind afterwards."""
    scale = Scale(slope=1.0, connective_offset=2.0)
    kinds = possible_kinds([], "However")
    assert kinds == (EvidenceKind.INSERT, EvidenceKind.CONNECTIVE)
    assert possible_kinds([], "Now") == (EvidenceKind.INSERT,)
    best = max(scale.confidence(Evidence(0.3, kind=kind)) for kind in kinds)
    assert best >= scale.confidence(Evidence(0.3, written=0.9, kind=classify("", ",", "However")))
