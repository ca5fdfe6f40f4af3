"""What main.py prints: read back by the programs that it is for (patch, git apply, JSON readers)."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from test_edits import edited

from edit_gec.text import render, sarif
from edit_gec.text.edits import Edit, apply

TEXT = "She go home.\nHe 🏠 dont like it.\n"
EDITS = [
    Edit(4, 6, "go", "goes", 0.97, type="R:VERB:SVA"),
    Edit(18, 22, "dont", "doesn't", 0.5, message="after “he” use “doesn't”"),
]


def test_inline() -> None:
    assert render.inline(TEXT, EDITS) == "She [-go-]{+goes+} home.\nHe 🏠 [-dont-]{+doesn't+} like it.\n"
    assert render.inline("a b", [Edit(1, 2, " ", "", 1.0)]) == "a[- -]b"
    assert render.inline("a b", [Edit(3, 3, "", ".", 1.0)], color=True) == "a b\x1b[32m{+.+}\x1b[0m"


@given(edited())
def test_inline_holds_both_texts(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    shown = render.inline(text, edits)
    assert re.sub(r"\{\+.*?\+\}", "", shown, flags=re.S).replace("[-", "").replace("-]", "") == text
    assert re.sub(r"\[-.*?-\]", "", shown, flags=re.S).replace("{+", "").replace("+}", "") == apply(text, edits)


def _patched(folder: Path, command: list[str], diff: str, name: str, text: str) -> bytes:
    (folder / name).write_bytes(text.encode())
    done = subprocess.run(command, cwd=folder, input=diff.encode(), capture_output=True)
    assert done.returncode == 0, (done.stderr.decode(), diff)
    return (folder / name).read_bytes()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edited())
def test_diff_is_applied_by_patch_and_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, list[Edit]]
) -> None:
    text, edits = case
    monkeypatch.chdir(tmp_path)
    corrected = apply(text, edits)
    diff = render.unified_diff("a b.txt", text, edits)
    if text == corrected:
        assert diff == ""
        return
    for command in (["patch", "-p1", "--binary", "--fuzz=0"], ["git", "apply", "--whitespace=nowarn"]):
        if not corrected and command[0] == "patch":
            continue  # patch removes a file that becomes empty, git does not
        assert _patched(tmp_path, command, diff, "a b.txt", text) == corrected.encode()


@pytest.mark.parametrize("name", ['quo"te.txt', "back\\slash.txt", "tab\there.txt", "ünï.txt", "sub/x.txt"])
def test_diff_names_files_as_git_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    for path in (name, str(tmp_path / name)):  # from the working folder, both are the same file
        diff = render.unified_diff(path, TEXT, EDITS)
        assert _patched(tmp_path, ["git", "apply"], diff, name, TEXT) == apply(TEXT, EDITS).encode()


def test_diff_keeps_hunks_apart_and_together() -> None:
    lines = [f"line {i}\n" for i in range(40)]
    text = "".join(lines)

    def at(line: int) -> Edit:
        start = text.index(f"line {line}\n")
        return Edit(start, start + 4, "line", "Line", 1.0)

    diff = render.unified_diff("x", text, [at(1), at(8), at(30)])
    assert re.findall(r"^@@.*@@$", diff, re.M) == ["@@ -1,12 +1,12 @@", "@@ -28,7 +28,7 @@"]
    assert re.findall(r"^[-+]\w.*$", diff, re.M) == ["-line 1", "+Line 1", "-line 8", "+Line 8", "-line 30", "+Line 30"]


def test_diff_is_linear() -> None:
    text = "she go home\n" * 100_000
    edits = [Edit(at, at + 3, "she", "She", 1.0) for at in range(0, len(text), 24)]
    begun = time.process_time()
    assert render.unified_diff("x", text, edits).count("\n+She") == 50_000
    assert time.process_time() - begun < 10  # takes 0.6 s; anything quadratic far more


def test_json_has_every_unit_and_survives_a_round_trip() -> None:
    first, second = json.loads(json.dumps(render.as_json("a.txt", TEXT, EDITS)))["edits"]
    assert first == {
        "start": 4, "end": 6, "start_utf8": 4, "end_utf8": 6, "start_utf16": 4, "end_utf16": 6, "line": 1, "column": 5,
        "original": "go", "replacement": "goes", "confidence": 0.97, "provenance": "edit5", "type": "R:VERB:SVA",
        "message": None, "reason": None, "kind": None,
    }  # fmt: skip
    assert [second[key] for key in ("start", "start_utf8", "start_utf16", "line", "column")] == [18, 21, 19, 2, 6]
    assert (second["end"], second["end_utf8"], second["end_utf16"]) == (22, 25, 23)


def test_sarif_fixes_give_the_corrected_text() -> None:
    log = json.loads(json.dumps(sarif.sarif("1.0", [("docs/a b.txt", TEXT, EDITS, []), ("/abs/ü.txt", TEXT, [], [])])))
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["version"]) == ("2.1.0", "1.0")
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {result["ruleId"] for result in run["results"]}
    lines = TEXT.split("\n")
    for result in reversed(run["results"]):
        (change,) = result["fixes"][0]["artifactChanges"]
        assert unquote(change["artifactLocation"]["uri"]) == "docs/a b.txt"
        (fix,) = change["replacements"]
        region = fix["deletedRegion"]
        assert region == result["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] == region["endLine"]
        line = lines[region["startLine"] - 1]
        new = fix["insertedContent"]["text"]
        lines[region["startLine"] - 1] = line[: region["startColumn"] - 1] + new + line[region["endColumn"] - 1 :]
    assert "\n".join(lines) == apply(TEXT, EDITS)


def test_sarif_has_what_github_asks_for() -> None:
    """Texts of each rule, and fingerprints that move with their lines and tell equal lines apart."""

    def fingerprints(text: str) -> list[str]:
        edits = [Edit(at.start(), at.end(), "go", "goes", 0.9, kind="replacement") for at in re.finditer("go", text)]
        (run,) = sarif.sarif("1", [("a.md", text, edits, [])])["runs"]
        for rule in run["tool"]["driver"]["rules"]:
            assert rule["id"] == "EDIT_GEC_REPLACEMENT"
            assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"]
            assert "replacement" in rule["help"]["text"]
        return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]

    before, after = fingerprints("She go.\n"), fingerprints("# New\n\n  She  go.\nHe go.\nShe go.\n")
    assert before[0] == after[0] and len({*after}) == 3 and after[2].endswith(":2")


def test_github_annotations_escape_what_would_end_them() -> None:
    text = "a,\nb\n"
    out = render.github("odd,na:me.txt", text, [Edit(1, 3, ",\n", "; 100%\r\n", 0.5)])
    assert out == (
        "::warning file=odd%2Cna%3Ame.txt,line=1,endLine=2,title=edit-gec::“,%0A” → “; 100%25%0D%0A” (50%25)\n"
    )
    assert ",col=5,endColumn=7," in render.github("a.txt", TEXT, EDITS)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Edit(0, 0, "", "The ", 0.9), "insert “The ” (90%)"),
        (Edit(0, 3, "She", "", 0.9), "delete “She” (90%)"),
        (EDITS[1], "after “he” use “doesn't” (50%)"),
    ],
)
def test_describe(edit: Edit, words: str) -> None:
    assert render.describe(edit) == words


def test_notes_look_like_a_compilers() -> None:
    assert render.notes("a.txt", TEXT, EDITS) == [
        "a.txt:1:5: “go” → “goes” (97%) [R:VERB:SVA]",
        "a.txt:2:6: after “he” use “doesn't” (50%)",
    ]


_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_WHOLE = {"type": "integer", "minimum": 1}
_REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "additionalProperties": False,
    "properties": dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), _WHOLE),
}
_FILE = {"type": "object", "required": ["uri"], "properties": {"uri": {"type": "string", "format": "uri-reference"}}}
_CHANGE = {
    "type": "object",
    "required": ["artifactLocation", "replacements"],
    "additionalProperties": False,
    "properties": {
        "artifactLocation": _FILE,
        "replacements": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["deletedRegion"],
                "additionalProperties": False,
                "properties": {
                    "deletedRegion": _REGION,
                    "insertedContent": {**_TEXT, "properties": {"text": {"type": "string"}}},
                },
            },
        },
    },
}
_RULE = {
    "type": "object",
    "required": ["id", "shortDescription", "fullDescription", "help"],  # the texts are what GitHub asks for
    "properties": {"id": {"type": "string"}} | dict.fromkeys(("shortDescription", "fullDescription", "help"), _TEXT),
}
_PLACE = {
    "type": "object",
    "required": ["artifactLocation", "region"],
    "properties": {"artifactLocation": _FILE, "region": _REGION},
}
_RESULT = {
    "type": "object",
    "required": ["ruleId", "message", "locations", "partialFingerprints"],
    "properties": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _TEXT,
        "locations": {"type": "array", "items": {"type": "object", "properties": {"physicalLocation": _PLACE}}},
        "fixes": {"type": "array", "items": {"type": "object", "properties": {"artifactChanges": {"items": _CHANGE}}}},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
_DRIVER = {"type": "object", "required": ["name", "rules"], "properties": {"rules": {"type": "array", "items": _RULE}}}
SARIF = {  # what SARIF 2.1.0 requires of the parts that we write
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {"type": "object", "required": ["driver"], "properties": {"driver": _DRIVER}},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": _RESULT},
                },
            },
        },
    },
}


def test_sarif_has_the_shape_that_it_requires() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    log = json.loads(json.dumps(sarif.sarif("1.0", [("docs/a b.txt", TEXT, EDITS, [])])))
    jsonschema.Draft7Validator(SARIF).validate(log)
    del log["runs"][0]["results"][0]["message"]["text"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(SARIF).validate(log)
