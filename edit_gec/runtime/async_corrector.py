"""One text -> its edits, sentence by sentence, for servers: the path of corrector.py with batching across clients.

    async for sentence in checker.sentences(text, min_confidence=0.5):
        sentence.start, sentence.end, sentence.edits

Law (tests/test_server.py): the same edits as Corrector.correct gives. A sentence that was seen before, in whatever
text, is not predicted again. Python's own work (splitting, encoding, naming edits) runs in one thread beside the
model's, so that the event loop stays free.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from edit_gec.corrector import Correction, Corrector, Found, surest
from edit_gec.runtime.dynamic_batching import Batcher
from edit_gec.runtime.type_cache import Job, Names
from edit_gec.text.edits import Edit
from edit_gec.text.sentences import Sentence, split

if TYPE_CHECKING:
    from edit_gec.modeling.tokenizer import Pieces
    from edit_gec.runtime.metrics import Metrics
    from edit_gec.runtime.timing import Timing

CACHE_CHARACTERS = 1_000_000  # of remembered sentences; with their plans some 50 MB at most
Result = TypeVar("Result")
Key = tuple[str, "float | None"]  # a sentence, and the confidence that was asked for


@dataclass(frozen=True)
class Checked:
    """A sentence of a text, text[start:end], and the edits in it (code points of the text).

    `refused` are edits that were drafted and that the target did not make.
    """

    start: int
    end: int
    edits: tuple[Edit, ...]
    refused: tuple[Edit, ...] = ()


@dataclass
class Stages:
    """Where the time of one text went, in seconds. What the model did was done for all texts of its batches."""

    prepare_s: float = 0.0  # splitting into sentences and pieces
    explain_s: float = 0.0  # naming the edits
    sentences: int = 0
    cached: int = 0
    batches: set[Timing] = field(default_factory=set)


class Cache:
    """The least recently used sentences are forgotten when the characters of all exceed `capacity`."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.size = capacity, 0
        self.known: OrderedDict[Key, tuple[Found, ...]] = OrderedDict()

    def get(self, key: Key) -> tuple[Found, ...] | None:
        """What changes in a sentence at a threshold, or None where that is not known."""
        if key in self.known:
            self.known.move_to_end(key)
        return self.known.get(key)

    def put(self, key: Key, changes: tuple[Found, ...]) -> None:
        """Remember a sentence."""
        if key not in self.known:
            self.size += len(key[0])
        self.known[key] = changes
        while self.size > self.capacity:
            (text, _), _ = self.known.popitem(last=False)
            self.size -= len(text)


class Checker:
    """A corrector for many clients at once. To be used from one event loop; `close` it in the end."""

    def __init__(self, corrector: Corrector, metrics: Metrics | None = None, *, max_waiting: int) -> None:
        self.corrector, self.metrics = corrector, metrics
        self.batcher = Batcher(corrector, metrics, max_waiting=max_waiting)
        self.cache = Cache(CACHE_CHARACTERS)
        self.names = Names()
        self.thread = ThreadPoolExecutor(1, "text")

    async def close(self) -> None:
        """Stop the model and the threads."""
        await self.batcher.close()
        await asyncio.to_thread(self.thread.shutdown)

    async def correct(
        self,
        text: str,
        *,
        min_confidence: float | None = None,
        markup: bool = True,
        explain: bool = True,
        stages: Stages | None = None,
    ) -> tuple[Correction, list[Checked]]:
        """The correction of a text, and its sentences. Raises batching.Busy."""
        stages = stages or Stages()
        sentences = [
            sentence
            async for sentence in self.sentences(text, min_confidence=min_confidence, markup=markup, stages=stages)
        ]
        if explain:
            sentences = await self.named(text, sentences, stages)
        edits = [edit for sentence in sentences for edit in sentence.edits]
        refused = [edit for sentence in sentences for edit in sentence.refused]
        return self.corrector.apply(text, edits, refused), sentences

    async def named(self, text: str, sentences: Sequence[Checked], stages: Stages) -> list[Checked]:
        """The sentences with their edits' types and messages."""
        begun = perf_counter()
        jobs = [_job(text, sentence) for sentence in sentences if sentence.edits]
        named = iter(await self._in_thread(lambda: self.names.name(jobs)) if jobs else [])
        stages.explain_s += perf_counter() - begun
        return [
            replace(
                sentence,
                edits=tuple(
                    replace(e, type=t, message=m) for e, (t, m) in zip(sentence.edits, next(named), strict=True)
                ),
            )
            if sentence.edits
            else sentence
            for sentence in sentences
        ]

    async def sentences(
        self, text: str, *, min_confidence: float | None = None, markup: bool = True, stages: Stages | None = None
    ) -> AsyncGenerator[Checked, None]:
        """The sentences of a text, each as soon as it and those before it are done. Raises batching.Busy."""
        stages = stages or Stages()
        begun = perf_counter()
        sentences = await self._in_thread(lambda: split(text, markup=markup))
        remembered = ((s.text, self.cache.get((s.text, min_confidence))) for s in sentences)
        known = {source: changes for source, changes in remembered if changes is not None}
        new = dict.fromkeys(s.text for s in sentences if s.text not in known)
        windows = await self._in_thread(lambda: [self._windows(source) for source in new])
        options = self.corrector.options
        if min_confidence is not None and self.corrector.verifier is None:
            from edit_gec.editing.thresholds import with_overrides  # imports torch

            options = with_overrides(options, {"min_confidence": min_confidence})
        futures = iter(self.batcher.submit([window for each in windows for window in each], options))
        waiting = {source: [next(futures) for _ in each] for source, each in zip(new, windows, strict=True)}
        stages.prepare_s += perf_counter() - begun
        stages.sentences, stages.cached = len(sentences), len(sentences) - len(new)
        self._count(text, stages)
        try:
            for sentence in sentences:
                if sentence.text not in known:
                    done = [await future for future in waiting[sentence.text]]
                    stages.batches.update(timing for _, timing in done)
                    known[sentence.text] = tuple(found for found, _ in done)
                    self.cache.put((sentence.text, min_confidence), known[sentence.text])
                yield self._checked(text, sentence, known[sentence.text], min_confidence)
        finally:
            for each in waiting.values():
                for future in each:
                    future.cancel()

    def _windows(self, source: str) -> list[Pieces]:
        return self.corrector.readable(self.corrector.tokens.encode(source))

    def _count(self, text: str, stages: Stages) -> None:
        if self.metrics:
            self.metrics.characters.inc(len(text))
            self.metrics.sentences.labels("cache").inc(stages.cached)
            self.metrics.sentences.labels("model").inc(stages.sentences - stages.cached)

    def _checked(
        self, text: str, sentence: Sentence, windows: Sequence[Found], min_confidence: float | None
    ) -> Checked:
        """A sentence with the edits of the document that its changes make."""
        found: list[Edit] = []
        refused: list[Edit] = []
        for window in windows:
            own, left_out = self.corrector.edits(text, sentence, window, min_confidence or 0.0)
            found += own
            refused += left_out
        edits = tuple(surest(found))
        if self.metrics:
            self.metrics.edits.inc(len(edits))
        return Checked(sentence.offsets[0], sentence.offsets[-1], edits, tuple(surest(refused)))

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)


def _job(text: str, sentence: Checked) -> Job:
    first = min(sentence.start, sentence.edits[0].start)
    last = max(sentence.end, sentence.edits[-1].end)
    edits = (replace(edit, start=edit.start - first, end=edit.end - first) for edit in sentence.edits)
    return text[first:last], tuple(edits)
