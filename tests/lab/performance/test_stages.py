"""The profiler on tiny models: what is replayed, what the stages add up to, what is counted, the files, the errors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from edit_gec.cli.main import main
from edit_gec.errors import InputError
from edit_gec.lab.performance import random_weights, traces
from edit_gec.lab.performance.peers import Run
from edit_gec.lab.performance.sentences import CASE_STUDY, Text
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.lab.performance.stage_profile import Profiling
from edit_gec.lab.performance.stages import measure_stages
from edit_gec.modeling import edit5, t5
from edit_gec.modeling.config import EdiT5Config, T5Config
from edit_gec.tracing import STAGES

Build = Callable[..., dict[str, Run]]

SHAPE: dict[str, Any] = {"vocab_size": 8128, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 2}
MOVED = Text("I have never such a thing seen before .", "I have never seen such a thing before .")
PAIRS = [
    CASE_STUDY,
    Text("She go to school 🏠 and its late.", "She goes to school 🏠 and it's late."),
    Text("Nothing is wrong here.", "Nothing is wrong here."),
    Text("I like very much it .", "I like it very much ."),
    Text("delete this this word", "delete this word"),
    Text("x", "Something else entirely, in several pieces"),
]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Setup:
    """Random models of tiny presets, on one thread."""
    torch.set_num_threads(1)
    monkeypatch.setitem(edit5.PRESETS, "edit5-base", EdiT5Config(**SHAPE, slots=128, point_width=8))
    monkeypatch.setitem(t5.PRESETS, "t5-base", T5Config(**SHAPE, num_decoder_layers=2))
    return Setup.of_presets(("edit5-base", "t5-base"))


@pytest.fixture
def build(tiny: Setup) -> Build:
    """build(text, text...): the systems, replaying these."""
    return lambda *texts, **how: Profiling(replace(tiny, **how), texts).build()


def test_the_case_study_is_replayed(tiny: Setup, build: Build) -> None:
    tokens = Pair(tiny).corrector.edit5.tokens
    assert len(tokens.ids(CASE_STUDY.source)) == 23
    stream = CASE_STUDY.plan(tokens).stream(tokens)
    slots = {tokens.slot(k): f"<extra_id_{k}>" for k in (1, 6, 8)}
    words = [slots.get(piece, tokens.surface(piece).decode()) for piece in stream]
    assert words == ["<extra_id_1>", " I", " was", "<extra_id_6>", " I", " was", "<extra_id_8>", " ", "a", ""]
    runs = measure_stages(build(CASE_STUDY), [CASE_STUDY.source], warm_up=0, repeats=1, device="cpu")
    steps = {
        name: sum(span.name in ("decoder step", "insert step") for span in each[0].spans) for name, each in runs.items()
    }
    assert steps == {"t5": 27, "edit5-sequential": 9, "edit5": 3, "verified": 3}
    assert sum(span.name == "verify" for span in runs["verified"][0].spans) <= 2
    assert runs["t5"][0].device_s == [], "there is no device"


@pytest.mark.parametrize("text", [*PAIRS, MOVED], ids=lambda text: text.source[:12])
def test_random_weights_write_what_is_given(build: Build, text: Text) -> None:
    for name, run in build(text).items():
        assert run([text.source]) == [text.corrected], name


def test_only_what_was_given_is_replayed(build: Build) -> None:
    for run in build(CASE_STUDY).values():
        with pytest.raises(InputError, match="replay: no"):
            run(["Another sentence."])


def test_all_systems_of_a_profile_share_their_weights(build: Build) -> None:
    """A pair of base size is a gigabyte."""
    loaded: list[str] = []

    def counted(kind: str, load: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_load(*args: Any, **how: Any) -> Any:
            loaded.append(kind)
            return load(*args, **how)

        return count_and_load

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random_weights, "build_target", counted("t5", random_weights.build_target))
        patch.setattr(random_weights, "build_edit5", counted("edit5", random_weights.build_edit5))
        assert len(build(CASE_STUDY)) == 4
    assert sorted(loaded) == ["edit5", "t5"]


def test_stages_add_up(build: Build) -> None:
    runs = measure_stages(build(*PAIRS), [t.source for t in PAIRS], warm_up=1, repeats=3, device="cpu")
    for name, each in runs.items():
        for run in each:
            own = sum(span.own_s for span in run.spans)
            assert {span.name for span in run.spans} <= set(STAGES)
            assert 0.5 * run.total_s < own <= run.total_s, name
            assert own == pytest.approx(sum(run.stage_s(stage) for stage in STAGES))
        assert len(each) == 3


def test_traces_have_the_stages_as_labels(build: Build, tmp_path: Path) -> None:
    file = tmp_path / "traces" / "verified.json.gz"
    traces.write_trace(build(CASE_STUDY)["verified"], [CASE_STUDY.source], "cpu", file)
    events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    labels = {event["name"] for event in events if str(event.get("name", "")).startswith(traces.LABEL)}
    stages = {"split", "encode", "insert step", "target encode", "verify", "align"}
    assert {f"edit-gec: {stage} #1" for stage in stages} | {"edit-gec: insert step #3"} <= labels
    assert {label.removeprefix(traces.LABEL).partition(" #")[0] for label in labels} <= set(STAGES)


@pytest.mark.usefixtures("tiny")
def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["--threads", "1", "--repeats", "2", "--out", str(tmp_path)]
    assert main(["profile", *arguments]) == 0
    out, err = capfd.readouterr()
    lines = out.splitlines()
    assert len(lines) <= 70 and max(map(len, lines)) <= 120, "table and stages"
    assert "27 of T5, 10 of EdiT5" in out
    for name, steps in (("t5", "27"), ("edit5-sequential", "9"), ("edit5", "3")):
        row = next(line for line in lines if line.startswith(f"{name} "))
        assert row.split()[3] == steps, row
    (file,) = tmp_path.glob("*/*.json")
    profile = json.loads(file.read_text())
    assert profile["systems"]["t5"]["steps"] == 27
    own = profile["systems"]["edit5"]
    for each in profile["systems"].values():  # of one run, so they add up
        listed = sum(stage["ms"] for stage in each["stages"]) + each["unattributed_ms"]
        assert listed == pytest.approx(each["total_ms"], rel=0.01)
        parts = each["encoder_ms"] + each["decoder_ms"] + each["overhead_ms"]
        assert parts == pytest.approx(each["total_ms"], rel=0.01)
    assert "case study: T5" in out and "14.5x" in out
    assert ("do not quote" in out) == bool(profile["disturbed"])
    plan = sum(stage["ms"] for stage in own["stages"] if stage["name"] in ("tag", "point", "realize"))
    assert own["plan_over_encoder"] == pytest.approx(plan / own["encoder_ms"], rel=0.01)
    assert own["total_over_encoder"] == pytest.approx(own["total_ms"] / own["encoder_ms"], rel=0.01)
    assert profile["reduction"]["edit5-sequential"]["decoder_in_10_steps"] > 0
    assert len(list(tmp_path.glob("*/*.png"))) == 1 and len(list(tmp_path.glob("traces/*/*.json.gz"))) == 4
    assert all(f"wrote {path}" in err for path in tmp_path.rglob("*.*") if path.is_file())


@pytest.mark.usefixtures("tiny")
def test_one_screen_and_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Who wants the case study's table gets that, and nothing else; a checkout stays as it is."""
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "--threads", "1", "--repeats", "1"]) == 0
    out, _ = capfd.readouterr()
    assert len(out.splitlines()) < 24 and "case study: EdiT5" in out and "\nstage " not in out
    assert list(tmp_path.iterdir()) == []


def test_a_model_writes_its_own(model_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("She go home.\n\nI has two banana , but the the dog eat it.\n", encoding="utf-8")
    arguments = ["--model", str(model_folder), "--file", str(lines), "--repeats", "1", "--out", str(tmp_path / "out")]
    assert main(["profile", *arguments, "--system", "edit5"]) == 0
    out, _ = capfd.readouterr()
    assert "the models' own output" in out and "2 text(s)" in out
    (file,) = tmp_path.glob("out/*/*.json")
    assert list(json.loads(file.read_text())["systems"]) == ["edit5"]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--device cuda:99", "device cuda:99: this torch sees"),
        ("--dtype float16", "dtype float16: on cpu float32, bfloat16 can be measured"),
        ("--preset edit5-huge", "preset edit5-huge: expected one of edit5-base"),
        ("--preset edit5-base,edit5-mini", "preset edit5-mini: expected one of edit5-base"),
        ("--preset edit5-base --system t5", "system t5 needs a T5"),
        ("--preset t5-base --system verified", "system verified needs both an EdiT5 and a T5"),
        ("--text Hello", "give what they must write: --text or lines of --file"),
        ("--model nowhere", "model 'nowhere': neither a model folder nor one of"),
        ("--file /dev/null", "/dev/null: no sentence to profile"),
    ],
)
def test_errors(arguments: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "--out", str(tmp_path), *arguments.split()]) == 2
    out, err = capfd.readouterr()
    assert out == "" and message in err and err.count("\n") == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "--out", str(tmp_path), "--device", "cuda"]) == 2
    assert "this torch sees no GPU" in capfd.readouterr().err
