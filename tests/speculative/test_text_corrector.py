"""Changes of a sentence as edits of its document, with a target and without; the prefixes of well-known targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edit_gec.editing.thresholds import Thresholds
from edit_gec.speculative.prefixes import PREFIXES, find_prefix
from edit_gec.speculative.text_corrector import TextCorrector
from edit_gec.speculative.window_corrector import ModelWindow, SentenceChanges
from edit_gec.text.edits import Change, Edit, Provenance
from edit_gec.text.sentences import split

TEXT = "Hi. She go at home becuase of rain."
SENTENCE = split(TEXT)[1]
GO = Change(4, 6, "goes", 0.9)
AT = Change(7, 10, "", 0.6)
SPELT = Change(15, 22, "because", 0.3)


NOBODY: Any = None  # reads and tokenises nothing here


def project(changes: SentenceChanges, *, least: float = 0.0, **settings: Any) -> tuple[list[Edit], list[Edit]]:
    corrector = TextCorrector(NOBODY, NOBODY, Thresholds(), verified_confidence=least, **settings)
    return corrector.to_document_edits(TEXT, SENTENCE, changes)


def shown(edits: list[Edit]) -> list[tuple[str, str, str]]:
    assert all(TEXT[edit.start : edit.end] == edit.original for edit in edits), "in offsets of the document"
    return [(edit.original, edit.replacement, str(edit.provenance)) for edit in edits]


def test_without_a_target_all_drafted_changes_are_made() -> None:
    edits, refused = project(SentenceChanges((GO, AT, SPELT)), least=0.99)
    assert [edit.replacement for edit in edits] == ["goes", "", "because"] and refused == []
    assert {edit.provenance for edit in edits} == {Provenance.EDIT5}


def test_a_target_decides_and_each_edit_says_who_proposed_it() -> None:
    revised = Change(4, 6, "went", 0.8)
    edits, refused = project(SentenceChanges((GO, AT), (revised, SPELT)))
    assert shown(edits) == [
        ("go", "went", str(Provenance.REVISED)),
        ("becuase", "because", str(Provenance.ADDED)),
    ]
    assert [edit.original.strip() for edit in refused] == ["at"]
    assert {edit.provenance for edit in refused} == {Provenance.REJECTED}
    agreed, _ = project(SentenceChanges((GO,), (GO,)))
    assert shown(agreed) == [("go", "goes", str(Provenance.ACCEPTED))]


def test_edits_of_a_target_need_the_confidence_and_those_below_refuse_the_draft() -> None:
    edits, refused = project(SentenceChanges((SPELT,), (GO, SPELT)), least=0.5)
    assert [edit.replacement for edit in edits] == ["goes"]
    assert [edit.replacement for edit in refused] == ["because"]


def test_a_target_that_changes_nothing_refuses_all() -> None:
    edits, refused = project(SentenceChanges((GO, AT), ()))
    assert edits == [] and len(refused) == 2


def test_words_of_the_dictionary_are_left_alone_with_a_target_too() -> None:
    words = frozenset({"becuase"})
    for changes in (SentenceChanges((GO, SPELT)), SentenceChanges((), (GO, SPELT))):
        edits, refused = project(changes, dictionary=words)
        assert [edit.replacement for edit in edits] == ["goes"] and refused == []


def test_the_edits_of_windows_go_to_their_texts() -> None:
    corrector = TextCorrector(NOBODY, NOBODY, Thresholds())
    texts = ["They was late.", TEXT]
    windows = [ModelWindow(1, SENTENCE, NOBODY), ModelWindow(0, split(texts[0])[0], NOBODY)]
    found = corrector.project(texts, windows, [SentenceChanges((GO,)), SentenceChanges((Change(5, 8, "were", 0.9),))])
    assert [(each.text, [edit.replacement for edit in each.edits]) for each in found] == [(1, ["goes"]), (0, ["were"])]
    for each in found:
        assert all(texts[each.text][edit.start : edit.end] == edit.original for edit in each.edits)


@pytest.mark.parametrize("name", PREFIXES)
def test_prefixes_are_found_in_the_hubs_cache(name: str) -> None:
    folder = Path("cache") / f"models--{name.replace('/', '--')}" / "snapshots" / "0123abc"
    assert find_prefix(folder) == PREFIXES[name] != ""


def test_other_folders_have_none() -> None:
    assert find_prefix(Path("models") / "coedit-large") == ""
    assert find_prefix(Path("cache/models--somebody--coedit-large/snapshots/1")) == ""
