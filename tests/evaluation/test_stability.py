"""Stability: which suggestions are left when the first one of a sentence is accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.evaluation.edit_kinds import TextEdit
from edit_gec.evaluation.stability import Acceptance, format_table, read_sentences, score_stability, to_data

STEADY = "sed 's/teh/the/;s/dont/do not/;s/becuase/because/' {in} > {out}"
# Sees the other errors only as long as the first one is there.
FORGETFUL = "sed '/teh/s/dont/do not/;/teh/s/becuase/because/;s/teh/the/' {in} > {out}"
FICKLE = "sed '/teh/!s/dont/does not/;s/dont/do not/;s/teh/the/' {in} > {out}"
TEXT = "Nothing is wrong.\n\nteh end.\nI know teh men dont come becuase of it.\nteh men dont come.\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("system", "several", "vanish", "nothing", "others", "changed"),
    [
        ("none", 0, 0, 0, 0, 0),
        (STEADY, 2, 0, 0, 3, 0),
        (FORGETFUL, 2, 2, 2, 3, 0),
        (FICKLE, 2, 0, 0, 2, 2),
    ],
)
def test_counts(file: Path, system: str, several: int, vanish: int, nothing: int, others: int, changed: int) -> None:
    counts = score_stability(file, system).counts
    assert (counts["sentences"], counts["with several suggestions"]) == (4, several)
    assert (counts["some vanish"], counts["nothing is suggested any more"]) == (vanish, nothing)
    assert (counts["other suggestions"], counts["of them changed"]) == (others, changed)


def test_offsets_after_the_first_is_accepted() -> None:
    """The second suggestion moves with the text; the third is now made with another word; the fourth is gone."""
    before, after = "a bb cc dd ee", "aaa bb cc dd ee"
    suggested = [TextEdit(0, 1, "aaa"), TextEdit(2, 4, "b"), TextEdit(5, 7, "c"), TextEdit(8, 10, "d")]
    acceptance = Acceptance(before, suggested, after, [TextEdit(4, 6, "b"), TextEdit(7, 9, "x")])
    assert [after[e.start : e.end] for e in acceptance.left] == ["bb", "cc", "dd"]
    assert (acceptance.changed, acceptance.vanished) == (1, 1)


def test_what_is_shown(file: Path) -> None:
    score = score_stability(file, FORGETFUL)
    shown = format_table([score])
    assert "others vanish in 100.0 % of the sentences with several suggestions\n" in shown
    assert "lost: 'dont' -> 'do not', 'becuase' -> 'because'\n" in shown
    (row,) = to_data([score])
    assert row["others_vanish_percent"] == 100 and row["signature"].startswith(
        "STABILITY|accept:first|set:sentences.txt:"
    )
    assert score_stability(file, "none").vanish_rate == 0


def test_m2_files_are_detokenized(tmp_path: Path) -> None:
    path = tmp_path / "x.m2"
    path.write_text("S It is n't mine , Ann .\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n\n", encoding="utf-8")
    assert read_sentences(path) == ["It isn't mine, Ann."]


def test_a_file_without_text(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="no text in it"):
        read_sentences(path)


def test_the_command(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--stability", str(file), "--system", STEADY, "--system", FORGETFUL, "--format", "json"]) == 0
    assert [row["others_vanish_percent"] for row in json.loads(capsys.readouterr().out)] == [0, 100]
    with pytest.raises(SystemExit):
        main(["score", "--stability", str(file), "--hyp", str(file)])
    assert "--system, not --hyp" in capsys.readouterr().err
