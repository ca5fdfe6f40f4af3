"""CRLF equals LF: what is read and corrected depends on no line end, in whatever markup of whatever format."""

from __future__ import annotations

import random
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from edit_gec.corrector import Corrector
from edit_gec.text.sentences import Sentence, split

ATTACK = Path(__file__).parents[1] / "attack"
GROWTH = runpy.run_path(str(ATTACK / "growth.py"))
DOCUMENTS = runpy.run_path(str(ATTACK / "documents.py"))
LEADS = {"": "", "- ": "  ", "> ": "> ", "1. ": "   ", "- > ": "  > "}  # of the first line, of the others
# Marks that stand alone on a line: some want a blank behind them, and a CR is none.
MARKS = (
    r"- * + 1. 1) = == # ## / . .. :: : | > ~ % ** *** a:: a: .. a: b:: --- ---- |=== [a] .a // //// \ \\ a\ a\\ ;"
    r" @a #+a: :a: #+begin_src [fn:1] {a} & % %a <a <b> `a `` ``` $ $$ _ __ a_ a- -a <<< ++++ .... '''' [[a]] !a [ ]"
    r" {{ }} 1.. a;; ~~~ === ^^^ [^1]: a:\\ ::: \[ \] \begin{a} <!-- --> <pre> edit-gec:ignore"
).split()


def documents(format: str) -> list[str]:
    """What is marked up in each way, in lists and quotations, too; the units of a format are those of its growth."""
    units = [f"{mark}\nteh cat\n" for mark in MARKS] + [f"a\n{mark}\nteh cat\n" for mark in MARKS]
    own = []
    for name, each in GROWTH["UNITS"].items():
        read_as, head = GROWTH["HEADS"].get(name, (name, ""))
        closed = ((unit, "") if isinstance(unit, str) else unit for unit in each)
        own += [(head, f"{opening}teh cat{closing}") for opening, closing in closed if read_as == format]
    bodies = [("", unit) for unit in units] + own
    return [head + body for head, body in bodies] + [
        head + first + f"We go to teh shop.\n\n{body}\nShe dont\nknow it.\n".replace("\n", f"\n{rest}")
        for head, body in bodies
        for first, rest in LEADS.items()
    ]


def with_lf(sentence: Sentence, text: str) -> Sentence:
    """The sentence as it would be without the CRs of its text."""
    places = tuple(at - text.count("\r", 0, at) for at in sentence.offsets)
    folds = tuple((at, characters.replace("\r", "")) for at, characters in sentence.folds)
    return replace(sentence, offsets=places, folds=folds)


@pytest.mark.parametrize("format", GROWTH["FORMATS"])
def test_the_same_is_read_with_crlf(format: str) -> None:
    read_as = f"code/{format}" if format in GROWTH["CODE"] else format
    for text in documents(format):
        ours = [replace(each, offsets=tuple(each.offsets)) for each in split(text, format=read_as)]
        other = text.replace("\n", "\r\n")
        assert [with_lf(each, other) for each in split(other, format=read_as)] == ours, repr(text)


def test_the_same_is_corrected_with_crlf() -> None:
    """By the attack on random documents, which tries more of them."""
    shipped = Corrector.load(threads=1)
    editor = shipped.with_predictor(DOCUMENTS["Editor"](**vars(shipped.edit5)))
    chance = random.Random(1)
    texts = [DOCUMENTS["random_document"](chance) for _ in range(100)]
    DOCUMENTS["check_line_ends"](editor, texts, [chance.choice(DOCUMENTS["FORMATS"]) for _ in texts], lines=False)
