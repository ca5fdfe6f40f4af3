"""Training text: which sentences are clean enough, and what is left out of it."""

from __future__ import annotations

import lzma
import random
from pathlib import Path

import pytest
from conftest import PROSE

from edit_gec.errors import InputError
from edit_gec.lab.training.clean_prose import (
    CORPORA,
    ProseUnit,
    find_corpora,
    fingerprint,
    is_clean,
    prepare,
    read_evaluation,
    read_units,
    sentences_of,
    units,
)
from edit_gec.text.sentences import split


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
        ("I shall call on thee to-morrow.", False),
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


def test_sentences_are_the_products() -> None:
    """Training text is cut where the corrector cuts, as far as it is clean."""
    paragraph = "Dr. Hay came at 5 p.m. yesterday. “Was it late?” he asked. We left, e.g. by bus. It was 3.5 km."
    cut = list(sentences_of(paragraph))
    assert cut == [sentence.text for sentence in split(paragraph)] and len(cut) == 4


def test_bare_introductions_are_dropped() -> None:
    paragraphs = ["However we stayed at home. However, we were glad. When she came we ate. When it rained, we read."]
    made = {u for seed in range(60) for u in units(paragraphs, 1.0, random.Random(seed))}
    assert made == {"However, we were glad.", "When it rained, we read."}


def test_prepare(tmp_path: Path) -> None:
    prose = write(
        tmp_path / "prose",
        tatoeba_en__txt=PROSE.read_text(encoding="utf-8") + "she WALKED home, at 9.\nShe walked home at 10.\n",
        sgd_dialogues__txt_xz="She walked home at ten.\nThe rain stopped at last.\n" * 3,
        of_my_own__txt="Somebody reads this file here.\n",
    )
    held_out = write(
        tmp_path / "dev",
        dev__m2="S He come home .\nA 1 2|||R:VERB:SVA|||comes|||REQUIRED|||-NONE-|||0\n\nS The train is often late .\n",
        dev__txt="the soup is cold\nThere are many reasons to walk more. Nothing else.\n",
    )
    everything, kept = tmp_path / "a" / "all.txt", tmp_path / "b" / "kept.txt"
    count = prepare(prose, everything)
    made = read_units(everything)
    assert count == len(made) > 65
    assert len({fingerprint(text) for text, _ in made}) == count, "no duplicates, whatever their case and digits"
    assert sum("alked home at" in text for text, _ in made) == 2
    assert ProseUnit("Somebody reads this file here.", True) in made, "a file that no table knows"
    assert {unit.punctuation for unit in made if "rain stopped" in unit.text} <= {False}
    assert prepare(prose, kept, exclude=[held_out]) < count, "a folder is all of its files"
    left = kept.read_text(encoding="utf-8")
    assert any("The train is often late." in text for text, _ in made)
    assert "The train is often late." not in left
    assert "There are many reasons to walk more." not in left, "the file has it in a longer line"
    assert sorted(left.splitlines()) != left.splitlines()
    again = tmp_path / "again.txt"
    prepare(prose, again, exclude=sorted(held_out.iterdir()))
    assert again.read_text(encoding="utf-8") == left
    assert [path.name for path in again.parent.glob("*.unfinished")] == []


def test_shares_above_one_repeat(tmp_path: Path) -> None:
    """A sentence that stands twice in its corpus is one; it is written twice because the table says so."""
    share = CORPORA["essays_ccby"].share
    prose = write(tmp_path / "prose", essays_ccby__txt="I wrote my first essay at school.\n" * 5)
    assert share == int(share) == prepare(prose, tmp_path / "out.txt")


def test_units_are_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Plain text.\nsgd_dialogues\tOkay, sure.\nunknown\tIt rained.\n", encoding="utf-8")
    assert read_units(path) == [
        ProseUnit("Plain text.", True),
        ProseUnit("Okay, sure.", False),
        ProseUnit("It rained.", True),
    ]


EVALUATION = {
    "a.m2": "S We walk the dog .\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n",
    "a.jsonl": '{"id": 1, "texts": [{"src": "It rains.\\nWe walk the dog. We eat."}]}\n',
    "a.raw.source": "It rains .\nWe walk the dog .\n",
    "a.md": "# Title\n\n- It rains. We **walk**\n  the [dog](https://example.org/dog). We eat.\n",
    "a.html": "<p>It rains. <b>We walk</b>\nthe dog.</p>\n",
    "a.rst": "It rains. We\nwalk the :term:`dog`.\n",
    "a.tex": "It rains. We \\emph{walk} the\ndog.\n",
}


@pytest.mark.parametrize("name", EVALUATION)
def test_evaluation_text_is_found_in_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / "deep" / name
    path.parent.mkdir()
    path.write_text(EVALUATION[name], encoding="utf-8")
    for exclude in (path, tmp_path):
        assert fingerprint("We walk the dog.") in {fingerprint(part) for part in read_evaluation(exclude)}


def test_evaluation_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.m2: no such file or folder"):
        list(read_evaluation(tmp_path / "nowhere.m2"))


def test_prepare_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{tmp_path}: no \.txt or \.txt\.xz file with prose here; see data/README"):
        prepare(tmp_path, tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()
    with pytest.raises(InputError, match="no clean sentence"):
        prepare(write(tmp_path / "prose", a__txt="so -- um\n"), tmp_path / "out.txt")


def test_corpora_come_in_the_order_of_the_table(tmp_path: Path) -> None:
    folder = write(tmp_path, zebra__txt="a", eips__txt_xz="b", tatoeba_en__txt="c", ant__txt="d", notes__md="e")
    assert list(find_corpora(folder)) == ["tatoeba_en", "eips", "ant", "zebra"]


def test_the_table_says_what_it_must() -> None:
    assert all(0 < corpus.share <= 3 for corpus in CORPORA.values())
    assert not CORPORA["topical_chat"].punctuation and CORPORA["openstax_more"].punctuation
