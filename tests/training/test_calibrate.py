"""Calibration: scales that lie, thresholds that do what the product does with them, and a model folder end to end."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import NOT_ASKED, Evidence, Kind, Scale, combine
from edit_gec.editing.thresholds import load_thresholds
from edit_gec.errors import InputError
from edit_gec.evaluation.datasets import find_test_sets
from edit_gec.training.calibrate import (
    FOLDS,
    LEAST_SLOPE,
    RATES,
    Edit,
    Graded,
    Sample,
    calibrate,
    choose,
    collect,
    cross_validate,
    fit_scale,
    main,
)

TRUE = Scale(slope=0.8, written_slope=0.6, stays_slope=0.9, offset=0.3, spelling_offset=1.0, delete_offset=-0.5)


def draw_evidence(rng: random.Random) -> Evidence:
    kind = rng.choice((Kind.REPLACE, Kind.INSERT, Kind.DELETE, Kind.SPELLING))
    return Evidence(rng.uniform(0.05, 0.99), rng.uniform(0.1, 1.0), kind, rng.uniform(0.02, 0.98))


def draw_sample(scale: Scale, seed: int, sentences: int) -> Sample:
    """Edits that are right as often as a scale says."""
    rng = random.Random(seed)
    edits = []
    for n in range(sentences):
        for _ in range(rng.choice((0, 1, 2, 4))):
            evidence = draw_evidence(rng)
            edits.append(Edit(n, (evidence,), rng.random() < scale.confidence(evidence)))
    return Sample(tuple(range(sentences)), tuple(edits), dict.fromkeys(range(sentences), 2))


def draw_clean(seed: int, sentences: int) -> Sample:
    """Clean sentences, every tenth with an edit, which is wrong."""
    rng = random.Random(seed)
    edits = tuple(Edit(n, (draw_evidence(rng),), False) for n in range(0, sentences, 10))
    return Sample(tuple(range(sentences)), edits, {})


def test_the_scale_that_made_the_edits_is_found() -> None:
    edits = draw_sample(TRUE, 1, 6000).edits
    fitted = fit_scale(edits)
    for name in ("slope", "written_slope", "stays_slope", "offset", "spelling_offset", "delete_offset"):
        assert getattr(fitted, name) == pytest.approx(getattr(TRUE, name), abs=0.2), name
    sure = sum(fitted.confidence(edit.parts[0]) for edit in edits)
    assert sure == pytest.approx(sum(edit.right for edit in edits), rel=0.01), "as sure as it is right"


@given(st.integers(0, 10_000), st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2))
@settings(max_examples=25, deadline=None)
def test_no_slope_is_below_zero(seed: int, slope: float, written: float, stays: float) -> None:
    edits = draw_sample(Scale(slope, written, stays), seed, 40).edits
    try:
        fitted = fit_scale(edits)
    except InputError:
        assert len({edit.right for edit in edits}) < 2
        return
    assert fitted.slope >= LEAST_SLOPE and fitted.written_slope >= 0 and fitted.stays_slope >= 0


def test_a_decoder_that_was_never_asked_counts_for_nothing() -> None:
    edits = [
        edit._replace(parts=(edit.parts[0]._replace(stays=NOT_ASKED),)) for edit in draw_sample(TRUE, 2, 300).edits
    ]
    assert fit_scale(edits).stays_slope == 0


def test_thresholds_do_what_the_product_does_with_them() -> None:
    learners, clean = draw_sample(TRUE, 3, 200), draw_clean(4, 400)
    chosen = choose(Graded(learners, TRUE), Graded(clean, TRUE))
    assert list(chosen) == [rate for rate in RATES if rate in chosen] and 2.0 in chosen
    for rate, outcome in chosen.items():
        assert outcome.rate <= rate
        made = {name: kept_edits(sample, outcome[0], outcome[1]) for name, sample in (("l", learners), ("c", clean))}
        assert outcome.made == len(made["l"]) and outcome.right == sum(edit.right for edit in made["l"])
        assert outcome.changed == len({edit.sentence for edit in made["c"]}) and outcome.expected == 400
    scores = [outcome.scores[2] for outcome in chosen.values()]
    assert scores == sorted(scores), "more false alarms never cost F0.5"


def kept_edits(sample: Sample, least: float, gate: float) -> list[Edit]:
    """What passes both thresholds, sentence by sentence."""
    kept: list[Edit] = []
    for n in sample.sentences:
        sure = [e for e in sample.edits if e.sentence == n and TRUE.confidence(e.parts[0]) >= least]
        if sure and combine([TRUE.confidence(e.parts[0]) for e in sure]) >= gate:
            kept += sure
    return kept


def test_folds_part_the_sentences() -> None:
    learners, clean = draw_sample(TRUE, 5, 203), draw_clean(6, 101)
    folds = [learners.fold(n, inside=True) for n in range(FOLDS)]
    assert sorted(n for fold in folds for n in fold.sentences) == list(learners.sentences)
    for number, fold in enumerate(folds):
        others = learners.fold(number, inside=False)
        assert not {*fold.sentences} & {*others.sentences}
        assert sorted(fold.edits + others.edits) == sorted(learners.edits)
    for outcome in cross_validate(learners, clean).values():
        assert (outcome.expected, outcome.clean) == (406, 101), "every sentence counts once"


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
    clean = find_test_sets("clean", data)[0]
    _, sample = collect(model_folder, 0.0, find_test_sets("wi-3k", data)[0], clean)
    corrector = Corrector.load(model_folder, min_confidence=0.0)
    corrections = corrector.correct_batch(clean.lines, lines=True, markup=False)
    options = load_thresholds(model_folder, min_confidence=0.0)
    for n, correction in enumerate(corrections):
        found = [options.confidence(edit.parts[0]) for edit in sample.edits if edit.sentence == n]
        assert found == pytest.approx([edit.confidence for edit in correction.edits], abs=1e-4)
    assert sample.edits


def test_a_folder_gets_what_was_fitted(
    model_folder: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    config["thresholds"] = {"reread": 0.8}
    (folder / "config.json").write_text(json.dumps(config))
    options = ["--model", str(folder), "--data", str(data), "--rate", "20", "--write", "--keep-bias", "-0.5"]
    with pytest.raises(InputError, match="too few sentences to fit a scale"):
        main(options)  # a model that was never trained is never right
    samples = draw_sample(TRUE, 7, 100), draw_clean(8, 100)
    monkeypatch.setattr("edit_gec.training.calibrate.collect", lambda *_: samples)
    assert main(options) == 0
    fit = calibrate(folder, -0.5, find_test_sets("wi-3k", data)[0], find_test_sets("clean", data)[0])
    assert capsys.readouterr().out == fit.report()
    written = load_thresholds(folder)
    assert (written.keep_bias, written.second_pass_factor) == (
        -0.5,
        0.8,
    ) and written.stays_slope == fit.scale.stays_slope > 0
    assert written.min_confidence == pytest.approx(fit.seen[20.0].min_confidence)
    assert not list(folder.glob("*.partial"))
