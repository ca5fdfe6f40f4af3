"""Judgements of readers: what is counted, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.reading import JUDGEMENTS, Judgements, Rate, format_table, read_judgements, to_data


@law
@given(st.integers(0, 300), st.integers(1, 300))
def test_an_interval_holds_its_share(count: int, of: int) -> None:
    rate = Rate(min(count, of), of)
    assert rate.interval is not None and rate.value is not None
    low, high = rate.interval
    assert 0 <= low <= rate.value + 1e-9 and rate.value - 1e-9 <= high <= 1 and low < high
    wider = Rate(rate.hits * 4, of * 4).interval
    assert wider is not None and wider[1] - wider[0] < high - low, "more edits tell more"


def test_nothing_has_no_share() -> None:
    reading = Judgements(Counter(), 0)
    assert reading.per_thousand is None
    assert all(rate.value is None and rate.interval is None for rate in reading.rates.values())
    assert format_table(reading).count(" -") == len(reading.rates)


def test_the_shares() -> None:
    counts = Counter(right=6, harmless=1, half=1, wrong=1, damage=1, missed=13)
    rates = {name: (rate.hits, rate.of) for name, rate in Judgements(counts, 4000).rates.items()}
    assert rates == {
        "right": (6, 10),
        "right or harmless": (7, 10),
        "hit correction": (6, 20),
        "wrong correction": (1, 20),
        "under-correction": (13, 20),
        "over-correction": (3, 10),
    }
    assert Judgements(counts, 4000).per_thousand == 2.5


def test_a_file_of_judgements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "read.jsonl"
    rows = [{"text": "a", "words": 300}, *({"text": "a", "original": "x", "read": each} for each in JUDGEMENTS)]
    path.write_text("\n".join(map(json.dumps, [*rows, {"text": "b", "words": 200}])) + "\n\n", encoding="utf-8")
    assert read_judgements(path) == Judgements(Counter(JUDGEMENTS), 500)
    assert main(["score", "--read", str(path)]) == 0
    assert "500 words, 10.00 edits per 1,000" in capsys.readouterr().out
    assert main(["score", "--read", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(to_data(read_judgements(path))))


@pytest.mark.parametrize(
    "line", ["x", "[]", "{}", '{"read": "good"}', '{"words": "3"}', '{"words": -1}', '{"words": true}']
)
def test_a_line_that_is_no_judgement_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "read.jsonl"
    path.write_text('{"words": 3}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"read\.jsonl:2: (?:expected|not JSON)"):
        read_judgements(path)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_judgements("no-such-file.jsonl")
