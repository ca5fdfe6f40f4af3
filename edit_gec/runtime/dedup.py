"""Corrector.correct_batch for corpora: the model reads each distinct sentence once, whatever texts it is in.

    prepare   text -> sentences -> pieces        CPU
    predict   distinct pieces -> changes         the model; changes of recent sentences are cached
    finish    changes -> edits of the text       CPU

The results are those of correct_batch: the stages are the corrector's own, and the changes of a sentence depend on that
sentence alone (a law in tests/test_corrector.py). `remember` bounds the memory: a sentence takes about 250 bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from edit_gec.editing.predictor import join_changes
from edit_gec.runtime.recent import Recent
from edit_gec.text.stretches import NumberedSentence

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector
    from edit_gec.editing.predictor import Window, WindowChanges
    from edit_gec.text.correction import Correction
    from edit_gec.text.sentences import Sentence

REMEMBERED = 100_000  # sentences


class DeduplicatingCorrector:
    """A corrector, the changes of sentences that it has seen, and counts of what it did since `take_counts`."""

    def __init__(self, corrector: Corrector, remember: int = REMEMBERED) -> None:
        self.corrector = corrector
        self.known: Recent[bytes, WindowChanges] = Recent(remember)
        self.counts: Counter[str] = Counter()

    def correct(self, texts: Sequence[str]) -> list[Correction]:
        """As correct_batch does."""
        windows = self.prepare(texts)
        return self.finish(texts, windows, self.predict(windows))

    def prepare(self, texts: Sequence[str], format: str = "markdown") -> list[list[Window]]:
        """The windows of each text; all are of one format."""
        return [self.corrector.prepare([text], formats=[format]) for text in texts]

    def predict(self, texts: Sequence[Sequence[Window]]) -> list[list[WindowChanges]]:
        """What changes in each window of each text."""
        self.counts["sentences"] += sum(map(len, texts))
        return self._look_up(texts)

    def read(self, sentences: Sequence[Sentence]) -> list[WindowChanges]:
        """What changes in each sentence."""
        windows = [self.corrector.encode([NumberedSentence(0, sentence)]) for sentence in sentences]
        return list(map(join_changes, self._look_up(windows)))

    def _look_up(self, texts: Sequence[Sequence[Window]]) -> list[list[WindowChanges]]:
        keys = [[self._key(window) for window in windows] for windows in texts]
        new: dict[bytes, Window] = {}
        found: dict[bytes, WindowChanges] = {}
        for of_text, windows in zip(keys, texts, strict=True):
            for key, window in zip(of_text, windows, strict=True):
                if (known := self.known.get(key)) is not None:
                    found[key] = known
                elif key not in found:
                    new.setdefault(key, window)
        learnt = dict(zip(new, self.corrector.predict(list(new.values())), strict=True))
        found.update(learnt)
        for key, changes in learnt.items():
            self.known.put(key, changes)
        self.counts["inferred"] += len(new)
        return [[found[key] for key in of_text] for of_text in keys]

    def finish(
        self,
        texts: Sequence[str],
        windows: Sequence[Sequence[Window]],
        changes: Sequence[Sequence[WindowChanges]],
    ) -> list[Correction]:
        """Changes of windows as corrections of their texts."""
        own = [replace(window, text=n) for n, of_text in enumerate(windows) for window in of_text]
        found = [each for of_text in changes for each in of_text]
        return self.corrector.finish(texts, own, found, self.read)

    def take_counts(self) -> Counter[str]:
        """Sentences, those that the model read, and what verification did, since the last call."""
        counts = self.counts
        self.counts = Counter()
        counts.update(self.corrector.predictor.take_counts())
        return counts

    def _key(self, window: Window) -> bytes:
        """A hash of a window's sentence and its place in it.

        With 16 bytes, the probability that two of 2^32 different windows collide is about 2^-65.
        """
        place = f"{window.pieces.starts[0]}:" if window.pieces.starts else ":"
        text = place + window.sentence.text
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
