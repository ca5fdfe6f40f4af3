"""The shipped model in whole documents: what it corrects and leaves alone there, case by case, and that nothing breaks.

Each line of robustness/documents.jsonl has a text, its format ("lines": each line is a text), and all that may become
of it; without `accept` the text stays.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.promises import floor

from edit_gec import Corrector

LIST = Path(__file__).with_name("robustness") / "documents.jsonl"
CASES = [json.loads(line) for line in LIST.read_text("utf-8").splitlines()]
PROMISED = 95  # per cent; a new model may decide a few of them otherwise
STABLE = 98  # per cent of the changed ones


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector.load(threads=1)


def test_each_case_stands_once() -> None:
    assert len({(case["format"], case["text"]) for case in CASES}) == len(CASES) > 300
    assert all(case["text"] not in case.get("accept", []) or len(case["accept"]) > 1 for case in CASES)


def correct(corrector: Corrector, case: dict[str, Any], text: str) -> str:
    lines = case["format"] == "lines"
    return corrector.correct(text, lines=lines, format="text" if lines else case["format"]).corrected


def test_documents_are_corrected_as_they_should_be(corrector: Corrector) -> None:
    wrong = []
    for case in CASES:
        found = correct(corrector, case, case["text"])
        if found not in case.get("accept", [case["text"]]):
            wrong.append((case["kind"], case["format"], case["text"], found))
    assert len(CASES) - len(wrong) >= floor(len(CASES), PROMISED), (Counter(kind for kind, *_ in wrong), wrong)


def test_a_second_run_changes_nothing(corrector: Corrector) -> None:
    """As a law it is measured on more: attack/idempotence.py."""
    once = [(case, correct(corrector, case, case["text"])) for case in CASES]
    changed = [(case, text) for case, text in once if text != case["text"]]
    again = [(text, twice) for case, text in changed if (twice := correct(corrector, case, text)) != text]
    assert len(changed) - len(again) >= floor(len(changed), STABLE), again
    assert len(changed) > 90


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We need teh teh book.", "We need the book."),
        ("He go go home.", "He went home."),
        ("She like like it.", "She like it."),
        ("He dont dont know.", "He doesn't know."),
        ("She definately definately likes it.", "She definitely likes it."),
        ("My parents lives lives here.", "My parents live here."),
        ("We went to to home.", "We went home."),
        ("I look forward to see see you.", "I look forward to seeing you."),
        ("My mothers mothers car is red.", "My mother's car is red."),
        ("I could to to find it.", "I could find it."),
        ("We discuss discuss about it.", "We discuss it."),
        ("They sat in the the very very old house.", "They sat in the very very old house."),
    ],
)
def test_a_wrong_word_that_stands_twice_is_corrected_at_once(corrector: Corrector, text: str, expected: str) -> None:
    assert corrector.correct(text).corrected == expected
    assert corrector.correct(expected).corrected == expected
