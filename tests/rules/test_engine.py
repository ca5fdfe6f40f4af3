"""Rows of rules: each proves itself, none loads without a proof; what they find are whole words apart."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec.errors import EditGecError
from edit_gec.rules.engine import Rule, disprove, find_rules, load_rules, read_rule
from edit_gec.text.edits import Change, apply_changes

RULES = load_rules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_proves_itself(rule: Rule) -> None:
    """Wrong sentences become what the row says; what they become and the right ones no rule at all changes."""
    assert list(disprove(rule)) == []


def test_rules_leave_nothing_for_a_second_run() -> None:
    """Also where several wrong sentences stand together."""

    def repair(text: str) -> str:
        return apply_changes(text, [Change(each.start, each.end, each.texts[0], 1.0) for each in find_rules(text)])

    wrong = [sentence.partition(" -> ")[0] for rule in RULES for sentence in rule.wrong]
    together = (
        f"{first.rstrip('.')}. {wrong[(n + step) % len(wrong)]}"
        for n, first in enumerate(wrong)
        for step in range(1, 11)
    )
    again = [(text, once, twice) for text in together if (twice := repair(once := repair(text))) != once]
    assert len(again) < 2, again  # of 2,100; "as soon as I will come. The film begin at eight." takes two


ROW = {
    "name": ["to-two"],
    "when": ["<to> pins"],
    "write": ["two"],
    "wrong": ["to pins -> two pins"],
    "right": ["to"],
}


@pytest.mark.parametrize("kind", ["wrong", "right"])
def test_a_rule_without_proof_does_not_load(kind: str) -> None:
    assert read_rule(ROW).name == "to-two"
    with pytest.raises(EditGecError, match=f"to-two: no sentence under '{kind}'"):
        read_rule({field: values for field, values in ROW.items() if field != kind})


@pytest.mark.parametrize(
    "change", [{"wrong": ["to pins -> too pins"]}, {"wrong": ["to pin -> two pin"]}, {"right": ["we dont know"]}]
)
def test_a_wrong_proof_is_told(change: dict[str, list[str]]) -> None:
    assert list(disprove(read_rule(ROW))) == []
    assert len(list(disprove(read_rule(ROW | change)))) == 1


def test_names_and_replacements() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    (found,) = find_rules("What do she want")
    assert found == (5, 7, ("does",), "do-he", 0, 11)


RIGHT = """\
It's its own worst enemy; your right hand; the effect of cant.
Let him go. I saw her leave. They insisted that she come.
He made it, she had to go, we used to have it.
He and she are friends.
I know how much people love him.
I have no effect on my opinion.
There is two-way traffic.
What happened to you was awful.
I asked if she would have a look at my essay.
They wanted to know if we would have the money by Friday."""


@pytest.mark.parametrize("text", RIGHT.splitlines())
def test_rules_know_correct_english(text: str) -> None:
    assert find_rules(text) == []


def test_every_match_has_a_word_of_its_rule() -> None:
    """Rules are only tried on sentences that have one of their words."""
    lists = (Path(__file__).parents[1] / "robustness").glob("*.jsonl")
    texts = [json.loads(line)["text"] for each in lists for line in each.read_text("utf-8").splitlines()]
    texts += [sentence.partition(" -> ")[0] for rule in RULES for sentence in rule.wrong]
    matched = 0
    for text, rule in itertools.product(texts, RULES):
        if rule.pattern.search(text):
            matched += 1
            assert not rule.words().isdisjoint(re.findall("[a-z]+", text.lower())), (rule.name, text)
    assert matched > len(RULES)


@given(st.text("abi 'ntdo.,?A", max_size=40))
def test_matches_are_whole_words_apart(text: str) -> None:
    found = find_rules(text)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    for start, end, texts, _, first, last in found:
        assert first <= start < end <= last
        assert text[start:end] not in texts and all(texts)
        assert not (start and text[start - 1].isalnum()) and not text[end : end + 1].isalnum()
