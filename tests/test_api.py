"""The public interface: what `import edit_gec` gives, and what a Corrector can do besides correcting."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from test_corrector import LETTER, alike

import edit_gec
from edit_gec import AsyncCorrector, Corrector, EditGecError, InputError, Provenance
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.text.stretches import GROUP_CHARACTERS
from edit_gec.version import version

TEXTS = [LETTER, "", "She go home.", "They was late . It rain all day."]


@pytest.fixture(scope="module")
def corrector(model_folder: Path) -> Corrector:
    return Corrector.load(model_folder, threads=1, batch_size=4)


def test_all_that_is_public_is_there() -> None:
    assert sorted(edit_gec.__all__) == sorted(set(edit_gec.__all__), key=str) == edit_gec.__all__
    code = f"""
import edit_gec
for name in {edit_gec.__all__}:
    assert getattr(edit_gec, name), name
from edit_gec import *
print(AsyncCorrector.__name__, edit_gec.__version__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == f"AsyncCorrector {version()}\n", done.stderr
    with pytest.raises(AttributeError, match="'edit_gec' has no attribute 'Korrector'"):
        edit_gec.Korrector  # noqa: B018


def test_the_version_is_that_of_the_checkout() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{edit_gec.__version__}"\n' in text


def test_every_error_of_ours_has_one_base() -> None:
    errors = [getattr(edit_gec, name) for name in edit_gec.__all__ if name.endswith("Error")]
    assert len(errors) == 6 and all(issubclass(error, EditGecError) for error in errors)
    assert issubclass(InputError, ValueError)


def test_ways_to_correct_are_one(corrector: Corrector) -> None:
    expected = corrector.correct_batch(TEXTS)
    assert any(correction.edits for correction in expected)
    assert [corrector(text).corrected for text in TEXTS] == [str(correction) for correction in expected]
    assert corrector.correct_batch(iter(TEXTS)) == expected
    assert list(corrector.stream(iter(TEXTS))) == expected
    changes = corrector.predict(windows := corrector.prepare(TEXTS))
    assert corrector.finish(TEXTS, windows, changes) == expected
    assert {edit.provenance for correction in expected for edit in correction.edits} == {Provenance.EDIT5}


def test_a_stream_reads_no_further_than_it_must(corrector: Corrector) -> None:
    asked: list[int] = []

    def texts() -> Iterator[str]:
        for n in range(1000):
            asked.append(n)
            yield " " * (GROUP_CHARACTERS // 3)

    stream = corrector.stream(texts())
    assert next(stream).edits == () and asked == [0, 1, 2]
    for _ in range(3):
        next(stream)
    assert asked[-1] == 5
    assert list(corrector.stream([])) == []


LOAD: Any = Corrector.load  # what it is given here has wrong types


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.correct_batch("She go."), "texts: expected several texts, not one string"),
        (lambda c: c.correct_batch(["She go.", None]), "text: expected a string, not NoneType"),
        (lambda c: c.correct_batch(None), "texts: expected a list or another iterable of strings, not NoneType"),
        (lambda c: c.correct_batch({"a": "She go."}), "texts: expected a list .* not dict"),
        (lambda c: c.correct_batch(["a"], formats="rst"), "formats 'rst': expected a list with one for each text"),
        (lambda c: c.correct("She go.", format=None), "format: expected a name such as markdown, not NoneType"),
        (lambda c: c.suggest("She go."), "correction: expected what correct.. gives, not str"),
        (lambda c: c.with_settings(None, "en-AU"), "dialect 'en-AU': expected en-GB or en-US"),
        (lambda c: c.correct(b"She go."), "text: expected a string, not bytes"),
        (lambda c: list(c.stream("She go.")), "texts: expected several texts, not one string"),
        (lambda c: list(c.stream([3])), "text: expected a string, not int"),
        (lambda c: c.with_thresholds(min_confidence=3), "min_confidence 3: expected a number from 0 to 1"),
        (lambda c: c.with_thresholds(zeal=1), "threshold zeal: expected one of .*min_confidence"),
        (lambda c: LOAD(c.folder, min_confidence=-0.1), "min_confidence -0.1: expected a number from 0 to 1"),
        (lambda c: LOAD(c.folder, min_confidence=float("nan")), "min_confidence nan: expected a number"),
        (lambda c: LOAD(c.folder, min_confidence="0.5"), "min_confidence '0.5': expected a number"),
        (lambda c: LOAD(c.folder, min_confidence=True), "min_confidence True: expected a number"),
        (lambda c: LOAD(c.folder, batch_size=0), "batch_size 0: expected a whole number from 1"),
        (lambda c: LOAD(c.folder, batch_size=2.5), "batch_size 2.5: expected a whole number from 1"),
        (lambda c: LOAD(c.folder, threads=0), "threads 0: expected a whole number from 1"),
        (lambda c: LOAD(c.folder, threads="2"), "threads '2': expected a whole number from 1"),
        (lambda c: LOAD(c.folder, dictionary="kubectl"), "dictionary 'kubectl': expected a list of words"),
        (lambda c: LOAD(c.folder, dictionary=5), "dictionary 5: expected a list of words"),
        (lambda c: LOAD(c.folder, dictionary=["a", 3]), "dictionary: expected words, not 3"),
        (lambda c: LOAD(None), "model: expected a name or a folder, not NoneType"),
        (lambda c: LOAD(c.folder, verify="never"), "verify 'never'"),
    ],
)  # fmt: skip
def test_wrong_arguments(corrector: Corrector, call: Callable[[Corrector], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(corrector)


def test_wrong_arguments_are_answered_before_torch_is_imported() -> None:
    code = """
import sys
import threading
from edit_gec import Corrector, EditGecError
for wrong in ({"model": "no-such"}, {"min_confidence": 3}, {"dtype": "int3"}, {"verify": "never"}, {"target": "none"}):
    try:
        Corrector.load(**wrong)
    except EditGecError as error:
        print(type(error).__name__)
print([name for name in ("torch", "numpy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    expected = ["ModelError", "InputError", "InputError", "InputError", "ModelError", "[]"]
    assert done.stdout.splitlines() == expected, done.stderr


def test_a_corrector_never_changes(corrector: Corrector) -> None:
    stricter = corrector.with_thresholds(min_confidence=1.0)
    assert stricter.correct(LETTER).edits == () and corrector.correct(LETTER).edits
    assert stricter.edit5.network is corrector.edit5.network and stricter.min_confidence != corrector.min_confidence
    with pytest.raises(FrozenInstanceError):
        corrector.batch_size = 1  # type: ignore[misc]


def test_a_corrector_can_be_pickled(model_folder: Path) -> None:
    corrector = Corrector.load(model_folder, threads=1, dictionary=["Dear"], min_confidence=0.2)
    corrector = corrector.with_thresholds(min_confidence=0.1)
    copied = pickle.loads(pickle.dumps(corrector))
    assert (copied.edit5.thresholds, copied.workers) == (corrector.edit5.thresholds, 1)
    assert vars(copied.projection) == {**vars(corrector.projection), "spelling": copied.projection.spelling}
    assert copied.projection.dictionary == {"dear"}
    assert alike(copied.correct(LETTER), corrector.correct(LETTER))
    made = corrector.with_predictor(corrector.predictor)
    with pytest.raises(pickle.PicklingError, match="expected a Corrector made by `load`"):
        pickle.dumps(made)


def test_a_verified_corrector_can_be_pickled(model_folder: Path, tokens: Tokens, tmp_path: Path) -> None:
    pytest.importorskip("support.tiny_t5")
    from support.tiny_t5 import random_target

    random_target(tokens, 1).export(tmp_path)
    corrector = Corrector.load(model_folder, target=tmp_path, threads=1).with_thresholds(min_confidence=0.01)
    assert repr(corrector).startswith(
        f"Corrector('{model_folder.name}', backend='torch', device='cpu', min_confidence=0.01, target="
    )
    copied = pickle.loads(pickle.dumps(corrector))
    assert copied.min_confidence == 0.01
    assert copied.correct(LETTER).corrected == corrector.correct(LETTER).corrected


def test_a_corrector_shows_itself(corrector: Corrector) -> None:
    assert repr(corrector) == f"Corrector({corrector.folder.name!r}, backend='torch', device='cpu', min_confidence=0)"


def test_many_callers_share_a_corrector(corrector: Corrector) -> None:
    async def ask(**given: Any) -> list[edit_gec.Correction]:
        async with AsyncCorrector(corrector) as shared:
            return await asyncio.gather(*(shared.correct(text, **given) for text in TEXTS))

    assert all(alike(a, b) for a, b in zip(asyncio.run(ask()), corrector.correct_batch(TEXTS), strict=True))
    stricter = corrector.with_thresholds(min_confidence=0.4).correct_batch(TEXTS)
    assert all(alike(a, b) for a, b in zip(asyncio.run(ask(min_confidence=0.4)), stricter, strict=True))
    with pytest.raises(InputError, match="min_confidence 3: expected"):
        asyncio.run(ask(min_confidence=3))


class Meeting:
    """A network whose `encode` waits until two threads are in it."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.barrier = threading.Barrier(2, timeout=30)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.network, name)

    def encode(self, ids: Any) -> Any:
        self.barrier.wait()  # breaks unless two threads come
        return self.network.encode(ids)


def test_threads_run_beside_each_other(corrector: Corrector) -> None:
    """D16: each has what it would have alone, and none waits for the end of another."""
    met = corrector.with_predictor(replace(corrector.edit5, network=Meeting(corrector.edit5.network)))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(met.correct, [LETTER, LETTER]))
    expected = corrector.correct(LETTER)
    assert all(alike(each, expected) for each in found)
