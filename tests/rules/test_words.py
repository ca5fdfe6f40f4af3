"""Tables of words, and the files that hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from edit_gec.rules.words import column, fragment, look_up
from edit_gec.text.rows import read_rows, read_table


def test_forms_of_a_word() -> None:
    assert look_up("verb", "past", "participle", "went") == "gone" and look_up("verb", "base", "third", "be") == ""
    assert (
        look_up("apart", "wrong", "right", "alot") == "a lot" and look_up("noun", "many", "one", "people") == "person"
    )
    with pytest.raises(KeyError):
        look_up("verb", "past", "base", "go")


def test_lists_and_patterns() -> None:
    assert column("spring") == ("may", "march") and "best friend" in column("person")
    assert "be" not in column("verb.third") and "-" not in column("verb.third")
    assert fragment("spring") is None and fragment("open") == "^[^\\w]*"


def test_a_file_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.rules"
    text = "# About\n\nname  a\nwhen  (x|\n      y) or\n      z\nright one\nright two\n\n\nname b\n"
    path.write_text(text, encoding="utf-8")
    first = {"name": ["a"], "when": ["(x|y) or z"], "right": ["one", "two"]}
    assert list(read_rows(path)) == [first, {"name": ["b"]}]


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("# From here.\none\tmany\nfoot\tfeet\n", encoding="utf-8")
    assert read_table(path) == (("one", "many"), ("foot", "feet"))
