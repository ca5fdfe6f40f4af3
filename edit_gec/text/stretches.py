"""Texts -> sentences, one stretch at a time, so that memory holds the sentences of one stretch only.

    for stretch in cut_stretches(texts): ...       the next 200,000 characters of sentences

The sentences, pieces and logits of a text take about 180 bytes a character, its edits less than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from edit_gec.text.formats import check_formats
from edit_gec.text.sentences import Sentence, find_sentences
from edit_gec.tracing import Stage, span

STRETCH_CHARACTERS = 200_000  # of the sentences in a stretch
GROUP_CHARACTERS = 100_000  # of the texts in a group

Progress = Callable[[int, int], None]  # how much is done, of how much


class NumberedSentence(NamedTuple):
    """A sentence, and the number of its text."""

    number: int
    sentence: Sentence


class Stretch(NamedTuple):
    """Sentences that follow each other. Places are in code points of all texts, one behind the other."""

    sentences: Sequence[NumberedSentence]
    begin: int  # where the stretch before it ends
    end: int  # where its last sentence ends, or the last text if no sentence comes after it
    size: int  # of all texts

    def report_to(self, progress: Progress | None) -> Progress | None:
        """A callback for this stretch that reports to `progress` in characters of all texts."""
        if progress is None:
            return None
        within = self.end - self.begin
        return lambda done, of: progress(self.begin + done * within // of, self.size)


def split_texts(
    texts: Sequence[str], formats: Sequence[str] = (), *, lines: bool = False, markup: bool = True
) -> list[NumberedSentence]:
    """The sentences of the texts, each with the number of its text.

    `formats` has one entry per text; by default all are Markdown. Raises InputError for an unknown format, and if there
    are more or fewer formats than texts.
    """
    with span(Stage.SPLIT):
        return list(_find_numbered(texts, formats, lines=lines, markup=markup))


def cut_stretches(
    texts: Sequence[str], formats: Sequence[str] = (), *, lines: bool = False, markup: bool = True
) -> Iterator[Stretch]:
    """The sentences that `split_texts` gives in stretches of STRETCH_CHARACTERS, each found when it is asked for.

    Raises InputError as `split_texts` does.
    """
    sentences = _find_numbered(texts, formats, lines=lines, markup=markup)
    starts = list(accumulate(map(len, texts), initial=0))
    begin = 0
    ahead = next(sentences, None)
    while ahead is not None:
        with span(Stage.SPLIT):
            taken = [ahead]
            end = _end(starts, ahead)
            characters = len(ahead.sentence.text)
            while (ahead := next(sentences, None)) is not None:
                is_free = starts[ahead.number] + ahead.sentence.offsets[0] >= end  # no footnote inside another
                if characters >= STRETCH_CHARACTERS and is_free:
                    break
                taken.append(ahead)
                characters += len(ahead.sentence.text)
                end = max(end, _end(starts, ahead))
        yield Stretch(taken, begin, end if ahead else starts[-1], starts[-1])
        begin = end


def _find_numbered(
    texts: Sequence[str], formats: Sequence[str], *, lines: bool, markup: bool
) -> Iterator[NumberedSentence]:
    for number, (text, format) in enumerate(zip(texts, check_formats(formats, len(texts)), strict=True)):
        for sentence in find_sentences(text, lines=lines, markup=markup, format=format):
            yield NumberedSentence(number, sentence)


def _end(starts: Sequence[int], numbered: NumberedSentence) -> int:
    return starts[numbered.number] + numbered.sentence.offsets[-1]


def group_texts(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in groups of GROUP_CHARACTERS, each as soon as it is full."""
    group: list[str] = []
    characters = 0
    for text in texts:
        group.append(text)
        characters += len(text) + 1
        if characters >= GROUP_CHARACTERS:
            yield group
            group = []
            characters = 0
    if group:
        yield group
