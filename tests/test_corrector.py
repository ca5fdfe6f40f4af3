"""Law 1: what is not edited stays as it was, to the byte; law 4: whatever was corrected together. With a random model,
which edits everything that it may."""

from __future__ import annotations

import json
import random
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.correctors import edit5_corrector
from support.strategies import brief, nasty

from edit_gec.backends.network import Network
from edit_gec.corrector import Corrector
from edit_gec.editing.predictor import EdiT5Predictor, Window, WindowChanges
from edit_gec.editing.thresholds import Thresholds
from edit_gec.editing.windows import cut_windows
from edit_gec.errors import DeviceError, EditGecError, InputError, ModelError
from edit_gec.modeling.tokenizer import FILE, Tokens
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Change, Edit, expand_to_words, narrow, resolve_overlaps
from edit_gec.text.paragraphs import LINE_BREAK
from edit_gec.text.sentences import split
from edit_gec.text.words import breaks_character

LETTER = """# Dear 🏠 neighbours

We have **been waiting** for you since two hours.\r\n\tPlease see https://example.org/a_b?c=d or write
to me@example.org, it cost 3.5 kg.  The   "big" dog\u00a0— café, naïve — don't `rm -rf /` sleeps .

> He said that\n> the train was late, e.g. on Monday at 10:15.

```
code stay as it are
```
- one item without full stop
- 二 items: e\u0301 👩\u200d🚒 [link text](target.md) <b>bold text</b> {{name}} $x^2$
"""
PARTS = [*LETTER.split(" "), *LETTER.splitlines(), "She walk to school.", "the the cat sat", "\ud800", "\x00", "</s>"]
PARTS += ["one\vtwo", "it\x0cgo", "we\x85was", "a\u2028line", "the\u2029end", "cafe\u0301 are", "can not", "a\x1eb"]
documents = st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join) | nasty


@pytest.fixture(scope="module")
def make(network: Network, tokens: Tokens) -> Callable[..., Corrector]:
    def make(batch_size: int = 32, dictionary: tuple[str, ...] = (), **options: Any) -> Corrector:
        words = frozenset(map(str.casefold, dictionary))
        return edit5_corrector(network, tokens, Thresholds(**options), batch_size=batch_size, dictionary=words)

    return make


def check(correction: Correction) -> None:
    """Edits come in order, say what they replace, and are all that differs."""
    done, parts = 0, []
    for edit in correction.edits:
        assert done <= edit.start <= edit.end <= len(correction.text)
        assert edit.original == correction.text[edit.start : edit.end] != edit.replacement
        assert 0 <= edit.confidence <= 1
        parts += [correction.text[done : edit.start], edit.replacement]
        done = edit.end
    assert "".join([*parts, correction.text[done:]]) == correction.corrected


def alike(one: Correction, other: Correction) -> bool:
    """The same edits; of their confidence the last digits may depend on the batch."""
    sure = [edit.confidence for edit in one.edits] == pytest.approx([edit.confidence for edit in other.edits], abs=2e-4)
    return one.corrected == other.corrected and bool(sure) and spans(one) == spans(other)


def spans(correction: Correction) -> list[tuple[int, int, str]]:
    return [(edit.start, edit.end, edit.replacement) for edit in correction.edits]


# --- laws ------------------------------------------------------------------------------------------------------------


@brief
@given(text=documents, lines=st.booleans(), markup=st.booleans())
def test_only_the_edits_differ(make: Callable[..., Corrector], text: str, lines: bool, markup: bool) -> None:
    correction = make().correct(text, lines=lines, markup=markup)
    check(correction)
    sentences = split(text, lines=lines, markup=markup)
    for sentence in sentences:
        for start, end in sentence.protected:
            first, last = sentence.offsets[start], sentence.offsets[end - 1] + 1
            changed = [narrow(text, *e.span, e.replacement) for e in correction.edits]
            assert not [each for each in changed if each.start < last and first < each.end], text[first:last]
    for edit in correction.edits:  # in one sentence, outside all that is left out
        inside = [s for s in sentences if s.offsets[0] <= edit.start and edit.end <= s.offsets[-1]]
        assert len(inside) >= 1 and LINE_BREAK.findall(edit.replacement) == LINE_BREAK.findall(edit.original)
        assert not breaks_character(text, edit.start, edit.end, edit.replacement)
        old, new = (side.split(" ") for side in (edit.original, edit.replacement))
        assert not {"".join(two) for two in pairwise(old) if all(two)} & {*new}, edit  # no word list: no space goes


@brief
@given(texts=st.lists(documents, max_size=5), batch_size=st.sampled_from([1, 2, 7]), seed=st.integers(0, 99))
def test_whatever_was_corrected_together(
    make: Callable[..., Corrector], texts: list[str], batch_size: int, seed: int
) -> None:
    alone = [make().correct(text) for text in texts]
    numbers = list(range(len(texts)))
    random.Random(seed).shuffle(numbers)
    together = make(batch_size).correct_batch([texts[n] for n in numbers])
    assert len(together) == len(texts)
    assert all(alike(alone[n], correction) for n, correction in zip(numbers, together, strict=True))


def test_a_letter(make: Callable[..., Corrector]) -> None:
    calls: list[tuple[int, int]] = []
    corrector = make(4)
    (correction,) = corrector.correct_batch([LETTER], progress=lambda done, of: calls.append((done, of)))
    check(correction)
    assert len(correction.edits) >= 4
    for kept in ("https://example.org/a_b?c=d", "me@example.org", "3.5", "`rm -rf /`", "code stay as it are", "$x^2$",
                 "](target.md)", "{{name}}", "\r\n", "> ", "\n- ", "# ", "10:15"):  # fmt: skip
        assert correction.corrected.count(kept) == LETTER.count(kept), kept
    done, of = zip(*calls, strict=True)
    sentences = corrector.prepare([LETTER])
    assert set(of) == {len(LETTER)} and done[-1] == len(LETTER)  # in characters
    assert len(done) >= len(sentences) / 4 > 1 and all(a < b for a, b in pairwise([0, *done]))
    assert corrector.correct_batch([]) == [] and corrector.correct("") == Correction("", "", ())


def told(calls: list[tuple[int, int]], done: int, of: int) -> None:
    calls.append((done, of))


def test_workers(make: Callable[..., Corrector]) -> None:
    corrector, threads = make(4), torch.get_num_threads()
    expected = {}
    for workers in (1, 2, 5):
        corrector = replace(corrector, workers=workers)
        calls: list[tuple[int, int]] = []
        expected[workers] = corrector.correct_batch([LETTER, "", "She go home."], progress=partial(told, calls))
        assert calls == sorted(calls) and calls[-1][0] == calls[-1][1] and torch.get_num_threads() == threads
    assert all(alike(a, b) for n in (2, 5) for a, b in zip(expected[1], expected[n], strict=True))
    seen: set[str] = set()

    class Watched(EdiT5Predictor):
        def predict(self, windows: Sequence[Window]) -> list[WindowChanges]:
            seen.add(threading.current_thread().name)
            if len(seen) == 2:
                raise InputError("a worker fails")
            return super().predict(windows)

    watched = replace(corrector, predictor=Watched(**vars(corrector.edit5)), workers=5)
    with pytest.raises(InputError, match="a worker fails"):
        watched.correct_batch([LETTER] * 20)
    assert torch.get_num_threads() == threads and threading.main_thread().name not in seen


def test_the_edits_of_windows_go_to_their_texts(make: Callable[..., Corrector]) -> None:
    corrector = make()
    texts = ["They was late.", "Hi. She go at home."]
    late, _, home = corrector.prepare(texts, formats=["text", "text"])
    changes = [WindowChanges((Change(4, 6, "goes", 0.9),)), WindowChanges((Change(5, 8, "were", 0.9),))]
    found = corrector.project(texts, [home, late], changes)
    assert [(each.text, [edit.replacement for edit in each.edits]) for each in found] == [(1, ["goes"]), (0, ["were"])]
    for each in found:
        assert all(texts[each.text][edit.start : edit.end] == edit.original for edit in each.edits)


# --- long sentences --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "the cat sat by the river and we walk home " * 12 + "now",
        "x" * 300,
        "🏠" * 60 + " home " + "é" * 90,
        "a" + " " * 200 + "b",
    ],
    ids=["words", "one word", "bytes", "spaces"],
)
def test_long_sentences_are_read_in_windows(make: Callable[..., Corrector], tokens: Tokens, text: str) -> None:
    corrector = make()
    pieces = tokens.encode(text)
    longest = corrector.edit5.network.config.max_pieces
    windows = list(cut_windows(pieces, tokens, longest))
    assert len(windows) >= len(pieces) / longest > 1
    assert all(1 <= len(window) <= longest and window.source == text for window in windows)
    assert [i for window in windows for i in window.ids] == list(pieces.ids)
    assert [start for window in windows for start in window.starts] == list(pieces.starts)
    assert [window.prefixed for window in windows] == [True] + [False] * (len(windows) - 1)
    if text.startswith("the cat"):
        assert all(tokens.starts_word(window.ids[0]) for window in windows)
    check(corrector.correct(text))


def test_every_window_is_corrected(make: Callable[..., Corrector]) -> None:
    text = "They was looking for small house with a garden " * 9
    correction = make().correct(text)
    check(correction)
    thirds = {edit.start * 3 // len(text) for edit in correction.edits}
    assert thirds == {0, 1, 2}, "edits at the beginning, in the middle and at the end"


# --- what is left alone ----------------------------------------------------------------------------------------------


def test_words_of_the_dictionary(make: Callable[..., Corrector]) -> None:
    before = make().correct(LETTER)
    edited = {word.strip('*".,').casefold() for edit in before.edits for word in edit.original.split()}
    words = tuple(word for word in ("one", "full", "item", "monday", "train", "text") if word in edited)
    assert len(words) >= 2, edited
    after = make(dictionary=(*(word.upper() for word in words), "unheard")).correct(LETTER)
    check(after)
    for edit in after.edits:
        assert not set(words) & {word.strip('*".,').casefold() for word in edit.original.split()}
    assert set(after.edits) < set(before.edits)


def test_what_is_not_sure_enough(make: Callable[..., Corrector]) -> None:
    counts = []
    for floor in (0.0, 0.4, 0.6, 1.01):
        correction = make(min_confidence=floor).correct(LETTER)
        check(correction)
        assert all(edit.confidence >= floor - 1e-4 for edit in correction.edits)
        counts.append(len(correction.edits))
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[1] > counts[3] == 0


@pytest.mark.parametrize(
    ("text", "edit", "widened"),
    [
        ("He learn fast", (8, 8, "s"), (3, 8, "learns")),
        ("He learns fast", (8, 9, ""), (3, 9, "learn")),
        ("can not", (3, 4, ""), (0, 7, "cannot")),
        ("cannot", (3, 3, " "), (0, 6, "can not")),
        ("a b", (1, 1, ","), (1, 1, ",")),
        ("", (0, 0, "x"), (0, 0, "x")),
    ],
)  # fmt: skip
def test_edits_cut_no_words(text: str, edit: tuple[int, int, str], widened: tuple[int, int, str]) -> None:
    assert expand_to_words(text, *edit) == widened


def edit(start: int, end: int, confidence: float) -> Edit:
    return Edit(start, end, "x" * (end - start), "y", confidence)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        ([edit(0, 2, 0.5), edit(2, 4, 0.1), edit(4, 4, 0.9)], [0, 1, 2]),  # they touch, and do not meet
        ([edit(0, 3, 0.5), edit(2, 4, 0.6)], [1]),
        ([edit(0, 3, 0.6), edit(2, 4, 0.5)], [0]),
        ([edit(2, 2, 0.6), edit(2, 2, 0.5)], [0]),  # two insertions in one place
        ([edit(2, 2, 0.5), edit(2, 4, 0.6)], [1]),
        ([edit(0, 3, 0.5), edit(2, 5, 0.6), edit(4, 6, 0.55), edit(6, 7, 0.1)], [1, 3]),
    ],
)  # fmt: skip
def test_of_edits_that_meet_the_surer_one(found: list[Edit], kept: list[int]) -> None:
    assert resolve_overlaps(reversed(found)) == [found[n] for n in kept]


# --- loading ---------------------------------------------------------------------------------------------------------


def test_loading(model_folder: Path, make: Callable[..., Corrector]) -> None:
    corrector = Corrector.load(model_folder, min_confidence=0.4, batch_size=3, dictionary=["We"])
    assert corrector.edit5.thresholds == Thresholds(min_confidence=0.4)
    assert (corrector.folder, corrector.batch_size) == (model_folder, 3)
    assert alike(corrector.correct(LETTER), make(min_confidence=0.4, dictionary=("we",)).correct(LETTER))


def test_a_model_names_thresholds(model_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    named = {**config, "thresholds": {"min_confidence": 0.5}, "strictness": {"low": 0.7, "high": 0.2}}
    (folder / "config.json").write_text(json.dumps(named))
    for name, least in (("low", 0.7), ("default", 0.5), ("high", 0.2), (None, 0.5)):
        assert Corrector.load(folder, strictness=name).min_confidence == least
    with pytest.raises(InputError, match="expected one of them"):
        Corrector.load(folder, strictness="low", min_confidence=0.4)
    with pytest.raises(InputError, match="strictness 'lax': expected one of sure, low, default, high"):
        Corrector.load(folder, strictness="lax")
    with pytest.raises(ModelError, match=r"config.json: no strictness 'low'"):
        Corrector.load(model_folder, strictness="low")
    (folder / "config.json").write_text(json.dumps({**named, "strictness": {"low": 7}}))
    with pytest.raises(ModelError, match="expected names with numbers from 0 to 1"):
        Corrector.load(folder)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": "no-such-model"}, ModelError, "model 'no-such-model': neither a model folder nor one of"),
        ({"device": "cuda"}, DeviceError, "device cuda: this torch sees no GPU"),
        ({"device": "toaster"}, DeviceError, "device toaster: expected cpu, cuda or"),
        ({"dtype": "float3"}, InputError, "dtype float3: float32, bfloat16, float16 are known"),
        ({"dtype": "int8"}, InputError, "dtype int8: "),
    ],
)  # fmt: skip
def test_loading_what_is_not_there(
    arguments: dict[str, str], error: type[EditGecError], message: str, model_folder: Path
) -> None:
    import torch

    if "GPU" in message and torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(error, match=message):
        Corrector.load(**{"model": model_folder, **arguments})  # type: ignore[arg-type]


def test_a_vocabulary_of_another_model(model_folder: Path, t5_tokens: Tokens, tmp_path: Path) -> None:
    shutil.copytree(model_folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / FILE).write_bytes(t5_tokens.processor.serialized_model_proto())
    with pytest.raises(ModelError, match=r"the vocabulary has 390 entries with slots, config.json says 640"):
        Corrector.load(tmp_path)


# --- long texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["markdown", "rst"])
def test_a_text_in_parts(make: Callable[..., Corrector], format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is cut: the stretches are the text, and their corrections that of the text; so is the progress."""
    text = LETTER * 3
    whole = make().correct(text, format=format)
    for characters in (1, 40, 200, 10**6):
        monkeypatch.setattr("edit_gec.text.stretches.STRETCH_CHARACTERS", characters)
        parts = list(make().correct_in_stretches(text, format=format))
        assert "".join(part.text for part in parts) == text
        assert "".join(part.corrected for part in parts) == whole.corrected
        assert len(parts) > 10 or characters > 40
        for part in parts:
            check(part)
        calls: list[tuple[int, int]] = []
        (again,) = make(4).correct_batch([text], formats=[format], progress=partial(told, calls))
        assert alike(whole, again)
        assert calls == sorted(calls) and calls[-1][0] == calls[-1][1] and len({of for _, of in calls}) == 1
    assert [part.text for part in make().correct_in_stretches("``` \n x")] == ["``` \n x"]
    assert list(make().correct_in_stretches("")) == []
