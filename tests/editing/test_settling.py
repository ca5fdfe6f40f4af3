"""Law: correcting a corrected text changes nothing, with the real network."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law

from edit_gec import Corrector
from edit_gec.runtime.async_corrector import AsyncCorrector
from edit_gec.runtime.dedup import DeduplicatingCorrector
from edit_gec.text.edits import Change, apply
from edit_gec.text.sentences import move, revise, split

# Words that learners confuse. A word whose correction depends on how often other sentences have it is not among them.
WORDS = (
    "I he She it we they go goes went gone is are was be been has had to the a an in on at by of for with my mother "
    "fathers childrens book informations because enjoy read reading teh dont didnt can could alot much people , , and "
    "but if who yesterday Monday monday england very good well more then than their its it's this house houses work "
    "works interested discuss about depend look forward see"
).split()
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=3, max_size=12).map(" ".join)
TEXTS = st.lists(st.tuples(SENTENCES, st.sampled_from([".", "?", " .", ""])), min_size=1, max_size=2)
FORMS = ["{}", "- {}", "> {}", "# {}", "**{}**", "{}\n\nIt is *here*.", "| {} | b |\n|---|---|\n| c | d |\n"]
SOURCES = [
    "I enioy to hear the rain while I am reading at home.",  # a rule proposes the second edit
    "Firstly I started a new job, it did not turn out they way I hoped unfortunately.",  # two sentences
    "Riding a horse is and old faschion way but still interesting.",  # a sure rule
    "He was tired and fell down the oil prices .The oil is cheap now.",  # a missing space
    "Rather than take heat for protecting his son-in-law, he left it up to White House Chief of Staff John F. Kelly.",
    "When I find great deals, I'll share those too.",
    "She go to home by yesterday.",
]


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    return Corrector.load(threads=1)


def twice(corrector: Corrector, text: str, *, format: str = "markdown", lines: bool = False) -> tuple[str, str]:
    """The corrected text, and what a second run makes of it."""
    once = corrector.correct(text, format=format, lines=lines).corrected
    return once, corrector.correct(once, format=format, lines=lines).corrected


@pytest.mark.parametrize("text", SOURCES)
@pytest.mark.parametrize("lines", [False, True])
def test_a_second_run_changes_nothing(corrector: Corrector, text: str, lines: bool) -> None:
    once, again = twice(corrector, text, lines=lines)
    assert once == again


def test_what_hides_behind_an_edit_is_an_edit_of_the_text(corrector: Corrector) -> None:
    found = corrector.correct(SOURCES[0])
    assert found.corrected == "I enjoy hearing the rain while I am reading at home."
    assert [(edit.original, edit.replacement) for edit in found.edits] == [("enioy", "enjoy"), ("to hear", "hearing")]
    assert all(edit.confidence >= corrector.min_confidence for edit in found.edits)


@law
@given(TEXTS, st.sampled_from(FORMS), st.sampled_from(["markdown", "plain", "lines"]))
def test_of_any_text_a_second_run_changes_nothing(
    corrector: Corrector, sentences: list[tuple[str, str]], form: str, format: str
) -> None:
    text = form.format(" ".join(sentence + end for sentence, end in sentences))
    once, again = twice(corrector, text, format=format.replace("lines", "text"), lines=format == "lines")
    assert once == again


def test_all_fronts_settle_alike(corrector: Corrector) -> None:
    text = " ".join(SOURCES)

    async def ask() -> str:
        async with AsyncCorrector(corrector) as many:
            return (await many.correct(text)).corrected

    wanted = corrector.correct_batch([text, SOURCES[0]])
    assert asyncio.run(ask()) == wanted[0].corrected
    assert DeduplicatingCorrector(corrector).correct([text, SOURCES[0]]) == wanted


@given(st.lists(st.sampled_from(["ab", "cd", "*f*", "`g h`", "i"]), min_size=1, max_size=6), st.data())
def test_a_revised_sentence_is_that_of_the_revised_text(words: list[str], data: st.DataObject) -> None:
    text = "Xy " + " ".join(words)
    sentence = split(text)[0]
    span = data.draw(st.sampled_from([found.span() for found in re.finditer(r"\w+", sentence.text)]))
    edit = sentence.project(text, Change(*span, data.draw(st.sampled_from(["k", "l m", "Now. So", "n,"])), 0.5))
    edits = [] if edit is None else [edit]
    expected = split(apply(text, edits))
    found = revise(sentence, edits)
    assert [part.text for part in found] == [each.text for each in expected[: len(found)]]
    assert [list(part.offsets) for part in found] == [list(each.offsets) for each in expected[: len(found)]]
    moved = revise(move(sentence, 3), [replace(e, start=e.start + 3, end=e.end + 3) for e in edits])
    assert moved == [move(part, 3) for part in found]
