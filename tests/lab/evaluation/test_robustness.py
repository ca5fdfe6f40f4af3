"""The model that we ship, on texts written for it: what it must leave alone, and simple errors that it must see.

One floor for all kinds of a list, never one for a kind: a kind has about ten cases, and one of them more or less must
not decide which model is shipped. Kinds are reported: in the model card, in the message of a floor that fails, and by
`edit-gec score --cases tests/robustness/*.jsonl --system edit-gec`.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.promises import floor

from edit_gec.lab.evaluation.checklist import ChecklistResult, format_table, read_cases, run_checklist
from edit_gec.lab.evaluation.systems import ScoredSystem

FOLDER = Path(__file__).parents[2] / "robustness"
LEAVE_ALONE, CORRECT, OBVIOUS = (FOLDER / f"{name}.jsonl" for name in ("leave_alone", "correct", "obvious"))
# What is promised, in per cent: of the right texts of a list left alone, of the wrong ones corrected, of all unchanged
# when corrected a second time.
LEFT_ALONE = {LEAVE_ALONE: 95, OBVIOUS: 95}
CORRECTED = {CORRECT: 75, OBVIOUS: 70}
UNCHANGED = 98


@given(st.integers(1, 40), st.integers(0, 100))
def test_the_floor_is_the_quantile(cases: int, promised: int) -> None:
    none = Fraction(0)
    chances = [Fraction(1)]  # of each count, one case after another
    for _ in range(cases):
        failed, passed = Fraction(100 - promised, 100), Fraction(promised, 100)
        chances = [a * failed + b * passed for a, b in zip([*chances, none], [none, *chances], strict=True)]
    least = floor(cases, promised)
    assert sum(chances[:least]) < Fraction(1, 100) <= sum(chances[: least + 1])


def test_one_case_more_or_less_does_not_decide() -> None:
    assert floor(11, 40) == 1, "on eleven cases a floor says next to nothing"
    assert (floor(120, 55), floor(214, 95)) == (53, 195)


@pytest.fixture(scope="module")
def judged() -> dict[Path, ChecklistResult]:
    return {path: run_checklist(path, ScoredSystem("edit-gec")) for path in (LEAVE_ALONE, CORRECT, OBVIOUS)}


def test_the_lists() -> None:
    alone, wrong = read_cases(LEAVE_ALONE), read_cases(CORRECT)
    assert len({case.text for case in alone}) == len(alone) >= 150 and not any(case.accept for case in alone)
    assert len({case.text for case in wrong}) == len(wrong) >= 60 and all(case.accept for case in wrong)
    assert not {c.text for c in alone} & {c.text for c in wrong}


def test_obvious_errors_are_balanced() -> None:
    cases = read_cases(OBVIOUS)
    wrong, twins = cases[::2], cases[1::2]
    assert len({case.text for case in cases}) == len(cases) == 240
    assert all(case.accept and twin.kind == f"{case.kind}, twin" for case, twin in zip(wrong, twins, strict=True))
    assert max(Counter(case.kind for case in wrong).values()) <= 8, "no kind decides"
    assert sum(len(case.text.split()) >= 15 for case in wrong) == 60, "half of them are long"


@pytest.mark.slow
@pytest.mark.parametrize("path", LEFT_ALONE, ids=lambda path: path.stem)
def test_what_is_right_is_left_alone(path: Path, judged: dict[Path, ChecklistResult]) -> None:
    alone, texts = judged[path].right
    assert alone >= floor(texts, LEFT_ALONE[path]), format_table([judged[path]])


@pytest.mark.slow
@pytest.mark.parametrize("path", CORRECTED, ids=lambda path: path.stem)
def test_what_is_wrong_is_corrected(path: Path, judged: dict[Path, ChecklistResult]) -> None:
    corrected, texts = judged[path].wrong
    assert corrected >= floor(texts, CORRECTED[path]), format_table([judged[path]])


@pytest.mark.slow
def test_a_corrected_text_stays_as_it_is(judged: dict[Path, ChecklistResult]) -> None:
    texts = sum(len(one.outcomes) for one in judged.values())
    assert texts - sum(one.changed_again for one in judged.values()) >= floor(texts, UNCHANGED), format_table(
        [*judged.values()]
    )
