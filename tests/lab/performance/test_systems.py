"""The systems: real peers on a tiny T5 write what our decoding writes, and who cannot run says why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from edit_gec.catalog import find_model
from edit_gec.lab.evaluation.checkers import CHECKERS
from edit_gec.lab.performance import peers, systems
from edit_gec.lab.performance.replay import Streams
from edit_gec.lab.performance.setup import Pair, Setup

if TYPE_CHECKING:
    from edit_gec.speculative.target import Target


@pytest.mark.parametrize("name", [system.name for system in systems.SYSTEMS if system.exact])
def test_all_write_what_the_target_writes(name: str, ready: Setup, target: Target, sentences: list[str]) -> None:
    system = systems.find_system(name)
    expected = [target.text(ids) for ids in target.generate(sentences)]
    run = system.build(Pair(ready))
    assert [run([sentence])[0] for sentence in sentences] == expected
    if system.batches:
        assert run(sentences) == expected


def test_int8_writes_something_for_each_sentence(ready: Setup, sentences: list[str]) -> None:
    quantised = systems.find_system("ctranslate2 int8").build(Pair(ready))(sentences)
    assert len(quantised) == len(sentences) and all(quantised)


def test_systems_that_cannot_run_say_why(ready: Setup) -> None:
    why = {system.name: systems.missing(system, replace(ready, assistant="")) for system in systems.SYSTEMS}
    assert why["transformers assisted"] == "no assistant given (--assistant FOLDER)"
    assert why["t5"] is why["transformers"] is why["edit5"] is None
    alone = Setup(model=ready.model)
    assert systems.missing(systems.find_system("edit5 + t5"), alone) == "no target given (--target FOLDER)"
    absent = replace(systems.find_system("t5"), module="no_such_module")
    assert (
        systems.missing(absent, ready) == "no_such_module is not installed: pip install '.[bench]' in edit-gec's folder"
    )


def test_bench_and_profile_build_the_same_systems(ready: Setup, sentences: list[str]) -> None:
    """What `profile` takes apart is what `bench` times: the same texts from the same pair."""
    same = {"t5": "t5", "edit5": "edit5", "verified": "edit5 + t5"}
    staged = systems.build_staged(Pair(ready), ())
    assert set(staged) == {*same, "edit5-sequential"}
    for name, in_bench in same.items():
        run = systems.find_system(in_bench).build(Pair(ready))
        assert [staged[name]([sentence]) for sentence in sentences] == [run([sentence]) for sentence in sentences]


@pytest.mark.parametrize("name", CHECKERS)
def test_checkers_correct_one_by_one_and_forget(name: str) -> None:
    """Where their packages are installed; elsewhere they say what to install."""
    if CHECKERS[name].missing():
        assert systems.missing(systems.find_system(name), Setup()) == CHECKERS[name].missing()
        return
    run = systems.find_system(name).build(Pair(Setup()))
    first = run(["All is well.", "I could of gone 🏠 with the the dog."])
    assert first[0] == "All is well." and "the the" not in first[1] and "🏠" in first[1]
    assert isinstance(run, peers.RuleChecker)
    run.forget()
    assert run(["All is well.", "I could of gone 🏠 with the the dog."]) == first


def test_an_edit5_that_replays_is_torchs_alone() -> None:
    shipped = Setup(model=str(find_model("edit5-mini")))
    assert systems.onnx_is_missing(shipped) is None
    assert systems.onnx_is_missing(replace(shipped, streams=Streams({}))) is not None
