"""Lines that are no sentences: of every kind, and never with a full stop that a model would learn to add."""

from __future__ import annotations

import random
import re

import pytest

from edit_gec.lab.training.fragments import CHANGES, GREETINGS, MONTHS, NAMES, STYLES, fragment

SENTENCE = "They don't like the end of NASA's new plan for the station (yet)."


def made(sentence: str = SENTENCE, count: int = 4000) -> list[str]:
    rng = random.Random(5)
    return [fragment(sentence, rng) for _ in range(count)]


@pytest.mark.parametrize(
    "pattern",
    [
        r"They don't like the end of NASA's new plan for the station \(yet\):",
        r"THEY DON'T LIKE THE END OF NASA'S NEW PLAN FOR THE STATION \(YET\)\.",
        r"The End of NASA's",
        r"The End Of NASA's",
        r"NEW PLAN",
        r"the end of NASA's;",
        r"\d+\.\d+ The end of NASA's",
        r"(?:Add|Fix) the end of NASA's",
        r"[a-z]+: [a-z]+ the end of NASA's",
        r"[A-Z][a-z]+: the end of NASA's",
        r"(?:Figure|Table) \d+\. The end of NASA's",
        r"station",
        r"\d+ (?:minutes|pages)",
        r"\d+ [A-Z][a-z]+ \d{4}",
        r"Best wishes,",
    ],
)
def test_every_kind_of_line_is_made(pattern: str) -> None:
    assert any(re.fullmatch(pattern, line) for line in made()), pattern


def test_a_line_is_no_sentence() -> None:
    for line in made():
        whole = line.upper().rstrip(".:") == SENTENCE.upper().rstrip(".")
        assert whole or not line.endswith("."), line
        assert line == line.strip() and "  " not in line
        assert "Don'T" not in line and "nASA" not in line and "Nasa" not in line


def test_shares_follow_the_table() -> None:
    lines = made()
    weights = {style.__name__: weight for style, weight in STYLES}
    greetings = sum(line.rstrip(",!") in GREETINGS for line in lines) / len(lines)
    assert abs(greetings - weights["_greeting"] / sum(weights.values())) < 0.03
    assert any(line in NAMES for line in lines) and any(month in " ".join(lines) for month in MONTHS)


def test_what_is_changed_is_a_thing() -> None:
    """Without a noun phrase in the sentence there is no changelog line such as "Fix went home"."""
    assert not any(line.split()[0] in CHANGES for line in made("He went home early."))


@pytest.mark.parametrize("sentence", ["I left.", "Go", "“Yes!”", "A", "It's the end of the road."])
def test_short_sentences(sentence: str) -> None:
    assert not any(line.startswith("i ") for line in made(sentence, 500))
