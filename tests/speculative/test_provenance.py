"""Changes of a sentence as edits of its document, with a target and without; the prefixes of well-known targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edit_gec.editing.document_edits import Projection
from edit_gec.editing.predictor import WindowChanges
from edit_gec.speculative.prefixes import PREFIXES, find_prefix
from edit_gec.speculative.provenance import VerifiedProjection
from edit_gec.text.edits import Change, Edit, Provenance
from edit_gec.text.sentences import split

TEXT = "Hi. She go at home becuase of rain."
SENTENCE = split(TEXT)[1]
GO = Change(4, 6, "goes", 0.9)
AT = Change(7, 10, "", 0.6)
SPELT = Change(15, 22, "because", 0.3)


def project(changes: WindowChanges, **settings: Any) -> tuple[list[Edit], list[Edit]]:
    edits, refused, _ = VerifiedProjection(None, **settings).to_edits(TEXT, SENTENCE, changes)
    return edits, refused


def shown(edits: list[Edit]) -> list[tuple[str, str, str]]:
    assert all(TEXT[edit.start : edit.end] == edit.original for edit in edits), "in offsets of the document"
    return [(edit.original, edit.replacement, str(edit.provenance)) for edit in edits]


def test_without_a_target_all_drafted_changes_are_made() -> None:
    edits, refused, _ = Projection(None).to_edits(TEXT, SENTENCE, WindowChanges((GO, AT, SPELT)))
    assert [edit.replacement for edit in edits] == ["goes", "", "because"] and refused == []
    assert {edit.provenance for edit in edits} == {Provenance.EDIT5}


def test_a_target_decides_and_each_edit_says_who_proposed_it() -> None:
    revised = Change(4, 6, "went", 0.8)
    edits, refused = project(WindowChanges((revised, SPELT), (GO, AT)))
    assert shown(edits) == [
        ("go", "went", str(Provenance.REVISED)),
        ("becuase", "because", str(Provenance.ADDED)),
    ]
    assert [edit.original.strip() for edit in refused] == ["at"]
    assert {edit.provenance for edit in refused} == {Provenance.REJECTED}
    agreed, _ = project(WindowChanges((GO,), (GO,)))
    assert shown(agreed) == [("go", "goes", str(Provenance.ACCEPTED))]


def test_a_target_that_changes_nothing_refuses_all() -> None:
    edits, refused = project(WindowChanges((), (GO, AT)))
    assert edits == [] and len(refused) == 2


@pytest.mark.parametrize("kind", [Projection, VerifiedProjection])
def test_words_of_the_dictionary_are_left_alone_with_a_target_too(kind: type[Projection]) -> None:
    projection = kind(None, frozenset({"becuase"}))
    edits, refused, _ = projection.to_edits(TEXT, SENTENCE, WindowChanges((GO, SPELT), ()))
    assert [edit.replacement for edit in edits] == ["goes"] and refused == []


@pytest.mark.parametrize("name", PREFIXES)
def test_prefixes_are_found_in_the_hubs_cache(name: str) -> None:
    folder = Path("cache") / f"models--{name.replace('/', '--')}" / "snapshots" / "0123abc"
    assert find_prefix(folder) == PREFIXES[name] != ""


def test_other_folders_have_none() -> None:
    assert find_prefix(Path("models") / "coedit-large") == ""
    assert find_prefix(Path("cache/models--somebody--coedit-large/snapshots/1")) == ""
