"""LanguageTool's messages: what is asked, what is answered, text among markup."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import thorough, valid

pytest.importorskip("fastapi")
from edit_gec.errors import InputError
from edit_gec.server import languagetool
from edit_gec.text import annotated, language_id
from edit_gec.text.edits import Edit, apply

GO = Edit(4, 6, "go", "goes", 0.9, type="R:VERB:SVA", message="subject-verb agreement: 'go' -> 'goes'")


def asked(text: str, **fields: str) -> languagetool.CheckRequest:
    return languagetool.parse_request({"text": text, "language": "en-US", **fields})


def spans(text: str, edits: list[Edit], **fields: str) -> list[tuple[int, int, str]]:
    found = languagetool.build_matches(asked(text, **fields), edits, [(0, len(text))])
    return [(m["offset"], m["length"], m["replacements"][0]["value"]) for m in found]


def test_a_match_has_every_field_that_a_client_wants() -> None:
    (match,) = languagetool.build_matches(asked("She go home."), [GO], [(0, 12)])
    assert match == {
        "message": "subject-verb agreement: 'go' -> 'goes' (90%)",
        "shortMessage": "Subject-verb agreement",
        "replacements": [{"value": "goes", "confidence": 0.9}],
        "offset": 4,
        "length": 2,
        "context": {"text": "She go home.", "offset": 4, "length": 2},
        "sentence": "She go home.",
        "type": {"typeName": "Other"},
        "rule": {
            "id": "EDIT_GEC_R_VERB_SVA",
            "description": "Subject-verb agreement",
            "issueType": "grammar",
            "category": {"id": "GRAMMAR", "name": "Grammar"},
            "isPremium": False,
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
        "confidence": 0.9,
        "provenance": "edit5",
    }


def test_spelling_can_be_added_to_dictionaries() -> None:
    edit = Edit(0, 3, "Teh", "The", 0.8, type="R:SPELL")
    (match,) = languagetool.build_matches(asked("Teh end."), [edit], [(0, 8)])
    assert match["rule"]["id"].endswith("_SPELLING_RULE")
    assert (match["rule"]["category"]["id"], match["rule"]["issueType"]) == ("TYPOS", "misspelling")
    assert match["type"] == {"typeName": "UnknownWord"}


def test_offsets_are_utf16_and_contexts_are_one_line() -> None:
    text = "😀" * 50 + "\nShe go home.\r\n" + "x" * 50
    at = text.index("go")
    (match,) = languagetool.build_matches(asked(text), [Edit(at, at + 2, "go", "goes", 0.9)], [(51, 63)])
    assert (match["offset"], match["length"]) == (105, 2)
    units = match["context"]["text"].encode("utf-16-le")
    start = 2 * match["context"]["offset"]
    assert units[start : start + 4].decode("utf-16-le") == "go"
    assert "\n" not in match["context"]["text"] and match["context"]["text"].startswith("...")
    assert match["sentence"] == "She go home."


@pytest.mark.parametrize(
    ("text", "edit", "span"),
    [
        ("I saw cat.", Edit(6, 6, "", "the ", 0.9), (6, 3, "the cat")),
        ("I want go.", Edit(6, 6, "", " to", 0.9), (2, 4, "want to")),
        ("Well I saw.", Edit(4, 4, "", ",", 0.9), (0, 4, "Well,")),
        ("a dog , too", Edit(5, 6, " ", "", 0.9), (2, 4, "dog")),
        ("the the end", Edit(4, 8, "the ", "", 0.9), (4, 7, "end")),
        ("very good", Edit(0, 5, "very ", "", 0.9), (0, 9, "good")),
    ],
)
def test_what_is_inserted_or_deleted_shows_with_a_word(text: str, edit: Edit, span: tuple[int, int, str]) -> None:
    assert spans(text, [edit]) == [span]


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text and edits of it, as a corrector makes them."""
    text = draw(valid.filter(bool))
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    edits: list[Edit] = []
    for start, end in zip(places[::2], places[1::2], strict=False):
        new = draw(st.sampled_from(["", " ", ",", "the ", " to", "go", "😀"]))
        if (new or start < end) and (not edits or start > edits[-1].end):
            edits.append(Edit(start, end, text[start:end], new, 0.5))
    return text, edits


@thorough
@given(edited())
def test_applying_the_matches_gives_the_correction(pair: tuple[str, list[Edit]]) -> None:
    text, edits = pair
    units, done = text.encode("utf-16-le"), 0
    out = b""
    for start, length, new in spans(text, edits):
        assert 2 * start >= done
        out += units[done : 2 * start] + new.encode("utf-16-le")
        done = 2 * (start + length)
    assert (out + units[done:]).decode("utf-16-le") == apply(text, edits)


def test_rules_and_categories() -> None:
    spelling = Edit(7, 11, "hoem", "home", 0.9, type="R:SPELL")
    edits = [GO, spelling]
    text = "She go hoem."
    both, first, second = [(4, 2, "goes"), (7, 4, "home")], [(4, 2, "goes")], [(7, 4, "home")]
    assert spans(text, edits) == both
    assert spans(text, edits, disabledRules="EDIT_GEC_R_VERB_SVA, WHITESPACE_RULE") == second
    assert spans(text, edits, disabledCategories="TYPOS,STYLE") == first
    assert spans(text, edits, disabledCategories="TYPOS", enabledRules="EDIT_GEC_SPELLING_RULE") == both
    assert spans(text, edits, enabledOnly="true", enabledCategories="GRAMMAR") == first
    assert spans(text, edits, enabledOnly="yes", enabledRules="MORFOLOGIK_RULE_EN_US") == []
    assert spans(text, edits, enabledOnly="false", enabledRules="MORFOLOGIK_RULE_EN_US") == both


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"language": "en"}, "give either 'text' or 'data'"),
        ({"language": "en", "text": "a", "data": "{}"}, "give either"),
        ({"text": "a"}, "missing 'language'"),
        ({"text": "a", "language": "de-DE"}, "only English"),
        ({"text": "a", "language": "english"}, "only English"),
        ({"text": "a", "language": "en", "preferredVariants": "en-GB"}, "only goes with 'language=auto'"),
        ({"text": "a", "language": "en", "enabledOnly": "true"}, "needs 'enabledRules'"),
        (
            {"text": "a", "language": "en", "enabledOnly": "true", "enabledRules": "A", "disabledRules": "B"},
            "does not go with",
        ),
        ({"text": "a", "language": "en", "disabled": "A"}, "use 'disabledRules'"),
        ({"text": "a", "autodetect": "1"}, "use 'language=auto'"),
        ({"language": "en", "data": "{}", "format": "rst"}, "either 'text' or 'annotation'"),
        ({"language": "en", "data": '{"text": "a"}', "format": "rst"}, "'format' goes with 'text'"),
        ({"language": "en", "text": "a", "format": ""}, "format '': expected one of"),
        ({"language": "en", "data": "{"}, "not valid JSON"),
        ({"language": "en", "data": "[" * 100_000}, "not valid JSON"),
        ({"language": "en", "data": "3"}, "must be a JSON object"),
        ({"language": "en", "data": "1" * 5000}, "not valid JSON"),
        ({"language": "en", "data": "{}"}, "either 'text' or 'annotation'"),
        ({"language": "en", "data": '{"text": 3}'}, "must be a string"),
        ({"language": "en", "data": '{"text": "\\ud800"}'}, "surrogate"),
        ({"language": "en", "data": '{"annotation": {}}'}, "must be a list"),
        ({"language": "en", "data": '{"annotation": [3]}'}, "either 'text' or 'markup'"),
        ({"language": "en", "data": '{"annotation": [{"text": "a", "markup": "b"}]}'}, "either 'text' or 'markup'"),
        ({"language": "en", "data": '{"annotation": [{"text": "a", "interpretAs": "b"}]}'}, "belongs to 'markup'"),
        ({"language": "en", "data": '{"annotation": [{"markup": 1}]}'}, "must be a string"),
    ],
)
def test_bad_questions(fields: dict[str, str], error: str) -> None:
    with pytest.raises(InputError, match=error):
        languagetool.parse_request(fields)


def test_languages() -> None:
    assert asked("a", language="EN_gb").language == "en-GB"
    assert asked("a", language="en-x-any").language == "en"
    assert asked("a", language="auto").language == "en-US"
    assert asked("a", language="auto", preferredVariants="de-DE,en-AU").language == "en-AU"


def test_a_document_among_markup() -> None:
    parts = [{"text": "She "}, {"markup": "<b>"}, {"text": "go"}, {"markup": "</b>"}, {"text": " home."}]
    text = annotated.parse({"annotation": parts})
    assert (text.document, text.view) == ("She <b>go</b> home.", "She go home.")
    assert text.project(4, 6, "goes") == (7, 9)
    assert text.project(3, 6, " goes") is None  # would swallow <b>
    assert text.project(6, 6, "es") == (9, 9)
    assert text.project(4, 4, "now ") == (7, 7)
    question = languagetool.parse_request({"language": "en", "data": json.dumps({"annotation": parts})})
    (match,) = languagetool.build_matches(question, [GO], [(0, 12)])
    assert (match["offset"], match["length"], match["sentence"]) == (7, 2, "She go home.")
    assert languagetool._sentence_ranges(text, [(0, 12)]) == [[0, 19]]


def test_what_stands_for_markup_is_not_edited() -> None:
    text = annotated.parse(
        {"annotation": [{"text": "See "}, {"markup": "\\ref{a}", "interpretAs": "it"}, {"text": "!"}]}
    )
    assert text.view == "See it!"
    assert text.project(4, 6, "them") is None and text.project(3, 6, "") is None and text.project(5, 5, "x") is None
    assert text.project(6, 6, " now") == (11, 11) and text.project(0, 3, "Look at") == (0, 3)
    assert languagetool._sentence_ranges(text, [(0, 7), (4, 6)]) == [[0, 12]]


def test_a_sentence_inside_another_one() -> None:
    """As a footnote stands: the inner sentence comes after the outer one, or before it."""
    view = "He go \U0001f642 (She go.) home. It go."
    sentences = [(0, 22), (9, 16), (23, 29)]
    assert languagetool._sentence_ranges(annotated.plain(view), sentences) == [[0, 23], [10, 17], [24, 30]]
    question = languagetool.parse_request({"language": "en", "text": view})
    edits = [Edit(at, at + 2, "go", "goes", 0.9) for at in (3, 13, 26)]
    matches = languagetool.build_matches(question, edits, sentences)
    assert [match["sentence"] for match in matches] == [view[:22], view[9:16], view[23:29]]


part = st.builds(lambda text: {"text": text}, valid) | st.builds(
    lambda markup, said: {"markup": markup, "interpretAs": said}, valid, valid | st.none()
)


@thorough
@given(st.lists(part, max_size=6), st.data())
def test_projected_spans_hold_what_the_view_holds(parts: list[dict[str, Any]], data: st.DataObject) -> None:
    text = annotated.parse({"annotation": parts})
    assert text.document == "".join(p.get("text", p.get("markup", "")) for p in parts)
    start = data.draw(st.integers(0, len(text.view)))
    end = data.draw(st.integers(start, len(text.view)))
    if span := text.project(start, end, "x"):
        assert text.document[slice(*span)] == text.view[start:end]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("She go to school yesterday becuase her mother tell her that it were open.", True),
        ("Meeting notes: please send me your slides before Friday, so that I can print them.", True),
        ("Thanks!", True),
        ("Gestern sind wir zum ersten Mal im neuen Haus gewesen, und es war sehr schön.", False),
        ("Hier matin, nous avons pris le train pour aller voir notre tante à Lyon.", False),
        ("Ayer por la mañana fuimos a la playa con mis primos y comimos pescado.", False),
        ("Gisteren was het weer mooi en is mijn broer naar de stad gegaan voor een boek.", False),
        ("I går var vejret godt, og vi tog ud for at se skibene ved havnen.", False),
        ("Ieri siamo andati al mercato per comprare il pane e un po' di frutta.", False),
        ("Ontem fomos à praia com os amigos e depois jantamos em casa da minha avó.", False),
        ("Вчера мы ходили в кино с друзьями и потом долго гуляли по городу.", False),
    ],
)
def test_english_or_not(text: str, sure: bool) -> None:
    assert (language_id.confidence(text) >= 0.5) is sure
    assert (language_id.detect(text).code == "en") is sure


@pytest.mark.parametrize(
    ("text", "code", "name"),
    [
        ("Gestern sind wir zum ersten Mal im neuen Haus gewesen, und es war sehr schön.", "de", "German"),
        ("Hier matin, nous avons pris le train pour aller voir notre tante à Lyon.", "fr", "French"),
        ("Ayer por la mañana fuimos a la playa con mis primos y comimos pescado.", "es", "Spanish"),
        ("Gisteren was het weer mooi en is mijn broer naar de stad gegaan voor een boek.", "nl", "Dutch"),
        ("I går var vejret godt, og vi tog ud for at se skibene ved havnen.", "da", "Danish"),
        ("I går var vädret fint och vi åkte för att titta på båtarna i hamnen.", "sv", "Swedish"),
        ("Ieri siamo andati al mercato per comprare il pane e un po' di frutta.", "it", "Italian"),
        ("Ontem fomos à praia com os amigos e depois jantamos em casa da minha avó.", "pt", "Portuguese"),
        ("Wczoraj nie poszliśmy do kina, bo było już za późno, ale jutro się wybieramy.", "pl", "Polish"),
        ("Вчера мы ходили в кино с друзьями и потом долго гуляли по городу.", "ru", "Russian"),
        ("昨日は友達と一緒に映画を見ました。", "ja", "Japanese"),
        ("The house that we saw is not the one on the map.", "en", "English"),
    ],
)
def test_a_language_is_answered_as_what_it_is(text: str, code: str, name: str) -> None:
    found = language_id.detect(text)
    assert (found.code, found.name) == (code, name)
    question = languagetool.parse_request({"text": text, "language": "auto", "preferredVariants": "en-GB"})
    answer = languagetool.build_answer(question, [], [], version="1", detected=found)["language"]
    shown = ("en-GB", "English (GB)") if code == "en" else (code, name)
    assert (answer["code"], answer["name"]) == shown
    assert (answer["detectedLanguage"]["code"], answer["detectedLanguage"]["name"]) == shown
    assert answer["detectedLanguage"]["confidence"] > 0.5
