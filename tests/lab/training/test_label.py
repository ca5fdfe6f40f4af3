"""Labelling: every proposal with its confidence stays, an interrupted call goes on, nothing is lost."""

from __future__ import annotations

import json
import lzma
import random
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.lab.training import label as module
from edit_gec.lab.training.label import EDITS, STATE, JudgedPairs, Proposals, add_rest, label, read_lines
from edit_gec.lab.training.labelled_text import LabelledText
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.speculative.judge import LanguageJudge
from edit_gec.text.edits import Change, apply_changes

LINES = [
    "She definately likes the old house by the sea.", "They walked home together after school.",
    "I recieved your letter last week.", "Too short.", "We was at home when you called us.",
    "The meeting begins at nine in the morning.",
] * 3  # fmt: skip


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector.load(threads=1)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    plain, packed = tmp_path / "a.txt", tmp_path / "b.tsv.xz"
    plain.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    packed.write_bytes(lzma.compress("".join(f"forum\t{line}\n" for line in LINES[::-1]).encode()))
    return [plain, packed]


def test_outputs_are_what_the_corrector_proposes(corrector: Corrector, files: list[Path], tmp_path: Path) -> None:
    counts = list(label(Proposals(corrector), files, tmp_path / "out"))[-1]
    lines = [line.split("\t") for line in (tmp_path / "out" / EDITS).read_text(encoding="utf-8").splitlines()]
    assert counts["read"] == 2 * sum(line != "Too short." for line in LINES)
    assert len(lines) == counts["with edits"] > 0
    assert {name for name, _, _ in lines} == {"a.txt", "b.tsv.xz"}
    everything = corrector.with_settings(0.0, None)
    for _, edits, source in lines:
        wanted = everything.correct(source, lines=True, markup=False).edits
        assert json.loads(edits) == [[e.start, e.end, e.replacement, round(e.confidence, 3)] for e in wanted] != []
    assert any(source == LINES[2] and "received" in edits for _, edits, source in lines)


@pytest.mark.parametrize("stopped_after", [1, 3, 6])
def test_an_interrupted_call_goes_on(
    corrector: Corrector, files: list[Path], tmp_path: Path, stopped_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where more was written than the state knows of."""
    monkeypatch.setattr(module, "CHUNK", 5)
    whole = list(label(Proposals(corrector), files, tmp_path / "whole"))
    for _ in islice(label(Proposals(corrector), files, tmp_path / "parts"), stopped_after):
        pass
    with (tmp_path / "parts" / EDITS).open("a") as file:
        file.write("half a li")
    rest = list(label(Proposals(corrector), files, tmp_path / "parts"))
    assert rest[-1] == whole[-1] and len(rest) == len(whole) - stopped_after
    assert (tmp_path / "parts" / EDITS).read_bytes() == (tmp_path / "whole" / EDITS).read_bytes()
    assert list(label(Proposals(corrector), files, tmp_path / "parts")) == []


def test_wrong_use(corrector: Corrector, files: list[Path], tmp_path: Path) -> None:
    next(label(Proposals(corrector), files, tmp_path / "out"))
    with pytest.raises(InputError, match="other files"):
        next(label(Proposals(corrector), files[:1], tmp_path / "out"))
    with pytest.raises(InputError, match="two files of one name"):
        next(label(Proposals(corrector), [*files, tmp_path / files[0].name], tmp_path / "out"))
    (tmp_path / "out" / EDITS).write_bytes(b"")
    with pytest.raises(InputError, match=r"edits.tsv: shorter than .*state.json says"):
        next(label(Proposals(corrector), files, tmp_path / "out"))
    for content in ("{", '{"files": ["a.txt", "b.tsv.xz"], "bytes": {}}', "[]"):
        (tmp_path / "out" / STATE).write_text(content)
        with pytest.raises(InputError, match="not a state"):
            next(label(Proposals(corrector), files, tmp_path / "out"))
    (tmp_path / "bad.xz").write_bytes(b"no")
    for path in (tmp_path / "none.txt", tmp_path / "bad.xz"):
        with pytest.raises(InputError, match="not readable"):
            list(read_lines(path))


def test_a_pair_keeps_its_edits_with_what_the_judge_says(tmp_path: Path, smollm2: Path, shipped: Tokens) -> None:
    """What is written anew for no reason is doubted; an error is not. Marks and capitals are taken as they are."""
    pairs = tmp_path / "pairs.tsv"
    lines = [
        "blog\tIn this post I will describes how we test.\tIn this post, I will describe how we test.",
        "blog\tWhat can we do to increase the work?\tWhat can we do to improve the work?",
        "blog\tNothing has changed here.\tNothing has changed here.",
    ]
    pairs.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    labeller = JudgedPairs(LanguageJudge.load(smollm2), shipped)
    assert list(label(labeller, [pairs], tmp_path / "out"))[-1] == {"read": 3, "with edits": 2}
    first, second = (line.split("\t") for line in (tmp_path / "out" / EDITS).read_text(encoding="utf-8").splitlines())
    confidence = {text: sure for _, _, text, sure in json.loads(first[1]) + json.loads(second[1])}
    assert confidence[","] == confidence["In this post"] == 1.0
    assert confidence["describe"] > 0.9 and confidence["improve"] < 0.6
    sources = [LabelledText(tmp_path / "out").draw(random.Random(n)).source for n in range(9)]
    assert {*sources} == {line.split("\t")[1] for line in lines[:2]}


@law
@given(st.text(st.characters(exclude_categories=["C"]), max_size=30), st.data())
def test_edits_and_the_rest_of_a_pair_make_its_target(source: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(source)), max_size=6)))
    edits = [
        Change(a, b, data.draw(st.sampled_from(["", "x "])), 0.5) for a, b in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    whole = list(add_rest(source, edits))
    assert apply_changes(source, whole) == apply_changes(source, edits)
    assert [change for change in whole if change.confidence < 1] == edits
    if edits:
        assert "".join(source[change.start : change.end] for change in whole) == source


def test_a_line_that_is_no_pair(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("Only one column stands here.\n", encoding="utf-8")
    with pytest.raises(InputError, match="one column; expected a source, a tab and its correction"):
        list(label(JudgedPairs(None, None), [pairs], tmp_path / "out"))  # type: ignore[arg-type]
