"""A second reading: its changes and those of the first become changes of the source."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.correctors import window_of

from edit_gec import Corrector
from edit_gec.editing.confidence import CALM
from edit_gec.editing.decode import Prediction
from edit_gec.editing.plan import Plan
from edit_gec.editing.second_pass import (
    SecondPass,
    changes_of,
    compose,
    doubts_beside,
    is_spacing,
    judge,
    keep_certain,
    leave_out,
)
from edit_gec.editing.settling import READINGS
from edit_gec.editing.thresholds import Thresholds
from edit_gec.modeling.tokenizer import Pieces, Tokens
from edit_gec.rules.engine import find_rules
from edit_gec.text.edits import Change, Provenance, apply_changes

TEXT = st.text("ab ,", max_size=14)


@st.composite
def changes(draw: st.DrawFn, length: int) -> list[Change]:
    """Changes of a text of this length, in order, none of which overlaps another."""
    places = sorted(draw(st.lists(st.integers(0, length), max_size=8)))
    pairs = list(zip(places[::2], places[1::2], strict=False))
    pairs = [pair for n, pair in enumerate(pairs) if n == 0 or pair != pairs[n - 1]]  # one insertion at a place
    new, sure = st.text("ab c", max_size=3), st.floats(0, 1)
    return [Change(start, end, draw(new), draw(sure)) for start, end in pairs]


@st.composite
def readings(draw: st.DrawFn) -> tuple[str, list[Change], list[Change]]:
    source = draw(TEXT)
    first = draw(changes(len(source)))
    return source, first, draw(changes(len(apply_changes(source, first))))


@given(readings())
@example(("ab", [Change(0, 1, "", 0.5), Change(1, 2, "", 0.5)], [Change(0, 0, "c", 0.5)]))
@example(("a b", [Change(1, 2, "", 0.5), Change(2, 2, "c", 0.9)], [Change(1, 2, "", 0.5)]))
def test_both_readings_are_one_list_of_changes(texts: tuple[str, list[Change], list[Change]]) -> None:
    source, first, second = texts
    both = compose(source, first, second)
    assert apply_changes(source, both) == apply_changes(apply_changes(source, first), second)
    assert all(one.end <= other.start for one, other in pairwise(both))
    assert {change.confidence for change in both} <= {change.confidence for change in first + second}


def test_what_does_not_meet_stays_as_it_was() -> None:
    first = [Change(0, 3, "She", 0.9), Change(4, 6, "goes", 0.8)]
    assert compose("Sge go home", first, [Change(9, 13, "back", 0.4)]) == [*first, Change(7, 11, "back", 0.4)]
    assert compose("Sge go home", first, []) == first


def test_a_word_that_both_readings_change_is_one_change() -> None:
    first, again = Change(10, 10, "s", 0.9), Change(4, 5, " L", 0.6)
    assert compose("they learn", [first], [again]) == [Change(4, 10, " Llearns", 0.6)]


@given(readings(), st.data())
def test_what_stands_beside_a_refused_change_is_left_out(
    texts: tuple[str, list[Change], list[Change]], data: st.DataObject
) -> None:
    """What is left of the second reading changes the same text, in the text that the changes which stand make."""
    source, first, second = texts
    kept = [change for change in first if data.draw(st.booleans())]
    between, without = apply_changes(source, first), apply_changes(source, kept)
    left = leave_out(between, first, kept, second)
    replaced = [(between[start:end], new) for start, end, new, *_ in second]
    assert all((without[start:end], new) in replaced for start, end, new, *_ in left)
    assert kept != first or left == second
    assert apply_changes(source, compose(source, kept, left)) == apply_changes(without, left)


@pytest.fixture(scope="module")
def shipped() -> Corrector:
    return Corrector.load(threads=1)


SOURCE = "She go to home becuase its late , and she are tired ."
TEXTS = [
    "He have went to the the school yesterday .",
    SOURCE,
    "I has two cat .",
    "He like teh tea .",
    "The tea is hot.",
]


def test_the_shipped_model_reads_a_changed_sentence_twice(shipped: Corrector) -> None:
    """By hand, where sentences do not count: correct, and correct the outcome until it stays."""
    assert shipped.edit5.thresholds.reads_twice
    once = shipped_with(shipped, doubt_slope=0.0, neighbour_slope=0.0, min_confidence=0.1)
    twice = shipped_with(once, doubt_slope=1e-9)
    texts = [text for text in TEXTS if text != SOURCE]  # there the second reading would change what a rule wrote
    runs = [texts]
    for _ in range(READINGS):
        runs.append([each.corrected for each in once.correct_batch(runs[-1], lines=True)])
    assert [each.corrected for each in twice.correct_batch(texts, lines=True)] == runs[-1]
    assert runs[1][-1] == texts[-1] and runs[0] != runs[1] != runs[2]


def test_what_the_second_reading_doubts_is_not_done(shipped: Corrector) -> None:
    """No doubtful edit survives a slope like this, every other one does: from what the model says of the text as it
    would be."""
    alone = shipped_with(shipped, neighbour_slope=0.0, min_confidence=0.05)
    once, strict = shipped_with(alone, doubt_slope=0.0), shipped_with(alone, doubt_slope=1e3)
    outcomes = set()
    for text in TEXTS:
        pieces = shipped.edit5.tokens.encode(text)
        plans = once.edit5.predict_plans([pieces])
        (first,) = changes_of([pieces], plans, shipped.edit5.tokens)
        again = shipped.edit5.tokens.encode(apply_changes(text, first))
        doubts = shipped.edit5.predict_plans([again])[0].doubts
        calm = [doubt <= CALM for doubt in doubts_beside(pieces, first, plans[0].doubts, again, doubts)]
        found = strict.edit5.predict([window_of(pieces)])[0].changes
        assert bool(found) == any(calm)
        for change, is_calm in zip(first, calm, strict=True):
            assert not is_calm or any(start <= change[0] and change[1] <= end for start, end, *_ in found)
            assert is_calm or change[:3] not in [each[:3] for each in found]
        outcomes.add((any(calm), all(calm)))
    assert outcomes >= {(True, False), (False, True)}, "a doubtful one beside a calm one, and no change, are seen"


PROBABILITY = st.floats(0, 1)


@given(st.lists(PROBABILITY, min_size=4, max_size=4), st.lists(PROBABILITY, min_size=4, max_size=4))
def test_the_doubt_of_a_change_is_that_beside_it(before: list[float], doubts: list[float]) -> None:
    """What is doubted beside a change without it, too, does not count against it."""
    source = Pieces("abcdef", (7, 7, 7), (0, 2, 4), (2, 4, 6), prefixed=False)
    again = Pieces("abcdxyz", (7, 7, 7), (0, 2, 4), (2, 4, 7), prefixed=False)
    last = [Change(4, 6, "xyz", 0.5)]
    assert doubts_beside(source, last, before, again, doubts) == [max(CALM, doubts[3], doubts[2] - before[2])]
    nothing = [Change(0, 0, "", 0.5), Change(6, 6, "", 0.5)]
    assert doubts_beside(source, nothing, before, source, doubts) == [
        max(CALM, doubts[0] - before[0], doubts[1] - before[1]), max(CALM, doubts[3] - before[3])
    ]  # fmt: skip


def shipped_with(corrector: Corrector, **thresholds: float) -> Corrector:
    """The same corrector with other thresholds."""
    return corrector.with_thresholds(**thresholds)


def test_closed_gaps_are_no_reason_to_read_again(shipped: Corrector) -> None:
    """Text that is spaced like tokens is read once; with another error it is read twice."""
    read: list[str] = []

    def watch(again: Sequence[Pieces], thresholds: Thresholds) -> list[Prediction]:
        read.extend(each.source for each in again)
        return shipped.edit5.predict_plans(again, thresholds)

    second = SecondPass(watch, shipped.edit5.tokens, shipped.edit5.thresholds, shipped.edit5.network.config.max_pieces)
    pieces = [shipped.edit5.tokens.encode(text) for text in ("We stayed at home , but they did n't .", SOURCE)]
    plans = shipped.edit5.predict_plans(pieces)
    gaps, others = changes_of(pieces, plans, shipped.edit5.tokens)
    assert gaps and is_spacing(pieces[0].source, gaps) and not is_spacing(SOURCE, others)
    assert second.apply(pieces, plans)[0].changes
    assert len(read) == 1 and "stayed" not in read[0]


def test_what_grows_too_long_is_not_read_again(shipped: Corrector) -> None:
    pieces = shipped.edit5.tokens.encode(SOURCE)
    plans = shipped.edit5.predict_plans([pieces])
    assert plans[0].plan.changes
    read: list[int] = []

    def predict(again: Sequence[Pieces], thresholds: Thresholds) -> list[Prediction]:
        read.extend(len(each) for each in again)
        return shipped.edit5.predict_plans(again, thresholds)

    for longest in (shipped.edit5.network.config.max_pieces, 5):
        found = SecondPass(predict, shipped.edit5.tokens, shipped.edit5.thresholds, longest).apply([pieces], plans)
        assert found[0].changes and len(read) == 1, "the second time nothing is read, and the changes stand"


@pytest.mark.parametrize(
    ("source", "first", "between", "again", "kept"),
    [
        ("We was there.", Change(2, 6, " were", 0.6), "We were there.", Change(3, 7, "are", 0.6), 0),
        ("We was there.", Change(2, 6, " were", 0.6), "We were there.", Change(8, 13, "here", 0.6), 1),
        ("We was there.", Change(2, 6, " are", 0.6), "We are there.", Change(3, 6, "were", 0.6), 1),  # no rule's word
        ("She go home.", Change(3, 6, " went", 0.6), "She went home.", Change(4, 8, "goes", 0.6), 0),
        ("We saw there.", Change(2, 6, " see", 0.6), "We see there.", Change(3, 6, "saw", 0.6), 1),  # no rule
        ("We was there.", Change(2, 6, " were", 0.6), "We were there.", Change(3, 7, "was", 0.6), 1),  # it comes back
        ("i dont know.", Change(0, 6, "I don't", 0.6), "I don't know.", Change(2, 7, "didn't", 0.6), 0),  # two rules
    ],
)
def test_what_a_rule_wrote_is_not_written_again(
    tokens: Tokens, source: str, first: Change, between: str, again: Change, kept: int
) -> None:
    assert keep_certain(tokens.encode(source), [first], between, [again], find_rules(source)) == [again][:kept]


SCALE = Thresholds(neighbour_slope=1.0, final_slope=0.527, min_confidence=0.0)
PROBABILITIES = st.lists(st.floats(0.01, 0.99), max_size=3)


@given(PROBABILITIES, PROBABILITIES.filter(bool), PROBABILITIES)
def test_what_rules_propose_supports_nothing(
    by_model: list[float], by_rules: list[float], refused: list[float]
) -> None:
    plan = Prediction(Plan(1, (0,), ()), refused=tuple(refused))
    changes = [Change(n, n + 1, "x", sure) for n, sure in enumerate(by_model)]
    more = [Change(n, n + 1, "x", sure, Provenance.RULE) for n, sure in enumerate(by_rules, len(by_model))]
    alone, together = judge(changes, plan, SCALE), judge([*changes, *more], plan, SCALE)
    assert together[: len(changes)] == alone
    supported = SCALE.judge([*by_model, *by_rules], others=refused)
    assert [each.confidence for each in together[len(changes) :]] == supported[len(changes) :]
