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
