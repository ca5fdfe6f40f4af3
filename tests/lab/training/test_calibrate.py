"""Calibration: scales that lie, thresholds that do what the product does with them, and a model folder end to end."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import NOT_ASKED, Evidence, EvidenceKind, Scale
from edit_gec.editing.thresholds import Thresholds, load_thresholds, read_presets
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.datasets import find_test_sets
from edit_gec.lab.training import calibrate
from edit_gec.lab.training.calibrate import (
    FOLDS,
    LEAST_SLOPE,
    RATES,
    Table,
    choose,
    cross_validate,
    fit_scale,
    grade,
    main,
)
from edit_gec.lab.training.evidence import ProposedEdit, Sample, collect, reread
from edit_gec.text.edits import Change

TRUE = Scale(
    slope=0.8, written_slope=0.6, stays_slope=0.9, offset=0.3, spelling_offset=1.0, delete_offset=-0.5,
    doubt_slope=0.4, neighbour_slope=0.5,
)  # fmt: skip


def draw_proposal(rng: random.Random, sentence: int) -> ProposedEdit:
    kind = rng.choice((EvidenceKind.REPLACE, EvidenceKind.INSERT, EvidenceKind.DELETE, EvidenceKind.SPELLING))
    evidence = Evidence(rng.uniform(0.05, 0.99), rng.uniform(0.1, 1.0), kind, rng.uniform(0.02, 0.98))
    return ProposedEdit(sentence, sentence, Change(0, 0, "", 1.0), evidence, rng.choice((0.0, rng.uniform(0, 0.9))))


def draw_sample(scale: Scale, seed: int, sentences: int) -> Sample:
    """Proposals that are right as often as a scale says."""
    rng = random.Random(seed)
    drawn = [draw_proposal(rng, n) for n in range(sentences) for _ in range(rng.choice((0, 1, 2, 4)))]
    sample = Sample(tuple(range(sentences)), tuple(drawn), dict.fromkeys(range(sentences), 2))
    judged = zip(drawn, grade(sample, scale), strict=True)
    return sample._replace(proposals=tuple(p._replace(right=int(rng.random() < sure)) for p, sure in judged))


def draw_clean(seed: int, sentences: int) -> Sample:
    """Clean sentences, every tenth with an edit, which is wrong."""
    rng = random.Random(seed)
    return Sample(tuple(range(sentences)), tuple(draw_proposal(rng, n) for n in range(0, sentences, 10)), {})


def test_the_scale_that_made_the_edits_is_found() -> None:
    sample = draw_sample(TRUE, 1, 6000)
    fitted = fit_scale([sample], TRUE.neighbour_slope)
    for name in ("slope", "written_slope", "stays_slope", "offset", "spelling_offset", "delete_offset", "doubt_slope"):
        assert getattr(fitted, name) == pytest.approx(getattr(TRUE, name), abs=0.2), name
    assert sum(grade(sample, fitted)) == pytest.approx(sum(p.right for p in sample.proposals), rel=0.01)
    blind = fit_scale([sample])
    assert blind.neighbour_slope == 0 and blind.offset > fitted.offset, "what neighbours say is in the offset"


@given(st.integers(0, 10_000), st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2), st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_no_slope_is_below_zero(seed: int, slope: float, written: float, stays: float, neighbours: float) -> None:
    sample = draw_sample(Scale(slope, written, stays), seed, 40)
    try:
        fitted = fit_scale([sample], neighbours)
    except InputError:
        assert len({p.right for p in sample.proposals}) < 2
        return
    assert fitted.slope >= LEAST_SLOPE and min(fitted.written_slope, fitted.stays_slope, fitted.doubt_slope) >= 0


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-4, 4)), min_size=1, max_size=12))
def test_support_is_that_of_the_product(edits: list[tuple[int, float]]) -> None:
    """Odds with support of a table are the log-odds that Scale.judge makes."""
    scale = Scale(neighbour_slope=0.7)
    proposals = [ProposedEdit(n, n, Change(0, 0, "", 1.0), Evidence(1 / (1 + np.exp(-odds)))) for n, odds in edits]
    sample = Sample(tuple(range(5)), tuple(proposals), {})
    odds = np.array([each for _, each in edits])
    judged = odds + scale.neighbour_slope * Table([sample]).support(odds)
    assert grade(sample, scale) == pytest.approx((1 / (1 + np.exp(-judged))).tolist(), abs=1e-6)


def test_a_decoder_that_was_never_asked_counts_for_nothing() -> None:
    sample = draw_sample(TRUE, 2, 300)
    never = [p._replace(evidence=p.evidence._replace(stays=NOT_ASKED)) for p in sample.proposals]
    assert fit_scale([sample._replace(proposals=tuple(never))]).stays_slope == 0


def test_thresholds_do_what_the_product_does_with_them() -> None:
    learners, clean = draw_sample(TRUE, 3, 200), draw_clean(4, 400)
    chosen = choose(learners, clean, TRUE)
    assert list(chosen) == [rate for rate in RATES if rate in chosen] and 2.0 in chosen
    for rate, outcome in chosen.items():
        assert outcome.rate <= rate
        kept = [
            [p for p, sure in zip(sample.proposals, grade(sample, TRUE), strict=True) if sure >= outcome.min_confidence]
            for sample in (learners, clean)
        ]
        assert outcome.made == len(kept[0]) and outcome.right == sum(p.right for p in kept[0])
        assert outcome.changed == len({p.sentence for p in kept[1]}) and outcome.expected == 400
    scores = [outcome.scores[2] for outcome in chosen.values()]
    assert scores == sorted(scores), "more false alarms never cost F0.5"


def test_folds_part_the_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    learners, native, clean = draw_sample(TRUE, 5, 203), draw_sample(TRUE, 9, 50), draw_clean(6, 101)
    folds = [learners.fold(n, FOLDS, inside=True) for n in range(FOLDS)]
    assert sorted(n for fold in folds for n in fold.sentences) == list(learners.sentences)
    for number, fold in enumerate(folds):
        others = learners.fold(number, FOLDS, inside=False)
        assert not {*fold.sentences} & {*others.sentences}
        assert sorted(fold.proposals + others.proposals) == sorted(learners.proposals)
    monkeypatch.setattr(calibrate, "NEIGHBOUR_SLOPES", (0.0, 0.5))
    unseen = cross_validate(learners, [native], clean)
    for outcome in unseen.outcomes.values():
        assert (outcome.expected, outcome.clean) == (406, 101), "every sentence counts once"
    assert [len(each) for each in unseen.confidences] == [len(learners.proposals), len(native.proposals)]


M2 = """S She walk to the station .
A 1 2|||R:VERB:SVA|||walks|||REQUIRED|||-NONE-|||0

S We like old house .
A 3 4|||R:NOUN:NUM|||houses|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "wi-3k.m2").write_text(M2 * 3, encoding="utf-8")
    (tmp_path / "clean.txt").write_text("The tea is hot.\nThey went home.\n", encoding="utf-8")
    return tmp_path


def test_the_evidence_is_that_of_the_products_confidence(model_folder: Path, data: Path) -> None:
    """Both readings: what is collected makes the confidence that users see."""
    clean = find_test_sets("clean", data)[0]
    everything = {"min_confidence": 1e-9, "doubt_slope": 0.3, "neighbour_slope": 0.5}
    corrector = Corrector.load(model_folder).with_thresholds(**everything)
    sample = reread(corrector, collect(corrector, clean), Scale(offset=100.0))
    graded = grade(sample, corrector.edit5.thresholds)
    first = corrector.with_thresholds(doubt_slope=0.0)
    once = grade(sample, first.edit5.thresholds)
    assert sample.proposals and graded != once
    for n, correction in enumerate(first.correct_batch(clean.lines, lines=True, markup=False)):
        found = [sure for p, sure in zip(sample.proposals, once, strict=True) if p.sentence == n]
        shown = {edit.confidence for edit in correction.edits}  # a change may be several edits
        assert sorted({round(sure, 4) for sure in found}) == pytest.approx(sorted(shown), abs=2e-4)


def test_a_proposal_is_graded_alone(model_folder: Path, data: Path) -> None:
    sample = collect(Corrector.load(model_folder), find_test_sets("wi-3k", data)[0])
    assert sample.expected == dict.fromkeys(range(6), 1) and len(sample.windows) == 6
    assert all(p.right <= p.made and p.made > 0 for p in sample.proposals)


def test_a_folder_gets_what_was_fitted(
    model_folder: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    config["thresholds"] = {"reorder": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    options = ["--model", str(folder), "--data", str(data), "--rate", "8", "--write", "--keep-bias", "-0.5"]
    options += ["--others"]
    with pytest.raises(InputError, match="too few sentences to fit a scale"):
        main(options)  # a model that was never trained is never right
    samples = [draw_sample(TRUE, 7, 100), draw_clean(8, 100)]
    monkeypatch.setattr(calibrate, "NEIGHBOUR_SLOPES", (0.0, 0.5))
    monkeypatch.setattr(calibrate, "collect", lambda _, test: samples[test.name == "clean"])
    monkeypatch.setattr(calibrate, "reread", lambda _, sample, scale: sample)
    assert main(options) == 0
    report = capsys.readouterr().out
    written = load_thresholds(folder)
    scale = calibrate.best_scale(samples[:1], samples[1])
    assert written == Thresholds(
        **asdict(scale), keep_bias=-0.5, reorder=0.0,
        min_confidence=round(choose(samples[0], samples[1], scale)[8.0].min_confidence, 3),
    )  # fmt: skip
    assert f"slope = {written.slope:g}\n" in report and "in 5 folds" in report and "calibration error, wi-3k" in report
    fitted = calibrate.calibrate(
        Corrector.load(folder), [find_test_sets("wi-3k", data)[0]], find_test_sets("clean", data)[0]
    )
    assert read_presets(folder)["high"] == calibrate.presets_of(fitted.seen)["high"]
    assert "reread" not in (folder / "config.json").read_text() and not list(folder.glob("*.partial"))
