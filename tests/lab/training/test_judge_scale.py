"""A judge joined: a fit that finds what it knows, ignores what it does not, and a folder that gets the scale."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from support.correctors import window_of
from support.tiny_causal import save_folder

from edit_gec.corrector import Corrector
from edit_gec.editing.confidence import Evidence, Scale
from edit_gec.editing.predictor import WindowChanges
from edit_gec.errors import InputError
from edit_gec.lab.evaluation.datasets import find_test_sets
from edit_gec.lab.training import calibrate, judge_scale
from edit_gec.lab.training.calibrate import grade
from edit_gec.lab.training.evidence import ProposedEdit, Sample
from edit_gec.lab.training.judge_scale import (
    AS_IT_IS,
    JointFit,
    collect_opinions,
    cross_validate,
    fit,
    fit_joint,
    judge_alone,
    judge_jointly,
    main,
    with_confidences,
)
from edit_gec.speculative.judge import JointScale, JudgedChange, LanguageJudge
from edit_gec.speculative.judged import Judged
from edit_gec.speculative.rewordings import RewordingKind
from edit_gec.text.edits import Change, Provenance

TRUE = JointScale(first_slope=0.8, gain_slope=0.3, offset=-0.2, own_slope=0.5, priors={"form": -1.0})

TRUE_ALONE = replace(TRUE, priors={})  # it proposes nothing


def chance_of(gain: float, first: float = 0.0, kind: RewordingKind | None = None) -> float:
    """How often the true scale says that a change is right which stands alone."""
    (chance,) = TRUE.confidences([JudgedChange(Change(0, 0, "", first), gain, kind)], 0.0)
    return chance


@pytest.fixture(autouse=True)
def few_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scale of the EdiT5 is not what is tested."""
    monkeypatch.setattr(calibrate, "NEIGHBOUR_SLOPES", (0.0,))


def draw(seed: int, sentences: int, *, informed: bool = True, own: bool = False) -> list[Sample]:
    """Learners' and clean sentences with edits that are right as often as both opinions say, or the first alone."""
    rng = random.Random(seed)
    samples = []
    for clean in (False, True):
        numbers = range(0, sentences, 3 if clean else 1)
        drawn = [(n, rng.uniform(0.05, 0.95), rng.uniform(-8, 8)) for n in numbers]
        proposals = []
        for n, first, gain in drawn:
            first = first * 0.6 if clean else first
            chance = chance_of(gain, first) if informed else first
            right = int(not clean and rng.random() < chance)
            found = gain - (4.0 if clean and informed else 0.0)
            proposals.append(ProposedEdit(n, n, Change(0, 0, "", 1.0), Evidence(first), right=right, gain=found))
            if own and not clean:
                right = int(rng.random() < chance_of(-gain, kind=RewordingKind.FORM))
                change = Change(8, 9, "", 0.0, Provenance.JUDGE)
                judged = ProposedEdit(n, n, change, Evidence(0.5), right=right, gain=-gain)
                proposals.append(judged._replace(rewording=RewordingKind.FORM))
        samples.append(Sample(tuple(range(sentences)), tuple(proposals), {} if clean else dict.fromkeys(numbers, 1)))
    return samples


def test_confidences_stay_what_they_are() -> None:
    sample = draw(1, 50)[0]
    given = [n / 60 + 0.01 for n in range(50)]
    assert grade(with_confidences(sample, given), AS_IT_IS) == pytest.approx(given)


def test_the_scale_that_made_the_edits_is_found() -> None:
    opinions = draw(2, 6000)
    fitted = fit_joint(opinions[:1], Scale())
    for name in ("first_slope", "gain_slope", "offset"):
        assert getattr(fitted, name) == pytest.approx(getattr(TRUE, name), abs=0.1)
    learners = opinions[0]
    joined = grade(judge_jointly(opinions, Scale(), fitted)[0], AS_IT_IS)
    assert sum(joined) == pytest.approx(sum(p.right for p in learners.proposals), rel=0.02)


def test_what_the_judge_proposes_has_a_slope_and_priors_of_its_own() -> None:
    opinions = draw(7, 6000, own=True)
    fitted = fit_joint(opinions[:1], Scale())
    for name in ("first_slope", "gain_slope", "own_slope"):
        assert getattr(fitted, name) == pytest.approx(getattr(TRUE, name), abs=0.1)
    assert set(fitted.priors) == {"form"}
    assert fitted.rival_slope == 0, "nothing was drawn in one place"
    assert [len(sample.proposals) for sample in judge_alone(opinions, Scale())] == [6000, 2000]


def test_a_judge_that_knows_something_helps() -> None:
    opinions = draw(3, 1500)
    assert fit_joint(opinions, Scale()).gain_slope > 0.1
    alone, both = cross_validate(opinions)
    mean = {name: sum(o.scores[2] for o in each.values()) / len(each) for name, each in (("a", alone), ("b", both))}
    assert mean["b"] > mean["a"] + 3
    assert {o.expected for o in both.values()} == {o.expected for o in alone.values()} == {1500}


def test_a_judge_that_knows_nothing_costs_next_to_nothing() -> None:
    alone, both = cross_validate(draw(4, 1500, informed=False))
    assert all(both[rate].scores[2] > alone[rate].scores[2] - 2 for rate in (1.5, 3.0, 8.0))


def test_a_kind_may_be_in_one_fold_alone() -> None:
    learners, clean = draw(8, 200)
    (first, *others) = learners.proposals
    alone = learners._replace(proposals=(first._replace(rewording=RewordingKind.CASE), *others))
    assert {o.expected for o in cross_validate([alone, clean])[1].values()} == {200}


def test_too_few_edits_are_reported() -> None:
    none = [sample._replace(proposals=()) for sample in draw(5, 5)]
    with pytest.raises(InputError, match="0 edits, 0 right: too few sentences to fit a scale"):
        fit_joint(none, Scale())


# ---------------------------------------------------------------- folders

M2 = """S She walk to the station .
A 1 2|||R:VERB:SVA|||walks|||REQUIRED|||-NONE-|||0

S They walks home .
A 1 2|||R:VERB:SVA|||walk|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "wi-3k.m2").write_text(M2 * 3, encoding="utf-8")
    (tmp_path / "clean.txt").write_text("The tea is hot.\nThey went home.\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "judge"
    save_folder(made)
    return made


def test_opinions_are_those_of_the_product(model_folder: Path, folder: Path, data: Path) -> None:
    """What is proposed, by whom, and its gain."""
    corrector = Corrector.load(model_folder)
    scale = replace(TRUE, priors=dict.fromkeys(map(str, RewordingKind), -1.0))
    judge = LanguageJudge.load(folder, scale)
    for name in ("wi-3k", "clean"):
        sample = collect_opinions(judge, corrector, find_test_sets(name, data)[0])
        known = [p for p in sample.proposals if p.rewording is None]
        assert any(p.gain for p in sample.proposals)
        for p in sample.proposals:
            gain, kind = p.gain, p.rewording
            window = sample.windows[p.window]
            if kind is None:
                sure = p.change._replace(confidence=0.4)
                draft = WindowChanges((sure,))
                ((judged,),) = LanguageJudge(judge.model, TRUE_ALONE).judge([window_of(window)], [draft], 0.0)
                (wanted,) = TRUE_ALONE.confidences([JudgedChange(sure, gain)], 0.0)
                assert judged.confidence == pytest.approx(wanted, abs=1e-4)
            else:
                here = tuple(each.change for each in known if each.window == p.window)
                (weighed,) = judge.weigh([window], [WindowChanges(here)], list(RewordingKind))
                assert (p.change, kind) in [(each.change, each.kind) for each in weighed]


def test_a_folder_gets_what_was_fitted(
    model_folder: Path, folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command end to end; what the models say of so few sentences is replaced by gains that were drawn."""
    words = ["--model", str(model_folder), "--judge", str(folder), "--data", str(data), "--others", "--write"]
    with pytest.raises(InputError, match="too few sentences to fit a scale"):
        main(words)  # a model that was never trained is never right
    opinions = draw(6, 300)
    drawn = iter(opinions)
    monkeypatch.setattr(judge_scale, "collect_opinions", lambda *_: next(drawn))
    assert main(words) == 0
    report = capsys.readouterr().out
    corrector = Corrector.load(model_folder, target=folder)
    assert isinstance(corrector.predictor, Judged) and isinstance(corrector.predictor.judge, LanguageJudge)
    scale = corrector.predictor.judge.scale
    own = Corrector.load(model_folder).edit5.thresholds
    fitted: JointFit = fit(opinions, own, 1.5)
    assert scale == fitted.scale and scale.gain_slope > 0.1
    assert f"gain_slope = {scale.gain_slope:g}\n" in report and "in 5 folds, both:" in report
    strictness = json.loads((folder / "config.json").read_text())["strictness"]
    assert strictness["low"] >= scale.min_confidence >= strictness["high"]
