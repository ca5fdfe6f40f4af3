"""Rules for certain errors: what they find, what they leave alone, and that they never overrule a sure model."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edit_gec import Corrector
from edit_gec.editing.certain import RULES, find_certain
from edit_gec.editing.spelling import MIN_DOUBT, Proposed, tag_certain_errors
from edit_gec.modeling.tagset import DELETE, INSERT, KEEP, REPLACE


def propose(text: str) -> str:
    """The text with the first proposal of each rule made."""
    for match in reversed(find_certain(text)):
        text = text[: match.start] + match.texts[0] + text[match.end :]
    return text


PROPOSED = {
    "and then i left, as i've said": "and then I left, as I've said",
    "they meet on mondays in the french café": "they meet on Mondays in the French café",
    "it doesnt work, thats all": "it doesn't work, that's all",
    "we cant come": "we can't come",
    "it must of been late": "it must have been late",
    "colder then before": "colder than before",
    "it is to heavy": "it is too heavy",
    "you will loose it": "you will lose it",
    "thanks alot": "thanks a lot",
    "some one has every thing now a days": "someone has everything nowadays",
    "a umbrella, an university, a honest man": "an umbrella, a university, an honest man",
    "she could went": "she could go",
    "Does she likes it": "Does she like it",
    "prices have rose so much": "prices have risen so much",
    "she has already drew it": "she has already drawn it",
    "Did they went": "Did they go",
    "Do he live here": "Does he live here",
    "what do she want": "what does she want",
    "one of my friend lives in Spain": "one of my friends lives in Spain",
    "he didn't came": "he didn't come",
    "we had ate": "we had eaten",
    "because he live there": "because he lives there",
    "they was here and we has nothing": "they were here and we have nothing",
    "This are it, since it are late, and say you is": "This is it, since it is late, and say you are",
    "There are a way": "There is a way",
    "she enjoys to sing": "she enjoys singing",
    "we discussed about it": "we discussed it",
    "it depends of him": "it depends on him",
    "a more cheaper one": "a cheaper one",
    "some advices": "some advice",
    "The affect is small, and who's fault is it?": "The effect is small, and whose fault is it?",
    "we met in may, and neither you or I knew": "we met in May, and neither you nor I knew",
    "Yesterday I have went home": "Yesterday I went home",
    "Last week, my sister has bought a car": "Last week, my sister bought a car",
    "My best friend she lives here": "My best friend lives here",
    "if I would have more time": "if I had more time",
    "What means this word?": "What does this word mean?",
    "the childrens play": "the children play",
    "four child and six box.": "four children and six boxes.",
    "the most oldest, more old than me": "the oldest, older than me",
    "since six years": "for six years",
    "When you are coming?": "When are you coming?",
    "What time she comes?": "What time does she come?",
    "Everyone have it, but every room in the house are cold": "Everyone has it, but every room in the house is cold",
    "young people is busy": "young people are busy",
    "I want to by a car, don't loose it": "I want to buy a car, don't lose it",
    "She is doctor, and he became engineer.": "She is a doctor, and he became an engineer.",
    "without know it, thank you for give me this": "without knowing it, thank you for giving me this",
    "you can seeing it, it is for to play": "you can see it, it is to play",
    "I am agree, most of people swim everyday.": "I agree, most people swim every day.",
    "in Internet, in Monday, on July, despite of it": "on Internet, on Monday, in July, despite it",
    "In the other hand, from my opinion": "On the other hand, in my opinion",
    "in my point of view": "from my point of view",
    "In spite the rain we went to home": "In spite of the rain we went home",
    "according my boss, afraid from dogs": "according to my boss, afraid of dogs",
    "various reason, every cities, others places": "various reasons, every city, other places",
    "one of the most famous city in it": "one of the most famous cities in it",
    "the worse film I have ever seen": "the worst film I have ever seen",
}


@pytest.mark.parametrize(("text", "right"), PROPOSED.items())
def test_what_rules_propose(text: str, right: str) -> None:
    assert propose(text) == right and propose(right) == right


@pytest.mark.parametrize(
    "text",
    [
        "There are a few of us, and there are a great many of it.",
        "Parts of it are late, and a healthier you is easy.",
        "the letter i, i.e. what i is in let i be one",
        "It's its own worst enemy; your right hand; the effect of cant.",
        "You could, of course, have gone. First this, then that.",
        "an hour, a European, a one-off, an unimportant MP, a unit",
        "Let him go. I saw her leave. They insisted that she come.",
        "He made it, she had to go, we used to have it.",
        "Both week and month; two week holidays; these five star hotels.",
        "Do you know where you are going?",
        "most of all, more than old friends",
        "What we tell you is true; tables for people is an exception.",
        "referred to by the name, a kind of know how, two-bedroom flats",
        "a URL, a url, an npm package, an advice column, THIS IS IM AND DONT",
        "everyday life, in Internet Explorer, in the internet age, on July 4, on January second",
        "made up my mind to buy it, finished work, it depends of course on you",
        "let everybody know, make someone like it",
        "every one of us, some times of day, no one, any one reason, within",
        "the worse for wear, another people, a teacher of law",
        "What means exist? In what way may it help? Neither of us or you; the mens rea.",
        "My friend he met has left. If I would have known! Yesterday I have to forget. Who's job hunting?",
    ],
)
def test_what_rules_leave_alone(text: str) -> None:
    assert find_certain(text) == []


CORRECT = """\
My brother and my sister love cake.
His wife and his son go to church every week.
He and she are friends.
My dad and she work together.
The teacher and he speak French.
My mother and my father don't agree.
It is a usable tool.
This is a unanimous vote.
a unidirectional link and a unimodal curve
She plays a ukulele.
Prices were lower then.
Prices were lower then and now.
What happened to you was awful.
The man who helped you has left.
She married at the age of 20.
They were married at the town hall.
He arrived to find the door open.
Can you explain her absence?
He explained them in detail.
I know how much people love him.
There are an estimated 500 species.
There are an additional ten rooms.
There are a further two steps.
There is two-way traffic.
He played in Monday's game.
It is on April Fools' Day.
He had a fork in the other hand.
It has no effect on my opinion.
He came round to my point of view.
They go to shopping malls.
She went to swimming lessons.
It threatens its very existence.
Your late father was kind.
Your welcome letter is here.
It broke due to loose wires.
This will effect change.
She wants to found a company.
They had to fell trees.
He can saw wood.
What you did made a difference.
Yesterday my favourite show was cancelled.
I have family in Spain.
Only humans have language.
He is one of the family.
It was suggested to move it.
What would you suggest to help?
We were interested during the day.
There was no body in the car.
It is a green house.
When I have time can we meet?
Do he and she know each other?
Where do he and his brother live?
Do he, Tom and Ann have to go?
I asked if she would have a look at my essay.
They wanted to know if we would have the money by Friday.
If you would have a seat, the doctor will be with you shortly.
The horse he had tore up the lawn.
The problems we have arose over the years.
You can have rose or white.
We had rose with the fish and white with the cheese.
One of the party had fallen ill.
Other than my wife he has no family.
My cousin he works with is ill.
My wife he has never met.
My brother she loves most.
I asked both, but neither knows or cares.
Neither saw or heard anything.
Neither apologised or resigned.
The Childrens Act was passed.
In mens sana in corpore sano we trust.
The affect of the patient was flat."""


@pytest.mark.parametrize("text", CORRECT.splitlines())
def test_rules_know_correct_english(text: str) -> None:
    """Sentences that look like errors: compound subjects, nouns after "your" and "its", two senses of a word."""
    assert find_certain(text) == []


def test_every_match_has_a_word_of_its_rule() -> None:
    """Rules are only tried on sentences that have one of their words."""
    lists = (Path(__file__).parents[1] / "robustness").glob("*.jsonl")
    texts = [json.loads(line)["text"] for each in lists for line in each.read_text("utf-8").splitlines()]
    matched = 0
    for text, rule in itertools.product([*texts, *PROPOSED], RULES):
        if rule.words and re.search(rule.pattern, text):
            matched += 1
            assert not rule.words.isdisjoint(re.findall("[a-z]+", text.lower())), (rule.pattern, text)
    assert matched > len(RULES)


@given(st.text("abi 'ntdo.,?A", max_size=40))
def test_matches_are_whole_words_apart(text: str) -> None:
    found = find_certain(text)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    for start, end, texts in found:
        assert text[start:end] not in texts and all(texts)
        assert not (start and text[start - 1].isalnum()) and not text[end : end + 1].isalnum()


@pytest.fixture(scope="module")
def shipped() -> Corrector:
    return Corrector.load(threads=1)


def chances(change: float) -> list[float]:
    return [1 - change, 0.0, change, 0.0]


@pytest.mark.parametrize(("doubt", "fires"), [(0.5, True), (MIN_DOUBT / 2, False)])
def test_a_rule_fires_where_the_model_is_not_sure(shipped: Corrector, doubt: float, fires: bool) -> None:
    pieces = shipped.tokens.encode("We know alot")
    assert shipped.spelling is not None
    words = list(shipped.spelling.find_words(pieces))
    tags: list[int] = [KEEP] * (len(pieces) + 1)
    found = tag_certain_errors(tags, [chances(doubt) for _ in range(len(pieces) + 2)], pieces, [])
    assert found == ([Proposed(words[2].first, words[2].last, ("a lot",))] if fires else [])
    changed = range(words[2].first + 1, words[2].last + 1) if fires else ()
    assert tags == [REPLACE if n in changed else KEEP for n in range(len(tags))]


def test_a_proposal_stands_alone(shipped: Corrector) -> None:
    """What the model would change in one gap with it is kept; a misspelt word is a proposal of its own."""
    pieces = shipped.tokens.encode("So they was there")
    assert shipped.spelling is not None
    so, they, was, there = shipped.spelling.find_words(pieces)
    tags: list[int] = [KEEP, *([DELETE] * len(pieces))]
    proposed = tag_certain_errors(tags, [chances(0.9) for _ in range(len(pieces) + 2)], pieces, [])
    assert [each.texts for each in proposed] == [("were",)]
    assert [n for n, tag in enumerate(tags) if tag != KEEP] == list(range(was.first + 1, was.last + 1))
    tags = [KEEP, *([DELETE] * len(pieces))]
    suspect = [Proposed(there.first, there.last, ("their",), False)]
    both = tag_certain_errors(tags, [chances(0.9) for _ in range(len(pieces) + 2)], pieces, suspect)
    assert both == [*proposed, *suspect] and tags[they.last] == KEEP and tags[there.last] == DELETE
    tags = [KEEP] * (len(pieces) + 1)
    tags[they.last] = INSERT
    tag_certain_errors(tags, [chances(0.9) for _ in range(len(pieces) + 2)], pieces, [])
    assert tags[they.last] == KEEP and so.first == 0


def test_the_shipped_model_takes_what_rules_propose(shipped: Corrector) -> None:
    corrected = [
        each.corrected for each in shipped.correct_batch(["i told them that we was late.", "It was a old one."])
    ]
    assert corrected == ["I told them that we were late.", "It was an old one."]
    assert shipped.correct("Let us say that he was late.").edits == ()
