"""A language model as a judge: gains after its prompt, one scale for both models, folders that say what they lack."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.correctors import windows_of
from support.language_gains import Comparison, find_gains
from support.strategies import law
from support.tiny_causal import save_folder

from edit_gec.corrector import Corrector
from edit_gec.editing.predictor import WindowChanges
from edit_gec.errors import EditGecError, ModelError
from edit_gec.speculative.judge import KEY, LEAST_DOUBT, JointScale, JudgedChange, LanguageJudge, weigh_rivals
from edit_gec.speculative.judged import Judged
from edit_gec.speculative.language_model import LanguageModel, Question, ReadSources
from edit_gec.speculative.rewordings import RewordingKind, touch
from edit_gec.text.edits import Change, Provenance, apply_changes

scales = st.builds(
    JointScale, st.floats(0.3, 2), st.floats(0, 1), st.floats(0, 3), st.floats(-2, 2), st.floats(0.1, 0.9)
)
shares = st.floats(0.001, 0.999)
TEXTS = ["She go to school every days.", "I recieved it becuase she ask me.", "We was at home yesterday."]
SCALE = JointScale(first_slope=1.0, gain_slope=0.2, offset=0.3, min_confidence=0.3)


def confidence(scale: JointScale, first: float, gain: float, rare: float = 0.0) -> float:
    """That of a change that stands alone."""
    (found,) = scale.confidences([JudgedChange(Change(0, 0, "", first), gain)], rare)
    return found


def write_config(folder: Path, **entries: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge of random weights."""
    made = tmp_path_factory.mktemp("judge")
    save_folder(made)
    write_config(
        made, prompt="<|endoftext|>Fix: {source}\n", **{KEY: asdict(SCALE)}, strictness={"low": 0.6, "high": 0.1}
    )
    return made


@law
@given(scales, shares, shares, st.floats(-20, 20), st.floats(-20, 20))
def test_the_scale_rises_with_both_models(scale: JointScale, p: float, q: float, g: float, h: float) -> None:
    low, high = confidence(scale, min(p, q), min(g, h)), confidence(scale, max(p, q), max(g, h))
    assert 0 <= low <= high + 1e-12 <= 1.0 + 1e-12


@law
@given(scales, shares, st.floats(0.01, 0.99), st.floats(-20, 20), st.floats(0, 1))
def test_no_gain_lifts_what_is_not_proposed(
    scale: JointScale, first: float, threshold: float, gain: float, rare: float
) -> None:
    assert confidence(scale, first, gain, rare) <= confidence(scale, first, gain) + 1e-12
    if confidence(scale, first, gain, rare) > threshold + 1e-9:
        assert first >= scale.lowest_first(threshold) - 1e-9


changes = st.builds(
    lambda start, length, first, gain, kind: JudgedChange(
        Change(start, start + length, "", 0.0 if kind else first, Provenance.JUDGE if kind else Provenance.EDIT5),
        gain, kind,
    ),
    st.integers(0, 12), st.integers(0, 3), shares, st.floats(-9, 9), st.none() | st.sampled_from(RewordingKind),
)  # fmt: skip
full_scales = st.builds(
    replace, scales, own_slope=st.floats(0, 1), rival_slope=st.floats(0, 1),
    priors=st.just({kind.value: -1.0 for kind in RewordingKind}),
)  # fmt: skip


@law
@given(full_scales, st.lists(changes, min_size=1, max_size=6), st.floats(0, 1), st.floats(0.01, 0.99))
def test_what_cannot_pass_is_not_asked(
    scale: JointScale, candidates: list[JudgedChange], rare: float, threshold: float
) -> None:
    """No gain and no other change lifts a confidence of EdiT5, or a kind, above the bounds that the judge asks by."""
    kinds = scale.able_kinds(threshold)
    for each, found in zip(candidates, scale.confidences(candidates, rare), strict=True):
        if found > threshold + 1e-9:
            assert each.kind in kinds if each.kind else each.change.confidence >= scale.lowest_first(threshold) - 1e-9


@law
@given(full_scales, st.lists(changes, min_size=2, max_size=6))
def test_others_in_its_place_rival_what_the_judge_proposes(scale: JointScale, candidates: list[JudgedChange]) -> None:
    first, *others = candidates
    (alone,) = scale.confidences([first], 0.0)
    elsewhere = [each for each in others if first.kind is None or not touch(each.change, first.change)]
    assert scale.confidences([first, *elsewhere], 0.0)[0] == alone
    assert scale.confidences(candidates, 0.0)[0] <= alone + 1e-12
    assert weigh_rivals(first, [first], [0.0]) == 0.0


def test_gains_are_those_of_each_change_alone_after_the_prompt(folder: Path) -> None:
    judge = LanguageJudge.load(folder)
    edit5 = Corrector.load(threads=1).edit5
    windows = windows_of(Corrector.load(threads=1), *TEXTS)
    proposing = edit5.with_thresholds(min_confidence=judge.lowest_proposed(0.1))
    drafts = proposing.predict(windows)
    weighed = judge.weigh([each.pieces for each in windows], drafts, ())
    assert sum(len(draft.changes) for draft in drafts) > len(TEXTS)
    for window, (changes, *_), found in zip(windows, drafts, weighed, strict=True):
        text = window.pieces.source
        assert [each.change for each in found] == list(changes)
        for change, gain, _ in found:
            question = Comparison(f"Fix: {text}\n", text, (apply_changes(text, [change]),))
            assert find_gains(judge.model, [question])[0][0] == pytest.approx(gain, abs=1e-3)


def test_a_sentence_that_edit5_does_not_doubt_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = LanguageJudge.load(folder)
    (window,) = windows_of(Corrector.load(threads=1), TEXTS[0])
    asked: list[Question] = []
    read = judge.model.read

    def note(_: LanguageModel, questions: Sequence[Question]) -> Iterator[ReadSources]:
        asked.extend(questions)
        return read(questions)

    monkeypatch.setattr(LanguageModel, "read", note)
    calm = LEAST_DOUBT - 0.01
    go = Change(4, 6, "goes", 0.5)
    for draft, kinds, is_read in (
        (WindowChanges((), doubt=calm), [*RewordingKind], False),
        (WindowChanges((), doubt=LEAST_DOUBT), [*RewordingKind], True),
        (WindowChanges((), doubt=1.0), [], False),
        (WindowChanges((go,), doubt=calm), [], True),
    ):
        asked.clear()
        list(judge.weigh([window.pieces], [draft], kinds))
        assert bool(asked) == is_read


def test_both_models_decide(folder: Path) -> None:
    """What is made has the joint confidence, at the judge's own threshold, preset or the user's."""
    alone = Corrector.load(threads=1)
    corrector = Corrector.load(threads=1, target=folder)
    assert isinstance(corrector.predictor, Judged) and corrector.edit5.network.backend == alone.edit5.network.backend
    assert corrector.min_confidence == 0.3
    edits = [edit for text in TEXTS for edit in corrector.correct(text).edits]
    assert edits and min(edit.confidence for edit in edits) >= 0.3
    judge = corrector.predictor.judge
    assert judge.summary()["edits"] >= len(edits)
    for options, threshold in (({"strictness": "low"}, 0.6), ({"min_confidence": 0.9}, 0.9)):
        strict = Corrector.load(threads=1, target=folder, **options)
        assert strict.min_confidence == threshold
        assert sum(len(strict.correct(text).edits) for text in TEXTS) <= len(edits)


def test_alone_and_in_a_batch_the_edits_are_the_same(folder: Path) -> None:
    corrector = Corrector.load(threads=1, target=folder)
    together = corrector.correct_batch(TEXTS * 3)
    for text, correction in zip(TEXTS * 3, together, strict=True):
        single = corrector.correct(text)
        assert [(e.span, e.replacement) for e in single.edits] == [(e.span, e.replacement) for e in correction.edits]


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({KEY: None}, "expected numbers"),
        ({KEY: {"gain_slope": 1.0}}, "expected numbers"),
        ({KEY: {**asdict(SCALE), "gain_slope": "much"}}, "expected numbers"),
        ({KEY: {**asdict(SCALE), "first_slope": 0}}, "first_slope above 0"),
        ({KEY: {**asdict(SCALE), "min_confidence": 2}}, "a share above 0"),
        ({KEY: {**asdict(SCALE), "priors": {"guess": 1}}}, "priors for some of form, exchanged"),
        ({KEY: {**asdict(SCALE), "priors": {"form": "often"}}}, "priors for some of form"),
        ({"prompt": "Correct this:"}, "a text with {source} once"),
        ({"prompt": 3}, "a text with {source} once"),
    ],
)
def test_wrong_folders(tmp_path: Path, entries: dict[str, Any], reason: str) -> None:
    save_folder(tmp_path)
    write_config(tmp_path, **{"prompt": "{source}\n", KEY: asdict(SCALE), **entries})
    with pytest.raises(ModelError, match=reason) as caught:
        Corrector.load(threads=1, target=tmp_path, verify="judge")
    assert "\n" not in str(caught.value)


def test_a_model_without_the_numbers_does_not_judge(tmp_path: Path) -> None:
    save_folder(tmp_path)
    with pytest.raises(ModelError, match="the numbers that join both models"):
        Corrector.load(threads=1, target=tmp_path, verify="judge")
    with pytest.raises(EditGecError):
        Corrector.load(threads=1, target=tmp_path)
