"""The theory of speculation with the costs that were measured, by hand."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from edit_gec.speculative.statistics import Statistics, Trace

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "profiles" / "verification" / "speculation.py"))


def test_time_of_a_pass_between_those_measured() -> None:
    widths = {1: 1.0, 4: 2.5, 8: 3.0}
    assert SCRIPT["interpolate"](widths, 1) == 1.0
    assert SCRIPT["interpolate"](widths, 2) == pytest.approx(1.5)
    assert SCRIPT["interpolate"](widths, 8) == 3.0
    assert SCRIPT["interpolate"](widths, 10) == pytest.approx(3.25)


def test_costed_theory_by_hand() -> None:
    """Two passes of 3 drafted tokens each, all accepted, eight tokens; a wide pass costs two steps of a second."""
    trace = Trace(finished=True)
    trace.add(3, 3, 4, [1.0] * 3)
    trace.add(3, 3, 4, [1.0] * 3)
    statistics = Statistics([trace], begin_s=0.0, propose_s=0.6, target_s=4.0, total_s=5.0)
    one = SCRIPT["DrafterCase"]("small t5", 3, 0, lambda sentence: ([], Statistics()), statistics)
    basis = {"tokens": 8, "passes_mean": 8.0, "seconds": 10.0, "encoder_s": 2.0, "step_s": 1.0}
    row = SCRIPT["compare_with_theory"](one, 5.0, basis, {1: 0.5, 4: 1.0})
    assert row["c"] == pytest.approx(0.1) and row["gain"] == 2.0 and row["passes_mean"] == 2
    assert row["predicted_gain_ideal"] == pytest.approx(4 / 1.3)
    assert row["predicted_gain"] == pytest.approx(10 / (2 + 2 * (2 + 0.3)))
