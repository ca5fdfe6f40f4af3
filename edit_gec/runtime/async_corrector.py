"""The corrector for many callers at once: the stages of corrector.py with a queue between prepare and finish.

    async with AsyncCorrector(Corrector.load()) as corrector:
        correction = await corrector.correct("She go home.")
        async for sentence in corrector.sentences(text, settings=Settings(min_confidence=0.5)):
            sentence.start, sentence.end, sentence.edits

Waiting sentences of all callers are batched together (dynamic_batching.py).

Law (tests/server/test_server.py): the same edits as Corrector.correct, and the standing suggestions (standing.py). A
sentence that was seen before, in any text, is not predicted again. Python's own work (splitting, encoding, naming
edits) runs in a thread of its own, so that neither the model nor the event loop waits for it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from edit_gec.config.settings import DEFAULTS, Settings
from edit_gec.corrector import Corrector
from edit_gec.runtime.dynamic_batching import Batcher
from edit_gec.runtime.dynamic_batching import Result as BatchResult
from edit_gec.runtime.standing import StandingSuggestions
from edit_gec.runtime.type_cache import ErrorTypeCache, Job
from edit_gec.speculative.window_corrector import SentenceChanges
from edit_gec.text.correction import Correction, assemble, check_text
from edit_gec.text.edits import Edit, resolve_overlaps
from edit_gec.text.formats import check_format
from edit_gec.text.sentences import Sentence, split

if TYPE_CHECKING:
    from edit_gec.modeling.tokenizer import Pieces
    from edit_gec.runtime.metrics import Metrics
    from edit_gec.runtime.timing import BatchTiming
    from edit_gec.speculative.window_corrector import SentenceChanges
    from edit_gec.text.edit_filter import EditFilter

CACHE_CHARACTERS = 1_000_000  # of cached sentences; with their plans at most about 50 MB
MAX_WAITING = 100_000  # sentences in the queue
Result = TypeVar("Result")
Key = tuple[str, "float | None"]  # a sentence, and the requested threshold


@dataclass(frozen=True)
class SentenceResult:
    """A sentence of a text, text[start:end], and the edits in it (code points of the text).

    `refused` are drafted edits that the target rejected.
    """

    start: int
    end: int
    edits: tuple[Edit, ...]
    refused: tuple[Edit, ...] = ()


@dataclass
class Stages:
    """Where the time of one text went, in seconds. The model's time is that of whole batches, shared by texts."""

    prepare_s: float = 0.0  # splitting into sentences and pieces
    explain_s: float = 0.0  # naming the edits
    sentences: int = 0
    cached: int = 0
    batches: set[BatchTiming] = field(default_factory=set)


class Cache:
    """Changes of sentences; the least recently used are dropped when the characters of all exceed `capacity`."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.size = capacity, 0
        self.known: OrderedDict[Key, tuple[SentenceChanges, ...]] = OrderedDict()

    def get(self, key: Key) -> tuple[SentenceChanges, ...] | None:
        """What changes in the windows of a sentence at a threshold, or None where that is not known."""
        if key in self.known:
            self.known.move_to_end(key)
        return self.known.get(key)

    def put(self, key: Key, changes: tuple[SentenceChanges, ...]) -> None:
        """Remember a sentence."""
        if key not in self.known:
            self.size += len(key[0])
        self.known[key] = changes
        while self.size > self.capacity:
            (text, _), _ = self.known.popitem(last=False)
            self.size -= len(text)


class AsyncCorrector:
    """A corrector for many callers at once. Use it in one event loop, in an `async with` block, or `close` it.

    At most `max_waiting` sentences wait; a text that would exceed that is refused (dynamic_batching.Busy).
    """

    def __init__(self, corrector: Corrector, metrics: Metrics | None = None, *, max_waiting: int = MAX_WAITING) -> None:
        self.corrector, self.metrics = corrector, metrics
        self.batcher = Batcher(corrector, metrics, max_waiting=max_waiting)
        self.cache = Cache(CACHE_CHARACTERS)
        self.standing = StandingSuggestions()
        self.types = ErrorTypeCache()
        self.thread = ThreadPoolExecutor(1, "text")

    async def __aenter__(self) -> AsyncCorrector:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the model and the threads."""
        await self.batcher.close()
        await asyncio.to_thread(self.thread.shutdown)

    async def correct(
        self, text: str, *, min_confidence: float | None = None, format: str = "markdown", explain: bool = False
    ) -> Correction:
        """Correct one text; `min_confidence` replaces the model's threshold. Otherwise as `correct_by_sentence`."""
        settings = Settings(min_confidence=min_confidence)
        correction, _ = await self.correct_by_sentence(text, settings=settings, format=format, explain=explain)
        return correction

    async def correct_by_sentence(
        self,
        text: str,
        *,
        settings: Settings = DEFAULTS,
        format: str = "markdown",
        explain: bool = False,
        stages: Stages | None = None,
    ) -> tuple[Correction, list[SentenceResult]]:
        """The correction of a text, and its sentences.

        `settings` may replace threshold and dialect of the corrector, and name words and kinds of edits to leave alone.
        `format` is one of text.formats.UNDERSTOOD, a programming language, or "plain" for a text without markup.
        `explain` adds type, message and reason to edits; it needs ERRANT. Raises Busy if too many sentences wait,
        InputError for wrong arguments.
        """
        stages = stages or Stages()
        sentences = [
            sentence async for sentence in self.sentences(text, settings=settings, format=format, stages=stages)
        ]
        if explain:
            sentences = await self.explain(text, sentences, stages)
        edits = [edit for sentence in sentences for edit in sentence.edits]
        refused = [edit for sentence in sentences for edit in sentence.refused]
        return assemble(text, edits, refused), sentences

    async def explain(
        self, text: str, sentences: Sequence[SentenceResult], stages: Stages | None = None
    ) -> list[SentenceResult]:
        """The sentences with their edits' types, messages and reasons."""
        stages = stages or Stages()
        begun = perf_counter()
        jobs = [_job(text, sentence) for sentence in sentences if sentence.edits]
        named = iter(await self._in_thread(lambda: self.types.name(jobs)) if jobs else [])
        stages.explain_s += perf_counter() - begun
        explained = []
        for sentence in sentences:
            if sentence.edits:
                pairs = zip(sentence.edits, next(named), strict=True)
                edits = tuple(replace(edit, **name._asdict()) for edit, name in pairs)
                sentence = replace(sentence, edits=edits)
            explained.append(sentence)
        return explained

    async def sentences(
        self, text: str, *, settings: Settings = DEFAULTS, format: str = "markdown", stages: Stages | None = None
    ) -> AsyncGenerator[SentenceResult, None]:
        """The sentences of a text in order, each as soon as it is done. Raises as `correct` does."""
        stages = stages or Stages()
        begun = perf_counter()
        check_text(text)
        min_confidence = settings.min_confidence
        corrector = self.corrector.with_settings(min_confidence, settings.dialect)
        known_format = check_format(format)
        sentences = await self._in_thread(lambda: split(text, format=known_format))
        remembered = ((s.text, self.cache.get((s.text, min_confidence))) for s in sentences)
        known = {source: changes for source, changes in remembered if changes is not None}
        new = list(dict.fromkeys(s.text for s in sentences if s.text not in known))
        windows = await self._in_thread(lambda: [corrector.encode(source) for source in new])
        waiting = self._submit(new, windows, corrector)
        stages.prepare_s += perf_counter() - begun
        choose = await self._in_thread(lambda: self._chooser(text, settings.edit_filter(), stages))
        stages.sentences, stages.cached = len(sentences), len(sentences) - len(new)
        self._count(text, stages)
        try:
            for sentence in sentences:
                if sentence.text not in known:
                    done = [await future for future in waiting[sentence.text]]
                    stages.batches.update(timing for _, timing in done)
                    known[sentence.text] = tuple(changes for changes, _ in done)
                    self.cache.put((sentence.text, min_confidence), known[sentence.text])
                changes = self._with_standing(sentence.text, min_confidence, known[sentence.text])
                yield await choose(self._finish(text, sentence, changes, corrector))
        finally:
            for each in waiting.values():
                for future in each:
                    future.cancel()

    def _chooser(
        self, text: str, edit_filter: EditFilter, stages: Stages
    ) -> Callable[[SentenceResult], Awaitable[SentenceResult]]:
        """A function that drops the unwanted edits of a sentence."""
        is_wanted, needs_types = edit_filter.on(text), edit_filter.needs_types(text)

        async def choose(sentence: SentenceResult) -> SentenceResult:
            if needs_types and sentence.edits:
                (sentence,) = await self.explain(text, [sentence], stages)
            return replace(sentence, edits=tuple(filter(is_wanted, sentence.edits)))

        return choose

    def _with_standing(
        self, sentence: str, min_confidence: float | None, windows: Sequence[SentenceChanges]
    ) -> Sequence[SentenceChanges]:
        """The changes of a sentence with the standing ones. With a target nothing stands: its output is exact."""
        if any(window.verified is not None for window in windows):
            return windows
        changes = [change for window in windows for change in window.drafted]
        return [SentenceChanges(self.standing.keep(sentence, min_confidence, changes))]

    def _submit(
        self, sources: Sequence[str], windows: Sequence[Sequence[Pieces]], corrector: Corrector
    ) -> dict[str, list[asyncio.Future[BatchResult]]]:
        """The futures of the windows of each sentence."""
        futures = iter(self.batcher.submit([window for each in windows for window in each], corrector))
        return {source: [next(futures) for _ in each] for source, each in zip(sources, windows, strict=True)}

    def _count(self, text: str, stages: Stages) -> None:
        if self.metrics:
            self.metrics.characters.inc(len(text))
            self.metrics.sentences.labels("cache").inc(stages.cached)
            self.metrics.sentences.labels("model").inc(stages.sentences - stages.cached)

    def _finish(
        self, text: str, sentence: Sentence, windows: Sequence[SentenceChanges], corrector: Corrector
    ) -> SentenceResult:
        """A sentence with its changes as edits of the text."""
        found: list[Edit] = []
        refused: list[Edit] = []
        for changes in windows:
            made, left_out = corrector.to_document_edits(text, sentence, changes)
            found += made
            refused += left_out
        edits = tuple(resolve_overlaps(found))
        if self.metrics:
            self.metrics.edits.inc(len(edits))
        return SentenceResult(sentence.offsets[0], sentence.offsets[-1], edits, tuple(resolve_overlaps(refused)))

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)


def _job(text: str, sentence: SentenceResult) -> Job:
    first = min(sentence.start, sentence.edits[0].start)
    last = max(sentence.end, sentence.edits[-1].end)
    edits = (replace(edit, start=edit.start - first, end=edit.end - first) for edit in sentence.edits)
    return text[first:last], tuple(edits)
