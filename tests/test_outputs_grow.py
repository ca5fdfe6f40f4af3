"""What is made of n edits takes time in proportion to n, also where all of them stand on one line."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ATTACK = runpy.run_path(str(Path(__file__).parent / "attack" / "outputs.py"))
MOST = 1.4  # exponent; on a quiet machine it is 1.1 at most


@pytest.mark.slow
@pytest.mark.parametrize("form", ATTACK["FORMS"])
def test_edits_of_one_line_take_linear_time(form: str) -> None:
    _, exponent, size = ATTACK["measure"](ATTACK["FORMS"][form], ATTACK["UNITS"]["one line, wide"], 8_000, 2)
    assert exponent < MOST and size < 1.05
