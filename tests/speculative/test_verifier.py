"""The verified gear: the target's edits, law 1, provenance, and what the command says about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from support.correctors import verifier_of
from support.strategies import law, nasty
from support.tiny_t5 import pairs, random_target, trained_target

from edit_gec.cli.main import main
from edit_gec.corrector import Corrector
from edit_gec.editing.windows import halve_window, leave_cuts
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.checkpoint import save_t5
from edit_gec.modeling.tokenizer import EOS, FILE, Pieces, Tokens
from edit_gec.speculative.any_target import Context
from edit_gec.speculative.provenance import attribute_provenance
from edit_gec.speculative.target import Target
from edit_gec.speculative.target_changes import find_changes, fold, keep_edge_spaces
from edit_gec.speculative.verifier import Verifier
from edit_gec.text.edits import Edit, Provenance, apply, apply_changes


class Says:
    """A real target but for its mind: it writes the given text, or the one that is given for what it reads."""

    def __init__(self, tokens: Tokens, text: str | dict[str, str]) -> None:
        self.target = random_target(tokens, max_length=60)

        def choose(
            logits: torch.Tensor,
            sampling: object,
            places: Sequence[tuple[int, int]],
            context: Callable[[int], Context],
            drafted: Sequence[int | None] = (),
        ) -> list[int]:
            read = [context(n).sentence for n in range(len(places))]
            texts = [text if isinstance(text, str) else text[sentence] for sentence in read]
            wanted = [[*tokens.ids(each), EOS] for each in texts]
            return [ids[min(at, len(ids) - 1)] for ids, (_, at) in zip(wanted, places, strict=True)]

        self.target.choose = choose  # type: ignore[method-assign]


def corrected(tokens: Tokens, source: str, says: str) -> str:
    """The sentence after the changes of a target that says this."""
    pieces = tokens.encode(source)
    changes = Verifier(Says(tokens, says).target).verify([pieces], [source])[0]
    return apply(source, [Edit(s, e, source[s:e], r, c) for s, e, r, c, _ in changes])


@pytest.mark.parametrize(
    ("source", "says", "wanted"),
    [
        ("They was at at home.", "They were at home.", "They were at home."),
        ("They  was\there \u2026", "They was here ...", "They  was\there \u2026"),  # all of it the tokenizer's doing
        ("They  was\there \u2026", "They were here ...", "They  were\there \u2026"),
        ("I go\nto \U0001f600 home", "I went to \U0001f600 home", "I went\nto \U0001f600 home"),
        ("He said \u201cno\u201d twice", 'He said "no" twice', "He said \u201cno\u201d twice"),
        ("the \u03b1\u03b2 cat", "a \U0001f600\U0001f600 cat", "a \u03b1\u03b2 cat"),  # <unk> for <unk>
        ("I saw it", "I saw \U0001f600 it", "I saw it"),  # <unk> cannot be said
        ("I saw it", "", ""),
    ],
)
def test_edits_of_a_target_that_folds_text(t5_tokens: Tokens, source: str, says: str, wanted: str) -> None:
    assert corrected(t5_tokens, source, says) == wanted


@law
@given(nasty)
def test_a_target_that_copies_changes_nothing(t5_tokens: Tokens, source: str) -> None:
    """Law 1: whatever its tokenizer makes of the text, copying it is no edit."""
    if len(t5_tokens.ids(source)) < 60 and t5_tokens.encode(source).ids:
        assert corrected(t5_tokens, source, source) == source


def test_windows_count_from_their_sentence(tokens: Tokens) -> None:
    sentence = tokens.encode("Well, they was here.")
    start = next(n for n in range(len(sentence)) if sentence.starts[n] == 5)
    window: Pieces = sentence.window(start, len(sentence))
    ((begin, end, text, *_),) = Verifier(Says(tokens, " they were here.").target).verify([window], ["?"])[0]
    assert apply(sentence.source, [Edit(begin, end, sentence.source[begin:end], text, 1.0)]) == "Well, they were here."


def test_small_parts() -> None:
    assert keep_edge_spaces("  was\n", " were ") == "  were\n" and keep_edge_spaces("", " so ") == " so "
    assert keep_edge_spaces(" a", "b") == "b" and keep_edge_spaces("\n", " ") == " "
    assert fold("\u2018it  is\u2019 \u2026") == fold("'it is' ...") and fold(",") != fold(", ")
    assert fold("alot") != fold("a lot") and fold("it") != fold("It")


def test_provenance() -> None:
    same, other, only = Edit(0, 2, "go", "goes", 0.9), Edit(5, 7, "at", "in", 0.8), Edit(9, 9, "", " the", 0.7)
    refused = Edit(20, 22, "is", "was", 0.6)
    edits, left_out = attribute_provenance(
        [same, Edit(5, 7, "at", "on", 0.5), refused], [Edit(0, 2, "go", "goes", 0.5), other, only]
    )
    assert [edit.provenance for edit in edits] == ["agree", "target changed", "target only"]
    assert [(edit.original, edit.provenance) for edit in left_out] == [("is", "target refused")]
    assert f"{edits[0].provenance}" == "agree" and json.dumps(Provenance.REVISED) == '"target changed"'


# ---------------------------------------------------------------- the whole path


@pytest.fixture(scope="module")
def target_folder(tokens: Tokens, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy target as a Hugging Face folder."""
    folder = tmp_path_factory.mktemp("t5-toy")
    save_t5(trained_target(tokens).model, folder)
    (folder / FILE).write_bytes(tokens.processor.serialized_model_proto())
    return folder


def test_verified_text_is_the_targets(model_folder: Path, target_folder: Path, tokens: Tokens) -> None:
    """The corrector with a target writes, sentence for sentence, what the target writes alone."""
    sentences = [source for source, _ in pairs(25, seed=8)]
    target = Target.load(target_folder)
    alone = [target.text(output) for output in target.generate(sentences)]
    corrector = Corrector.load(model_folder, target=target_folder, batch_size=4)
    corrections = corrector.correct_batch(sentences, lines=True)
    assert [correction.corrected for correction in corrections] == alone
    assert alone != sentences
    for correction in corrections:
        assert apply(correction.text, correction.edits) == correction.corrected
        assert {edit.provenance for edit in correction.edits} <= {"agree", "target changed", "target only"}
        assert {edit.provenance for edit in correction.refused} <= {"target refused"}
        assert all(0 <= edit.confidence <= 1 for edit in correction.edits)
    assert any(correction.refused for correction in corrections), "an untrained drafter is refused now and then"
    summary = verifier_of(corrector).summary()
    assert summary["sentences"] == 25 and summary["unfinished"] == summary["too_long"] == 0
    together = corrector.correct("\n\n".join(sentences[:6]))
    assert together.corrected == "\n\n".join(alone[:6])


def test_drafts_follow_the_thresholds_of_the_target(model_folder: Path, tokens: Tokens, tmp_path: Path) -> None:
    """How readily EdiT5 drafts is the target's to say; what comes out is the same, and --min-confidence is for that."""
    sentences = [source for source, _ in pairs(12, seed=8)]
    plain = trained_target(tokens)
    texts: dict[float, list[str]] = {}
    for threshold in (0.0, 1.0):
        profile = {"thresholds": {"min_confidence": threshold}}
        Target(plain.model, tokens).export(tmp_path / str(threshold), **profile)
        corrector = Corrector.load(model_folder, target=tmp_path / str(threshold), batch_size=4)
        assert corrector.edit5.thresholds.min_confidence == threshold
        corrections = corrector.correct_batch(sentences, lines=True)
        texts[threshold] = [correction.corrected for correction in corrections]
        assert any(correction.refused for correction in corrections) == (threshold == 0.0)
    assert texts[0.0] == texts[1.0] != sentences
    strict = Corrector.load(model_folder, target=tmp_path / "0.0", min_confidence=1.0)
    assert strict.edit5.thresholds.min_confidence == 0.0
    assert [c.corrected for c in strict.correct_batch(sentences, lines=True)] == sentences
    config = json.loads((tmp_path / "1.0" / "config.json").read_text())
    (tmp_path / "1.0" / "config.json").write_text(json.dumps(config | {"thresholds": {"zeal": 1}}))
    with pytest.raises(ModelError, match=r"config.json: thresholds"):
        Corrector.load(model_folder, target=tmp_path / "1.0")


def test_batches_of_several_workers_are_verified_and_counted(model_folder: Path, target_folder: Path) -> None:
    sentences = [source for source, _ in pairs(40, seed=9)]
    found = {}
    for workers in (1, 3):
        corrector = replace(Corrector.load(model_folder, target=target_folder, batch_size=4), workers=workers)
        corrections = corrector.correct_batch(sentences, lines=True)
        summary = verifier_of(corrector).summary()
        counts = {name: summary[name] for name in ("sentences", "tokens", "unfinished", "too_long")}
        found[workers] = [correction.corrected for correction in corrections], counts
    assert found[1] == found[3] and found[1][1]["sentences"] == 40


def test_long_sentences_are_verified_in_parts(model_folder: Path, target_folder: Path) -> None:
    """Each part is the target's own, and nothing is changed next to a cut."""
    corrector = Corrector.load(model_folder, target=target_folder)
    target = verifier_of(corrector).target
    assert isinstance(target, Target)
    target.longest_source = 24
    text = "They walks to to the market by the bus every day . The children drives to the school in the rain ."
    parts = corrector.predictor.encode(text)
    assert len(parts) > 1 and all(target.fits(part.covered) for part in parts)
    expected = []
    for part, output in zip(parts, target.generate([part.covered for part in parts]), strict=True):
        changes = find_changes(part, part.covered, output, [1.0] * len(output), target.tokens)
        expected += leave_cuts(changes, part)
    correction = corrector.correct_batch([text], lines=True)[0]
    assert correction.corrected == apply_changes(text, expected) != text
    summary = verifier_of(corrector).summary()
    assert summary["too_long"] == 0 and summary["sentences"] == len(parts)


def test_what_the_target_repeats_without_end_is_left_alone(tokens: Tokens) -> None:
    """Neither a text that is cut off at its limit is shown, nor the draft, which nobody verified."""
    source = "They was at home."
    verifier = Verifier(Says(tokens, "They were" + " at" * 60).target)
    assert verifier.verify([tokens.encode(source)], ["They were at home."]) == [[]]
    assert verifier.statistics.traces[0].tokens == verifier.target.limit(source) < 60
    assert verifier.summary()["unfinished"] >= 1


def test_what_the_target_does_not_finish_is_verified_in_halves(tokens: Tokens) -> None:
    """Of a sentence that is never finished as a whole, the halves are; next to the cut nothing changes."""
    source = "They was at home with the cat, and we was by the river."
    first, second = (half.covered for half in halve_window(tokens.encode(source)))
    assert first.endswith(",")
    answers = {source: "They were" + " at" * 60, first: "They were at home with the cat."}
    verifier = Verifier(Says(tokens, {**answers, second: "And we were by the river."}).target)
    changes = verifier.verify([tokens.encode(source)], [source])[0]
    edits = [Edit(s, e, source[s:e], r, c) for s, e, r, c, _ in changes]
    assert apply(source, edits) == "They were at home with the cat, and we were by the river."
    assert verifier.summary()["unfinished"] == 1 and verifier.summary()["sentences"] == 3


def test_min_confidence_holds_for_the_target(model_folder: Path, target_folder: Path) -> None:
    sentences = [source for source, _ in pairs(25, seed=8)]
    free = Corrector.load(model_folder, target=target_folder).correct_batch(sentences, lines=True)
    sure = Corrector.load(model_folder, target=target_folder, min_confidence=0.98).correct_batch(sentences, lines=True)
    kept = [edit for correction in sure for edit in correction.edits]
    assert all(edit.confidence >= 0.98 for edit in kept)
    assert len(kept) == sum(edit.confidence >= 0.98 for correction in free for edit in correction.edits)


def test_the_shipped_target_reads_misspelt_words_as_the_list_has_them() -> None:
    """Its text is what it writes alone for sentences that the list has respelt; in a batch and sentence by sentence."""
    sentences = [
        "I recieved the accomodation becuase of it and she go there.",
        "Definately not.",
        "They was at home yesterday.",
        "All is well.",
    ]
    corrector = Corrector.load(target="t5-mini", verify="exact", threads=1)
    assert verifier_of(corrector).profile.respelt
    target = verifier_of(corrector).target
    pieces = [corrector.edit5.tokens.encode(sentence) for sentence in sentences]
    predictions = corrector.edit5.predict_plans(pieces)
    read = [
        apply(each.source, [Edit(s, e, each.source[s:e], new, c) for s, e, new, c, _ in changes])
        for each, changes in (
            (p, list(q.changes(p, corrector.edit5.tokens, respelt=True)))
            for p, q in zip(pieces, predictions, strict=True)
        )
    ]
    assert "received" in read[0] and "Definitely" in read[1] and read[2:] == sentences[2:]
    alone = [target.text(output) for output in target.generate(read)]
    together = corrector.correct_batch(sentences, lines=True)
    assert [correction.corrected for correction in together] == alone
    assert [corrector.correct(sentence, lines=True).corrected for sentence in sentences] == alone
    received = next(edit for edit in together[0].edits if edit.original == "recieved")
    assert received.replacement == "received" and received.provenance == "agree"


def test_the_command(
    model_folder: Path, target_folder: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "a.txt"
    source = " ".join(sentence for sentence, _ in pairs(8, seed=8))
    file.write_text(source + "\n")
    status = main(
        [
            "correct",
            "--model",
            str(model_folder),
            "--target",
            str(target_folder),
            "--verbose",
            "--format",
            "json",
            str(file),
        ]
    )
    out, err = capfdbinary.readouterr()
    assert status == 0
    assert json.loads(err.decode().splitlines()[-1])["sentences"] == 8
    (result,) = json.loads(out)
    correction = Corrector.load(model_folder, target=target_folder).correct(source + "\n")
    assert correction.edits and correction.refused
    for key, edits in (("edits", correction.edits), ("refused", correction.refused)):
        shown = [(edit["start"], edit["original"], edit["provenance"]) for edit in result[key]]
        assert shown == [(edit.start, edit.original, edit.provenance) for edit in edits]


def test_wrong_use(model_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match="neither a model folder nor"):
        Corrector.load(model_folder, target="no-such-t5")
    for verify in (None, "exact"):
        with pytest.raises(ModelError, match="expected a T5"):
            Corrector.load(model_folder, target=model_folder, verify=verify)
    with pytest.raises(InputError, match="strictness high: the target's own text has no presets"):
        Corrector.load("edit5-mini", target="t5-mini", verify="exact", strictness="high")
    with pytest.raises(InputError, match=r"prefix 'gec: ': t5-mini reads sentences without one"):
        Corrector.load("edit5-mini", target="t5-mini", verify="exact", target_prefix="gec: ")
    with pytest.raises(SystemExit):
        main(["correct", "--set", "target-prefix=x", str(tmp_path)])
    assert "--set target-prefix needs --verify or --target" in capfd.readouterr().err
    with pytest.raises(SystemExit):
        main(["correct", "--set", "verify=never", str(tmp_path)])
    assert "argument --set: verify 'never': expected judge or exact" in capfd.readouterr().err
    with pytest.raises(InputError, match="verify 'never'"):
        Corrector.load(model_folder, target=model_folder, verify="never")
