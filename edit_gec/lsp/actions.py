"""Marks -> what the editor shows: diagnostics, quick fixes, fix-all, hovers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lsprotocol import types

from edit_gec.lsp.documents import Document, Mark
from edit_gec.lsp.options import SEVERITIES
from edit_gec.text.render import describe, rule_id

SOURCE = "edit-gec"
FIX_ALL = "source.fixAll.edit-gec"
IGNORE, ADD_WORD = "edit-gec.ignore", "edit-gec.addToDictionary"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def span(document: Document, start: int, end: int) -> types.Range:
    """A span of the document, in the units of the editor."""
    places = (document.places.position(at) for at in (start, end))
    return types.Range(*(types.Position(*place) for place in places))


def offsets(document: Document, where: types.Range) -> tuple[int, int]:
    """A span in the units of the editor, in code points."""
    start, end = (document.places.offset(at.line, at.character) for at in (where.start, where.end))
    return start, end


def touching(marks: Iterable[Mark], start: int, end: int) -> list[Mark]:
    """The marks that share a place with [start, end], its ends included: that is where a cursor stands."""
    return [mark for mark in marks if mark.start <= end and start <= mark.end]


def diagnostic(document: Document, mark: Mark, severity: str) -> types.Diagnostic:
    """What is underlined. Rule id and message are those of HTTP and SARIF."""
    edit = mark.edit
    return types.Diagnostic(
        range=span(document, mark.start, mark.end),
        message=describe(edit),
        severity=types.DiagnosticSeverity(SEVERITIES.index(severity) + 1),
        code=rule_id(edit),
        source=SOURCE,
        data={
            "replacement": mark.replacement,
            "confidence": round(edit.confidence, 4),
            "provenance": edit.provenance,
            "type": edit.type,
            "key": mark.key,
        },
    )


def workspace_edit(
    document: Document, marks: Sequence[Mark], capabilities: types.ClientCapabilities
) -> types.WorkspaceEdit:
    """The marks' replacements; with the document's version where the editor can tell that it is another by now."""
    edits = [types.TextEdit(span(document, mark.start, mark.end), mark.replacement) for mark in marks]
    workspace = capabilities.workspace
    if workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes:
        versioned = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(versioned, [*edits])])
    return types.WorkspaceEdit(changes={document.uri: edits})


def fixes(
    document: Document, mark: Mark, severity: str, capabilities: types.ClientCapabilities, *, project_words: bool
) -> list[types.CodeAction]:
    """What can be done about one mark: correct it, ignore it, take the word for a word."""
    about, edit = [diagnostic(document, mark, severity)], mark.edit
    old = document.source[mark.start : mark.end]
    title = f"Replace “{old}” by “{mark.replacement}”" if mark.replacement else f"Delete “{old}”"
    actions = [
        types.CodeAction(
            title=title if old else f"Insert “{mark.replacement}”",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=about,
            is_preferred=True,
            edit=workspace_edit(document, [mark], capabilities),
        )
    ]
    commands = [types.Command("Ignore this correction", IGNORE, arguments=[document.uri, mark.key])]
    if _WORD.fullmatch(edit.original):  # of whatever type: a word that the model does not know is taken for any
        commands.append(types.Command(f"Add “{edit.original}” to my dictionary", ADD_WORD, arguments=[edit.original]))
        if project_words:
            title = f"Add “{edit.original}” to the dictionary of this project"
            commands.append(types.Command(title, ADD_WORD, arguments=[edit.original, document.uri]))
    for command in commands:
        kind = types.CodeActionKind.QuickFix
        actions.append(types.CodeAction(title=command.title, kind=kind, diagnostics=about, command=command))
    return actions


def fix_all(
    document: Document, marks: Iterable[Mark], confidence: float, capabilities: types.ClientCapabilities
) -> list[types.CodeAction]:
    """One action that makes all corrections that are this sure, where there are any."""
    sure: list[Mark] = []
    for mark in marks:
        if mark.edit.confidence >= confidence and (not sure or sure[-1].end <= mark.start):
            sure.append(mark)
    if not sure:
        return []
    title = f"Correct all that is at least {confidence:.0%} sure ({len(sure)})"
    edit = workspace_edit(document, sure, capabilities)
    return [types.CodeAction(title=title, kind=FIX_ALL, edit=edit)]


def wanted(only: Sequence[str] | None, kind: str) -> bool:
    """Is this kind of action among those asked for? A kind includes those below it: source, source.fixAll."""
    return not only or any(each == "" or kind == each or kind.startswith(f"{each}.") for each in only)


def hover(document: Document, mark: Mark, capabilities: types.ClientCapabilities) -> types.Hover:
    """What a correction is, how sure, and who proposed it."""
    client = capabilities.text_document.hover if capabilities.text_document else None
    formats = (client.content_format if client else None) or [types.MarkupKind.PlainText]
    edit = mark.edit
    message, facts = describe(edit), f"{edit.confidence:.0%} sure · proposed by {edit.provenance}"
    if formats[0] == types.MarkupKind.Markdown:
        message, kind = f"**{_plain(message)}**", f"`{edit.type}` · " if edit.type else ""
    else:
        kind = f"{edit.type} · " if edit.type else ""
    content = types.MarkupContent(formats[0], f"{message}\n\n{kind}{facts}")
    return types.Hover(content, span(document, mark.start, mark.end))


def _plain(text: str) -> str:
    """The text with what Markdown would read as marks escaped."""
    return re.sub(r"([\\`*_\[\]<>#~|])", r"\\\1", text)
