"""The model card: what is written anew, and whom it thanks: every corpus of the training text (data/README.md)."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from edit_gec.errors import InputError
from edit_gec.lab.training.clean_prose import CORPORA
from edit_gec.lab.training.synthetic.misspellings import FILES

ROOT = Path(__file__).parents[3]
CARD = runpy.run_path(str(ROOT / "profiles" / "training" / "model_card.py"))
BEGIN, END, describe_attribution, rewrite = (CARD[name] for name in ("BEGIN", "END", "describe_attribution", "rewrite"))
TABLES = (ROOT / "data" / "README.md").read_text(encoding="utf-8")


def test_every_corpus_is_listed_with_licence_and_author() -> None:
    rows = {cells[1].strip(): cells for line in TABLES.splitlines() if len(cells := line.split("|")) == 7}
    for name in [*(f"prose/{name}.txt.xz" for name in CORPORA), *(f"spelling/{name}" for name in FILES)]:
        assert name in rows, f"{name} is not in data/README.md"
        assert all(cell.strip() for cell in rows[name][1:6]), rows[name]


def test_the_card_thanks_them_all() -> None:
    made = " ".join(describe_attribution(TABLES).split())
    for who in ("OpenStax (Rice University) (CC BY 4.0)", "Tatoeba (tatoeba.org) (CC BY 2.0 FR)", "OGL 3.0"):
        assert who in made
    assert "- CC BY 3.0: aosabook/500lines" in made and "crate-ci/typos" in made
    assert made.startswith("## Licence and attribution The weights may be used under Apache-2.0.")


def test_an_author_is_thanked_once() -> None:
    tables = (
        "| prose/a.txt | 1M | x/y | CC0 | Ann |\n| prose/b.txt | 1M | x/z | MIT | Ann |\n"
        "| edits/c.tsv | 9 | p | q | r |\n"
        "| CC BY 4.0 | d/e, f/g |\n| licence | repositories |\n"
    )
    made = describe_attribution(tables)
    assert "with thanks: Ann (CC0, MIT)." in made
    assert made.endswith("by licence:\n\n- CC BY 4.0: d/e, f/g\n")


def test_only_what_is_measured_is_written_anew() -> None:
    card = f"# Name\n\nBy hand.\n\n{BEGIN}\n\n## Size\n\nold\n\n{END}\n\nMore.\n\n## Licence and attribution\n\nAnn.\n"
    made = rewrite(card, {"Size": "new", "Scores": "| 1 |"})
    assert made == card.replace("old", "new\n\n## Scores\n\n| 1 |")
    assert rewrite(made, {"Size": "old"}) == card
    assert rewrite(card, {"Size": "old"}, "## Licence and attribution\n\nBob.\n") == card.replace("Ann", "Bob")
    for wrong in (card.replace(END, ""), card + BEGIN):
        with pytest.raises(InputError, match="expected one line"):
            rewrite(wrong, {})


def test_the_shipped_card_can_be_written_anew() -> None:
    card = (ROOT / "models" / "edit5-mini" / "README.md").read_text(encoding="utf-8")
    assert "## Scores" not in rewrite(card, {})
