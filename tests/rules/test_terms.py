"""The lists of terms and names: small, of one form, with their source."""

from __future__ import annotations

from pathlib import Path

import pytest

from edit_gec.editing.lexicon import WordList
from edit_gec.rules import terms

FOLDER = Path(terms.__file__).parent
MODEL = Path(__file__).parents[2] / "models" / "edit5-mini"


@pytest.mark.parametrize("name", ["terms", "names"])
def test_a_list_says_where_it_is_from(name: str) -> None:
    path = FOLDER / f"{name}.txt"
    text = path.read_text("utf-8")
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    assert "MIT" in text[:900] and path.stat().st_size < 300_000
    assert len(set(words)) == len(words) > 3000
    assert (
        all(word.isalpha() and word.islower() for word in words)
        if name == "terms"
        else all(map(str.istitle, (w[0] for w in words)))
    )


def test_no_term_is_a_listed_misspelling() -> None:
    words = WordList.load(MODEL)
    assert words is not None
    listed = (FOLDER / "terms.txt").read_text("utf-8").split()
    assert [word for word in listed if word.isalpha() and words.right_forms(word) and word.islower()][:20] == []


@pytest.mark.parametrize("word", ["udev", "shopt", "ctime", "mtime", "ulong", "mdadm", "initramfs", "Udev"])
def test_terms(word: str) -> None:
    assert terms.is_term(word)


@pytest.mark.parametrize("word", ["house", "becuase", "recieve", "the", ""])
def test_no_terms(word: str) -> None:
    assert not terms.is_term(word) and not terms.is_name(word)
