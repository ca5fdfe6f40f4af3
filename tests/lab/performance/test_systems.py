"""The systems: real peers on a tiny T5 write what our decoding writes, and who cannot run says why."""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from edit_gec.catalog import find_model
from edit_gec.lab.performance import peers, systems
from edit_gec.lab.performance.sentences import OWN
from edit_gec.lab.performance.setup import Pair, Setup

if TYPE_CHECKING:
    from edit_gec.speculative.target import Target


@pytest.mark.parametrize("name", [system.name for system in systems.SYSTEMS if system.exact])
def test_all_write_what_the_target_writes(name: str, ready: Setup, target: Target, sentences: list[str]) -> None:
    system = systems.find_system(name)
    expected = [target.text(ids) for ids in target.generate(sentences)]
    with ExitStack() as stack:
        run = systems.build(system, Pair(ready), stack)
        assert [run([sentence])[0] for sentence in sentences] == expected
        if system.batches:
            assert run(sentences) == expected


def test_int8_writes_something_for_each_sentence(ready: Setup, sentences: list[str]) -> None:
    with ExitStack() as stack:
        quantised = systems.build(systems.find_system("ctranslate2 int8"), Pair(ready), stack)(sentences)
    assert len(quantised) == len(sentences) and all(quantised)


def test_systems_that_cannot_run_say_why(ready: Setup) -> None:
    why = {system.name: systems.missing(system, replace(ready, assistant="")) for system in systems.SYSTEMS}
    assert why["transformers assisted"] == "no assistant given (--assistant FOLDER)"
    assert why["harper"] is not None and ("npm install harper.js" in why["harper"] or "node" in why["harper"])
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
    with ExitStack() as stack:
        staged = systems.build_staged(Pair(ready), (), stack)
        assert set(staged) == {*same, "edit5-sequential"}
        for name, in_bench in same.items():
            run = systems.build(systems.find_system(in_bench), Pair(ready), stack)
            assert [staged[name]([sentence]) for sentence in sentences] == [run([sentence]) for sentence in sentences]


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_harper_is_given_a_new_linter(tmp_path: Path) -> None:
    """Our half of the conversation, with a linter that counts and finds nothing."""
    package = tmp_path / "node_modules" / "harper.js"
    package.mkdir(parents=True)
    exports = {".": "./index.js", "./binary": "./index.js"}
    (package / "package.json").write_text(json.dumps({"name": "harper.js", "type": "module", "exports": exports}))
    (package / "index.js").write_text(
        "import { appendFileSync } from 'node:fs';"
        "const note = (what) => appendFileSync('seen.txt', what + '\\n');"
        "export const Dialect = {}, SuggestionKind = {}, binary = {};"
        "export class LocalLinter { constructor() { note('new'); } async dispose() { note('gone'); }"
        " async lint(text) { note(text); return []; } }"
    )
    assert peers.harper_is_missing(str(tmp_path)) is None
    with ExitStack() as stack:
        harper = peers.Harper(Setup(model="", harper=str(tmp_path)), stack)
        assert harper(["A “first”.", "A second."]) == ["A “first”.", "A second."]
        harper.forget()
        assert harper(["A first."]) == ["A first."]
    seen = (tmp_path / "seen.txt").read_text(encoding="utf-8").splitlines()
    assert seen == ["new", "A “first”.", "A second.", "gone", "new", *OWN, "A first."]


def test_an_edit5_that_replays_is_torchs_alone() -> None:
    shipped = Setup(model=str(find_model("edit5-mini")), replayed=("target",))
    assert systems.onnx_is_missing(shipped) is None
    assert systems.onnx_is_missing(replace(shipped, replayed=("model",))) is not None
