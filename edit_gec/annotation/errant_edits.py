"""Sentence pair -> typed edits, by ERRANT's alignment, merging rules and classifier, on cached parses.

    He go home .  /  He goes home .   ->   [1, 2) R:VERB:SVA goes

errant_parallel parses sentences one by one. This module parses each changed sentence once, in batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from edit_gec.annotation import syntax
from edit_gec.annotation.m2 import M2Edit, M2Sentence

BATCH = 128


@cache
def load_extractor(spacy_model: str | None) -> Extractor:
    """The extractor with this spaCy pipeline (None: ours), loaded once. It keeps every parse.

    Raises InputError where ERRANT, spaCy or the pipeline is missing.
    """
    return Extractor(spacy_model)


class Extractor:
    """ERRANT with one spaCy pipeline; each distinct sentence is parsed once, each distinct pair aligned once."""

    def __init__(self, spacy_model: str | None = None) -> None:
        """Raises InputError where ERRANT, spaCy or the pipeline is missing."""
        self.nlp = syntax.load_pipeline(spacy_model)
        import errant

        self.errant = errant.load("en", self.nlp)
        self._parsed: dict[tuple[str, ...], Any] = {}
        self._found: dict[tuple[tuple[str, ...], tuple[str, ...]], list[M2Edit]] = {}

    def parse(self, sentences: Iterable[Sequence[str]]) -> None:
        """Parse all sentences that are new."""
        from spacy.tokens import Doc

        new = [s for s in dict.fromkeys(map(tuple, sentences)) if s not in self._parsed]
        # Sentences of like length share a batch: less padding.
        new.sort(key=len)
        docs = (Doc(self.nlp.vocab, words=list(s)) for s in new)
        self._parsed.update(zip(new, self.nlp.pipe(docs, batch_size=BATCH), strict=True))

    def extract(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> list[list[M2Edit]]:
        """The edits that turn each source into its target, offsets in source tokens."""
        pairs = [(tuple(s), tuple(t)) for s, t in zip(sources, targets, strict=True)]
        self.parse(side for pair in pairs if pair[0] != pair[1] for side in pair)
        return [self._edits(*pair) if pair[0] != pair[1] else [] for pair in pairs]

    def _edits(self, source: tuple[str, ...], target: tuple[str, ...]) -> list[M2Edit]:
        if (source, target) not in self._found:
            found = self.errant.annotate(self._parsed[source], self._parsed[target])
            edits = [M2Edit(e.o_start, e.o_end, e.type, " ".join(t.text for t in e.c_toks)) for e in found]
            self._found[source, target] = edits
        return self._found[source, target]

    def to_m2(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[Sequence[str]]]) -> list[M2Sentence]:
        """Sentences with one annotator per list of targets: what errant_parallel writes."""
        columns = [self.extract(sources, column) for column in targets]
        return [
            M2Sentence(list(source), {k: column[i] for k, column in enumerate(columns)})
            for i, source in enumerate(sources)
        ]
