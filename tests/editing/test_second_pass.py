"""A second reading: its changes and those of the first become changes of the source."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from edit_gec import Corrector
from edit_gec.editing.second_pass import DOUBT_FLOOR, SecondPass, changes_of, compose, is_confirmed
from edit_gec.modeling.tokenizer import Pieces
from edit_gec.text.edits import Change, apply_changes

TEXT = st.text("ab ,", max_size=14)


@st.composite
def changes(draw: st.DrawFn, length: int) -> list[Change]:
    """Changes of a text of this length, in order, none of which overlaps another."""
    places = sorted(draw(st.lists(st.integers(0, length), max_size=8)))
    pairs = list(zip(places[::2], places[1::2], strict=False))
    pairs = [pair for n, pair in enumerate(pairs) if n == 0 or pair != pairs[n - 1]]  # one insertion at a place
    return [(start, end, draw(st.text("ab c", max_size=3)), draw(st.floats(0, 1))) for start, end in pairs]


@st.composite
def readings(draw: st.DrawFn) -> tuple[str, list[Change], list[Change]]:
    source = draw(TEXT)
    first = draw(changes(len(source)))
    return source, first, draw(changes(len(apply_changes(source, first))))


@given(readings())
@example(("ab", [(0, 1, "", 0.5), (1, 2, "", 0.5)], [(0, 0, "c", 0.5)]))
@example(("a b", [(1, 2, "", 0.5), (2, 2, "c", 0.9)], [(1, 2, "", 0.5)]))
def test_both_readings_are_one_list_of_changes(texts: tuple[str, list[Change], list[Change]]) -> None:
    source, first, second = texts
    both = compose(source, first, second)
    assert apply_changes(source, both) == apply_changes(apply_changes(source, first), second)
    assert all(one[1] <= other[0] for one, other in zip(both, both[1:], strict=False))
    assert {sure for *_, sure in both} <= {sure for *_, sure in first + second}


def test_what_does_not_meet_stays_as_it_was() -> None:
    first = [(0, 3, "She", 0.9), (4, 6, "goes", 0.8)]
    assert compose("Sge go home", first, [(9, 13, "back", 0.4)]) == [*first, (7, 11, "back", 0.4)]
    assert compose("Sge go home", first, []) == first


def test_a_word_that_both_readings_change_is_one_change() -> None:
    assert compose("they learn", [(10, 10, "s", 0.9)], [(4, 5, " L", 0.6)]) == [(4, 10, " Llearns", 0.6)]


@pytest.fixture(scope="module")
def shipped() -> Corrector:
    return Corrector.load(threads=1)


SOURCE = "She go to home becuase its late , and she are tired ."


def test_the_shipped_model_reads_a_changed_sentence_twice(shipped: Corrector) -> None:
    """By hand: correct, and correct the outcome with laxer thresholds."""
    thresholds = shipped.thresholds
    assert thresholds.second_pass_factor > 0
    once, laxer, unconfirmed = shipped_with(shipped, second_pass_factor=0.0), shipped_with(
        shipped, second_pass_factor=0.0, sentence_gate=0.0,
        min_confidence=thresholds.min_confidence * thresholds.second_pass_factor,
    ), shipped_with(shipped, second_pass_penalty=0.0)  # fmt: skip
    texts = ["He have went to the the school yesterday .", SOURCE, "All is well here ."]
    firsts = [each.corrected for each in once.correct_batch(texts, lines=True)]
    seconds = [each.corrected for each in laxer.correct_batch(firsts, lines=True)]
    wanted = [two if one != text else text for text, one, two in zip(texts, firsts, seconds, strict=True)]
    assert [each.corrected for each in unconfirmed.correct_batch(texts, lines=True)] == wanted
    assert wanted[:2] != texts[:2]


def test_what_the_second_reading_doubts_is_not_done(shipped: Corrector) -> None:
    """With a confirmation that no doubt survives: by hand, from what the model says of the text as it would be."""
    texts = [
        "He have went to the the school yesterday .",
        SOURCE,
        "I has two cat .",
        "She like apples very much .",
        "Ok",
    ]
    gate = {"min_confidence": 0.05, "sentence_gate": 0.1}
    found = shipped_with(shipped, second_pass_factor=0.0, **gate).correct_batch(texts, lines=True)
    kept = shipped_with(shipped, second_pass_penalty=1e3, **gate).correct_batch(texts, lines=True)
    outcomes = set()
    for text, first, last in zip(texts, found, kept, strict=True):
        pieces = shipped.tokens.encode(first.corrected)
        (prediction,) = shipped.predict_plans([pieces])
        assert prediction.doubt == max(prediction.doubts)
        shift, calm = 0, []
        for edit in first.edits:
            begin, end = edit.start + shift, edit.start + shift + len(edit.replacement)
            shift += len(edit.replacement) - len(edit.original)
            spans = [(0, 0), *zip(pieces.starts, pieces.ends, strict=True)]
            doubts = zip(prediction.doubts, spans, strict=True)
            calm.append(max(doubt for doubt, (a, b) in doubts if a <= end and b >= begin) <= DOUBT_FLOOR)
        assert (last.corrected != text) == any(calm), (text, first.corrected)
        outcomes.add((bool(first.edits), any(calm)))
    assert outcomes == {(True, True), (True, False), (False, False)}, "each is seen"


PROBABILITY = st.floats(0, 1)


@given(st.lists(PROBABILITY, min_size=4, max_size=4), PROBABILITY, PROBABILITY, st.floats(0.01, 2), st.integers(0, 3))
def test_doubt_only_takes_away(doubts: list[float], sure: float, gate: float, penalty: float, place: int) -> None:
    assume(abs(sure - gate) > 1e-5)
    source = Pieces("abcdef", (7, 7, 7), (0, 2, 4), (2, 4, 6), prefixed=False)
    again = Pieces("abcdxyz", (7, 7, 7), (0, 2, 4), (2, 4, 7), prefixed=False)

    def held(doubts: list[float], penalty: float = penalty) -> bool:
        return is_confirmed(source, [(4, 6, "xyz", sure)], again, doubts, gate, penalty)

    assert held(doubts, 0.0), "nobody asked"
    assert held([min(DOUBT_FLOOR, doubt) for doubt in doubts]) == (sure >= gate)
    assert held([1 - doubt for doubt in doubts[:2]] + doubts[2:]) == held(doubts), "sentinel and first piece are far"
    calmer = [doubt / 2 if n == place else doubt for n, doubt in enumerate(doubts)]
    assert held(calmer) or not held(doubts)


def shipped_with(corrector: Corrector, **thresholds: float) -> Corrector:
    """The same corrector with other thresholds."""
    return replace(corrector, thresholds=replace(corrector.thresholds, **thresholds))  # type: ignore[arg-type]


def test_what_grows_too_long_is_not_read_again(shipped: Corrector) -> None:
    pieces = shipped.tokens.encode(SOURCE)
    first = changes_of([pieces], shipped.predict_plans([pieces]), shipped.tokens)
    assert first[0]
    long = [[(start, end, new + " very" * 100, sure) for start, end, new, sure in first[0]]]
    second = SecondPass(shipped._predict_with, shipped.tokens, shipped.thresholds, shipped.model.config.max_pieces)
    assert second.apply([pieces], long) == long
    assert second.apply([pieces], first) != first
