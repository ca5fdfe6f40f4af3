"""A correction shown as diff, JSON and SARIF; edits as values."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import given
from test_edits import edited

from edit_gec.errors import InputError
from edit_gec.text import render
from edit_gec.text.correction import Correction
from edit_gec.text.edits import Edit, Provenance, apply

TEXT = "🏠 She go home.\nIt rain , the the cat sat.\n\nAll is well.\n"
EDITS = (
    Edit(6, 8, "go", "goes", 0.9, type="R:VERB:SVA"),
    Edit(18, 22, "rain", "rains", 0.8),
    Edit(22, 23, " ", "", 0.7),
    Edit(29, 33, "the ", "", 0.6, Provenance.ACCEPTED),
)
CORRECTION = Correction(TEXT, apply(TEXT, EDITS), EDITS, (Edit(33, 36, "cat", "cats", 0.1, Provenance.REJECTED),))


@given(edited())
def test_html_holds_both_texts_and_no_markup_of_theirs(given: tuple[str, list[Edit]]) -> None:
    text, edits = given
    shown = render.html(text, edits).removeprefix('<div style="white-space: pre-wrap">').removesuffix("</div>")
    for gone, wanted in (("ins", text), ("del", apply(text, edits))):
        plain = re.sub(rf"<{gone} [^>]*>[^<]*</{gone}>|</?[a-z]+[^>]*>", "", shown)
        assert html.unescape(plain) == html.unescape(html.escape(wanted))


def test_a_correction_shows_itself() -> None:
    assert str(CORRECTION) == CORRECTION.corrected == "🏠 She goes home.\nIt rains, the cat sat.\n\nAll is well.\n"
    assert CORRECTION.diff("a.txt").startswith("--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n-🏠 She go home.\n")
    assert 'She <del title="“go” → “goes” (90%)">go</del><ins title=' in CORRECTION._repr_html_()
    (result, *_) = json.loads(CORRECTION.to_sarif("a.txt"))["runs"][0]["results"]
    assert (result["ruleId"], result["properties"]["provenance"]) == ("EDIT_GEC_R_VERB_SVA", "edit5")
    line = json.loads(CORRECTION.to_json("a.txt"))
    assert line == json.loads(json.dumps(render.as_json("a.txt", TEXT, EDITS, CORRECTION.refused)))
    assert "\n" not in CORRECTION.to_json() and line["refused"][0]["provenance"] == "target refused"


def test_an_edit_as_values() -> None:
    edit = EDITS[0]
    assert (edit.span, edit.to_dict()["start"], edit.to_dict("utf16", TEXT)["start"]) == ((6, 8), 6, 7)
    assert edit.to_dict("utf8", TEXT)["end"] == 11
    assert json.loads(json.dumps(EDITS[3].to_dict()))["provenance"] == "agree"
    assert CORRECTION.to_dict("utf16")["edits"][0] == edit.to_dict("utf16", TEXT)
    with pytest.raises(InputError, match="unit utf16: expected the text of the edit"):
        edit.to_dict("utf16")
    with pytest.raises(InputError, match="unit 'byte': expected one of codepoint, utf8, utf16"):
        edit.to_dict("byte")
