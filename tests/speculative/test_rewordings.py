"""What a judge proposes itself: likelier tokens, tried in the source, and only small changes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import law
from support.tiny_causal import save_folder

from edit_gec.backends.torch_language_network import TorchLanguageNetwork
from edit_gec.editing.lexicon import WordList
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.speculative.judge import LanguageJudge
from edit_gec.speculative.language_model import MOST_ROW, LanguageModel, Question
from edit_gec.speculative.rewordings import (
    LEAST_LIKELY,
    LEAST_RATIO,
    MOST_TRIED,
    Rewording,
    RewordingKind,
    change_between,
    choose_apart,
    count_word,
    find_likelier,
    find_rewordings,
    name_rewording,
    write,
)
from edit_gec.text.edits import Change, Provenance, apply_changes

EDIT5 = Path("models/edit5-mini")
WORDS = st.sampled_from(
    "She goes go to school every day because it likes there . , 1984 a \U0001f3e0\U0001f3e0 Ã©".split()
)
TEXTS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = tmp_path_factory.mktemp("judge")
    save_folder(folder)
    return LanguageModel(TorchLanguageNetwork(load_causal(folder)), BytePairs.load(folder))


@pytest.fixture(scope="module")
def words() -> WordList:
    found = WordList.load(EDIT5)
    assert found is not None
    return found


@settings(deadline=None, max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_token_is_as_much_likelier_as_the_model_says(model: LanguageModel, texts: Sequence[str]) -> None:
    """Each ratio is the difference of two log-probabilities, read in a row of its own."""
    for reading in model.read([Question("Fix: ", text) for text in texts]):
        for source, likelihoods in zip(reading.sources, reading.likelihoods, strict=True):
            found = find_likelier(source, likelihoods)
            assert len(found) <= MOST_TRIED and found == sorted(found, reverse=True)
            for ratio, place, token in found:
                known = np.array([[*source.before, *source.ids[:place]]])
                positions, visible = np.arange(known.shape[1])[None], np.tri(known.shape[1], dtype=bool)[None]
                hidden, _ = model.network.read(known, positions, visible)
                stands = source.ids[place]
                likely = model.network.log_probabilities(hidden[[0, 0], -1], np.array([token, stands]))
                assert ratio == pytest.approx(likely[0] - likely[1], abs=1e-3)
                assert ratio > LEAST_RATIO - 1e-3 and likely[0] > LEAST_LIKELY - 1e-3 and token != stands


def reword_all(model: LanguageModel, questions: Sequence[Question], words: WordList) -> list[list[Rewording]]:
    """The rewordings of each source."""
    found: list[list[Rewording]] = [[] for _ in questions]
    for reading in model.read(questions):
        for source, each in zip(reading.sources, find_rewordings(reading, model.tokens, words), strict=True):
            found[source.number] = each
    return found


@settings(deadline=None, max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_rewordings_are_changes_of_their_sources(model: LanguageModel, words: WordList, texts: Sequence[str]) -> None:
    """Each once, at word borders, of a kind."""
    for text, found in zip(texts, reword_all(model, [Question("", text) for text in texts], words), strict=True):
        made = [apply_changes(text, [change]) for change, _ in found]
        assert text not in made and len(set(made)) == len(made)
        for change, kind in found:
            assert change == change_between(text, apply_changes(text, [change]))
            assert kind == name_rewording(text[change.start : change.end], change.replacement, words)


def test_a_token_is_written_for_the_next_one_for_its_word_and_before_it(model: LanguageModel) -> None:
    source = model.encode(0, Question("Fix: ", "She gone there"))
    place = next(n for n in range(len(source.ids)) if count_word(source, n) > 1)
    token = source.ids[place + 2]
    written = [list(ids) for ids in write(source, place, token)]
    ids = list(source.ids)
    assert ids[:place] + ids[place + 2 :] in written  # it deletes what it skips
    assert [*ids[:place], token, *ids[place:]] in written
    assert [*ids[:place], token, *ids[place + 1 :]] in written
    assert [*ids[:place], token, *ids[place + count_word(source, place) :]] in written


@law
@given(TEXTS, TEXTS)
def test_the_change_between_two_texts_makes_one_of_the_other(source: str, text: str) -> None:
    assert apply_changes(source, [change_between(source, text)]) == text


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("go", "goes", "form"), ("was", "were", "form"), ("", "the ", None),
        ("to ", "", None), ("on", "in", "exchanged"), ("this", "these", "form"), ("", ",", None),
        (",", ".", None), ("monday", "Monday", "case"), (". and", ", and", None), ("big", "large", None),
        ("recieve", "receive", None), ("meet", "see", None), ("", "big ", None), ("a very", "the", None),
        ("is", "is", None), ("informations", "information", "form"), ("went to", "goes at", None), ("end", ".", None),
    ],
)  # fmt: skip
def test_kinds_of_small_changes(words: WordList, old: str, new: str, kind: str | None) -> None:
    assert name_rewording(old, new, words) == (kind and RewordingKind(kind))


changes = st.builds(
    lambda start, length, sure, whose: Change(start, start + length, "x", sure, whose),
    st.integers(0, 20), st.integers(0, 4), st.floats(0, 1), st.sampled_from((Provenance.EDIT5, Provenance.JUDGE)),
)  # fmt: skip


@law
@given(st.lists(changes, max_size=8))
def test_no_change_of_the_judge_stands_beside_another(found: list[Change]) -> None:
    chosen = choose_apart(found)
    assert chosen == sorted(chosen)
    for n, one in enumerate(chosen):
        for other in chosen[n + 1 :]:
            if Provenance.JUDGE in (one.provenance, other.provenance):
                assert one.end < other.start
    for change in found:
        if change not in chosen:
            assert any(each.confidence >= change.confidence and change.start <= each.end for each in chosen)
    assert choose_apart([each for each in found if each.provenance != Provenance.JUDGE]) == sorted(
        each for each in found if each.provenance != Provenance.JUDGE
    )


def test_a_model_without_a_token_that_begins_a_text_proposes_too(model: LanguageModel, words: WordList) -> None:
    bare = LanguageModel(model.network, replace(model.tokens, begin=None, end=None))
    texts = ("She go there.", "It was late , because she likes it every day", "They go to school there every day.")
    (reading,) = bare.read([Question("Fix: ", text) for text in texts])
    assert reading.sources[0].before[0] == bare.tokens.encode("Fix: ").ids[0]
    assert any(map(find_likelier, reading.sources, reading.likelihoods))
    (reading,) = bare.read([Question("", texts[1])])  # nothing is before the first token
    (found,) = map(find_likelier, reading.sources, reading.likelihoods)
    assert reading.sources[0].before == () and found and min(each.place for each in found) > 0


def test_nothing_is_proposed_where_the_judge_cannot_read_the_whole(model: LanguageModel, words: WordList) -> None:
    long = "She goes to school every day. " * MOST_ROW
    assert reword_all(model, [Question("Fix: ", text) for text in ("", long)], words) == [[], []]


@pytest.mark.base
def test_what_the_shipped_judge_would_write(words: WordList, smollm2: Path) -> None:
    """Forms, articles, prepositions, marks that learners miss; nothing in what is right."""
    judge = LanguageJudge.load(smollm2, words=words)
    wanted = {
        "She go to school every day.": ("go", "goes"),
        "The results was good.": ("was", "were"),
        "I am interested on music.": ("on", "in"),
        "I look forward to meet you.": ("meet", "meeting"),
        "He gave me many informations about the city.": ("informations", "information"),
        "This is a perfectly fine sentence.": None,
    }
    assert judge.prompt is not None
    questions = [Question(judge.prompt.fill(text), text) for text in wanted]
    for (text, change), found in zip(wanted.items(), reword_all(judge.model, questions, words), strict=True):
        made = [(text[each.start : each.end], each.replacement) for each, _ in found]
        assert made == [] if change is None else change in made
