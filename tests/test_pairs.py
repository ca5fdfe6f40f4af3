"""Training text: which sentences are clean enough, and what is left out of it."""

from __future__ import annotations

import lzma
import random
from pathlib import Path

import pytest
from conftest import PROSE

from edit_gec.errors import InputError
from edit_gec.pairs import MIX, fingerprint, fragment, is_clean, prepare, units


@pytest.mark.parametrize(
    ("sentence", "clean"),
    [
        ("She goes to school every day.", True),
        ("“It’s getting late,” he said.", True),
        ("2 apples and a pear are left.", True),
        ("A heading without a stop", True),
        ("", False),
        ("Hi.", False),
        ("no capital at the start.", False),
        ("See https://example.org for more.", False),
        ("Use the `ls` command here.", False),
        ("I, um, do not know.", False),
        ("He said said it twice.", False),
        ("He had had enough of it.", True),
        ('An "open quotation is not clean.', False),
        ("A bracket (is left open here.", False),
        ("Привет, как дела сегодня?", False),
        ("Wait!! What is this now?", False),
        ("In 1990 1991 1992 1993 1994 1995 it was.", False),
        ("Word " * 61 + "end.", False),
    ],
)  # fmt: skip
def test_what_is_clean(sentence: str, clean: bool) -> None:
    assert is_clean(sentence) == clean


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        opener = lzma.open if name.endswith("_xz") else open
        with opener(folder / name.replace("_xz", ".xz").replace("__", "."), "wt", encoding="utf-8") as file:
            file.write(content)
    return folder


def test_units_are_sentences_and_neighbours() -> None:
    paragraphs = [
        "He came home. It was late. I mean, yes. She was asleep.",
        "A heading",
        "Mr. Smith left early this morning.",
    ]
    made = [unit for seed in range(200) for unit in units(paragraphs, 1.0, random.Random(seed))]
    assert set(made) == {
        "He came home.", "It was late.", "He came home. It was late.", "She was asleep.", "A heading",
        "Mr. Smith left early this morning.",
    }  # fmt: skip
    shares = {unit: made.count(unit) / 200 for unit in made}
    assert 0.05 < shares["He came home. It was late."] < 0.3 and 0.3 < shares["A heading"] < 0.7
    assert 0.15 < sum(1 for seed in range(300) for _ in units(["He came home."], 0.3, random.Random(seed))) / 300 < 0.45


def test_excluded_sentences_are_in_no_unit() -> None:
    held_out = {fingerprint("it was LATE")}
    made = {
        u
        for seed in range(99)
        for u in units(["He came home. It was late. We ate."], 1.0, random.Random(seed), held_out)
    }
    assert made == {"He came home.", "We ate."}, "not even joined with a neighbour"


def test_prepare(tmp_path: Path) -> None:
    prose = write(
        tmp_path / "prose",
        tatoeba_en__txt=PROSE.read_text(encoding="utf-8") + "she WALKED home, at 9.\nShe walked home at 10.\n",
        eips__txt_xz="She walked home at ten.\nThe rain stopped at last.\n" * 3,
        unknown__txt="Nobody reads this file here.\n",
    )
    held_out = write(
        tmp_path / "dev",
        dev__m2="S He come home .\nA 1 2|||R:VERB:SVA|||comes|||REQUIRED|||-NONE-|||0\n\nS The train is often late .\n",
        dev__txt="the soup is cold\nThere are many reasons to walk more. Nothing else.\n",
    )
    everything, kept = tmp_path / "a" / "all.txt", tmp_path / "b" / "kept.txt"
    count = prepare(prose, everything)
    lines = everything.read_text(encoding="utf-8").splitlines()
    assert count == len(lines) > 65
    assert len({fingerprint(line) for line in lines}) == count, "no duplicates, whatever their case and digits"
    assert sum("alked home at" in line for line in lines) == 2 and not any("Nobody reads" in line for line in lines)
    assert prepare(prose, kept, exclude=sorted(held_out.iterdir())) < count
    left = kept.read_text(encoding="utf-8")
    assert "The train is often late." in " ".join(lines)
    assert "The train is often late." not in left
    assert "There are many reasons to walk more." not in left, "the file has it in a longer line"
    assert sorted(left.splitlines()) != left.splitlines()
    again = tmp_path / "again.txt"
    prepare(prose, again, exclude=sorted(held_out.iterdir()))
    assert again.read_text(encoding="utf-8") == left


def test_prepare_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{tmp_path}: none of the corpora \(changelog, .*data/README.md"):
        prepare(tmp_path, tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists() and len(MIX) > 10


def test_fragments_need_no_correction() -> None:
    rng = random.Random(5)
    made = [fragment("They don't like NASA's new plan (yet).", rng) for _ in range(400)]
    whole = {"They don't like NASA's new plan (yet):", "THEY DON'T LIKE NASA'S NEW PLAN (YET)."}
    assert whole <= set(made), "what opens a list; capitals"
    assert all(line in whole or len(line.split()) <= 6 and not line.endswith((".", ";")) for line in made)
    assert "Don't Like NASA's New Plan" in made, "a title keeps the rest of its words"
    assert not any("Don'T" in line or "Nasa" in line for line in made) and any("NASA'S NEW" in line for line in made)
    assert 40 < sum(line.startswith(("Dear", "Hi", "Best", "Kind", "Yours")) for line in made) < 120
