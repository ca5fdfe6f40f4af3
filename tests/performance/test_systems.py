"""The benchmark: real peers on a tiny T5 write what our decoding writes; streams are replayed; results are compared."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
import torch
from tiny_t5 import SHAPE, pairs, random_target, trained_target

from edit_gec import regions
from edit_gec.checkpoint import save_t5
from edit_gec.cli import main
from edit_gec.corrector import Corrector
from edit_gec.decode import Options
from edit_gec.edit5 import PRESETS, EdiT5Config
from edit_gec.errors import InputError
from edit_gec.performance import cold_start as cold
from edit_gec.performance import pareto as quality
from edit_gec.performance import peers, plots, results, setup, systems, timing
from edit_gec.performance import scaling as cost
from edit_gec.performance import sentences as text
from edit_gec.performance import side_by_side as measure
from edit_gec.performance import speculation as speculate
from edit_gec.performance.replay import Stream, Streams, record, replayed
from edit_gec.performance.setup import Setup
from edit_gec.speculation import Statistics, Trace
from edit_gec.t5 import PRESETS as T5_PRESETS
from edit_gec.t5 import T5Config
from edit_gec.tokens import EOS, FILE

if TYPE_CHECKING:
    from edit_gec.edit5 import EdiT5
    from edit_gec.target import Target
    from edit_gec.tokens import Tokens

SENTENCES = [source for source, _ in pairs(6, 7)]


def save(target: Target, folder: Path) -> str:
    save_t5(target.model, folder)
    (folder / FILE).write_bytes(target.tokens.processor.serialized_model_proto())
    return str(folder)


@pytest.fixture(scope="module")
def target(tokens: Tokens) -> Target:
    return trained_target(tokens)


@pytest.fixture(scope="module")
def given(target: Target, model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """A tiny pair on disk; the T5 is its own assistant."""
    folder = save(target, tmp_path_factory.mktemp("target"))
    return Setup(model=str(model_folder), target=folder, assistant=folder, max_length=48)


@pytest.fixture(scope="module")
def ready(given: Setup, tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """The same with the slim target, its streams, and what CTranslate2 reads."""
    work = tmp_path_factory.mktemp("work")
    made = setup.shipped(work, given, SENTENCES)
    for precision in peers.PRECISIONS:
        peers.convert(made.target, work / precision, precision)
    return replace(made, converted={precision: str(work / precision) for precision in peers.PRECISIONS})


# ---------------------------------------------------------------- systems


@pytest.mark.parametrize("name", [system.name for system in systems.SYSTEMS if system.exact])
def test_all_write_what_the_target_writes(name: str, ready: Setup, target: Target) -> None:
    system = systems.named(name)
    expected = [target.text(ids) for ids in target.generate(SENTENCES)]
    with ExitStack() as stack:
        run = systems.build(system, ready, stack)
        assert [run([sentence])[0] for sentence in SENTENCES] == expected
        if system.batches:
            assert run(SENTENCES) == expected


def test_int8_and_slim_write_something_for_each_sentence(ready: Setup, target: Target) -> None:
    expected = [target.text(ids) for ids in target.generate(SENTENCES)]
    with ExitStack() as stack:
        quantised = systems.build(systems.named("ctranslate2 int8"), ready, stack)(SENTENCES)
        slim = systems.build(systems.named("t5-slim"), ready, stack)(SENTENCES)
    assert len(quantised) == len(SENTENCES) and all(quantised)
    assert slim == expected  # by replay: nobody trained it


def test_systems_that_cannot_run_say_why(ready: Setup) -> None:
    why = {system.name: systems.missing(system, replace(ready, assistant="")) for system in systems.SYSTEMS}
    assert why["transformers assisted"] == "no assistant given (--assistant FOLDER)"
    assert why["harper"] is not None and ("npm install harper.js" in why["harper"] or "node" in why["harper"])
    assert why["t5"] is why["transformers"] is why["edit5"] is None
    assert systems.missing(systems.named("edit5 + t5"), Setup(model=ready.model)) == "no target given (--target FOLDER)"
    absent = replace(systems.named("t5"), module="no_such_module")
    assert systems.missing(absent, ready) == "no_such_module is not installed: pip install 'edit-gec[bench]'"


# ---------------------------------------------------------------- replay


def test_random_models_take_the_steps_of_a_stream(
    make_model: Callable[..., EdiT5], model_folder: Path, tokens: Tokens, target: Target
) -> None:
    lively = Corrector.load(model_folder)
    sentences = SENTENCES + ["We was there on 3 May.", "It is fine."]
    streams = record(lively, target, sentences)
    assert any(stream.insertions for stream in streams.by_sentence.values())
    other = Corrector(make_model(5), tokens, Options(), folder=model_folder)
    untrained = random_target(tokens, 3, max_length=48)
    with replayed(streams):
        assert untrained.generate(sentences) == target.generate(sentences)
        again = record(other, untrained, sentences)
        assert [p.plan.tags() for p in other.predict([tokens.encode(s) for s in sentences])] == [
            streams.of(s).tags for s in sentences
        ]
    assert again == streams
    assert record(other, untrained, sentences) != streams  # the block has ended


def test_a_replayed_step_is_computed(tokens: Tokens) -> None:
    untrained = random_target(tokens, 3, max_length=48)
    streams = Streams({"She go.": Stream([5, 6, 7, 8, EOS])})
    with replayed(streams, edit5=False), regions.listen(clock := regions.Clock()):
        assert untrained.generate(["She go."]) == [[5, 6, 7, 8, EOS]]
    assert sum(span.name == "decoder step" for span in clock.spans) == 5
    with replayed(streams), pytest.raises(InputError, match="no stream to replay for 'He go.'"):
        untrained.generate(["He go."])


def test_each_thread_replays_its_own_sentence(tokens: Tokens) -> None:
    """A corrector's threads verify their batches at the same time."""
    untrained, start = random_target(tokens, 3, max_length=48), Barrier(2)
    streams = Streams({text: Stream([5 + n] * 20 + [EOS]) for n, text in enumerate(("She go.", "He go."))})

    def write(text: str) -> list[list[int]]:
        start.wait()
        return untrained.generate([text])

    with replayed(streams, edit5=False), ThreadPoolExecutor(2) as pool:
        assert list(pool.map(write, streams.by_sentence)) == [[[5] * 20 + [EOS]], [[6] * 20 + [EOS]]]


def test_base_size_replays_the_trained_pair(
    shipped: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Setup
) -> None:
    pair = Setup(
        model=str(Path(__file__).parents[2] / "models" / "edit5-mini"),
        target=save(random_target(shipped, 1, max_length=16), tmp_path / "t5"), max_length=16,
    )  # fmt: skip
    small: dict[str, Any] = {**SHAPE, "vocab_size": 8200 + 128}
    monkeypatch.setitem(PRESETS, "edit5-base", EdiT5Config(**{**small, "num_decoder_layers": 1}, slots=128))
    monkeypatch.setitem(T5_PRESETS, "t5-base", T5Config(**small))
    monkeypatch.setitem(T5_PRESETS, "t5-slim", T5Config(**{**small, "num_decoder_layers": 1}))
    sentences = ["She go home.", "We was there on 3 May."]
    made = setup.base(tmp_path / "work", pair, sentences)
    expected = [setup.load_target(pair).text(ids) for ids in setup.load_target(pair).generate(sentences)]
    with ExitStack() as stack:
        for name in ("transformers", "t5", "t5-slim", "t5 + copy, SAD", "t5 + edit5 draft", "transformers assisted"):
            run = systems.build(systems.named(name), made, stack)
            assert [run([sentence])[0] for sentence in sentences] == expected, name
        alone = systems.build(systems.named("edit5"), made, stack)(sentences)
    corrector = Corrector.load(pair.model)
    corrector.options = replace(corrector.options, reread=0.0)
    assert alone == [corrector.correct(s, lines=True).corrected for s in sentences]
    without = setup.base(tmp_path / "without", replace(pair, target=""), sentences)
    with ExitStack() as stack:
        for name in ("t5", "edit5", "t5 + edit5 draft", "edit5 + t5"):
            assert systems.build(systems.named(name), without, stack)(sentences) == alone, name
    with pytest.raises(InputError, match="shipped vocabulary: this target has another"):
        setup.base(tmp_path / "other", given, SENTENCES)


# ---------------------------------------------------------------- measuring


def test_systems_take_turns() -> None:
    seen: list[tuple[str, int]] = []
    runs = {name: (lambda job, name=name: seen.append((name, job))) for name in "abc"}  # type: ignore[misc]
    times = timing.interleave(runs, [1, 2], repeats=2, warm_up=0)
    assert ["".join(name for name, _ in seen[n : n + 3]) for n in range(0, 12, 3)] == ["abc", "bca", "bca", "cab"]
    assert all(len(of_job) == 2 for of_jobs in times.values() for of_job in of_jobs)
    assert timing.quantile([3.0, 1.0, 2.0], 0.95) == pytest.approx(2.9)


def test_nobody_answers_from_memory() -> None:
    class Remembering:
        def __init__(self) -> None:
            self.known: set[int] = set()
            self.repeated = 0

        def __call__(self, job: int) -> None:
            self.repeated += job in self.known
            self.known.add(job)

        def forget(self) -> None:
            self.known.clear()

    run = Remembering()
    timing.interleave({"a": run}, [1, 2, 3], repeats=3, warm_up=2)
    assert run.known == {1, 2, 3} and not run.repeated


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
    assert seen == ["new", "A “first”.", "A second.", "gone", "new", *text.OWN, "A first."]


@pytest.mark.slow
def test_side_by_side(given: Setup) -> None:
    only = ["transformers", "t5", "t5-slim", "edit5", "edit5 + t5", "harper"]
    said: list[str] = []
    result = measure.side_by_side(
        given, SENTENCES, only=only, batches=(1, 4), repeats=1, cold_starts=0, say=said.append
    )
    assert set(result["systems"]) == set(only) - {"harper"} and set(result["skipped"]) == {"harper"}
    assert any(line.startswith("left out: harper") for line in said)
    for name, row in result["systems"].items():
        assert len(row["latency"]["sentences"]) == len(SENTENCES), name
        assert 0 < row["latency"]["p50_s"] <= row["latency"]["p95_s"]
        assert set(row["throughput"]) == {"1", "4"} and min(row["throughput"].values()) > 0
    rows = result["systems"]
    assert rows["t5"]["same_output"] == rows["transformers"]["same_output"] == 1.0
    assert rows["t5-slim"]["replayed"] and not rows["t5"]["replayed"]
    with pytest.raises(InputError, match="size huge: shipped or base"):
        measure.side_by_side(given, SENTENCES, size="huge")


@pytest.mark.slow
def test_cold_start_and_memory_of_a_process(given: Setup, tmp_path: Path) -> None:
    found = cold.start("edit5", given, SENTENCES, tmp_path)
    assert found["cold_start_s"] > 0.1 and 50e6 < found["peak_bytes"] < 5e9
    assert cold.command_line(given, SENTENCES[0]) > 0.1
    with pytest.raises(InputError, match=r"edit5 failed in a process of its own: .*no such folder"):
        cold.start("edit5", replace(given, model="no such folder"), SENTENCES, tmp_path)


def test_cost_against_input(tokens: Tokens) -> None:
    firsts: set[str] = set()
    runs = {"one": lambda given: [*given, firsts.add(given[0])], "none": lambda given: []}
    figures = cost.measure(runs, sorted(SENTENCES, key=len), tokens, counts=(1, 10), lengths=(5, 50), repeats=2)
    assert min(SENTENCES, key=len) not in firsts, "the shortest first: in random order it is not, with this seed"
    assert [size for size, _ in figures["one"]["sentences"]] == [1, 10]
    assert [size for size, _ in figures["none"]["pieces"]] == [5, 50]
    for length in (1, 20, 60):
        made = cost.of_length(SENTENCES, length, tokens)
        before = made.rpartition(" ")[0]
        assert len(tokens.ids(before)) < length <= len(tokens.ids(made))
    with pytest.raises(InputError, match="500 pieces is wanted, the sentences have less"):
        cost.of_length(SENTENCES, 500, tokens)
    assert cost.slope([[1, 1.0], [10, 100.0]]) == pytest.approx(2.0)


def test_a_system_that_gets_too_slow_leaves(tokens: Tokens) -> None:
    figures = cost.measure(
        {"one": lambda given: list(given)}, SENTENCES, tokens, counts=(1, 10, 100), lengths=(5, 6), longest_s=0.0
    )
    assert [size for size, _ in figures["one"]["sentences"]] == [1]


# ---------------------------------------------------------------- theory of speculation


def test_time_of_a_pass_between_those_measured() -> None:
    widths = {1: 1.0, 4: 2.5, 8: 3.0}
    assert speculate.interpolate(widths, 1) == 1.0
    assert speculate.interpolate(widths, 2) == pytest.approx(1.5)
    assert speculate.interpolate(widths, 8) == 3.0
    assert speculate.interpolate(widths, 10) == pytest.approx(3.25)


def test_costed_theory_by_hand() -> None:
    """Two passes of 3 drafted tokens each, all accepted, eight tokens; a wide pass costs two steps of a second."""
    trace = Trace(finished=True)
    trace.add(3, 3, 4, [1.0] * 3)
    trace.add(3, 3, 4, [1.0] * 3)
    statistics = Statistics([trace], begin_s=0.0, propose_s=0.6, target_s=4.0, total_s=5.0)
    one = speculate.Case("small t5", 3, 0, lambda sentence: ([], Statistics()), statistics)
    basis = {"tokens": 8, "passes_mean": 8.0, "seconds": 10.0, "encoder_s": 2.0, "step_s": 1.0}
    row = speculate.row(one, 5.0, basis, {1: 0.5, 4: 1.0})
    assert row["c"] == pytest.approx(0.1) and row["gain"] == 2.0 and row["passes_mean"] == 2
    assert row["predicted_gain_ideal"] == pytest.approx(4 / 1.3)
    assert row["predicted_gain"] == pytest.approx(10 / (2 + 2 * (2 + 0.3)))


# ---------------------------------------------------------------- text and results


def test_sentences_from_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One .\n\n  Two two .  \n", encoding="utf-8")
    assert text.read_sentences(tmp_path / "a.txt") == ["One .", "Two two ."]
    (tmp_path / "a.m2").write_text("S He go home .\nA 1 2|||R:VERB|||goes|||REQUIRED|||-NONE-|||0\n", encoding="utf-8")
    assert text.read_sentences(tmp_path / "a.m2") == ["He go home."]
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="no sentences"):
        text.read_sentences(tmp_path / "empty.txt")
    with pytest.raises(InputError, match="cannot read it as text"):
        text.read_sentences(tmp_path / "absent.txt")
    assert text.digest(["a", "b"]) != text.digest(["a b"])
    assert text.spread(["ccc", "a", "bb", "a"], 2, len) == ["a", "ccc"]


def result(**times: float) -> dict[str, Any]:
    """A result in which each system takes so many seconds."""
    rows = {
        name.replace("_", " "): {
            "latency": {"p50_s": s, "p95_s": 2 * s, "mean_s": s, "sentences": [[5, s], [9, 2 * s]]},
            "throughput": {"8": 1 / s},
            "cold_start_s": 10 * s,
            "replayed": name == "edit5",
            "exact": name == "t5",
        }
        for name, s in times.items()
    }
    heading = {"kind": "bench", "size": "shipped", "device": "cpu", "dtype": "float32", "threads": 1, "text": "0"}
    machine = {"name": "some-machine"}
    return {**heading, "date": "2026-01-01", "machine": machine, "systems": rows, "skipped": {"harper": "not there"}}


def test_what_got_slower() -> None:
    old = result(transformers=1.0, ctranslate2_int8=0.5, edit5=0.1, t5=0.6)
    lines, how = results.slower(old, result(transformers=2.0, ctranslate2_int8=1.0, edit5=0.4, t5=1.2))
    assert lines[0] == "edit5: time a sentence at batch 8 x2.00" or "edit5" in lines[0]
    assert len(lines) == 4 and all(line.startswith("edit5: ") and line.endswith("x2.00") for line in lines)
    assert "relative to the peers, which took x2.00" in how
    assert results.slower(old, old)[0] == []
    lines, how = results.slower(result(edit5=0.1), result(edit5=0.13), tolerance=1.2)
    assert len(lines) == 4 and "no peer in both" in how
    with pytest.raises(InputError, match="differ in threads: 1 and 2"):
        results.slower(old, {**old, "threads": 2})
    with pytest.raises(InputError, match="no system in common"):
        results.slower(result(t5=1.0), result(edit5=1.0))


def test_compare_from_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, of_edit5 in (("old", 0.1), ("same", 0.101), ("slow", 0.3)):
        results.write(tmp_path / f"{name}.json", result(transformers=1.0, edit5=of_edit5))
    old = str(tmp_path / "old.json")
    assert main(["bench", "--compare", old, "--with", str(tmp_path / "same.json")]) == 0
    assert main(["bench", "--compare", old, "--with", str(tmp_path / "slow.json")]) == 2
    assert "edit5: p50 latency x3.00" in capfd.readouterr().out
    (tmp_path / "other.json").write_text('{"kind": "profile"}', encoding="utf-8")
    assert main(["bench", "--compare", str(tmp_path / "other.json")]) == 1
    assert main(["bench", "--with", old]) == 1
    assert main(["bench", "--compare", old, "--cost"]) == 1


def test_the_table_has_every_system() -> None:
    made = results.table(result(transformers=1.0, edit5=0.1))
    assert "| transformers | 1000 | 2000 | 1.00 | 1.00 | 10.0 |" in made
    assert "| edit5 * | 100 | 200 | 10.0 | 10.0 | 1.00 |" in made
    assert "left out: harper: not there" in made and "* untrained weights" in made
    assert "edit5 is 10.0 times as fast as transformers" in made and "as ctranslate2" not in made


def test_speed_against_quality(tmp_path: Path) -> None:
    entries = [
        {"set": "wi", "system": "cp {in} {out}", "scores": {"F0.5": 0.0}},
        {"set": "wi", "system": "node harper.mjs", "scores": {"F0.5": 12.9}},
        {"set": "jfleg", "system": "edit-gec", "scores": {"GLEU": 50.0}},
    ]
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps(entries), encoding="utf-8")
    made = result(edit5=0.1, t5=0.6, transformers=1.0)
    made["systems"]["transformers"]["exact"] = True
    found, metric = quality.read([f"edit5={scores}:wi:harper", f"t5={scores}"], made["systems"])
    assert found == {"edit5": 12.9, "t5": 0.0, "transformers": 0.0} and metric == "F0.5, wi"
    results.write(tmp_path / "bench.json", made)
    assert main(["bench", "--pareto", str(tmp_path / "bench.json"), "--quality", f"edit5={scores}"]) == 0
    assert (tmp_path / "bench-pareto.png").read_bytes().startswith(b"\x89PNG")
    for wrong, message in ((f"edit6={scores}", "no system 'edit6'"), (f"edit5={scores}:jfleg", "no F0.5 of set jfleg")):
        with pytest.raises(InputError, match=message):
            quality.read([wrong], made["systems"])
    assert plots.frontier([(2.0, 5.0), (1.0, 5.0), (3.0, 4.0), (4.0, 9.0)]) == [(1.0, 5.0), (4.0, 9.0)]


@pytest.mark.slow
def test_the_command(given: Setup, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    common = ["--model", given.model, "--target", given.target, "--file", str(tmp_path / "text.txt"),
              "--out", str(tmp_path), "--threads", "1", "--repeats", "1"]  # fmt: skip
    only = ["--only", "t5", "--only", "edit5", "--cold-starts", "0", "--batch", "1"]
    assert main(["bench", *common, *only]) == 0
    (path,) = tmp_path.glob("*/bench-shipped.json")
    assert "| t5 |" in capfd.readouterr().out and path.with_name("bench-shipped-latency.png").is_file()
    written = results.read(path)
    assert written["sentences"] == len(SENTENCES) and str(tmp_path) not in written["command"]
    assert set(written["systems"]) == {"t5", "edit5"} and torch.get_num_threads() == 1
    assert main(["bench", *common, *only, "--compare", str(path), "--tolerance", "1000"]) == 0
    assert main(["bench", *common, "--only", "nobody"]) == 1
