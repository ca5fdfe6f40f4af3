"""Texts -> sentences, one stretch at a time, so that memory holds the model's data for one stretch only.

    for stretch in cut_stretches(split_texts(texts)): ...       the next 200,000 characters of sentences

The pieces and logits of a text take about 160 bytes a character, its edits less than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from edit_gec.text.formats import check_formats
from edit_gec.text.sentences import Sentence, split
from edit_gec.tracing import Stage, span

STRETCH_CHARACTERS = 200_000  # of the sentences in a stretch
GROUP_CHARACTERS = 100_000  # of the texts in a group

Progress = Callable[[int, int], None]  # how much is done, of how much
NumberedSentence = tuple[int, Sentence]  # with the number of its text


class Stretch(NamedTuple):
    """Sentences that follow each other, and how many come before and after them."""

    before: int
    sentences: Sequence[NumberedSentence]
    after: int

    @property
    def end(self) -> int:
        """Where its last sentence ends, in code points of that sentence's text."""
        return self.sentences[-1][1].offsets[-1]

    def report_to(self, progress: Progress | None) -> Progress | None:
        """A callback for this stretch that reports to `progress` in sentences of the whole."""
        if progress is None:
            return None
        within = len(self.sentences)
        return lambda done, of: progress(self.before + done * within // of, self.before + within + self.after)


def split_texts(
    texts: Sequence[str], formats: Sequence[str] = (), *, lines: bool = False, markup: bool = True
) -> list[NumberedSentence]:
    """The sentences of the texts, each with the number of its text.

    `formats` has one entry per text; by default all are Markdown. Raises InputError for an unknown format, and if there
    are more or fewer formats than texts.
    """
    named = check_formats(formats, len(texts))
    with span(Stage.SPLIT):
        return [
            (number, sentence)
            for number, (text, format) in enumerate(zip(texts, named, strict=True))
            for sentence in split(text, lines=lines, markup=markup, format=format)
        ]


def cut_stretches(sentences: Sequence[NumberedSentence]) -> Iterator[Stretch]:
    """The sentences in stretches of STRETCH_CHARACTERS."""
    begin = characters = 0
    for end, (_, sentence) in enumerate(sentences, start=1):
        characters += len(sentence.text)
        if characters >= STRETCH_CHARACTERS or end == len(sentences):
            yield Stretch(begin, sentences[begin:end], len(sentences) - end)
            begin, characters = end, 0


def group_texts(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in groups of GROUP_CHARACTERS, each as soon as it is full."""
    group: list[str] = []
    characters = 0
    for text in texts:
        group.append(text)
        characters += len(text) + 1
        if characters >= GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group
