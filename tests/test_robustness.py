"""The model that we ship, on texts written for it: what it must leave alone, and simple errors that it must see.

The floors are below what the model reaches, so that a newly trained one may be better here and worse there; the shares
themselves are in its model card. See them with `edit-gec score --cases tests/robustness/*.jsonl --system edit-gec`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from edit_gec.scoring.cases import Judged, judge, read

LEAVE_ALONE = Path(__file__).parent / "robustness" / "leave_alone.jsonl"
CORRECT = Path(__file__).parent / "robustness" / "correct.jsonl"
# per cent of the cases of each kind
LEFT_ALONE = {
    "abbreviations": 75, "addresses": 80, "chat": 70, "code": 65, "dialect-uk": 75, "dialect-us": 75, "foreign": 70,
    "grammar": 75, "headings": 70, "headings-capitals": 60, "lists": 80, "mail": 70, "names": 75, "numbers": 75,
    "quotes": 75, "rare-words": 75,
}  # fmt: skip
CORRECTED = {
    "capital-i": 50,
    "doubled-word": 40,
    "do-does": 30,
    "agreement": 30,
    "past": 30,
    "its": 50,
    "then-than": 60,
}
CORRECTED |= {"their-there": 50, "a-an": 40, "spelling": 30}
CHANGED_AGAIN = 4  # per cent of texts


@pytest.fixture(scope="module")
def left_alone() -> Judged:
    return judge(LEAVE_ALONE, "edit-gec")


@pytest.fixture(scope="module")
def corrected() -> Judged:
    return judge(CORRECT, "edit-gec")


def test_the_lists() -> None:
    alone, wrong = read(LEAVE_ALONE), read(CORRECT)
    assert len({case.text for case in alone}) == len(alone) >= 150 and not any(case.accept for case in alone)
    assert len({case.text for case in wrong}) == len(wrong) >= 60 and all(case.accept for case in wrong)
    assert {case.kind for case in alone} == set(LEFT_ALONE) and {case.kind for case in wrong} >= set(CORRECTED)
    assert not {c.text for c in alone} & {c.text for c in wrong}


def shares(judged: Judged) -> dict[str, float]:
    return {kind: 100 * passed / cases for kind, (passed, cases) in judged.kinds.items()}


@pytest.mark.slow
def test_what_is_right_is_left_alone(left_alone: Judged) -> None:
    found = shares(left_alone)
    assert {kind: share for kind, share in found.items() if share < LEFT_ALONE[kind]} == {}
    assert left_alone.passed >= 0.82 * len(left_alone.outcomes)


@pytest.mark.slow
def test_what_is_wrong_is_corrected(corrected: Judged) -> None:
    found = shares(corrected)
    assert {kind: found[kind] for kind, floor in CORRECTED.items() if found[kind] < floor} == {}
    assert corrected.passed >= 0.45 * len(corrected.outcomes)


@pytest.mark.slow
def test_a_corrected_text_stays_as_it_is(left_alone: Judged, corrected: Judged) -> None:
    for judged in (left_alone, corrected):
        assert judged.changed_again <= CHANGED_AGAIN / 100 * len(judged.outcomes)
