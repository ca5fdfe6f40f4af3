"""Who is owed thanks: every corpus of the training text is in data/README.md, and from there in the model card."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from edit_gec.training.clean_prose import CORPORA
from edit_gec.training.synthetic.misspellings import FILES

ROOT = Path(__file__).parents[2]
TABLES = (ROOT / "data" / "README.md").read_text(encoding="utf-8")


def attribution(tables: str) -> str:
    spec = importlib.util.spec_from_file_location("card", ROOT / "profiles" / "training" / "card.py")
    assert spec and spec.loader
    card = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(card)
    made: str = card.attribution(tables)
    return made


def test_every_corpus_is_listed_with_licence_and_author() -> None:
    rows = {cells[1].strip(): cells for line in TABLES.splitlines() if len(cells := line.split("|")) == 7}
    for name in [*(f"prose/{name}.txt.xz" for name in CORPORA), *(f"spelling/{name}" for name in FILES)]:
        assert name in rows, f"{name} is not in data/README.md"
        assert all(cell.strip() for cell in rows[name][1:6]), rows[name]


def test_the_card_thanks_them_all() -> None:
    made = " ".join(attribution(TABLES).split())
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
    made = attribution(tables)
    assert "with thanks: Ann (CC0, MIT)." in made
    assert made.endswith("by licence:\n\n- CC BY 4.0: d/e, f/g\n")
