"""Labelling: every proposal with its confidence stays, an interrupted call goes on, nothing is lost."""

from __future__ import annotations

import json
import lzma
from itertools import islice
from pathlib import Path

import pytest

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.lab.training import label as module
from edit_gec.lab.training.label import EDITS, STATE, label, read_sentences

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
    counts = list(label(corrector, files, tmp_path / "out"))[-1]
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
    whole = list(label(corrector, files, tmp_path / "whole"))
    for _ in islice(label(corrector, files, tmp_path / "parts"), stopped_after):
        pass
    with (tmp_path / "parts" / EDITS).open("a") as file:
        file.write("half a li")
    rest = list(label(corrector, files, tmp_path / "parts"))
    assert rest[-1] == whole[-1] and len(rest) == len(whole) - stopped_after
    assert (tmp_path / "parts" / EDITS).read_bytes() == (tmp_path / "whole" / EDITS).read_bytes()
    assert list(label(corrector, files, tmp_path / "parts")) == []


def test_wrong_use(corrector: Corrector, files: list[Path], tmp_path: Path) -> None:
    next(label(corrector, files, tmp_path / "out"))
    with pytest.raises(InputError, match="other files"):
        next(label(corrector, files[:1], tmp_path / "out"))
    with pytest.raises(InputError, match="two files of one name"):
        next(label(corrector, [*files, tmp_path / files[0].name], tmp_path / "out"))
    (tmp_path / "out" / EDITS).write_bytes(b"")
    with pytest.raises(InputError, match=r"edits.tsv: shorter than .*state.json says"):
        next(label(corrector, files, tmp_path / "out"))
    for content in ("{", '{"files": ["a.txt", "b.tsv.xz"], "bytes": {}}', "[]"):
        (tmp_path / "out" / STATE).write_text(content)
        with pytest.raises(InputError, match="not a state"):
            next(label(corrector, files, tmp_path / "out"))
    (tmp_path / "bad.xz").write_bytes(b"no")
    for path in (tmp_path / "none.txt", tmp_path / "bad.xz"):
        with pytest.raises(InputError, match="not readable"):
            list(read_sentences(path))
