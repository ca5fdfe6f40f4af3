"""Memory for a long text: the text, a few bytes for each of its characters, and one stretch, whatever its length."""

from __future__ import annotations

import gc
import runpy
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from edit_gec import Corrector
from edit_gec.text import boundaries, paragraphs, sentences, stretches
from edit_gec.text.sentences import split

ATTACK = runpy.run_path(str(Path(__file__).parent / "attack" / "growth.py"))
PROSE = "They was so glad. We has heard it. I see. It is a long day.\n\n"
WRAPPED = "and the people of this town was glad, as it seem to us, of it\n"  # no blank lines: one paragraph
MOST = 8  # bytes a character: flags and their copies; a long line is copied, too
MOST_WITH_LINES = 12  # where a reader keeps lists of lines


@pytest.fixture(scope="module")
def corrector() -> Corrector:
    """With a stand-in for the network, which changes the first word of every window."""
    made: Corrector = ATTACK["stand_in"]("edit5-mini")
    return made


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bounds a hundredth of what they are, so that a short text shows what a long one takes."""
    for module, name in (
        (stretches, "STRETCH_CHARACTERS"), (sentences, "LONG_TEXT"), (paragraphs, "LONGEST"), (boundaries, "LONGEST"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, getattr(module, name) // 100)


def growth(run: Callable[[str], object], unit: str) -> float:
    """Bytes of memory for each character that a text is longer, at the worst moment of `run`."""
    peaks = []
    for size in (20_000, 60_000):
        text = ATTACK["repeated"](unit)(size)
        gc.collect()
        tracemalloc.start()
        run(text)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return (peaks[1] - peaks[0]) / 40_000


def read(text: str, format: str) -> None:
    """Find the sentences of a text, keep none."""
    for _ in stretches.cut_stretches([text], [format]):
        pass


def test_memory_is_a_few_bytes_a_character(corrector: Corrector, small_bounds: None) -> None:
    edits = 0

    def run(text: str) -> None:
        nonlocal edits
        for part in corrector.correct_in_stretches(text):
            edits += len(part.edits)

    assert growth(run, PROSE) < MOST and edits > 500


@pytest.mark.parametrize("unit", [PROSE, WRAPPED, PROSE.replace("\n\n", " "), "word "])
@pytest.mark.parametrize("format", ["text", "markdown"])
def test_no_sentences_are_kept(small_bounds: None, format: str, unit: str) -> None:
    assert growth(partial(read, format=format), unit) < MOST


@pytest.mark.parametrize("format", ["rst", "commit"])
def test_formats_with_lists_of_lines_keep_no_sentences(small_bounds: None, format: str) -> None:
    assert growth(partial(read, format=format), WRAPPED.strip() + " so, as I said, and more.\n\n") < MOST_WITH_LINES


def test_all_sentences_at_once_take_more(small_bounds: None) -> None:
    """The measure sees what it is for."""
    assert growth(split, PROSE) > 2 * MOST


def test_a_footnote_is_in_the_stretch_of_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "STRETCH_CHARACTERS", 1)
    text = "We saw it\\footnote{They was here. It go.} and we left. They stayed.\n"
    found = list(stretches.cut_stretches([text], ["latex"]))
    assert [len(stretch.sentences) for stretch in found] == [3, 1]
    assert [stretch.begin for stretch in found[1:]] == [stretch.end for stretch in found[:-1]]
    assert found[-1].end == len(text)
