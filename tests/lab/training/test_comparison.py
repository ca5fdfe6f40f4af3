"""Synthetic errors beside real ones: changes tell the whole difference, and go the way that learners' go."""

from __future__ import annotations

import random
import runpy
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.training.clean_prose import draw_clean
from edit_gec.lab.training.synthetic.commas import BEFORE_AND, BEFORE_CLAUSE, INTRODUCTORY, OTHER, SERIAL, purpose
from edit_gec.lab.training.synthetic.corruptor import Corruptor
from edit_gec.lab.training.synthetic.inflections import Lexicon

SHARES = runpy.run_path(str(Path(__file__).parents[3] / "profiles" / "training" / "error_shares.py"))
changes, features, tokens, from_m2, table, tally = (
    SHARES[name] for name in ("changes", "features", "tokens", "from_m2", "table", "tally")
)
Feature = tuple[str, str]

CLEAN = (
    "However, the two teachers were late, so we read the old letters and the new books.",
    "When she has time, my sister writes songs, but her friends have never heard them.",
    "There are three rooms, a kitchen, and a small garden behind the houses.",
    "In the morning, he goes to the market, because the apples are cheap there.",
    "A neighbour was looking for the keys that were on the table.",
    "We talked about the trip for hours. The children were asking for stories.",
    "My parents were born in a village near the coast, which is famous for its boats.",
    "Most students want to learn languages, and the teachers enjoy helping them.",
)
M2 = """\
S He have two cat and a advice .
A 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0
A 3 4|||R:NOUN:NUM|||cats|||REQUIRED|||-NONE-|||0
A 5 6|||U:DET||||||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S However we listened music , it was good .
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 3 3|||M:PREP|||to|||REQUIRED|||-NONE-|||0
A 4 6|||R:PUNCT|||. It|||REQUIRED|||-NONE-|||0

S They read alot in the night .
A 2 3|||R:ORTH|||a lot|||REQUIRED|||-NONE-|||0
A 3 5|||R:PREP|||at|||REQUIRED|||-NONE-|||0
"""


@pytest.fixture
def learners(tmp_path: Path) -> Path:
    path = tmp_path / "learners.m2"
    path.write_text(M2, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def synthetic() -> Counter[Feature]:
    corruptor, rng = Corruptor.load(None), random.Random(1)
    counts: Counter[Feature] = tally([(corruptor.corrupt(text, rng), text) for text in CLEAN for _ in range(500)])
    return counts


def share(counts: Counter[Feature], group: str, row: str) -> float:
    return counts[group, row] / sum(n for (g, _), n in counts.items() if g == group)


WORDS = st.lists(st.sampled_from(["a", "lot", "alot", "He", "he", "goes", "go", ",", ".", "in", "on", "well", "-"]))


@given(WORDS, WORDS)
def test_changes_turn_the_source_into_the_target(source: list[str], target: list[str]) -> None:
    made: list[str] = []
    done = 0
    for change in changes(source, target):
        made += source[done : change.i]
        assert len(made) == change.j
        made += change.right.split()
        done = change.i + len(change.wrong.split())
    assert made + source[done:] == target


@given(WORDS)
def test_nothing_changed_is_no_change(words: list[str]) -> None:
    assert changes(words, words) == []


@pytest.mark.parametrize(
    ("wrong", "right", "expected"),
    [
        ("He have it.", "He has it.", ("auxiliary", "have -> has")),
        ("I saw two cat.", "I saw two cats.", ("number", "plural missing")),
        ("I saw a cats.", "I saw a cat.", ("number", "plural extra")),
        ("She live here.", "She lives here.", ("verb", "base -> -s")),
        ("I enjoy swim.", "I enjoy swimming.", ("verb", "base -> -ing")),
        ("We waited him.", "We waited for him.", ("preposition missing", "for")),
        ("He entered to it.", "He entered it.", ("preposition superfluous", "to")),
        ("I go in Monday.", "I go on Monday.", ("preposition replaced", "in -> on")),
        ("I saw the dog.", "I saw a dog.", ("article replaced", "the -> a")),
        ("It rained, we left.", "It rained. We left.", ("mark replaced", ", -> .")),
        ("I am agree.", "I agree.", ("word superfluous", "am")),
        ("However he left.", "However, he left.", ("comma missing", INTRODUCTORY)),
        ("He reads alot.", "He reads a lot.", ("type", "joined or split")),
        ("I dont know.", "I don't know.", ("type", "apostrophe")),
        ("I recieve it.", "I receive it.", ("type", "spelling")),
        ("We met on monday.", "We met on Monday.", ("type", "case")),
    ],
)
def test_each_change_has_its_row(wrong: str, right: str, expected: Feature) -> None:
    target = tokens(right)
    found = [f for change in changes(tokens(wrong), target) for f in features(change, target, Lexicon.load())]
    assert expected in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("After lunch , we left", INTRODUCTORY),
        ("It rained the whole day , so we left", BEFORE_CLAUSE),
        ("He came to see us , and we left", BEFORE_AND),
        ("We had tea , milk , and bread", SERIAL),
        ("My brother and his wife , her name is Ana , left", OTHER),
    ],
)
def test_purposes_of_commas(text: str, expected: str) -> None:
    words = text.lower().split()
    assert (
        purpose(words, len(words) - 1 - words[::-1].index(",") if expected == SERIAL else words.index(",")) == expected
    )


def test_an_m2_file_is_counted(learners: Path) -> None:
    counts = tally(from_m2(learners))
    assert {f: n for f, n in counts.items() if f[0] not in ("type", "after", "before")} == {
        ("auxiliary", "have -> has"): 1,
        ("number", "plural missing"): 1,
        ("comma missing", INTRODUCTORY): 1,
        ("preposition missing", "to"): 1,
        ("mark replaced", ", -> ."): 1,
        ("preposition replaced", "in -> at"): 1,
    }
    assert counts["type", "article superfluous"] == 2
    for row in (("after", "listened -> to"), ("before", "in -> at night"), ("after", "read alot -> a lot")):
        assert counts[row] == 1


def test_directions_are_those_of_learners(synthetic: Counter[Feature]) -> None:
    assert 0.65 < share(synthetic, "number", "plural missing") < 0.95
    assert share(synthetic, "comma missing", SERIAL) + share(synthetic, "comma missing", BEFORE_AND) < 0.1
    assert share(synthetic, "comma missing", INTRODUCTORY) > 0.2
    assert synthetic["auxiliary", "is -> are"] > 2 * synthetic["auxiliary", "were -> was"]
    assert synthetic["article replaced", "the -> a"] > 2 * synthetic["article replaced", "an -> a"]
    assert synthetic["mark replaced", ", -> ."] > 3 * synthetic["mark replaced", ". -> ,"]
    assert 0.03 < share(synthetic, "type", "spelling") < 0.09


def test_the_table_compares_shares() -> None:
    sample = Counter({("number", "plural missing"): 3, ("number", "plural extra"): 1})
    reference = Counter({("number", "plural missing"): 1, ("number", "plural extra"): 1})
    extra, missing, distance = (line.split() for line in table(sample, reference).splitlines() if "number" in line)
    assert extra[-5:] == ["25.0", "50.0", "0.50", "1", "1"]
    assert missing[-5:] == ["75.0", "50.0", "1.50", "3", "1"]
    assert distance == ["number", "distance", "25.0"]
    lines = table(Counter({("after", "on -> in"): 3, ("after", "at -> in"): 1}), Counter({("after", "at -> in"): 5}))
    assert ["after", "also", "there", "25.0"] in map(str.split, lines.splitlines())


def test_the_command_writes_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "clean.txt"
    text.write_text("\n".join(CLEAN), encoding="utf-8")
    assert main(["corrupt", str(text), "--rate", "0"]) == 0
    pairs = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert pairs and all(wrong == right for wrong, right in pairs)


def test_texts_that_cannot_be_read_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corrupt", str(tmp_path / "no.txt")]) == 2
    assert "no such file" in capsys.readouterr().err
    (tmp_path / "empty.txt").write_text("...\n")
    with pytest.raises(InputError, match="no clean English sentence"):
        draw_clean([tmp_path / "empty.txt"], 5, random.Random(1))
