"""A second reading: its changes and those of the first become changes of the source."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edit_gec import Corrector
from edit_gec.edits import Change, changed
from edit_gec.reread import compose

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
    return source, first, draw(changes(len(changed(source, first))))


@given(readings())
@example(("ab", [(0, 1, "", 0.5), (1, 2, "", 0.5)], [(0, 0, "c", 0.5)]))
@example(("a b", [(1, 2, "", 0.5), (2, 2, "c", 0.9)], [(1, 2, "", 0.5)]))
def test_both_readings_are_one_list_of_changes(texts: tuple[str, list[Change], list[Change]]) -> None:
    source, first, second = texts
    both = compose(source, first, second)
    assert changed(source, both) == changed(changed(source, first), second)
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
    options = shipped.options
    assert options.reread > 0
    once, laxer = shipped_with(shipped, reread=0.0), shipped_with(
        shipped, reread=0.0, sentence_gate=0.0, min_confidence=options.min_confidence * options.reread
    )  # fmt: skip
    texts = ["He have went to the the school yesterday .", SOURCE, "All is well here ."]
    firsts = [each.corrected for each in once.correct_batch(texts, lines=True)]
    seconds = [each.corrected for each in laxer.correct_batch(firsts, lines=True)]
    wanted = [two if one != text else text for text, one, two in zip(texts, firsts, seconds, strict=True)]
    assert [each.corrected for each in shipped.correct_batch(texts, lines=True)] == wanted
    assert wanted[:2] != texts[:2]


def shipped_with(corrector: Corrector, **thresholds: float) -> Corrector:
    """The same corrector with other thresholds."""
    return Corrector(
        corrector.model, corrector.tokens, replace(corrector.options, **thresholds),  # type: ignore[arg-type]
        folder=corrector.folder, spelling=corrector.spelling,
    )  # fmt: skip


def test_what_grows_too_long_is_not_read_again(shipped: Corrector) -> None:
    pieces = shipped.tokens.encode(SOURCE)
    first = shipped.changes([pieces], shipped.predict([pieces]), replace(shipped.options, reread=0.0))
    assert first[0]
    long = [[(start, end, new + " very" * 100, sure) for start, end, new, sure in first[0]]]
    assert shipped.reread([pieces], long, shipped.options) == long
