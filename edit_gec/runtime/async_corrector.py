"""The corrector for many callers at once: the stages of corrector.py with a queue between prepare and finish.

    async with AsyncCorrector(Corrector.load()) as corrector:
        correction = await corrector.correct("She go home.")
        async for sentence in corrector.sentences(text, settings=Settings(min_confidence=0.5)):
            sentence.start, sentence.end, sentence.edits

Waiting sentences of all callers are batched together (dynamic_batching.py).

The edits are those of Corrector.correct plus the standing suggestions of standing.py (tests/server/test_server.py). A
sentence that was seen before, in any text, is not predicted again. Work in Python (splitting, encoding, naming edits)
runs in a separate thread, so that neither the model nor the event loop waits for it, and in steps, so that a short text
does not wait for a long one (fair_thread.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from edit_gec.config.settings import DEFAULTS, Settings
from edit_gec.corrector import Corrector
from edit_gec.editing.document_edits import ProjectedEdits
from edit_gec.editing.predictor import Window, WindowChanges, join_changes
from edit_gec.editing.settling import go_on
from edit_gec.runtime.dynamic_batching import Batcher
from edit_gec.runtime.dynamic_batching import Result as BatchResult
from edit_gec.runtime.fair_thread import Account, FairThread, Steps
from edit_gec.runtime.recent import Recent
from edit_gec.runtime.standing import StandingSuggestions
from edit_gec.runtime.type_cache import ErrorTypeCache, Job
from edit_gec.text.correction import Correction, assemble, check_text
from edit_gec.text.edits import Edit, resolve_overlaps
from edit_gec.text.formats import check_format
from edit_gec.text.sentences import Sentence, find_sentences
from edit_gec.text.stretches import NumberedSentence

if TYPE_CHECKING:
    from edit_gec.editing.alternatives import Options, Suggester
    from edit_gec.runtime.metrics import Metrics
    from edit_gec.runtime.timing import BatchTiming
    from edit_gec.text.edit_filter import EditFilter

CACHE_CHARACTERS = 1_000_000  # of cached sentences; with their plans at most about 50 MB
MAX_WAITING = 100_000  # sentences in the queue
LONG_SENTENCE = 2_000  # characters from which on its edits are found outside the event loop
STEP_CHARACTERS = 10_000  # of sentences that are found or encoded at a time: 50 ms
CHARACTER_S = 5e-6  # of work in Python that each character takes, at least
Key = tuple[str, Hashable]  # a sentence, and the parameters of the request


def count_characters(key: Key) -> int:
    """Those of the sentence of a key."""
    return len(key[0])


@dataclass(frozen=True)
class SentenceResult:
    """A sentence of a text, text[start:end], and the edits in it (code points of the text).

    `refused` are drafted edits that the target rejected; `hints` are of errors that are shown on purpose, and those of
    `suggest`. `source` is what the model read.
    """

    start: int
    end: int
    edits: tuple[Edit, ...]
    refused: tuple[Edit, ...] = ()
    hints: tuple[Edit, ...] = ()
    source: Sentence | None = field(default=None, repr=False, compare=False)


@dataclass
class Stages:
    """Where the time of one text went, in seconds. The model's time is that of whole batches, shared by texts."""

    prepare_s: float = 0.0  # splitting into sentences and pieces
    suggest_s: float = 0.0  # finding alternatives and hints
    explain_s: float = 0.0  # naming the edits
    sentences: int = 0
    cached: int = 0
    batches: set[BatchTiming] = field(default_factory=set)
    account: Account = field(default_factory=Account)  # of the text in the thread for work in Python


class AsyncCorrector:
    """A corrector for many callers at once. Use it in one event loop, in an `async with` block, or `close` it.

    At most `max_waiting` sentences wait; a text that would exceed that is refused (dynamic_batching.Busy).
    """

    def __init__(self, corrector: Corrector, metrics: Metrics | None = None, *, max_waiting: int = MAX_WAITING) -> None:
        self.corrector = corrector
        self.metrics = metrics
        self.batcher = Batcher(corrector, metrics, max_waiting=max_waiting)
        self.cache: Recent[Key, tuple[WindowChanges, ...]] = Recent(CACHE_CHARACTERS, count_characters)
        self.options: Recent[Key, Options] = Recent(CACHE_CHARACTERS, count_characters)
        self.standing = StandingSuggestions()
        self.types = ErrorTypeCache()
        self.client = ""  # for whom sentences are remembered
        self.thread = FairThread("text")

    def for_client(self, client: str) -> AsyncCorrector:
        """The same for one of several clients. What was read for another is read again: how long an answer takes does
        not tell what others have asked, nor do their suggestions stand."""
        view = copy(self)
        view.client = client
        return view

    async def __aenter__(self) -> AsyncCorrector:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the model and the threads."""
        await self.batcher.close()
        await self.thread.close()

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
        return join(text, sentences), sentences

    async def suggest(
        self,
        text: str,
        sentences: Sequence[SentenceResult],
        settings: Settings = DEFAULTS,
        *,
        hints: bool = True,
        stages: Stages | None = None,
    ) -> list[SentenceResult]:
        """The sentences with alternatives to their edits and, if they are asked for, with hints.

        `settings` are those that the sentences were corrected with. With an exact target there are neither.
        """
        corrector = self.corrector.with_settings(settings.threshold, settings.dialect)
        suggester = corrector.suggester()
        if suggester is None:
            return list(sentences)
        is_wanted = settings.edit_filter().on(text)

        def suggest() -> Steps[list[SentenceResult]]:
            found = []
            for result in sentences:
                found.append((yield from self._suggest(text, result, suggester, is_wanted, hints=hints)))
            return found

        stages = stages or Stages()
        begun = perf_counter()
        suggested = await self.thread.run_steps(suggest(), stages.account)
        stages.suggest_s += perf_counter() - begun
        return suggested

    def _suggest(
        self,
        text: str,
        result: SentenceResult,
        suggester: Suggester,
        is_wanted: Callable[[Edit], bool],
        *,
        hints: bool,
    ) -> Steps[SentenceResult]:
        """`suggest` for one sentence, a window in each step."""
        sentence = result.source
        if sentence is None or not (hints or result.edits):
            return result
        edited = tuple(map(sentence.span_of, result.edits))
        key = (sentence.text, (self.client, edited, hints, suggester.thresholds.threshold))
        options = self.options.get(key)
        if options is None:
            for read in suggester.read(sentence.text, edited, hints=hints):
                options = read
                yield
            if options is None:  # no window of it is prose
                return result
            self.options.put(key, options)
        suggested = suggester.project(text, sentence, result.edits, options)
        found = resolve_overlaps((*result.hints, *filter(is_wanted, suggested.hints)))
        return replace(result, edits=suggested.edits, hints=tuple(found))

    async def explain(
        self, text: str, sentences: Sequence[SentenceResult], stages: Stages | None = None
    ) -> list[SentenceResult]:
        """The sentences with types, messages and reasons of their edits and of their hints."""
        stages = stages or Stages()
        begun = perf_counter()
        account = stages.account
        edits = await self._name(text, sentences, [sentence.edits for sentence in sentences], account)
        hints = await self._name(text, sentences, [sentence.hints for sentence in sentences], account)
        stages.explain_s += perf_counter() - begun
        found = zip(sentences, edits, hints, strict=True)
        return [replace(sentence, edits=edits, hints=hints) for sentence, edits, hints in found]

    async def _name(
        self, text: str, sentences: Sequence[SentenceResult], edits: Sequence[tuple[Edit, ...]], account: Account
    ) -> list[tuple[Edit, ...]]:
        """The edits of each sentence with their types, messages and reasons."""
        jobs = [_job(text, sentence, found) for sentence, found in zip(sentences, edits, strict=True) if found]
        named = iter(await self.thread.run_steps(self.types.name(jobs, self.client), account) if jobs else [])
        return [
            tuple(replace(edit, **name._asdict()) for edit, name in zip(found, next(named), strict=True))
            if found
            else ()
            for found in edits
        ]

    async def sentences(
        self, text: str, *, settings: Settings = DEFAULTS, format: str = "markdown", stages: Stages | None = None
    ) -> AsyncGenerator[SentenceResult, None]:
        """The sentences of a text in order, each as soon as it is done. Raises as `correct` does."""
        stages = stages or Stages()
        begun = perf_counter()
        check_text(text)
        corrector = self.corrector.with_settings(settings.threshold, settings.dialect)
        known_format = check_format(format)
        stages.account.needs = CHARACTER_S * len(text)
        sentences = await self.thread.run_steps(_split(text, known_format), stages.account)
        keys = [(each.sentence.text, (self.client, corrector.min_confidence)) for each in sentences]
        remembered = ((key, self.cache.get(key)) for key in keys)
        known = {key: changes for key, changes in remembered if changes is not None}
        new = {key: each for key, each in zip(keys, sentences, strict=True) if key not in known}
        windows = await self.thread.run_steps(_encode(new.values(), corrector), stages.account)
        waiting = self._submit(new, windows, corrector)
        stages.prepare_s += perf_counter() - begun
        choose = await self.thread.run(lambda: self._chooser(text, settings.edit_filter(), stages), stages.account)
        stages.sentences = len(sentences)
        stages.cached = len(sentences) - len(new)
        self._count(text, stages)
        try:
            for key, (_, sentence) in zip(keys, sentences, strict=True):
                if key not in known:
                    done = [await future for future in waiting[key]]
                    stages.batches.update(timing for _, timing in done)
                    known[key] = tuple(changes for changes, _ in done)
                    self.cache.put(key, known[key])
                await asyncio.sleep(0)  # others have their turn, also where all is known
                changes = self._with_standing(sentence.text, corrector.min_confidence, join_changes(known[key]))
                yield await choose(await self._finish(text, sentence, changes, corrector, stages.account))
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
            if needs_types and (sentence.edits or sentence.hints):
                (sentence,) = await self.explain(text, [sentence], stages)
            edits, hints = (tuple(filter(is_wanted, each)) for each in (sentence.edits, sentence.hints))
            return replace(sentence, edits=edits, hints=hints)

        return choose

    def _with_standing(self, sentence: str, min_confidence: float, found: WindowChanges) -> WindowChanges:
        """The changes of a sentence with the standing ones. A target's own text has none."""
        if self.corrector.predictor.is_exact:
            return found
        changes = self.standing.keep(sentence, (self.client, min_confidence), found.changes)
        return found if changes == found.changes else WindowChanges(changes)

    def _submit(
        self, keys: Iterable[Key], windows: Sequence[Sequence[Window]], corrector: Corrector
    ) -> dict[Key, list[asyncio.Future[BatchResult]]]:
        """The futures of the windows of each sentence."""
        futures = iter(self.batcher.submit([window for each in windows for window in each], corrector))
        return {key: [next(futures) for _ in each] for key, each in zip(keys, windows, strict=True)}

    async def _read(self, sentence: Sentence, corrector: Corrector) -> WindowChanges:
        """What changes in a sentence."""
        key = sentence.text, (self.client, corrector.min_confidence)
        known = self.cache.get(key)
        if known is None:
            waiting = self._submit([key], [corrector.encode([NumberedSentence(0, sentence)])], corrector)[key]
            try:
                known = tuple([(await future)[0] for future in waiting])
            finally:
                for future in waiting:
                    future.cancel()
            self.cache.put(key, known)
        return join_changes(known)

    def _count(self, text: str, stages: Stages) -> None:
        if self.metrics:
            self.metrics.characters.inc(len(text))
            self.metrics.sentences.labels("cache").inc(stages.cached)
            self.metrics.sentences.labels("model").inc(stages.sentences - stages.cached)

    async def _finish(
        self, text: str, sentence: Sentence, changes: WindowChanges, corrector: Corrector, account: Account
    ) -> SentenceResult:
        """A sentence with its changes as edits of the text; what they change is read again."""
        settling = corrector.settle(text, sentence, changes)
        is_long = len(sentence.text) > LONG_SENTENCE
        read = None
        while True:
            step = partial(go_on, settling, read)
            found = await self.thread.run(step, account) if is_long else step()
            if isinstance(found, ProjectedEdits):
                break
            read = [await self._read(part, corrector) for part in found]
        edits, refused, hints = (tuple(resolve_overlaps(each)) for each in found)
        if self.metrics:
            self.metrics.edits.inc(len(edits))
        return SentenceResult(sentence.offsets[0], sentence.offsets[-1], edits, refused, hints, source=sentence)


def _split(text: str, format: str) -> Steps[list[NumberedSentence]]:
    """The sentences of a text, some of them in each step."""
    sentences = []
    begin = 0
    for sentence in find_sentences(text, format=format):
        sentences.append(NumberedSentence(0, sentence))
        if sentence.offsets[-1] - begin > STEP_CHARACTERS:
            begin = sentence.offsets[-1]
            yield
    return sentences


def _encode(sentences: Iterable[NumberedSentence], corrector: Corrector) -> Steps[list[list[Window]]]:
    """The windows of each sentence, some of them in each step."""
    windows = []
    characters = 0
    for each in sentences:
        windows.append(corrector.encode([each]))
        characters += len(each.sentence.text)
        if characters > STEP_CHARACTERS:
            characters = 0
            yield
    return windows


def join(text: str, sentences: Sequence[SentenceResult]) -> Correction:
    """The correction of a text, joined from its sentences."""
    edits, refused, hints = (
        [edit for sentence in sentences for edit in getattr(sentence, name)] for name in ("edits", "refused", "hints")
    )
    return assemble(text, edits, refused, hints)


def _job(text: str, sentence: SentenceResult, edits: Sequence[Edit]) -> Job:
    """The text in which edits of a sentence get their types: what the model read, or, if an edit spans lines, the
    document itself."""
    source = sentence.source
    spans = [source.span_of(edit) for edit in edits] if source else []
    if source and all(source.text[a:b] == edit.original for (a, b), edit in zip(spans, edits, strict=True)):
        moved = (replace(edit, start=a, end=b) for (a, b), edit in zip(spans, edits, strict=True))
        return source.text, tuple(moved)
    first = min(sentence.start, edits[0].start)
    last = max(sentence.end, edits[-1].end)
    return text[first:last], tuple(edit.moved(-first) for edit in edits)
