"""Notebooks and catalogues: only what they say in English is read, and they parse to the same afterwards."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import law, valid

from edit_gec.text.edits import Change, Edit, apply, resolve_overlaps
from edit_gec.text.sentences import split

WORD = re.compile(r"[A-Za-z]{3,}")


def edit(text: str, format: str, new: str = "xyz") -> str:
    """The text with every word replaced that may be."""
    edits: list[Edit] = []
    for sentence in split(text, format=format):
        found = (sentence.project(text, Change(*word.span(), new, 0.9)) for word in WORD.finditer(sentence.text))
        edits += filter(None, found)
    return apply(text, resolve_overlaps(edits))


def cell(kind: str, source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {"source": "one two"}, "source": source, **more}


sources = valid | st.lists(valid, max_size=4) | st.just(["She went home,\n", 'and "he" stayed \u2019there\u2019.'])
cells = st.lists(st.builds(cell, st.sampled_from(["markdown", "code", "raw"]), sources), max_size=4)


@law
@given(cells, st.sampled_from([None, 1, "\t"]), st.booleans(), st.sampled_from(['a "b" \\ c', "home", "x\ny"]))
def test_a_notebook_stays_one(cells: list[dict[str, Any]], indent: Any, ascii: bool, new: str) -> None:
    notebook = {"nbformat": 4, "cells": cells, "metadata": {"cells": [cell("markdown", "Left alone.")]}}
    edited = json.loads(edit(json.dumps(notebook, indent=indent, ensure_ascii=ascii), "notebook", new))
    for old, now in zip(cells, edited["cells"], strict=True):
        if old["cell_type"] == "markdown":
            assert isinstance(now["source"], type(old["source"]))
            assert len(now["source"]) == len(old["source"]) or isinstance(old["source"], str)
            now["source"] = old["source"]
    assert edited == notebook


def test_what_of_a_notebook_is_read() -> None:
    code = cell("code", "# left alone", outputs=[{"text": ["left alone\n"], "source": "left alone"}])
    prose = cell("markdown", ["# Title\n", "\n", 'He said "no" to\n', "the\\nm: 5\u20ac, caf\u00e9."])
    for ascii in (True, False):
        text = json.dumps({"cells": [code, prose, cell("markdown", "One. Two.")]}, ensure_ascii=ascii)
        read = [sentence.text for sentence in split(text, format="notebook")]
        assert read == ["Title", 'He said "no" to the\\nm: 5\u20ac, caf\u00e9.', "One.", "Two."]


@pytest.mark.parametrize("text", ["", "[", "[1]", '{"cells": 1}', '{"cells": [1, {"source": "a b"}]}', "[" * 10_000])
def test_what_is_no_notebook_is_not_read(text: str) -> None:
    assert split(text, format="notebook") == []


CATALOGUE = """\
msgid ""
msgstr ""
"Project-Id-Version: One two\\n"
"Language: {language}\\n"

# A comment that stays.
#: file.c:5
msgid "Left alone %s"
msgstr "The first %s of\\n"
"two \\"lines\\"."

msgid "One file"
msgid_plural "More files"
msgstr[0] "One file"
msgstr[1] "Many files"
"""


@pytest.mark.parametrize("language", ["en", "en_GB", "en@quot"])
def test_translations_of_english_catalogues(language: str) -> None:
    text = CATALOGUE.replace("{language}", language)
    assert [sentence.text for sentence in split(text, format="gettext")] == [
        'The first %s of two "lines".', "One file", "Many files",
    ]  # fmt: skip
    edited = edit(text, "gettext", 'new "words"')
    assert edited == text, "no edit brings in a quotation mark"
    changed = [new for old, new in zip(text.split("\n"), edit(text, "gettext").split("\n"), strict=True) if old != new]
    assert changed == ['msgstr "xyz xyz %s of\\n"', '"xyz \\"xyz\\"."', 'msgstr[0] "xyz xyz"', 'msgstr[1] "xyz xyz"']


@pytest.mark.parametrize("language", ["de", "eno", ""])
def test_other_catalogues_are_not_read(language: str) -> None:
    assert split(CATALOGUE.replace("{language}", language), format="gettext") == []
