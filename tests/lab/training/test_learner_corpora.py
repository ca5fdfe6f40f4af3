"""Corpora in their published layouts, in hand-written files, become pairs of raw text."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import runpy
from functools import partial
from pathlib import Path

import pytest

from edit_gec.errors import InputError
from edit_gec.lab.training.clean_prose import fingerprint
from edit_gec.lab.training.edit_pairs import RealEdits
from edit_gec.lab.training.entry import run_main

ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "profiles" / "training" / "learner_corpora.py"))
corrupted, main, read_c4_200m, read_clang8, read_m2, read_tsv, write = (
    SCRIPT[name] for name in "corrupted main read_c4_200m read_clang8 read_m2 read_tsv write".split()
)

M2 = """S It 's a well - known problem , said she .
A 8 10|||R:WO|||she said|||REQUIRED|||-NONE-|||0
A 4 4|||UNK||||||REQUIRED|||-NONE-|||0

S He go home .
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:TENSE|||went|||REQUIRED|||-NONE-|||1

S All is well .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
"""
FIRST, SECOND = "We bought bread – and cheese.", "The café opens at eight."


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_m2(tmp_path: Path) -> None:
    assert list(read_m2(put(tmp_path / "ABC.train.gold.bea19.m2", M2))) == [
        ("It's a well-known problem, said she.", "It's a well-known problem, she said."),
        ("He go home.", "He goes home."),
        ("He go home.", "He went home."),
        ("All is well.", "All is well."),
    ]


def digest(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def test_clang8(tmp_path: Path) -> None:
    path = put(tmp_path / "clang8.tsv", "I do n't likes it .\tI do n't like it .\n" * 2)
    assert list(read_clang8(path)) == [("I don't likes it.", "I don't like it.")] * 2
    assert next(iter(read_tsv(path))) == ("I do n't likes it .", "I do n't like it .")
    with pytest.raises(InputError, match="line 2: expected source and target, not 3 columns"):
        list(read_clang8(put(tmp_path / "x.tsv", "a\tb\na\tb\tc\n")))


@pytest.fixture
def c4(tmp_path: Path) -> dict[str, Path]:
    """Edits in the order of their hashes, the targets in the same order, and C4 itself."""
    by_hash = sorted([(digest(FIRST), FIRST), (digest(SECOND), SECOND), ("00" * 16, "Elsewhere.")])
    bytes_of = {FIRST: [(3, 9, "buyed"), (20, 31, "\tand cheeses"[1:])], SECOND: [(0, 3, ""), (10, 15, "open")]}
    edits = "".join(
        f"{h}\t{start}\t{end}\t{new}\n" for h, text in by_hash for start, end, new in bytes_of.get(text, [(0, 1, "x")])
    )
    targets = "".join(f"{h}\t{text}\n" for h, text in by_hash if text != "Elsewhere.")
    with gzip.open(tmp_path / "c4-train.00000-of-01024.json.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"text": f"Nothing here.\n{FIRST}", "url": "x"}) + "\n" + json.dumps({"text": SECOND}))
    return {
        "edits": put(tmp_path / "edits.tsv-00000-of-00010", edits + "not an edit\n"),
        "targets": put(tmp_path / "target_sentences.tsv-00000-of-00010", targets),
        "c4": tmp_path / "c4-train.00000-of-01024.json.gz",
    }


def test_c4_200m(c4: dict[str, Path]) -> None:
    wanted = {("We buyed bread – and cheeses", FIRST), (" café open at eight.", SECOND)}
    assert set(read_c4_200m(c4["edits"], [c4["targets"]])) == wanted
    assert set(read_c4_200m(c4["edits"], [c4["c4"]])) == wanted


def test_c4_200m_of_another_shard(c4: dict[str, Path], tmp_path: Path) -> None:
    other = put(tmp_path / "other.tsv", f"{digest('x')}\tx\n")
    with pytest.raises(InputError, match=r"none of its hashes is one of .*other.tsv; another shard"):
        list(read_c4_200m(c4["edits"], [other]))
    with pytest.raises(InputError, match="expected --text"):
        list(read_c4_200m(c4["edits"], []))


def test_edits_that_do_not_fit() -> None:
    assert corrupted("é a", [(0, 2, "e")]) == "e a"
    assert corrupted("é a", [(0, 1, "e")]) is None, "half a character"
    assert corrupted("é a", [(0, 9, "e")]) is None and corrupted("abc", [(1, 2, ""), (1, 3, "")]) is None


def test_what_is_written_is_what_training_reads(tmp_path: Path) -> None:
    pairs = [(" He  go\thome. ", "He goes home."), ("", "x"), ("Held Out, this one", "Held out: this one."), ("a", "b")]
    path = tmp_path / "learner" / "some.tsv"
    assert write(pairs, path, "wi", [fingerprint("held out this ONE.")]) == 2
    assert path.read_text(encoding="utf-8") == "wi\tHe go home.\tHe goes home.\nwi\ta\tb\n"
    assert RealEdits(path.parent).draw(random.Random(1)) in [("He go home.", "He goes home."), ("a", "b")]
    assert [p.name for p in path.parent.iterdir()] == ["some.tsv"]


def test_the_command(c4: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, held_out = put(tmp_path / "x.m2", M2), put(tmp_path / "dev.m2", "S He go home .\n")
    out = tmp_path / "learner" / "x.tsv"
    assert main(["m2", str(corpus), "-o", str(out), "--exclude", str(held_out)]) == 0
    assert capsys.readouterr().err == f"{out}: 2 pairs\n"
    assert main(["c4_200m", str(c4["edits"]), "--text", str(c4["targets"]), "-o", str(out)]) == 0
    capsys.readouterr()
    for wrong, message in (
        (["m2", str(tmp_path / "missing.m2"), "-o", str(out)], "missing.m2: No such file"),
        (["m2", str(corpus), "-o", str(out), "--exclude", str(tmp_path / "no.m2")], "no.m2: No such file"),
        (["m2", str(corpus), "-o", str(corpus / "x.tsv")], "x.m2: File exists"),
    ):
        with pytest.raises(SystemExit, match=r"^2$"):
            run_main(partial(main, wrong))
        said = capsys.readouterr().err
        assert said.startswith("edit-gec: ") and message in said and said.count("\n") == 1
    with pytest.raises(SystemExit, match=r"^0$"):
        run_main(lambda: 0)
    assert out.read_text(encoding="utf-8").count("\n") == 2, "what was there is still whole"
