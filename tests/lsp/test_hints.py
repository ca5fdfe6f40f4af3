"""Hints and alternatives in editors: several quick fixes, and no hint is made with the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.workspace import PositionCodec

from edit_gec.config.projects import Projects
from edit_gec.config.user_words import WatchedLineFile
from edit_gec.corrector import Corrector
from edit_gec.editing.document_edits import name_kinds
from edit_gec.lsp.actions import make_diagnostic, make_fix_all, make_fixes
from edit_gec.lsp.documents import Document, Mark
from edit_gec.lsp.options import Options
from edit_gec.lsp.server import Server
from edit_gec.lsp.user_dictionary import UserDictionary
from edit_gec.runtime.async_corrector import AsyncCorrector
from edit_gec.text.edits import Edit

TEXT = "She go to school, becuase she must."
NOTHING = types.ClientCapabilities()


@pytest.fixture
def document() -> Document:
    return Document("file:///a.txt", TEXT, 1, "plaintext", position_codec=PositionCodec())


def mark(old: str, new: str, *others: str, confidence: float, is_hint: bool = False) -> Mark:
    start = TEXT.index(old)
    edit = Edit(start, start + len(old), old, new, confidence, alternatives=others)
    return Mark(start, start + len(old), new, edit, "key", others, is_hint)


def test_every_alternative_has_a_fix(document: Document) -> None:
    found = mark("becuase", "because", "became", confidence=0.9)
    fixes = [a for a in make_fixes(document, found, "information", NOTHING, project_words=False) if a.edit]
    assert [fix.title for fix in fixes] == ["Replace “becuase” by “because”", "Replace “becuase” by “became”"]
    assert [fix.is_preferred for fix in fixes] == [True, False]
    (change,) = fixes[1].edit.changes["file:///a.txt"]  # type: ignore[union-attr,index]
    assert change.new_text == "became" and change.range.start.character == TEXT.index("becuase")


def test_a_hint_is_shown_as_one_and_never_made_with_the_others(document: Document) -> None:
    hint = mark("go", "goes", "went", confidence=0.3, is_hint=True)
    sure = mark("becuase", "because", confidence=0.9)
    assert make_diagnostic(document, hint, "error").severity == types.DiagnosticSeverity.Hint
    assert make_diagnostic(document, sure, "error").severity == types.DiagnosticSeverity.Error
    fixes = [a for a in make_fixes(document, hint, "error", NOTHING, project_words=False) if a.edit]
    assert len(fixes) == 2 and not any(fix.is_preferred for fix in fixes)
    (action,) = make_fix_all(document, [hint, sure], 0.0, NOTHING)
    (change,) = action.edit.changes["file:///a.txt"]  # type: ignore[union-attr,index]
    assert change.new_text == "because"
    assert not make_fix_all(document, [hint], 0.0, NOTHING)


@pytest.mark.parametrize(("old", "new", "is_offered"), [("becuase", "because", True), ("go", "goes", False)])
def test_only_a_word_whose_spelling_is_doubted_is_offered_to_dictionaries(
    document: Document, old: str, new: str, is_offered: bool
) -> None:
    found = mark(old, new, confidence=0.9)
    named = replace(found, edit=name_kinds(TEXT, [found.edit])[0])
    titles = [each.title for each in make_fixes(document, named, "information", NOTHING, project_words=True)]
    assert sum("dictionary" in title for title in titles) == 2 * is_offered


@pytest.mark.parametrize("hints", [True, False])
def test_an_error_that_is_shown_is_a_hint(hints: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'The word "recieve" is misspelt. I recieve it.'
    shown = Document("file:///a.txt", text, 1, "plaintext", position_codec=PositionCodec())
    server = Server(
        Corrector.load, UserDictionary(Projects(own=WatchedLineFile(tmp_path / "own.txt"))), Options(hints=hints)
    )
    published: list[types.PublishDiagnosticsParams] = []
    monkeypatch.setattr(server, "text_document_publish_diagnostics", published.append)

    async def check() -> None:
        async with AsyncCorrector(Corrector.load(threads=1)) as corrector:
            await server._find_marks(corrector, shown)

    asyncio.run(check())
    words = [(mark.edit.original, mark.is_hint) for mark in shown.marks]
    assert words == [("recieve", True), ("recieve", False)][not hints :]
    assert types.DiagnosticSeverity.Hint in {each.severity for each in published[-1].diagnostics} or not hints
    (action,) = make_fix_all(shown, shown.marks, 0.0, NOTHING)
    (change,) = action.edit.changes["file:///a.txt"]  # type: ignore[union-attr,index]
    assert change.range.start.character > text.index("I ")
