"""Hypothesis files that fit their test set, and those that do not; what makes two signatures differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edit_gec.errors import InputError
from edit_gec.lab.evaluation.datasets import TestSet
from edit_gec.lab.evaluation.hypotheses import Hypothesis, make_hypothesis, read_hypothesis
from edit_gec.lab.evaluation.signature import ScoreOptions, build_signature
from edit_gec.lab.evaluation.systems import ScoredSystem, SystemOutput

TOKENS = TestSet(
    "toy",
    metric="gleu",
    lines=["He go home .", "It is n't mine ."],
    references=[["He goes home .", "It is n't mine ."]],
)
RAW = TestSet("clean", metric="false-alarms", lines=["It's  fine. "], raw=True)
M2 = """S He go home .
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0

S It is n't mine .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
"""


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_lines(tmp_path: Path) -> None:
    found = read_hypothesis(TOKENS, write(tmp_path / "a.txt", "He goes home . \n It is n't mine .\n"))
    assert found.lines == ["He goes home .", "It is n't mine ."] and found.edits is None
    raw = read_hypothesis(RAW, write(tmp_path / "b.txt", "It's  fine. \n"))
    assert raw.lines == ["It's  fine. "], "spaces of raw text count"


@pytest.mark.parametrize("name", ["a.m2", "a.txt"])
def test_m2_whatever_the_file_is_called(tmp_path: Path, name: str) -> None:
    found = read_hypothesis(TOKENS, write(tmp_path / name, M2))
    assert found.lines == ["He goes home .", "It is n't mine ."]
    assert found.edits is not None and [len(each.annotators[0]) for each in found.edits] == [1, 0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "He goes home .\n", "a.txt: 1 sentences, toy has 2; same set, same order?"),
        ("a.m2", M2.partition("\n\n")[0] + "\n", "a.m2: 1 sentences, toy has 2"),
        ("a.m2", M2.replace("mine", "yours"), "a.m2, sentence 2: other tokens than in the reference"),
        ("a.m2", M2.replace("\n\nS", "\nA 0 2|||R:OTHER|||x|||REQUIRED|||-NONE-|||0\n\nS"),
         "a.m2, sentence 1, annotator 0: edits 0 2 and 1 2 overlap"),
    ],
)  # fmt: skip
def test_what_does_not_fit(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_hypothesis(TOKENS, write(tmp_path / name, text))


COPY = "cp {in} {out}"
FIX = "sed 's/go /goes /' {in} > {out}"


def test_systems_see_raw_text_and_are_scored_in_tokens() -> None:
    found = make_hypothesis(TOKENS, ScoredSystem(FIX))
    assert [raw.text for raw in found.raws] == ["He go home.", "It isn't mine."]
    assert [output.text for output in found.outputs] == ["He goes home.", "It isn't mine."]
    assert found.lines == ["He goes home .", "It is n't mine ."] and 0 <= (found.seconds or 0) < 600
    assert make_hypothesis(RAW, ScoredSystem(COPY)).lines == RAW.lines


def parts(test: TestSet, hypothesis: Hypothesis, options: ScoreOptions) -> dict[str, str]:
    return dict(part.split(":", 1) for part in build_signature(test, hypothesis, options).split("|"))


def test_a_signature_names_what_must_be_equal() -> None:
    hypothesis = Hypothesis("folder/a.txt", ["He goes home .", "It is n't mine ."])
    options = ScoreOptions()
    first = parts(TOKENS, hypothesis, options)
    assert first["GLEU"] == "n1-4" and (first["refs"], first["draws"]) == ("1", "1")
    assert first["set"] == f"toy:{TOKENS.digest}" and first["sys"] == "a.txt" and first["bs"] == "1000:12345"
    assert "in" not in first, "who made a file saw nothing that we know"
    other = parts(TOKENS, replace(hypothesis, lines=["He go home .", "It is n't mine ."]), options)
    assert {name for name in first if first[name] != other[name]} == {"hyp"}
    more = replace(TOKENS, references=TOKENS.references * 2)
    assert parts(more, hypothesis, options)["draws"] == "500"


@pytest.mark.parametrize(("test", "seen"), [(TOKENS, "detokenised"), (RAW, "raw")])
def test_a_signature_says_what_a_system_saw(test: TestSet, seen: str) -> None:
    ran = Hypothesis(
        COPY, list(test.lines), str(ScoredSystem(COPY)), outputs=[SystemOutput(line) for line in test.lines]
    )
    found = parts(test, ran, ScoreOptions())
    assert found["in"] == seen and found["sys"] == COPY


def test_an_errant_signature_names_its_tools() -> None:
    pytest.importorskip("errant")
    from edit_gec.annotation.m2 import M2Edit, M2Sentence

    gold = [M2Sentence(["He", "go", "."], {0: [M2Edit(1, 2, "R:VERB:SVA", "goes")]})]
    test = TestSet("m2", metric="errant", lines=["He go ."], m2=gold)
    found = parts(test, Hypothesis("a.txt", ["He goes ."]), ScoreOptions(mode="cs"))
    assert (found["ERRANT"], found["mode"], found["ref"]) == ("F0.5", "cs", "gold")
    assert {"errant", "spacy", "nlp"} <= set(found)
    lines = replace(test, m2=[], references=[["He goes ."]])
    assert parts(lines, Hypothesis("a.txt", ["He goes ."]), ScoreOptions())["ref"] == "auto"
