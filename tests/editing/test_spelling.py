"""Spelling: what is near a word, which words of a sentence are looked up, and what the decoder says of candidates."""

from __future__ import annotations

import copy
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.correctors import edit5_corrector
from support.strategies import brief, nasty

from edit_gec import Corrector
from edit_gec.backends.torch_network import TorchMemory, TorchNetwork
from edit_gec.editing import lexicon
from edit_gec.editing.confidence import EvidenceKind
from edit_gec.editing.decode import predict
from edit_gec.editing.insertion import (
    MAX_INSERTION,
    InsertionDecoder,
    Slot,
    decode_insertions,
    open_slots,
    score_candidates,
)
from edit_gec.editing.lexicon import FILE, WordList, cased
from edit_gec.editing.plan import Plan, realize
from edit_gec.editing.spelling import MIN_DOUBT, write_candidates
from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import ModelError
from edit_gec.lab.training.build_lexicon import dictionary, learn, regular_forms, write
from edit_gec.lab.training.synthetic.inflections import Lexicon
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.tagset import KEEP, REPLACE
from edit_gec.modeling.tokenizer import EOS, Tokens
from edit_gec.text.edits import apply, apply_changes

needs_inflections = pytest.mark.skipif(find_spec("lemminflect") is None, reason="its tables come with the extra train")

WORDS = "the of a I garden because school Paris small become cause house houses café lot don't walk walked with".split()


@pytest.fixture(scope="module")
def few() -> WordList:
    return WordList(WORDS)


def texts_of(candidates: list[lexicon.Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


# --- what is near ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("becuase", "because"), ("Becuase", "Because"), ("shcool", "school"), ("paris", "Paris"), ("huose", "house"),
        ("dont", "don't"), ("don’tt", "don't"), ("alot", "a lot"), ("cafe", "café"), ("wih", "with"),
    ],
)  # fmt: skip
def test_the_likeliest_word(few: WordList, word: str, first: str) -> None:
    assert texts_of(few.candidates(word))[0] == first


def test_what_costs_much_more_than_another_is_no_candidate() -> None:
    words = WordList(["house", "mouse", "horse"])
    assert texts_of(words.candidates("hoouse")) == ["house", "horse"]  # two letters are not "mouse", the first is one


def test_what_is_far_is_no_candidate(few: WordList) -> None:
    assert few.candidates("zebra") == [] and few.candidates("x") == []
    assert "garden" not in texts_of(few.candidates("gardeninger"))


@brief
@given(word=st.sampled_from(WORDS).filter(lambda word: word.isascii() and len(word) > 5), data=st.data())
def test_a_slip_of_one_letter_is_found(few: WordList, word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(word) - 1))
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz"))
    for slip in (word[:at] + word[at + 1 :], word[:at] + letter + word[at:], word[:at] + letter + word[at + 1 :]):
        assert word in texts_of(few.candidates(slip))
    costs = [candidate.cost for candidate in few.candidates(slip)]
    assert costs == sorted(costs)


def test_known_words(few: WordList) -> None:
    assert all(map(few.knows, ["House", "HOUSE", "house's", "don’t", "paris", "CAFÉ"]))
    assert not any(map(few.knows, ["hous", "houses'x", ""]))


def test_case_follows_the_word_and_names_keep_theirs() -> None:
    assert (cased("house", "Huose"), cased("Paris", "paris"), cased("house", "huose")) == ("House", "Paris", "house")


# --- which words are looked up ---------------------------------------------------------------------------------------


def test_words_of_a_sentence(few: WordList, tokens: Tokens) -> None:
    text = "The huose, teh (scool) is NASA a/b x_y gardn"
    pieces = tokens.encode(text)
    found = list(few.find_words(pieces, unknown=True))
    assert [word.text for word in found] == ["huose", "teh", "is", "gardn"]
    for word in found:
        assert pieces.text(word.first, word.last)[1:] == word.text


@brief
@given(text=nasty)
def test_words_are_whole_pieces_of_any_text(few: WordList, tokens: Tokens, text: str) -> None:
    pieces = tokens.encode(text)
    for window in (pieces, pieces.window(1, len(pieces)), pieces.window(0, len(pieces) // 2)):
        for word in few.find_words(window):
            assert window.text(word.first, word.last)[1:] == word.text


def test_a_gap_is_misspelt_words_and_nothing_else(few: WordList, tokens: Tokens) -> None:
    pieces = tokens.encode("a huose with gardn, a small house")
    huose, with_, gardn = [word for word in few.find_words(pieces) if word.text in ("huose", "with", "gardn")]
    assert [texts_of(each)[0] for each in few.gap_candidates(pieces, huose.first, gardn.last)] == [
        "house",
        "with",
        "garden",
    ]
    assert few.gap_candidates(pieces, with_.first, with_.last) == []  # known
    assert few.gap_candidates(pieces, huose.first, huose.last - 1) == []  # a part
    assert few.gap_candidates(pieces, gardn.first, gardn.last + 1) == []  # a comma, too
    assert few.gap_candidates(pieces, 0, len(pieces)) == []


def test_foreign_sentences(few: WordList, tokens: Tokens) -> None:
    for text in ("La casa del garden", "xx yy, zz qq: ww", "Привет", "明日は早い。"):
        assert few.is_foreign(text)
    for text in ("The huose of the gardn", "I wlk to shcool with", "huose", "xx yy, zz", "", "12 34 56 78 90"):
        assert not few.is_foreign(text), "English, with errors, or too little to say"


def test_foreign_sentences_are_left_alone(model: EdiT5, tokens: Tokens, few: WordList) -> None:
    text, options = "La casa del gardn zz ww", Thresholds(keep_bias=-20)
    for known, works in ((None, True), (few, False)):
        (prediction,) = predict(TorchNetwork(model), tokens, [tokens.encode(text)], options, lexicon=known)
        assert (prediction.steps > 0) == works


# --- what the decoder says -------------------------------------------------------------------------------------------


@pytest.fixture
def batch(model: EdiT5, tokens: Tokens) -> tuple[InsertionDecoder, list[Slot]]:
    """The decoder over two sentences in which the second word is to be replaced, and their slots."""
    sentences = [tokens.encode(text) for text in ("The huose is small.", "My gardn.")]
    tags = [[KEEP] * (len(s) + 1) for s in sentences]
    for of_sentence in tags:
        of_sentence[2] = REPLACE
    orders = [[n for n, tag in enumerate(t) if tag == KEEP] for t in tags]
    ranks = [[*Plan(len(t), tuple(order)).ranks(), len(order)] for t, order in zip(tags, orders, strict=True)]
    slots = [slot for n in range(2) for slot in open_slots(tags[n], orders[n], n)]
    network = TorchNetwork(model)
    source = network.encode([tokens.wrap(s.ids) for s in sentences])
    memory = network.remember(source, [0, 1], [[*t, KEEP] for t in tags], ranks)
    return InsertionDecoder(memory, tokens), slots


@torch.inference_mode()
def test_hearing_is_what_writing_says(model: EdiT5, tokens: Tokens, batch: tuple[InsertionDecoder, list[Slot]]) -> None:
    decoder, slots = batch
    ended: list[Slot] = []
    for factor in (1, 3, -3):  # with one of them </s> comes soon
        sooner = copy.deepcopy(model)
        sooner.embedding.weight[EOS] *= factor
        written = [replace(slot, pieces=[]) for slot in slots]
        memory = decoder.memory
        assert isinstance(memory, TorchMemory)
        ending = InsertionDecoder(TorchMemory(TorchNetwork(sooner), memory.states, memory.mask), tokens)
        decode_insertions(ending, written)
        ended = [slot for slot in written if len(slot.pieces) < MAX_INSERTION]
        heard = score_candidates(ending, [(slot, slot.pieces) for slot in ended]) if ended else np.empty(0)
        assert heard.tolist() == pytest.approx([slot.log_probability for slot in ended], abs=1e-3)
    assert ended


@torch.inference_mode()
def test_candidates_that_begin_alike_are_heard_as_alone(
    model: EdiT5, tokens: Tokens, batch: tuple[InsertionDecoder, list[Slot]]
) -> None:
    decoder, slots = batch
    texts = ["house", "houses", "house", "hou", "", "garden house", "🏠"]
    rows = [(slot, tokens.ids(text)) for slot in slots for text in texts]
    alone = [float(score_candidates(decoder, [row])[0]) for row in rows]
    assert score_candidates(decoder, rows).tolist() == pytest.approx(alone, abs=1e-3)
    assert len(set(alone)) > len(texts)


@torch.inference_mode()
def test_the_best_of_cost_and_hearing_is_written(
    model: EdiT5,
    tokens: Tokens,
    few: WordList,
    batch: tuple[InsertionDecoder, list[Slot]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoder, (slot, other) = batch
    gap = [few.candidates("huose"), few.candidates("gardn")]
    write_candidates(decoder, [(slot, gap), (other, gap[1:])])
    assert tokens.decode(slot.pieces).strip() == "house garden" and slot.kind == EvidenceKind.SPELLING and slot.finished
    assert tokens.decode(other.pieces).strip() == "garden" and -20 < other.log_probability < 0
    monkeypatch.setattr("edit_gec.editing.spelling.DECODER_WEIGHT", 1e6)  # now only the decoder counts
    again = Slot(slot.sentence, slot.index, slot.after_piece, slot.anchor)
    write_candidates(decoder, [(again, gap[:1])])
    heard = score_candidates(decoder, [(again, tokens.ids(each.text)) for each in gap[0]])
    assert tokens.decode(again.pieces).strip() == gap[0][int(heard.argmax())].text


# --- the whole path --------------------------------------------------------------------------------------------------


class Words(WordList):
    """Knows nothing, and everything may stand for "house" or "garden"."""

    def knows(self, word: str) -> bool:
        return False

    def _candidates(self, word: str) -> list[lexicon.Candidate]:
        return [lexicon.Candidate(1.0, "house"), lexicon.Candidate(2.0, "small garden")]


@brief
@given(texts=st.lists(nasty.filter(bool), min_size=1, max_size=3))
def test_respelt_plans_are_plans(model: EdiT5, tokens: Tokens, texts: list[str]) -> None:
    pieces = [tokens.encode(text).window(0, model.config.max_pieces) for text in texts]
    for source, prediction in zip(
        pieces, predict(TorchNetwork(model), tokens, pieces, Thresholds(), lexicon=Words(WORDS)), strict=True
    ):
        text = apply_changes(source.source, prediction.changes(source, tokens))
        if len(source) and (source.starts[0], source.ends[-1]) == (0, len(source.source)):
            assert text == realize(prediction.plan, source, tokens)


def test_words_that_are_doubted_are_respelt(model: EdiT5, tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edit_gec.editing.spelling.MIN_DOUBT", -1.0)
    monkeypatch.setattr(lexicon, "FOREIGN", 9)
    corrector = edit5_corrector(TorchNetwork(model), tokens, Thresholds(keep_bias=8), spelling=Words(WORDS))
    found = corrector.correct("xx, yy.")
    assert found.corrected in ("house, house.", "small garden, house.", "house, small garden.")
    assert found.corrected == apply(found.text, found.edits)
    monkeypatch.setattr("edit_gec.editing.spelling.MIN_DOUBT", 2.0)
    assert corrector.correct("xx, yy.").edits == ()
    assert 0 < MIN_DOUBT < 1


def test_lists_of_model_folders(tmp_path: Path) -> None:
    assert WordList.load(tmp_path) is None
    (tmp_path / FILE).write_text("house\ngarden\n\nhice house\n", encoding="utf-8")
    loaded = WordList.load(tmp_path)
    assert loaded is not None and texts_of(loaded.candidates("huose")) == ["house"]
    assert texts_of(loaded.candidates("Hice"))[0] == "House" and not loaded.knows("hice")
    (tmp_path / FILE).write_text("house\n\nhice\n", encoding="utf-8")
    with pytest.raises(ModelError, match="wrong and a right form"):
        WordList.load(tmp_path)
    (tmp_path / FILE).write_bytes(b"")
    with pytest.raises(ModelError, match="the file is empty; expected a word in each line"):
        WordList.load(tmp_path)
    (tmp_path / FILE).write_bytes(b"caf\xe9\n")
    with pytest.raises(ModelError, match="UTF-8"):
        WordList.load(tmp_path)


def test_the_shipped_model_spells() -> None:
    """What else it changes in these sentences is not spelling: the model card has its scores."""
    corrector = Corrector.load()
    for text, misspelt, right in (
        ("I will see you tommorow at scool.", "tommorow scool", "tomorrow school"),
        ("It is importatnt to recieve the mesage.", "importatnt recieve mesage", "important receive message"),
    ):
        words = corrector.correct(text).corrected.strip(".").split()
        assert {*right.split()} <= {*words} and not {*misspelt.split()} & {*words}


@pytest.mark.parametrize(
    ("text", "accept"),
    [
        ("We need teh teh book.", "We need the book."),
        ("I have a pronlem pronlem with it.", "I have a problem with it."),
        ("She definately definately likes it.", "She definitely likes it."),
        ("He dont dont know.", "He doesn't know."),
        ("It is wich wich one.", "It is which one."),
    ],
)
def test_a_misspelt_word_that_stands_twice(text: str, accept: str) -> None:
    """What is wrong when it stands once is found when it stands twice, too, and all of it in one run."""
    corrector = Corrector.load()
    for lines in (False, True):
        assert corrector.correct(text, lines=lines).corrected == accept


# --- where a list comes from -----------------------------------------------------------------------------------------


def test_a_list_is_learnt_from_text() -> None:
    lines = ["The garden of Paris, the house. I don't walk."] * 300 + ["dont teh Paris’s the"] * 4 + ["rare"]
    words = learn(lines, dictionary=["rare", "walks", "Rome", "3rd"], misspellings=["teh", "rare"])
    assert words[0] == "the"
    assert set(words) == {
        "the",
        "garden",
        "of",
        "Paris",
        "Paris's",
        "house",
        "I",
        "don't",
        "walk",
        "rare",
        "walks",
        "Rome",
    }
    assert words[-2:] == ["Rome", "walks"]


@needs_inflections
def test_words_of_other_dictionaries_are_known(tmp_path: Path) -> None:
    for folder in ("prose", "words"):
        (tmp_path / folder).mkdir()
    (tmp_path / "prose" / "text.txt").write_text("The garden is old.\n" * 3, encoding="utf-8")
    (tmp_path / "words" / "rare.txt").write_text("tramway\ntramway's\nZürich\nthe\n", encoding="utf-8")
    output = tmp_path / "words.txt"
    assert write(tmp_path, output) > 60_000, "the inflection tables are in it, too"
    words = output.read_text(encoding="utf-8").split("\n")
    assert {"tramway", "Zürich", "garden", "geese"} <= set(words) and "tramway's" not in words
    assert [word.casefold() for word in words].count("the") == 1 and words.index("garden") < words.index("tramway")


@needs_inflections
def test_words_that_no_dictionary_has() -> None:
    """Regular plurals beside foreign ones, and verbs of known nouns."""
    words = set(dictionary())
    assert {"lemmas", "lemmata", "schemas", "auras"} <= words and not {"datas", "Maltas", "criterias"} & words
    verbs = ["tokenize", "tokenized", "tokenizes", "tokenizing"]
    assert learn([], ["tokenization"]) == ["tokenization", *verbs]
    assert learn(["tokenization"] * 3) == ["tokenization", *verbs]
    assert learn(["tokenization"] * 2) == [], "written too rarely"


@needs_inflections
def test_regular_forms_of_irregular_words() -> None:
    forms = set(regular_forms(Lexicon.load(), {"mans", "hitted"}))
    assert {("goed", "went"), ("goed", "gone"), ("eated", "ate"), ("childs", "children"), ("putted", "put")} <= forms
    assert not {wrong for wrong, _ in forms} & {"mans", "hitted", "walked", "houses", "tried", "baked", "stopped"}
