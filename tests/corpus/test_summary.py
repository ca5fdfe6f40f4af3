"""The summary of a job, by hand: sums, rates of all workers side by side, and what is said of them."""

from __future__ import annotations

from typing import Any

import pytest

from edit_gec.corpus.progress import INTERVAL_S, Progress
from edit_gec.corpus.records import UnitResult
from edit_gec.corpus.summary import describe_summary, summarize


def result(unit: int, *, workers: int, seconds: float, broken: str | None = None, **counts: float) -> UnitResult:
    reasons = [{"not JSON": 2}, {"not JSON": 1, "not UTF-8": 1}, {}][unit]
    return {
        "unit": unit,
        "broken": broken,
        "seconds": seconds,
        "reasons": reasons,
        "counts": {name.replace("__", " "): count for name, count in counts.items()},
        "workers": workers,
    }


RESULTS = [
    result(0, workers=2, seconds=10.0, rows=100, written=98, edited=5, edits=7, sentences=200, inferred=150,
           type__SPELL=3, type__PUNCT=4),
    result(1, workers=2, seconds=6.0, broken="cut short", rows=50, written=48, edited=1, edits=1, sentences=40,
           inferred=30, type__SPELL=1, type__VERB=0),
    result(2, workers=1, seconds=0.0),
]  # fmt: skip


def test_sums_rates_and_cost() -> None:
    summary = summarize(RESULTS, {"b.csv": "no header"}, wall_seconds=9.04, hourly_cost=3.6)
    assert (summary["rows"], summary["written"], summary["edited_rows"], summary["edits"]) == (150, 146, 6, 8)
    assert summary["set_aside"] == {"not JSON": 3, "not UTF-8": 1}
    assert (summary["unreadable_files"], summary["files_cut_short"]) == (1, 1)
    assert list(summary["types"].items()) == [("PUNCT", 4), ("SPELL", 4)], "the largest first, none of 0"
    assert summary["duplicates"] == 0.25
    assert (summary["worker_seconds"], summary["wall_seconds"], summary["workers"]) == (16.0, 9.0, 2)
    assert summary["rows_per_second"] == 18.8 and summary["sentences_per_second"] == 30.0  # 16 s of two workers: 8 s
    assert summary["hours_per_million_sentences"] == pytest.approx(8 / 240 * 1e6 / 3600, abs=0.001)
    assert summary["cost_per_million_sentences"] == pytest.approx(8 / 240 * 1e6 / 3600 * 3.6, abs=0.001)
    assert "verification" not in summary


def test_nothing_was_done() -> None:
    summary = summarize([], {}, wall_seconds=0.0)
    assert (summary["rows"], summary["rows_per_second"], summary["duplicates"]) == (0, 0.0, 0.0)
    assert summary["cost_per_million_sentences"] is None
    assert describe_summary(summary) == ["0 rows written, 0 of them with 0 edits"]


def test_one_is_no_plural() -> None:
    """D15: "1 workers", of a grammar corrector."""
    one = result(2, workers=1, seconds=1.0, rows=1, written=1, edited=1, edits=1, sentences=1, inferred=1)
    lines = describe_summary(summarize([one], {}, wall_seconds=1.0))
    assert lines[0] == "1 row written, 1 of them with 1 edit"
    assert lines[1].startswith("1 sentence, ") and lines[1].endswith(" on 1 worker")


def test_verification() -> None:
    counts: dict[str, Any] = {
        "verified": 10, "verified__too__long": 1, "verified__unfinished": 2, "verified__as__drafted": 8,
        "target__passes": 15, "target__tokens": 300, "drafted__tokens__judged": 200, "drafted__tokens__accepted": 190,
        "provenance__both": 4, "provenance__target": 1, "refused": 3, "sentences": 11,
    }  # fmt: skip
    found = summarize([result(0, workers=1, seconds=1.0, **counts)], {}, wall_seconds=1.0)
    assert found["verification"] == {
        "sentences": 10, "too_long": 1, "unfinished": 2, "draft_is_output_rate": 0.8, "acceptance": 0.95,
        "passes_per_sentence": 1.5, "tokens_per_pass": 20.0, "edits_by_provenance": {"both": 4, "target": 1},
        "refused_edits": 3,
    }  # fmt: skip
    assert "verified: 80.0% of drafts stand as they are, 95.0% of drafted tokens accepted, 1.5 passes a sentence" in (
        describe_summary(found)
    )


def test_lines_for_people() -> None:
    lines = describe_summary(summarize(RESULTS, {"b.csv": "no header"}, wall_seconds=9.0, hourly_cost=3.6))
    assert lines[0] == "146 rows written, 6 of them with 8 edits"
    assert lines[1] == "240 sentences, 25.0% of them seen before; 30.0 sentences a second on 2 workers"
    assert lines[2].startswith("a million sentences: 9.26 hours, cost 33.3")
    assert lines[3] == "edits: PUNCT 4, SPELL 4"
    assert lines[4] == "4 rows set aside: not JSON 3, not UTF-8 1"
    assert lines[5] == "1 file could not be read, 1 file cut short"


def test_only_the_most_frequent_types_are_told() -> None:
    counts: dict[str, Any] = {f"type__T{n:02}": 100 - n for n in range(12)}
    summary = summarize([result(0, workers=1, seconds=1.0, **counts)], {}, wall_seconds=1.0)
    assert len(summary["types"]) == 12
    (line,) = (line for line in describe_summary(summary) if line.startswith("edits: "))
    assert line.endswith("T09 91"), "ten of them"


def test_progress_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("edit_gec.corpus.progress.time.monotonic", lambda: now)
    said: list[str] = []
    with Progress(units=4, size=400, is_shown=True, say=said.append) as progress:
        progress.add_rows(10)
        assert progress.line() == "10 rows, - rows/s, part 0 of 4, - left" and not said
        now += INTERVAL_S + 1
        progress.add_unit(100)
        progress.add_unit(100)
    assert said == ["edit-gec: 10 rows, 0 rows/s, part 1 of 4, 0:01:33 left"], "one line in half a minute"
    quiet = Progress(units=1, size=1, is_shown=False, say=said.append)
    now += INTERVAL_S + 1
    quiet.add_rows(1)
    assert len(said) == 1
