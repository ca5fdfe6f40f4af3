"""What the word list says about an edit: listed misspellings, names, and how everyday a sentence is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from support.strategies import nasty

from edit_gec.editing.confidence import RELIABLE, Evidence, EvidenceKind, Scale
from edit_gec.editing.lexicon import DEARER, Candidate, WordList
from edit_gec.editing.spelling import classify_respelling, has_name
from edit_gec.lab.training.build_lexicon import listed_misspellings
from edit_gec.modeling.tokenizer import Tokens

WORDS = "the a we saw went gone to their there garden because school in Paris it was and house".split()


@pytest.fixture(scope="module")
def listed() -> WordList:
    return WordList([*WORDS, "become", "bemuse"], "\nbecuase because\ngoed gone\ngoed went\n")


def test_a_listed_misspelling_is_likely_and_leaves_others_to_choose(listed: WordList) -> None:
    first, *others = listed.candidates("becuase")
    assert (first.text, first.listed) == ("because", True)
    assert [each.text for each in others] == ["bemuse"]
    assert all(not each.listed and each.cost <= min(o.cost for o in others) + DEARER for each in others)


def test_of_two_right_forms_none_is_sure(listed: WordList) -> None:
    assert {each.text for each in listed.candidates("goed")} >= {"gone", "went"}
    assert not any(each.listed for each in listed.candidates("goed"))


@pytest.mark.parametrize(
    ("chosen", "is_name", "kind"),
    [
        ([Candidate(1.0, "because", listed=True)], False, EvidenceKind.LISTED),
        ([Candidate(1.0, "because", listed=True)], True, EvidenceKind.NAME),
        ([Candidate(1.0, "because")], False, EvidenceKind.SPELLING),
        ([Candidate(1.0, "because", listed=True), Candidate(1.0, "the")], False, EvidenceKind.SPELLING),
    ],
)
def test_the_kind_of_a_respelling(chosen: list[Candidate], is_name: bool, kind: EvidenceKind) -> None:
    assert classify_respelling(chosen, is_name=is_name) == kind


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("We saw Lorvik in the garden.", True),
        ("Lorvik was in the garden.", False),
        ("We saw lorvik in the garden.", False),
        ("In the garden, Lorvik was there.", True),
        ("We saw Paris.", False),
    ],
)
def test_a_capital_inside_a_sentence_makes_a_name(tokens: Tokens, listed: WordList, text: str, is_name: bool) -> None:
    sentence = tokens.encode(text)
    assert has_name(listed, sentence, 0, len(sentence)) == is_name


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("We went to school.", 0.0),
        ("We went to the lyceum.", 1 / 5),
        ("We went to school in 1997.", 1 / 6),
        ('We went (to "school").', 4 / 8),
        ("...", 0.0),
    ],
)
def test_the_share_that_everyday_prose_lacks(tokens: Tokens, listed: WordList, text: str, share: float) -> None:
    assert listed.rare_share(text) == pytest.approx(share)


@given(nasty)
def test_the_share_is_one(tokens: Tokens, text: str) -> None:
    assert 0 <= WordList(WORDS).rare_share(text) <= 1


def test_rare_words_lower_the_confidence_and_reliable_kinds_lean_less_on_the_model() -> None:
    scale = Scale(rare_slope=2.0)
    everyday, technical = (scale.confidence(Evidence(0.6, 0.6, rare=rare)) for rare in (0.0, 0.5))
    assert technical < everyday
    for kind in RELIABLE:
        doubted, sure = (scale.confidence(Evidence(tags, 0.5, kind=kind)) for tags in (0.1, 0.9))
        assert 0 < sure - doubted < scale.confidence(Evidence(0.9, 0.5)) - scale.confidence(Evidence(0.1, 0.5))


def test_listed_misspellings_have_one_right_form_that_is_near() -> None:
    known = {word.casefold(): word for word in ["Sunday", "their", "there", "because", "received"]}
    right_forms = {
        "sundey": ["sunday"], "thier": ["their", "there"], "becuase": ["because"], "there": ["their"],
        "bcs": ["because"], "recieved": ["received"], "wrogn": ["wrong"],
    }  # fmt: skip
    found = dict(listed_misspellings(right_forms, known))
    assert found == {"sundey": "Sunday", "becuase": "because", "recieved": "received"}


def test_the_shipped_list_knows_common_misspellings() -> None:
    words = WordList.load(Path(__file__).parents[2] / "models" / "edit5-mini")
    assert words is not None
    for wrong, right in (("recieve", "receive"), ("seperate", "separate"), ("definately", "definitely")):
        first = words.candidates(wrong)[0]
        assert (first.text, first.listed) == (right, True)
