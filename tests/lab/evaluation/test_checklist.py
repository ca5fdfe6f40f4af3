"""Cases: reading them, what passes, what a second correction shows, and the command around them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.checklist import (
    Case,
    CaseOutcome,
    format_table,
    read_cases,
    read_lines_as_cases,
    run_checklist,
    to_data,
)
from edit_gec.lab.evaluation.systems import ScoredSystem

CASES = [
    {"kind": "names", "text": "Siobhan moved to Kraków."},
    {"kind": "names", "text": "The teh of Teheran."},
    {"kind": "spelling", "text": "It is teh end.", "accept": ["It is the end.", "It's the end."]},
    {"kind": "spelling", "text": "Nothing happens here", "accept": ["Nothing happens here."]},
]
SED = "sed s/teh/the/ {in} > {out}"
GROWS = "sed s/$/!/ {in} > {out}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n\n".join(json.dumps(case) for case in CASES) + "\n", encoding="utf-8")
    return path


def test_what_passes() -> None:
    def passes(case: Case, corrected: str) -> bool:
        return CaseOutcome(case, corrected, corrected).passed

    assert passes(Case("x", "Fine."), "Fine.") and not passes(Case("x", "Fine."), "Fine!")
    wrong = Case("x", "Its late.", ("It's late.", "It is late."))
    assert [passes(wrong, text) for text in ("It is late.", "Its late.", "It was late.")] == [True, False, False]


def test_shares_by_kind(file: Path) -> None:
    judged = run_checklist(file, ScoredSystem(SED))
    assert judged.kinds == {"names": (1, 2), "spelling": (1, 2)} and (judged.passed, judged.changed) == (2, 2)
    assert judged.changed_again == 0
    nothing = run_checklist(file, ScoredSystem("none"))
    assert nothing.kinds == {"names": (2, 2), "spelling": (0, 2)} and nothing.changed == 0
    assert run_checklist(file, ScoredSystem(GROWS)).changed_again == 4


def test_what_is_shown(file: Path) -> None:
    shown = format_table([run_checklist(file, ScoredSystem(SED))])
    for line in (
        "cases.jsonl, sed s/teh/the/ {in} > {out}",
        "kind      passed  of     %",
        "names          1   2  50.0",
        "all            2   4  50.0",
        "changed: 2 of 4 (50.0 %); corrected again: 0 of 4 (0.0 %)",
        "  failed, names: The teh of Teheran.\n      -> The the of Teheran.",
        "  failed, spelling: Nothing happens here\n      -> left alone",
    ):
        assert line + "\n" in shown
    assert "Siobhan" not in shown
    (row,) = to_data([run_checklist(file, ScoredSystem(GROWS))])
    assert row["kinds"] == {"names": (0, 2), "spelling": (0, 2)} and len(row["failed"]) == 4
    assert row["again"][0] == ["Siobhan moved to Kraków.", "Siobhan moved to Kraków.!", "Siobhan moved to Kraków.!!"]
    assert row["signature"].startswith("CASES|set:cases.jsonl:")


def test_a_twin_is_a_case_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "twins.jsonl"
    case = {"kind": "its", "text": "Its late, teh end.", "accept": ["It's late, the end."], "twin": "Its roof is old."}
    path.write_text(json.dumps(case) + "\n", encoding="utf-8")
    assert read_cases(path)[1] == Case("its, twin", "Its roof is old.")
    judged = run_checklist(path, ScoredSystem("sed s/Its/It\\'s/\\;s/teh/the/ {in} > {out}"))
    assert (judged.wrong, judged.right) == ((1, 1), (0, 1))
    (row,) = to_data([judged])
    assert row["kinds"] == {"its": (1, 1), "its, twin": (0, 1)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: expected"),
        ("[]", "line 2: expected"),
        ('{"kind": "x"}', "line 2: expected"),
        ('{"kind": "x", "text": ""}', "line 2: kind, text and accepted corrections must be strings"),
        ('{"kind": "x", "text": 3}', "line 2: kind, text and accepted corrections must be strings"),
        ('{"kind": "x", "text": "a", "accept": [1]}', "line 2: kind, text and accepted"),
        ('{"kind": "x", "text": "a", "accept": 1}', "line 2: expected"),
        ('{"kind": "x", "text": "a\\nb"}', "line 2: a text is one line"),
        ('{"kind": "x", "text": "a", "twin": "a\\nb"}', "line 2: a text is one line"),
        ('{"kind": "x", "text": "a", "twin": 1}', "line 2: a text is one line"),
        ('{"kind": "x", "text": "a", "accept": ["a", "b"]}', "line 2: a text is one line, and none of its own"),
    ],
)
def test_broken_cases(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"kind": "x", "text": "fine"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        read_cases(path)
    assert str(path) in str(raised.value)


def test_empty_files(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="no cases in it"):
        read_cases(path)
    with pytest.raises(InputError, match="no text in it"):
        read_lines_as_cases(path)


def test_the_command(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--cases", str(file), "--system", SED, "--system", "none", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["system"], row["passed"]) for row in rows] == [(SED, 2), ("none", 2)]
    text = tmp_path / "any.txt"
    text.write_text("One line.\n\nAnother line.\n", encoding="utf-8")
    assert main(["score", "--cases", str(text), "--system", GROWS]) == 0
    shown = capsys.readouterr().out
    assert "changed: 2 of 2 (100.0 %); corrected again: 2 of 2 (100.0 %)" in shown and "failed" not in shown
    with pytest.raises(SystemExit, match="2"):
        main(["score", "--cases", str(file), "--hyp", str(text)])
    assert "--system, not --hyp" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["score", "--cases", str(file), "--clean", str(text), "--system", "none"])
    assert "give one test set" in capsys.readouterr().err
