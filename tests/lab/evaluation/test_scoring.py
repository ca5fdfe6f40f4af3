"""The parts of `edit-gec score`: projection on tokens, M2, GLEU, resampling, calibration, benchmarks, systems."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_gec.annotation.m2 import M2Edit, M2Sentence
from edit_gec.errors import InputError
from edit_gec.lab.evaluation import calibration, datasets, errant_score, gleu, projection, significance
from edit_gec.lab.evaluation.systems import ScoredSystem, SystemOutput
from edit_gec.text import detokenize
from edit_gec.text.edits import Change

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "score"
WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            [*"\"',.;:!?()[]-/$%…“”‘’", "n't", "'s", "``", "''", "-LRB-", "can", "not", "dogs", "...", "🏠"]
        ),
        st.text(alphabet="abcXYZé1", min_size=1, max_size=5),
    ),
    max_size=12,
)


# --- projection ----------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(WORDS, st.booleans())
def test_untouched_text_is_never_an_edit(tokens: list[str], split: bool) -> None:
    raw = detokenize.detokenize(tokens, split)
    assert [raw.text[a:b] for a, b in raw.spans] == [detokenize.WRITTEN.get(t, t) for t in tokens]
    assert projection.project_to_tokens(raw, raw.text, split) == tokens
    assert projection.project_to_tokens(raw, raw.text.replace(" ", "  "), split) == tokens


@settings(deadline=None)
@given(WORDS, WORDS, WORDS)
def test_a_change_in_the_middle_keeps_both_sides(left: list[str], old: list[str], right: list[str]) -> None:
    """One plain word for another, well apart from its neighbours: the rest keeps its tokens."""
    raw = detokenize.detokenize([*left, "before", *old, "after", *right])
    start = raw.spans[len(left)][1]
    end = raw.spans[len(left) + 1 + len(old)][0]
    result = projection.project_to_tokens(raw, raw.text[:start] + " changed " + raw.text[end:])
    assert result[: len(left)] == left
    assert result[len(result) - len(right) :] == right


@pytest.mark.parametrize(
    ("corrected", "tokens"),
    [
        ("It isn't mine, said Anna.", "It is n't mine , said Anna ."),
        ("It isn't mine said Ann", "It is n't mine said Ann"),
        ("It wasn't mine , said Ann .", "It was n't mine , said Ann ."),
        ("Then it isn't mine, said Ann.", "Then it is n't mine , said Ann ."),
        ("It isn't mine,said Ann!", "It is n't mine , said Ann !"),
        ("It isn'tmine, said Ann.", "It is n'tmine , said Ann ."),
        ("It isn't mine, said well-known Ann.", "It is n't mine , said well - known Ann ."),
        ("", ""),
    ],
)
def test_changes_come_back_on_tokens(corrected: str, tokens: str) -> None:
    raw = detokenize.detokenize("It is n't mine , said Ann .".split())
    assert projection.project_to_tokens(raw, corrected) == tokens.split()


def test_new_text_follows_the_hyphens_of_the_corpus() -> None:
    raw = detokenize.detokenize("a man".split(), False)
    assert projection.project_to_tokens(raw, "a well-known man", False) == "a well-known man".split()


# --- counts --------------------------------------------------------------------------------------------------------


def test_the_annotator_that_suits_the_score_so_far_is_taken() -> None:
    a, b = M2Edit(0, 1, "R:NOUN", "x"), M2Edit(1, 2, "R:NOUN", "y")
    hyp = [M2Sentence(["p", "q"], {0: [a]}), M2Sentence(["p", "q"], {0: []})]
    ref = [M2Sentence(["p", "q"], {0: [b], 1: [a, b]}), M2Sentence(["p", "q"], {0: [a], 4: []})]
    score = errant_score.score_edits(hyp, ref)
    assert score.annotator == [1, 4]
    assert score.total == errant_score.Counts(1, 0, 1)
    assert score.split == errant_score.Breakdown(hit=1, missed=1)


def test_four_way_split() -> None:
    hyp = [M2Edit(0, 1, "R:X", "a"), M2Edit(2, 3, "R:X", "b"), M2Edit(5, 5, "M:X", "c")]
    ref = [M2Edit(0, 1, "R:X", "a"), M2Edit(2, 4, "R:X", "d"), M2Edit(7, 8, "U:X", "")]
    tokens = list("abcdefgh")
    score = errant_score.score_edits([M2Sentence(tokens, {0: hyp})], [M2Sentence(tokens, {0: ref})])
    assert score.split == errant_score.Breakdown(hit=1, wrong=1, over=1, missed=1)


# --- GLEU ----------------------------------------------------------------------------------------------------------


def gleu_of(source: str, hypothesis: str, reference: str) -> float:
    return gleu.mean_gleu(gleu.count_ngrams([source], [hypothesis], [[reference]]))


def test_gleu_by_hand() -> None:
    """Four tokens, one differs: 1-grams 3 - 1 = 2 of 4, 2-grams 1 of 3, no 3-gram: 0; perfect is 100."""
    stats = gleu.count_ngrams(["He go home ."], ["He go home ."], [["He goes home ."]])
    assert stats.tolist() == [[[4, 4, 2, 4, 0, 3, 0, 2, 0, 1]]]
    assert gleu.mean_gleu(
        gleu.count_ngrams(["He go home ."], ["He goes home ."], [["He goes home ."]])
    ) == pytest.approx(100.0)
    source, reference = "a b c d e f g h", "a b c d e f g x"
    # 1-grams 7-1 of 8, 2-grams 6-1 of 7, 3-grams 5-1 of 6, 4-grams 4-1 of 5, no brevity penalty
    wanted = 100 * np.exp(np.log([6 / 8, 5 / 7, 4 / 6, 3 / 5]).mean())
    assert gleu_of(source, source, reference) == pytest.approx(wanted)


def test_gleu_punishes_short_output_and_checks_lengths() -> None:
    reference = ["a b c d e f g h"]
    assert gleu_of(reference[0], "a b c d e f", reference[0]) == pytest.approx(100 * np.exp(1 - 8 / 6))
    with pytest.raises(InputError, match="1 sources but 2 hypotheses"):
        gleu.count_ngrams(reference, reference * 2, [reference])


# --- significance --------------------------------------------------------------------------------------------------


def test_f_score_equals_counts() -> None:
    score = significance.f_score
    for tp, fp, fn in [(3, 4, 5), (0, 0, 7), (0, 3, 0), (0, 0, 0), (5, 0, 0), (0, 2, 2)]:
        assert round(float(score(np.array([tp, fp, fn]))) / 100, 4) == errant_score.Counts(tp, fp, fn).prf()[2]


def test_resampling_sees_a_difference_and_no_difference() -> None:
    generator = np.random.default_rng(0)
    right = generator.integers(0, 2, size=(400, 3))
    better = right.copy()
    better[:150, 0] += 1
    better[:150, 2] = 0
    score = significance.f_score
    low, high = significance.bootstrap_interval(right, score, 300)
    assert low < float(score(right.sum(axis=0))) < high < low + 15
    same = significance.compare_paired(right, right, score, 300)
    assert (same.delta, same.p) == (0.0, 1.0)
    shuffled = right[generator.permutation(400)]
    assert significance.compare_paired(right, shuffled, score, 300).p > 0.9
    found = significance.compare_paired(right, better, score, 300)
    assert found.p < 0.01 and 0 < found.low < found.delta < found.high
    assert found == significance.compare_paired(right, better, score, 300)


# --- calibration ---------------------------------------------------------------------------------------------------


def test_calibration_table() -> None:
    pairs = [(0.95, True)] * 9 + [(0.95, False)] + [(0.25, True)] * 1 + [(0.25, False)] * 1 + [(1.0, True)]
    table = calibration.measure_calibration(pairs)
    assert [(b.low, b.edits, round(b.right, 3)) for b in table.bins] == [(0.2, 2, 0.5), (0.9, 11, 0.909)]
    assert table.ece == pytest.approx((2 * 0.25 + 11 * abs((10 * 0.95 + 1) / 11 - 10 / 11)) / 13)
    assert calibration.measure_calibration([]).ece == 0


def test_what_is_right_as_often_as_it_says_is_on_the_scale() -> None:
    pairs = [(share, n < 100 * share) for share in (0.1, 0.4, 0.8) for n in range(100)]
    assert calibration.fit_platt(pairs) == pytest.approx((1.0, 0.0), abs=0.01)
    assert calibration.fit_platt([(c, right) for c, right in pairs if right]) == (1.0, 0.0), "nothing to learn from"


def test_logistic_regression_of_several_features() -> None:
    """Odds 1 to 3 without the second feature, and four times as good with it."""
    rows = [([1.0, 0.0], n < 25) for n in range(100)] + [([1.0, 1.0], n < 400 / 7) for n in range(100)]
    weights = calibration.fit_logistic(*zip(*rows, strict=True))
    assert weights == pytest.approx([math.log(1 / 3), math.log(4)], abs=0.05)


def test_confidence_finds_its_edit() -> None:
    raw = detokenize.detokenize("He go to home .".split())
    changes = [Change(3, 5, "goes", 0.9), Change(6, 9, "", 0.4)]
    edits = [M2Edit(1, 2, "R:VERB:SVA", "goes"), M2Edit(2, 3, "U:PREP", "")]
    found = calibration.pair_confidences(raw, changes, edits, edits[:1])
    assert found == [(0.9, True), (0.4, False)]


# --- systems -------------------------------------------------------------------------------------------------------


def test_only_sure_changes_are_kept() -> None:
    output = SystemOutput("He goes home.", (Change(3, 5, "goes", 0.9), Change(6, 9, "", 0.4)))
    assert output.keep_confident("He go to home.", 0.0) == "He goes home."
    assert output.keep_confident("He go to home.", 0.5) == "He goes to home."
    assert output.keep_confident("He go to home.", 0.95) == "He go to home."


def test_a_command_sees_unicode_lines() -> None:
    texts = ["a\u2028b 🏠", "", "c"]
    assert [o.text for o in ScoredSystem("cat {in} > {out}").correct(texts)] == texts


# --- benchmarks ----------------------------------------------------------------------------------------------------


def test_published_layouts_are_found(tmp_path: Path) -> None:
    source, reference = (SAMPLES / "source.txt").read_text(), (SAMPLES / "ref0.txt").read_text()
    block = "S He go\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n\n"
    for name, corpus in datasets.CORPORA.items():
        for place, layout in enumerate(corpus.sources):
            folder = tmp_path / f"{name}.{place}"
            path = folder / layout
            path.parent.mkdir(parents=True)
            path.write_text(source if corpus.metric != "errant" else block)
            if corpus.references:
                with pytest.raises(InputError, match=r"get it: github.com"):
                    datasets.find_test_sets(name, folder)
            for i in range(2 if corpus.references else 0):
                (folder / corpus.references[place].format(i=i)).write_text(reference)
            (test,) = datasets.find_test_sets(name, folder)
            assert (test.name, test.metric, len(test.references)) == (name, corpus.metric, 2 * bool(corpus.references))
    for name, members in datasets.GROUPS.items():
        assert set(members) <= set(datasets.CORPORA), name


def test_absent_sets_say_where_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no .*ABCN.dev.gold.bea19.m2; get it: .*bea2019st"):
        datasets.find_test_sets("bea-dev", tmp_path)


def test_hub_layout(tmp_path: Path) -> None:
    """A local folder in the layout of jhu-clsp/jfleg, through the same library call."""
    pytest.importorskip("datasets")
    rows = [
        {"sentence": "He go home . ", "corrections": ["He goes home . ", "He went home . "]},
        {"sentence": "Fine . ", "corrections": ["Fine . ", "Fine . "]},
    ]
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "validation.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    test = datasets.find_test_sets(f"hf:{folder}", None)[0]
    assert test.lines == ["He go home .", "Fine ."]
    assert test.references == [["He goes home .", "Fine ."], ["He went home .", "Fine ."]]
    with pytest.raises(InputError, match="does not load"):
        datasets.find_test_sets(f"hf:{folder}:absent", None)


def test_draws_are_seeded() -> None:
    taken = gleu.draw_references(5, 4)
    generator = random.Random(101)
    assert taken.shape == (500, 5) and taken[1].tolist() == [generator.randint(0, 3) for _ in range(5)]
