"""Matches and hits of each rule in an M2 file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edit_gec.cli.main import main
from edit_gec.lab.evaluation.rule_hits import RuleHits, count_hits
from edit_gec.rules.engine import load_rules

M2 = """\
S They was late .
A 1 2|||R:VERB:SVA|||were|||REQUIRED|||-NONE-|||0

S We was there , you was not .
A 1 2|||R:VERB|||are|||REQUIRED|||-NONE-|||0
A 0 2|||R:OTHER|||I was|||REQUIRED|||-NONE-|||1

S It is of of it , thanks alot .
A 2 4|||R:OTHER|||of|||REQUIRED|||-NONE-|||0
A 7 8|||R:OTHER|||a lot|||REQUIRED|||-NONE-|||0
"""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.m2"
    path.write_text(M2, encoding="utf-8")
    return path


def test_hits_and_other_changes_are_counted(gold: Path) -> None:
    counts = {each.rule: each for each in count_hits(str(gold))}
    assert counts["they-was"] == RuleHits("they-was", 3, 1, 1)
    assert counts["doubled"] == RuleHits("doubled", 1, 1, 0) and counts["apart"].hits == 1
    assert counts.keys() == {"doubled", *(rule.name for rule in load_rules())}


def test_the_command_prints_them(gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--rules", str(gold)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["they-was", "3", "1", "1", "1"] and lines[-1].split() == ["all", "5", "3", "1", "1"]
    assert main(["score", "--rules", str(gold), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {"rule": "they-was", "matches": 3, "hits": 1, "seen": 1}
