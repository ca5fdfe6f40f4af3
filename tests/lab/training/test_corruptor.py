"""Corruption: deterministic, protected text untouched, every rule makes the error that its docstring promises."""

from __future__ import annotations

import doctest
import importlib
import json
import lzma
import pickle
import random
import statistics
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_gec.errors import InputError
from edit_gec.lab.training.synthetic import confusions, function_words, misspellings, nouns, surface, verbs
from edit_gec.lab.training.synthetic.corruptor import RULES, Corruptor, error_count
from edit_gec.lab.training.synthetic.inflections import Lexicon
from edit_gec.lab.training.synthetic.misspellings import Misspeller, same_but_for_dialect, usable_lists
from edit_gec.lab.training.synthetic.rule import Rule
from edit_gec.lab.training.synthetic.sentence import Edit, Rewrite

SENTENCES = (
    "My sister has lived in Lisbon since she finished her studies, and she enjoys teaching young children.",
    "When we arrived at the station, the train had already left without us.",
    "I don't know what they are doing, but it's probably better than waiting here.",
    "There are too many books on these shelves, so you should give some of them away.",
    "The quickest way to reach my uncle's house is by bus; it takes about ten minutes.",
    "Although the weather was terrible, everyone wanted to go for a walk along the river.",
    "“Why are you so interested in old maps?” asked the teacher.",
    "She always listens to music while she is doing her homework.",
)


@pytest.fixture(scope="module")
def corruptor() -> Corruptor:
    return Corruptor({"receive": ["recieve"], "because": ["becouse", "becuase"]})


def outcomes(rule: Rule, sentence: str, draws: int = 150) -> set[str]:
    """Every sentence that the rule makes of this one in so many draws."""
    found = set()
    for seed in range(draws):
        rewrite = Rewrite(sentence)
        edit = rule(rewrite, Lexicon.load(), random.Random(seed))
        if edit is not None and rewrite.apply(edit):
            found.add(str(rewrite))
    return found


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_a_sentence_taken_apart_and_put_together_is_itself(text: str) -> None:
    made = str(Rewrite(text))
    assert text.startswith(made) and not text[len(made) :].strip()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SENTENCES), st.integers(0, 10**9), st.sampled_from((0.5, 1.0, 2.0)))
def test_same_seed_same_errors(corruptor: Corruptor, sentence: str, seed: int, rate: float) -> None:
    once = corruptor.corrupt(sentence, random.Random(seed), rate)
    assert once == corruptor.corrupt(sentence, random.Random(seed), rate)
    assert once == pickle.loads(pickle.dumps(corruptor)).corrupt(sentence, random.Random(seed), rate)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=50), st.integers(0, 10**6))
def test_any_text_survives(corruptor: Corruptor, text: str, seed: int) -> None:
    assert isinstance(corruptor.corrupt(text, random.Random(seed), 3.0), str)


@pytest.mark.parametrize(
    "word", ["https://example.org/a_b", "foo_bar()", "1,234.50", "user@example.org", "GmbH", "NATO", "3D", "C++", "a/b"]
)
def test_protected_words_are_never_touched(corruptor: Corruptor, word: str) -> None:
    sentence = f"She has sent {word} to the old teachers, but they never use it."
    for seed in range(150):
        assert word in corruptor.corrupt(sentence, random.Random(seed), 3.0), seed


def test_odd_words_are_no_errors(corruptor: Corruptor) -> None:
    """Another verb or noun of the same form, in few places; the rest of the sentence is what it was."""
    said = {corruptor.reword("She told me about her last trip.", random.Random(seed)) for seed in range(60)}
    assert len(said) > 2 and "She told me about her last travel." in said
    for sentence in SENTENCES:
        for seed in range(20):
            new = corruptor.reword(sentence, random.Random(seed))
            assert new == corruptor.reword(sentence, random.Random(seed))
            assert sum(word not in sentence for word in new.split()) <= 4
            assert (new[0], new[-1]) == (sentence[0], sentence[-1])


def test_rate_moves_the_number_of_errors(corruptor: Corruptor) -> None:
    def changed(rate: float) -> float:
        wrong = [corruptor.corrupt(s, random.Random(seed), rate) != s for s in SENTENCES for seed in range(150)]
        return statistics.mean(wrong)

    assert changed(0.0) == 0.0
    assert 0.36 < changed(0.5) < 0.50
    assert 0.83 < changed(1.0) < 0.93


def test_double_rate_doubles_the_errors() -> None:
    def mean(rate: float) -> float:
        return statistics.mean(error_count(15, rate, random.Random(seed)) for seed in range(4000))

    assert 2.0 < mean(1.0) < 2.8
    assert 1.6 < mean(2.0) / mean(1.0) <= 2.0  # a little is lost to the cap
    assert 0.45 < mean(0.5) / mean(1.0) < 0.55


RULE_TABLE = [
    (function_words.drop_determiner, "I saw a dog.", "I saw dog."),
    (function_words.drop_determiner, "The dog barked.", "Dog barked."),
    (function_words.insert_determiner, "I like music.", "I like the music."),
    (function_words.a_or_an, "An apple fell.", "A apple fell."),
    (function_words.replace_article, "A dog barked.", "The dog barked."),
    (function_words.replace_article, "The sun rose.", "A sun rose."),
    (function_words.replace_determiner, "These books fell.", "This books fell."),
    (function_words.replace_preposition, "It depends on her.", "It depends of her."),
    (function_words.drop_preposition, "We listen to music.", "We listen music."),
    (function_words.insert_preposition, "We discussed the plan.", "We discussed about the plan."),
    (function_words.insert_preposition, "They went home.", "They went to home."),
    (function_words.replace_pronoun, "the man who called", "the man which called"),
    (function_words.drop_pronoun, "I think it is late.", "I think is late."),
    (function_words.insert_pronoun, "My brother is tall.", "My brother he is tall."),
    (function_words.insert_conjunction, "Although it rained, we went.", "Although it rained, but we went."),
    (verbs.verb_form, "I want to go.", "I want to going."),
    (verbs.verb_form, "He didn't go.", "He didn't went."),
    (verbs.verb_form, "He can sing.", "He can sings."),
    (verbs.verb_form, "She enjoys reading.", "She enjoys to read."),
    (verbs.verb_tense, "I went there yesterday.", "I go there yesterday."),
    (verbs.agreement, "She goes there.", "She go there."),
    (verbs.agreement, "They are here.", "They is here."),
    (verbs.drop_verb, "She is happy.", "She happy."),
    (verbs.insert_verb, "I agree with you.", "I am agree with you."),
    (verbs.wrong_verb, "She said me that.", "She told me that."),
    (nouns.noun_number, "I have two cats.", "I have two cat."),
    (nouns.noun_number, "We need information.", "We need informations."),
    (nouns.noun_inflection, "The children sang.", "The childs sang."),
    (nouns.possessive, "My friend's house", "My friends house"),
    (nouns.comparison, "It is easier now.", "It is more easier now."),
    (nouns.adverb_or_adjective, "She sings beautifully.", "She sings beautiful."),
    (nouns.word_class, "It made a difference.", "It made a different."),
    (surface.drop_comma, "After lunch, we left.", "After lunch we left."),
    (surface.final_mark, "Are you here?", "Are you here."),
    (surface.run_on, "It rained. We left.", "It rained, we left."),
    (surface.run_on, "It rained. I left.", "It rained, I left."),
    (surface.replace_mark, "It rained, but we left.", "It rained. But we left."),
    (surface.apostrophe, "I don’t know.", "I dont know."),
    (surface.case, "I met Anna.", "I met anna."),
    (surface.join_or_split, "He reads a lot.", "He reads alot."),
    (surface.confused_word, "It is bigger than mine.", "It is bigger then mine."),
    (surface.word_order, "What are you doing?", "What you are doing?"),
]


@pytest.mark.parametrize(("rule", "clean", "wrong"), RULE_TABLE, ids=lambda v: getattr(v, "__name__", v))
def test_each_rule_makes_its_error(rule: Rule, clean: str, wrong: str) -> None:
    made = outcomes(rule, clean)
    assert wrong in made
    assert clean not in made


TEXTBOOK = [  # what everybody tries first
    ("We saw an elephant.", "a elephant"),
    ("He goes home.", "He go home"),
    ("It is better now.", "more better"),
    ("I don't know.", "dont"),
    ("They can't come.", "cant"),
    ("I'm here.", "Im"),
    ("I've seen it.", "Ive"),
    ("It's late now.", "Its late"),
    ("That's all.", "Thats"),
    ("He eats a lot.", "alot"),
    ("You could have told me.", "could of"),
    ("You should have told me.", "should of"),
    ("We discussed the plan.", "discussed about"),
    ("I enjoy swimming.", "enjoy to swim"),
    ("She gave me some advice.", "advices"),
    ("We need more information.", "informations"),
    ("I have seen it.", "have saw"),
    ("It is too expensive.", "to expensive"),
    ("Then I left.", "Then i left"),
    ("He didn't go.", "didn't went"),
    ("You must go now.", "must to go"),
    ("She can go.", "can goes"),
    ("I want to go home.", "to went"),
    ("It depends on her.", "depends of"),
    ("We met on Monday.", "monday"),
    ("We met in April.", "april"),
    ("She likes German bread.", "german"),
]


@pytest.mark.parametrize(("clean", "slip"), TEXTBOOK, ids=[slip for _, slip in TEXTBOOK])
def test_slips_of_every_textbook_occur(corruptor: Corruptor, clean: str, slip: str) -> None:
    assert any(slip in corruptor.corrupt(clean, random.Random(seed)) for seed in range(6000))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SENTENCES), st.integers(0, 10**9))
def test_commas_stay_where_they_are_no_model(corruptor: Corruptor, sentence: str, seed: int) -> None:
    wrong = corruptor.corrupt(sentence, random.Random(seed), 3.0, punctuation=False)
    assert wrong.count(",") == sentence.count(",")


@pytest.mark.parametrize("rule", [rule for rule, _, _ in RULES], ids=lambda r: r.__name__)
def test_no_rule_counts_an_unchanged_sentence(rule: Rule) -> None:
    assert not set(SENTENCES) & {out for s in SENTENCES for out in outcomes(rule, s, 60)}


def test_capitals_and_typographic_apostrophes_are_kept() -> None:
    assert outcomes(verbs.agreement, "Doesn’t he know?") <= {"Don’t he know?", "Didn’t he know?", "Doesn’t he knows?"}
    rewrite = Rewrite("Then we left.")
    assert rewrite.apply(Edit(0, 1, "than"))
    assert str(rewrite) == "Than we left."


def test_misspellings_are_no_words_and_no_dialect() -> None:
    lists = usable_lists({"colour": ["color", "coluor"], "form": ["from", "fomr"]}, confusions.FUNCTION_WORDS)
    assert lists == {"colour": ("coluor",), "form": ("fomr",)}
    speller = Misspeller({}, Lexicon.load())
    made = {speller.misspell("organise", random.Random(seed)) for seed in range(2000)}
    assert len(made) > 30
    assert not {"organize", "organise"} & made
    assert not [word for word in made if word in Lexicon.load()]


@pytest.mark.parametrize(
    ("one", "other", "same"), [("colour", "color", True), ("travelled", "traveled", True), ("really", "realy", False)]
)
def test_dialect(one: str, other: str, same: bool) -> None:
    assert same_but_for_dialect(one, other) is same


def test_lists_are_read(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "misspell_main.json.xz", "wt") as file:
        json.dump({"receive": ["recieve"]}, file)
    with lzma.open(tmp_path / "typos_words.csv.xz", "wt") as file:
        file.write("reciev,receive\nteh,the\n")
    with lzma.open(tmp_path / "varcon.txt.xz", "wt") as file:
        file.write("# colour (level 10)\nA: color / B: colour\n")
    (tmp_path / "wikipedia_list.txt").write_text("becuase->because\n")
    assert misspellings.read_lists(tmp_path)["receive"] == ["recieve"] * 4 + ["reciev"]
    assert misspellings.read_variants(tmp_path) == {"color", "colour"}
    made = {
        Corruptor.load(tmp_path).corrupt("You receive it because of them.", random.Random(seed), 2.0)
        for seed in range(400)
    }
    assert any("recieve" in out for out in made)


def test_a_folder_without_the_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no misspell_main.json.xz in it"):
        Corruptor.load(tmp_path)


SYNTHETIC = ("corruptor", "sentence", "inflections", "misspellings", "commas")


@pytest.mark.parametrize("module", [*SYNTHETIC, "function_words", "verbs", "nouns", "surface"])
def test_examples_in_the_docstrings_hold(module: str) -> None:
    outcome = doctest.testmod(importlib.import_module(f"edit_gec.lab.training.synthetic.{module}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
