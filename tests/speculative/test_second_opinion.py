"""The second opinion of a T5: gains that are its log-probabilities, one scale for both, and no sentence left out."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.correctors import window_of
from support.strategies import law, nasty
from support.tiny_t5 import pairs, random_target, trained_target

from edit_gec.cli.main import main
from edit_gec.corrector import Corrector
from edit_gec.errors import ModelError
from edit_gec.modeling.tokenizer import EOS, PAD, Tokens
from edit_gec.speculative.judged import Judged
from edit_gec.speculative.second_opinion import (
    BELOW_SURE,
    JointScale,
    Question,
    SecondOpinion,
    find_difference,
    find_question,
    find_stretch,
    measure_gains,
)
from edit_gec.speculative.target import Target
from edit_gec.text.edits import Change

scales = st.builds(JointScale, st.floats(0, 1), st.floats(-2, 2), st.floats(0.1, 1), st.floats(0.1, 0.9))
shares = st.floats(0.001, 0.999)
ids = st.lists(st.integers(2, 5), max_size=6).map(lambda row: [*row, EOS])


@torch.inference_mode()
def log_probability(target: Target, source: str, text: str) -> float:
    """log p(text | source) by the plain forward pass, one text alone."""
    rows = [*target.tokens.ids(text), EOS]
    read = torch.tensor([target.source_ids(source)])
    logits = target.model(read, read != PAD, torch.tensor([[PAD, *rows[:-1]]]))[0]
    return float(logits.log_softmax(-1)[range(len(rows)), rows].sum())


def test_gains_are_the_targets_log_probabilities(tokens: Tokens) -> None:
    """Where one token of the end differs, a gain is the whole difference; together and alone they are the same."""
    target = random_target(tokens, max_length=60)
    questions = [
        Question("They was here.", "They was here!"),
        Question("They was here.", "They was here?"),
        Question("All of it is well.", "All of it is well!"),
        Question("All is well.", "All is well."),
    ]
    gains = measure_gains(target, questions)
    assert gains[-1] == 0
    for question, gain in zip(questions[:-1], gains, strict=False):
        whole = log_probability(target, *question) - log_probability(target, question.source, question.source)
        assert gain == pytest.approx(whole, abs=1e-3)
        assert measure_gains(target, [question])[0] == pytest.approx(gain, abs=1e-3)


def test_a_trained_target_prefers_the_correction(tokens: Tokens) -> None:
    changed = [(source, right) for source, right in pairs(60, seed=9) if source != right]
    gains = measure_gains(trained_target(tokens), [Question(*pair) for pair in changed])
    back = measure_gains(trained_target(tokens), [Question(right, source) for source, right in changed])
    assert sum(a > b for a, b in zip(gains, back, strict=True)) > 0.8 * len(changed)


@law
@given(ids, ids)
def test_outside_the_difference_rows_are_the_same(a: list[int], b: list[int]) -> None:
    ours, theirs = find_difference(a, b)
    assert a[: ours.start] == b[: theirs.start] and a[ours.stop :] == b[theirs.stop :]
    assert (len(ours) == 0) == (a == b) == (len(theirs) == 0)


@law
@given(scales, shares, shares, st.floats(-20, 20), st.floats(-20, 20))
def test_the_scale_rises_with_both_opinions(scale: JointScale, p: float, q: float, g: float, h: float) -> None:
    low, high = scale.confidence(min(p, q), min(g, h)), scale.confidence(max(p, q), max(g, h))
    assert 0 <= low <= high + 1e-12 <= 1.0 + 1e-12
    if p >= scale.sure:
        assert scale.confidence(p, g) == p
    else:
        assert scale.confidence(p, g) <= scale.sure - BELOW_SURE


@law
@given(scales, shares, st.floats(0.01, 0.99), st.floats(-20, 20))
def test_no_gain_lifts_what_is_not_proposed(scale: JointScale, first: float, threshold: float, gain: float) -> None:
    if scale.confidence(first, gain) > threshold + 1e-9:
        assert first >= scale.lowest_first(threshold) - 1e-9


@law
@given(nasty, st.integers(0, 60), st.integers(0, 60), st.integers(1, 30))
def test_a_stretch_contains_its_change(tokens: Tokens, text: str, a: int, b: int, longest: int) -> None:
    pieces = tokens.encode(text)
    if not len(pieces):
        return
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    first, last = find_stretch(pieces, Change(start, end, "x", 0.5), longest)
    assert 0 <= first <= start <= end <= last <= len(text)
    if len(pieces) <= longest:
        assert (first, last) == (pieces.starts[0], pieces.ends[-1])


def test_a_sentence_of_any_length_is_read_around_its_edit(tokens: Tokens) -> None:
    target = random_target(tokens, max_length=24)
    text = " ".join(["They walk to the school every day and"] * 12) + " they was home."
    at = text.index("was")
    change = Change(at, at + 3, "were", 0.5)
    assert not target.fits(text)
    question = find_question(target, tokens.encode(text), change)
    assert question and question.source in text and target.fits(question.source) and target.fits(question.edited)
    assert "they was home" in question.source and "they were home" in question.edited
    assert question.edited.replace("were", "was") == question.source
    endless = Change(at, at + 3, "w" * 200, 0.5)
    judge = SecondOpinion(target, JointScale(gain_slope=0.5))
    pieces = tokens.encode(text)
    ((judged,),) = judge.judge([window_of(pieces)], [[endless]], 0.4)
    assert judged[:3] == endless[:3] and judged.confidence == pytest.approx(0.5)
    assert judge.summary() == {"edits": 1, "refused": 0, "unread": 1, "passes": 0}


def test_edits_of_which_the_first_is_sure_are_not_read(tokens: Tokens) -> None:
    judge = SecondOpinion(random_target(tokens, max_length=60), JointScale(gain_slope=5.0, sure=0.6))
    changes = [Change(0, 4, "We", 0.7), Change(5, 8, "were", 0.5)]
    (judged,) = judge.judge([window_of(tokens.encode("They was here."))], [changes], 0.0)
    assert judged[0] == changes[0] and judged[1].confidence != 0.5
    assert judge.summary()["edits"] == judge.summary()["passes"] == 1


# ---------------------------------------------------------------- folders, the corrector, the command


@pytest.fixture(scope="module")
def pair_folder(tokens: Tokens, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy target with a scale that counts its gain."""
    folder = tmp_path_factory.mktemp("pair") / "t5-toy"
    scale = JointScale(gain_slope=0.5, min_confidence=0.3)
    trained_target(tokens).export(folder, second_opinion=asdict(scale), strictness={"low": 0.9, "high": 0.1})
    return folder


def test_a_target_with_a_scale_judges_by_default(model_folder: Path, pair_folder: Path) -> None:
    """Lower thresholds make more edits, each with the confidence that it has under any threshold."""
    sentences = [source for source, _ in pairs(25, seed=8)]
    corrector = Corrector.load(model_folder, target=pair_folder, batch_size=4)
    assert isinstance(corrector.predictor, Judged)
    assert corrector.edit5.thresholds.min_confidence == 0.3
    edits = [c.edits for c in corrector.correct_batch(sentences, lines=True)]
    assert all(edit.confidence >= 0.3 for each in edits for edit in each)
    alone = [c.edits for c in Corrector.load(model_folder, backend="torch").correct_batch(sentences, lines=True)]
    assert edits != alone, "the target has a say"
    one_by_one = [corrector.correct(sentence, lines=True).edits for sentence in sentences]
    for together, single in zip(edits, one_by_one, strict=True):
        assert [(e.start, e.end, e.replacement) for e in together] == [(e.start, e.end, e.replacement) for e in single]
    assert corrector.predictor.summary()["edits"] > 0


def test_presets_are_the_targets(model_folder: Path, pair_folder: Path) -> None:
    def load(**given: object) -> float:
        corrector = Corrector.load(model_folder, target=pair_folder, **given)  # type: ignore[arg-type]
        return corrector.edit5.thresholds.min_confidence

    assert (load(strictness="low"), load(strictness="high"), load(min_confidence=0.7)) == (0.9, 0.1, 0.7)


def test_exact_text_is_still_there(model_folder: Path, pair_folder: Path) -> None:
    sentences = [source for source, _ in pairs(12, seed=8)]
    target = Target.load(pair_folder)
    exact = Corrector.load(model_folder, target=pair_folder, verify="exact", batch_size=4)
    assert exact.predictor.is_exact
    texts = [correction.corrected for correction in exact.correct_batch(sentences, lines=True)]
    assert texts == [target.text(output) for output in target.generate(sentences)]


def test_a_scale_is_needed_and_must_be_one(model_folder: Path, pair_folder: Path, tmp_path: Path) -> None:
    for entry, says in (
        (None, "no second_opinion, the numbers that join both opinions"),
        ({"offset": 1}, "expected numbers for gain_slope, offset"),
        ({**asdict(JointScale()), "offset": "much"}, "expected numbers for gain_slope"),
        ({**asdict(JointScale()), "gain_slope": -1.0}, "expected gain_slope not below 0"),
        ({**asdict(JointScale()), "sure": 1.5}, "sure and min_confidence above 0 up to 1"),
    ):
        folder = tmp_path / says[:8]
        folder.mkdir(exist_ok=True)
        for file in pair_folder.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        config = json.loads((folder / "config.json").read_text())
        del config["second_opinion"]
        (folder / "config.json").write_text(
            json.dumps(config if entry is None else {**config, "second_opinion": entry})
        )
        with pytest.raises(ModelError, match=says):
            Corrector.load(model_folder, target=folder, verify="both")


def test_the_command_shows_what_both_support(
    model_folder: Path, pair_folder: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    source = " ".join(sentence for sentence, _ in pairs(8, seed=8)) + "\n"
    (tmp_path / "a.txt").write_text(source)
    words = ["correct", "--model", str(model_folder), "--target", str(pair_folder), "--stats", "--format", "json"]
    assert main([*words, "--verify", str(tmp_path / "a.txt")]) == 0
    out, err = capfdbinary.readouterr()
    (result,) = json.loads(out)
    expected = Corrector.load(model_folder, target=pair_folder).correct(source)
    assert [edit["replacement"] for edit in result["edits"]] == [edit.replacement for edit in expected.edits]
    assert json.loads(err.decode().splitlines()[-1])["edits"] > 0


def test_thresholds_are_of_the_joint_confidence(model_folder: Path, pair_folder: Path) -> None:
    sentences = [source for source, _ in pairs(25, seed=8)]
    corrector = Corrector.load(model_folder, target=pair_folder)
    free = corrector.with_thresholds(min_confidence=0.05)
    strict = replace(corrector, settings=None).with_thresholds(min_confidence=0.8)
    assert all(e.confidence >= 0.8 for c in strict.correct_batch(sentences, lines=True) for e in c.edits)
    assert sum(len(c.edits) for c in free.correct_batch(sentences, lines=True)) >= sum(
        len(c.edits) for c in strict.correct_batch(sentences, lines=True)
    )
