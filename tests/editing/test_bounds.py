"""What one call of the decoder computes has a bound that does not depend on what the words are."""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec import Corrector
from edit_gec.editing import insertion
from edit_gec.editing.insertion import MAX_ROWS, InsertionDecoder, Slot
from edit_gec.editing.lexicon import Candidate
from edit_gec.editing.spelling import MOST_TOGETHER, Proposed, combine, take_nearest

ATTACK = runpy.run_path(str(Path(__file__).parent.parent / "attack" / "words.py"))
COSTLY = ("unknown words", "chat without stops", "rules among misspelt words", "no verbs agree")


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector.load(threads=1)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The number of rows of each call of the decoder."""
    found: list[int] = []
    attach = InsertionDecoder.attach

    def count(decoder: InsertionDecoder, slots: Sequence[Slot]) -> Any:
        found.append(len(slots))
        return attach(decoder, slots)

    monkeypatch.setattr(InsertionDecoder, "attach", count)
    yield found


@pytest.mark.parametrize("name", COSTLY)
def test_a_call_of_the_decoder_has_few_rows(corrector: Corrector, rows: list[int], name: str) -> None:
    text = (ATTACK["TEXTS"][name] * 100)[:3000]
    corrector.suggest(corrector.correct(text))
    assert max(rows) <= MAX_ROWS < sum(rows)


def test_edits_do_not_depend_on_the_number_of_rows(corrector: Corrector, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ATTACK["CODE"] * 3 + ATTACK["CHAT"] * 3 + ATTACK["RULES"]
    usual = corrector.suggest(corrector.correct(text))
    cut_rows = insertion.cut_rows
    for most in (3, 10_000):
        monkeypatch.setattr(insertion, "cut_rows", lambda rows, most=most: cut_rows(rows, most))
        other = corrector.suggest(corrector.correct(text))
        assert other.corrected == usual.corrected != text
        for edit, same in zip(other.edits, usual.edits, strict=True):
            assert edit.span == same.span and edit.alternatives == same.alternatives
            assert edit.confidence == pytest.approx(same.confidence, abs=1e-3)


@given(counts=st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_proposals_make_few_texts_together(counts: list[int]) -> None:
    proposed = [Proposed(n, n + 1, tuple(f"{n}.{k}" for k in range(count))) for n, count in enumerate(counts)]
    texts = combine(proposed)
    assert 1 <= len(texts) <= MOST_TOGETHER
    assert texts[0] == " ".join(one.texts[0] for one in proposed)
    assert len(set(texts)) == len(texts)


def test_a_listed_candidate_stays_among_few() -> None:
    candidates = [Candidate(n / 10, str(n), listed=n == 5) for n in range(9)]
    assert [each.text for each in take_nearest(candidates, 2)] == ["0", "1", "5"]


def test_memory_does_not_depend_on_the_words() -> None:
    """In processes of their own: at most 200 MB above prose (tests/attack/words.py measures more texts, and time)."""
    prose, *others = (ATTACK["measure_alone"](name, 3000)["peak"] for name in ("prose", *COSTLY))
    assert max(others) <= prose + ATTACK["MOST_MB"]
