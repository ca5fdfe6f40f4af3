"""Proposals of rules: where the model doubts the words, they stand alone; they never overrule a sure model."""

from __future__ import annotations

import pytest

from edit_gec import Corrector
from edit_gec.editing.spelling import MIN_DOUBT, Proposed, tag_certain_errors
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE
from edit_gec.rules.engine import find_rules


@pytest.fixture(scope="module")
def shipped() -> Corrector:
    return Corrector.load(threads=1)


def chances(change: float) -> list[float]:
    return [1 - change, 0.0, change, 0.0]


@pytest.mark.parametrize(("doubt", "fires"), [(0.5, True), (MIN_DOUBT / 2, False)])
def test_a_rule_fires_where_the_model_is_not_sure(shipped: Corrector, doubt: float, fires: bool) -> None:
    pieces = shipped.edit5.tokens.encode("We know alot")
    assert shipped.edit5.spelling is not None
    words = list(shipped.edit5.spelling.find_words(pieces))
    tags: list[int] = [KEEP] * (len(pieces) + 1)
    found = tag_certain_errors(
        tags, [chances(doubt) for _ in range(len(pieces) + 2)], pieces, find_rules(pieces.source), []
    )
    assert found == ([Proposed(words[2].first, words[2].last, ("a lot",))] if fires else [])
    changed = range(words[2].first + 1, words[2].last + 1) if fires else ()
    assert tags == [REPLACE if n in changed else KEEP for n in range(len(tags))]


def test_a_proposal_stands_alone(shipped: Corrector) -> None:
    """What the model would change in one gap with it is kept; a misspelt word is a proposal of its own."""
    pieces = shipped.edit5.tokens.encode("So they was there")
    assert shipped.edit5.spelling is not None
    unsure = [chances(0.9)] * (len(pieces) + 2)
    so, they, was, there = shipped.edit5.spelling.find_words(pieces)
    tags: list[int] = [KEEP, *([DELETE] * len(pieces))]
    proposed = tag_certain_errors(tags, unsure, pieces, find_rules(pieces.source), [])
    assert [each.texts for each in proposed] == [("were",)]
    assert [n for n, tag in enumerate(tags) if tag != KEEP] == list(range(was.first + 1, was.last + 1))
    tags = [KEEP, *([DELETE] * len(pieces))]
    suspect = [Proposed(there.first, there.last, ("their",), False)]
    both = tag_certain_errors(tags, unsure, pieces, find_rules(pieces.source), suspect)
    assert both == [*proposed, *suspect] and tags[they.last] == KEEP and tags[there.last] == DELETE
    tags = [KEEP] * (len(pieces) + 1)
    tags[they.last] = INSERT
    tag_certain_errors(tags, unsure, pieces, find_rules(pieces.source), [])
    assert tags[they.last] == KEEP and so.first == 0


def test_the_shipped_model_takes_what_rules_propose(shipped: Corrector) -> None:
    corrected = [
        each.corrected for each in shipped.correct_batch(["i told them that we was late.", "It was a old one."])
    ]
    assert corrected == ["I told them that we were late.", "It was an old one."]
    assert shipped.correct("Let us say that he was late.").edits == ()


def test_an_edit_says_that_a_rule_proposed_it(shipped: Corrector) -> None:
    text = "It must of been late becuase they was there."
    proposed = {edit.original: str(edit.provenance) for edit in shipped.correct(text).edits}
    assert proposed["of"] == proposed["was"] == "rule" and proposed["becuase"] == "edit5"
