"""The queue before the model: batches across texts, fairness, refusal, failures that stay with their text."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("fastapi")
from support import live_server
from support.correctors import windows_of

from edit_gec.corrector import Corrector
from edit_gec.editing import decode
from edit_gec.editing.predictor import Window, WindowChanges
from edit_gec.modeling.tokenizer import Pieces
from edit_gec.runtime.async_corrector import AsyncCorrector, Key, count_characters
from edit_gec.runtime.dynamic_batching import Batcher, Busy
from edit_gec.runtime.metrics import Metrics
from edit_gec.runtime.recent import Recent


@pytest.fixture(scope="module")
def corrector(make_model: Any, tokens: Any, tmp_path_factory: pytest.TempPathFactory) -> Corrector:
    folder = live_server.save(make_model, tokens, tmp_path_factory.mktemp("lively"))
    return Corrector.load(folder, threads=1, batch_size=4)


def run(corrector: Corrector, work: Callable[[Batcher], Awaitable[Any]], max_waiting: int = 100) -> Metrics:
    async def all_of_it() -> Metrics:
        metrics = Metrics()
        batcher = Batcher(corrector, metrics, max_waiting=max_waiting)
        try:
            await work(batcher)
        finally:
            await batcher.close()
        return metrics

    return asyncio.run(all_of_it())


def test_texts_share_batches_and_get_their_own_plans(corrector: Corrector) -> None:
    texts = [f"She go home with {n} of them." for n in range(7)]
    encoded = windows_of(corrector, *texts)

    async def work(batcher: Batcher) -> None:
        futures = [batcher.submit([each], corrector)[0] for each in encoded]
        done = await asyncio.gather(*futures)
        expected = [corrector.predictor.predict([each])[0] for each in encoded]
        assert [[change[:3] for change in found.changes] for found, _ in done] == [
            [change[:3] for change in each.changes] for each in expected
        ]
        assert done[0][1] is done[3][1] and done[0][1] is not done[6][1]  # a batch of four, a batch of three
        assert done[0][1].encoder_s > 0 and done[0][1].steps > 0 and done[0][1].steps_s > 0

    metrics = run(corrector, work)
    assert metrics.registry.get_sample_value("edit_gec_batch_sentences_count") == 2
    assert metrics.registry.get_sample_value("edit_gec_sentences_waiting") == 0


def test_two_cores_share_a_long_text_whose_sentences_differ_in_length(corrector: Corrector) -> None:
    texts = [
        "She go.",
        "She go home with all of them because it rain every day. " * 3,
        "It rain.",
        "They was here.",
    ] * 3
    encoded = windows_of(corrector, *texts)
    expected = [corrector.predictor.predict([each])[0] for each in encoded]
    corrector = replace(corrector, workers=2)

    async def work(batcher: Batcher) -> None:
        done = await asyncio.gather(*batcher.submit(encoded, corrector))
        assert [[c[:3] for c in found.changes] for found, _ in done] == [[c[:3] for c in e.changes] for e in expected]
        assert len({timing for _, timing in done}) > 1

    metrics = run(corrector, work)
    batches = metrics.registry.get_sample_value("edit_gec_batch_sentences_count")
    assert batches is not None and batches >= 3  # of at most four


def test_misspelt_words_and_other_languages_are_known_as_everywhere() -> None:
    shipped = Corrector.load(threads=1)
    encoded = windows_of(shipped, "I recieved the accomodation becuase of it.", "Ich habe das Buch gestern gelesen.")
    expected = shipped.predictor.predict(encoded)
    assert replace(shipped.edit5, spelling=None).predict(encoded) != expected

    async def work(batcher: Batcher) -> None:
        done = await asyncio.gather(*batcher.submit(encoded, shipped))
        assert [[c[:3] for c in found.changes] for found, _ in done] == [[c[:3] for c in e.changes] for e in expected]

    run(shipped, work)


def test_a_short_text_does_not_wait_for_a_long_one(corrector: Corrector) -> None:
    long, short = windows_of(corrector, *["It rain all day."] * 40), windows_of(corrector, "She go.")

    async def work(batcher: Batcher) -> None:
        many = batcher.submit(long, corrector)
        (one,) = batcher.submit(short, corrector)
        await one
        assert sum(future.done() for future in many) < 8
        await asyncio.gather(*many)

    run(corrector, work)


def edited(corrector: Corrector) -> list[Window]:
    """A sentence that this random model changes."""
    texts = [*live_server.PROSE.split(". "), *live_server.PROSE.splitlines()]
    return windows_of(corrector, next(text for text in texts if corrector.correct(text).edits))


def test_a_text_that_is_known_lets_others_have_their_turn(corrector: Corrector) -> None:
    text = " ".join("She go home." for _ in range(50))

    async def follow() -> list[int]:
        """How many sentences are done at each turn of another caller."""
        async with AsyncCorrector(corrector) as many:
            await many.correct(text)
            found: list[object] = []
            done = [0]

            async def read() -> None:
                async for sentence in many.sentences(text):
                    found.append(sentence)

            known = asyncio.create_task(read())
            while not known.done():
                await asyncio.sleep(0)
                done.append(len(found))
            return done

    done = asyncio.run(follow())
    assert done[-1] == 50 and max(b - a for a, b in pairwise(done)) <= 2


def test_thresholds_are_not_mixed(corrector: Corrector) -> None:
    sentence = edited(corrector)
    never = corrector.with_thresholds(min_confidence=1.0)

    async def work(batcher: Batcher) -> None:
        (sure,), (unsure,) = batcher.submit(sentence, never), batcher.submit(sentence, corrector)
        assert not (await sure)[0].changes and (await unsure)[0].changes

    run(corrector, work)


def test_too_much_is_refused_and_what_was_cancelled_is_not_predicted(corrector: Corrector) -> None:
    many = windows_of(corrector, *["It rain all day."] * 60)

    async def work(batcher: Batcher) -> None:
        first = batcher.submit(many, corrector)
        with pytest.raises(Busy):
            batcher.submit(many, corrector)
        second = batcher.submit(many[:40], corrector)
        for future in first:
            future.cancel()
        await asyncio.gather(*second)
        assert batcher.waiting == 0

    metrics = run(corrector, work)
    assert metrics.registry.get_sample_value("edit_gec_batch_sentences_sum") == 40


def test_a_text_larger_than_the_queue_is_done_when_nothing_else_waits(corrector: Corrector) -> None:
    many = windows_of(corrector, *["It rain all day."] * 12)

    async def work(batcher: Batcher) -> None:
        await asyncio.gather(*batcher.submit(many, corrector))

    run(corrector, work, max_waiting=5)


def test_a_failure_stays_with_its_sentence(corrector: Corrector, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = edited(corrector), windows_of(corrector, "She go away.")
    real = decode.predict

    def fails(model: Any, tokens: Any, sentences: list[Pieces], options: Any, **given: Any) -> Any:
        if bad[0].pieces in sentences:
            raise RuntimeError("out of memory")
        return real(model, tokens, sentences, options, **given)

    monkeypatch.setattr(decode, "predict", fails)

    async def work(batcher: Batcher) -> None:
        (first,), (second,) = batcher.submit(good, corrector), batcher.submit(bad, corrector)
        assert (await first)[0].changes
        with pytest.raises(RuntimeError, match="out of memory"):
            await second

    run(corrector, work)


def test_closing_cancels_what_waits(corrector: Corrector) -> None:
    waiting: list[asyncio.Future[Any]] = []

    async def work(batcher: Batcher) -> None:
        waiting.extend(batcher.submit(windows_of(corrector, "She go home."), corrector))

    run(corrector, work)
    assert waiting[0].cancelled()


def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    cache: Recent[Key, tuple[WindowChanges, ...]] = Recent(10, count_characters)
    for text in ("aaaa", "bbbb"):
        cache.put((text, 0.0), ())
    assert cache.get(("aaaa", 0.0)) == () and cache.get(("aaaa", 0.5)) is None
    cache.put(("cccc", 0.0), ())
    assert cache.get(("bbbb", 0.0)) is None and cache.get(("aaaa", 0.0)) == ()
    cache.put(("aaaa", 0.0), ())
    assert cache.size == 8
    cache.put(("a sentence that is too long", 0.0), ())
    assert cache.size == 0
