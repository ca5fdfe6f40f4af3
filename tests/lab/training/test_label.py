"""Labelling: only what is sure becomes a pair, what was interrupted goes on, and nothing is lost or written twice."""

from __future__ import annotations

import lzma
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.lab.training import label as module
from edit_gec.lab.training.label import CLEAN, PAIRS, STATE, Bounds, label, read_sentences
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Edit, apply

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


@given(st.lists(st.floats(0.1, 1.0), max_size=4), st.floats(0.1, 0.5), st.floats(0.5, 1.0))
def test_a_pair_has_sure_edits_only(sure: list[float], leave: float, take: float) -> None:
    words = [f"word{n} and some more text" for n in range(4)]
    text = " ".join(words)
    starts = [text.index(f"word{n}") for n in range(len(sure))]
    edits = tuple(Edit(at, at + 5, text[at : at + 5], "x", p) for at, p in zip(starts, sure, strict=True))
    target = Bounds(take, leave).judge(Correction(text, apply(text, edits), edits))
    if not sure:
        assert target == text
    else:
        assert (target is None) == (min(sure) < take)


def test_outputs_are_what_the_corrector_is_sure_of(corrector: Corrector, files: list[Path], tmp_path: Path) -> None:
    counts = list(label(corrector, files, tmp_path / "out", Bounds(0.5, 0.2)))[-1]
    pairs = [line.split("\t") for line in (tmp_path / "out" / PAIRS).read_text(encoding="utf-8").splitlines()]
    clean = (tmp_path / "out" / CLEAN).read_text(encoding="utf-8").splitlines()
    assert sum(counts.values()) == 2 * sum(line != "Too short." for line in LINES)
    assert len(pairs) == counts["pairs"] > 0 and len(clean) == counts["clean"] > 0
    assert ["a.txt", LINES[2], "I received your letter last week."] in pairs
    assert {name for name, _, _ in pairs} == {"a.txt", "b.tsv.xz"}
    assert LINES[1] in clean and LINES[0] not in clean


@pytest.mark.parametrize("stopped_after", [1, 3, 6])
def test_an_interrupted_call_goes_on(
    corrector: Corrector, files: list[Path], tmp_path: Path, stopped_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where more was written than the state knows of."""
    monkeypatch.setattr(module, "CHUNK", 5)
    bounds = Bounds(0.5, 0.2)
    whole = list(label(corrector, files, tmp_path / "whole", bounds))
    for _ in islice(label(corrector, files, tmp_path / "parts", bounds), stopped_after):
        pass
    with (tmp_path / "parts" / PAIRS).open("a") as file:
        file.write("half a li")
    rest = list(label(corrector, files, tmp_path / "parts", bounds))
    assert rest[-1] == whole[-1] and len(rest) == len(whole) - stopped_after
    for name in (PAIRS, CLEAN):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert list(label(corrector, files, tmp_path / "parts", bounds)) == []


def test_wrong_use(corrector: Corrector, files: list[Path], tmp_path: Path) -> None:
    for take, leave in ((0.2, 0.5), (1.5, 0.1), (0.5, 0.0)):
        with pytest.raises(InputError, match="expected 0 < leave"):
            Bounds(take, leave)
    next(label(corrector, files, tmp_path / "out", Bounds()))
    with pytest.raises(InputError, match="other files or bounds"):
        next(label(corrector, files, tmp_path / "out", Bounds(0.9)))
    with pytest.raises(InputError, match="two files of one name"):
        next(label(corrector, [*files, tmp_path / files[0].name], tmp_path / "out", Bounds()))
    (tmp_path / "out" / CLEAN).write_bytes(b"")
    with pytest.raises(InputError, match=r"clean.txt: shorter than .*state.json says"):
        next(label(corrector, files, tmp_path / "out", Bounds()))
    (tmp_path / "out" / STATE).write_text("{")
    with pytest.raises(InputError, match="not a state"):
        next(label(corrector, files, tmp_path / "out", Bounds()))
    (tmp_path / "bad.xz").write_bytes(b"no")
    for path in (tmp_path / "none.txt", tmp_path / "bad.xz"):
        with pytest.raises(InputError, match="not readable"):
            list(read_sentences(path))
