"""Corrector.correct_batch for corpora: each distinct sentence is read by the model once, whatever text it stands in.

    prepare   text -> sentences -> pieces        CPU
    infer     distinct pieces -> changes         the model; changes of the last sentences are remembered
    finish    changes -> edits of the text       CPU

The results are those of correct_batch: what a model changes in a sentence depends on that sentence alone (a law that
tests/test_corrector.py holds). `remember` bounds the memory: a sentence costs some 250 bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from edit_gec.text.edits import Edit
from edit_gec.text.sentences import split

if TYPE_CHECKING:
    from edit_gec.corrector import Correction, Corrector, Found, Window
    from edit_gec.speculative.statistics import Statistics

REMEMBERED = 100_000


class Once:
    """A corrector, the changes of sentences that it has seen, and counts of what it did since `take_counts`."""

    def __init__(self, corrector: Corrector, remember: int = REMEMBERED) -> None:
        self.corrector, self.remember = corrector, remember
        self.known: dict[bytes, Found] = {}  # in the order of their last use
        self.counts: Counter[str] = Counter()

    def correct(self, texts: Sequence[str]) -> list[Correction]:
        """As correct_batch does."""
        windows = self.prepare(texts)
        return self.finish(texts, windows, self.infer(windows))

    def prepare(self, texts: Sequence[str]) -> list[list[Window]]:
        """The windows of each text."""
        from edit_gec.corrector import Window

        corrector = self.corrector
        return [
            [
                Window(0, sentence, pieces)
                for sentence in split(text)
                for pieces in corrector.readable(corrector.tokens.encode(sentence.text))
            ]
            for text in texts
        ]

    def infer(self, texts: Sequence[Sequence[Window]]) -> list[list[Found]]:
        """What changes in each window of each text."""
        keys = [[_key(window) for window in windows] for windows in texts]
        new: dict[bytes, Window] = {}
        found: dict[bytes, Found] = {}
        for key, window in ((k, w) for of_text in zip(keys, texts, strict=True) for k, w in zip(*of_text, strict=True)):
            if key in self.known:
                found[key] = self.known[key] = self.known.pop(key)
            elif key not in found:
                new.setdefault(key, window)
        named = {id(window): key for key, window in new.items()}
        for batch in self.corrector.batches(list(new.values())):
            read = self.corrector.read([window.pieces for window in batch])
            for window, each in zip(batch, read, strict=True):
                found[named[id(window)]] = each
        self._learn({key: found[key] for key in new})
        self.counts["sentences"] += sum(map(len, keys))
        self.counts["inferred"] += len(new)
        return [[found[key] for key in of_text] for of_text in keys]

    def _learn(self, found: dict[bytes, Found]) -> None:
        self.known.update(found)
        for key in list(self.known)[: max(0, len(self.known) - self.remember)]:
            del self.known[key]

    def finish(
        self, texts: Sequence[str], windows: Sequence[Sequence[Window]], found: Sequence[Sequence[Found]]
    ) -> list[Correction]:
        """Changes of windows as corrections of their texts."""
        return [self._finish(*each) for each in zip(texts, windows, found, strict=True)]

    def _finish(self, text: str, windows: Iterable[Window], found: Iterable[Found]) -> Correction:
        edits, refused = list[Edit](), list[Edit]()
        for window, each in zip(windows, found, strict=True):
            own, left_out = self.corrector.edits(text, window.sentence, each)
            edits += own
            refused += left_out
        return self.corrector.apply(text, edits, refused)

    def take_counts(self) -> Counter[str]:
        """Sentences, those that the model read, and what verification did, since the last call."""
        counts, self.counts = self.counts, Counter()
        if (verifier := self.corrector.verifier) is not None:
            counts.update(_verification(verifier.statistics))
            counts["verified too long"] += verifier.too_long
            verifier.statistics, verifier.too_long = type(verifier.statistics)(), 0  # traces grow with the corpus
        return counts


def _key(window: Window) -> bytes:
    """Window of the same sentence at the same place: 16 bytes, so that two that differ never meet (2^-64 at 2^32)."""
    place = f"{window.pieces.starts[0]}:" if window.pieces.starts else ":"
    return blake2b((place + window.sentence.text).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _verification(statistics: Statistics) -> dict[str, int | float]:
    """Sums that can be added up over batches, machines and runs of a job."""
    traces = statistics.traces
    return {
        "verified": len(traces),
        "verified unfinished": sum(not trace.finished for trace in traces),
        "verified as drafted": sum(trace.draft_is_output for trace in traces),
        "target passes": sum(trace.passes for trace in traces),
        "target tokens": sum(trace.tokens for trace in traces),
        "drafted tokens": sum(sum(trace.proposed) for trace in traces),
        "drafted tokens judged": sum(trace.reached for trace in traces),
        "drafted tokens accepted": sum(sum(trace.accepted) for trace in traces),
    }
