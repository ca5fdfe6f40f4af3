"""Marks -> what the editor shows: diagnostics, quick fixes, fix-all and hovers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lsprotocol import types

from edit_gec.lsp.documents import Document, Mark
from edit_gec.lsp.options import SEVERITIES
from edit_gec.text.kinds import EditKind
from edit_gec.text.render import describe, rule_id
from edit_gec.text.words import HYPHENATED_WORD

SOURCE = "edit-gec"
FIX_ALL = "source.fixAll.edit-gec"
IGNORE = "edit-gec.ignore"
ADD_WORD = "edit-gec.addToDictionary"
ABOUT_WORDS = (EditKind.SPELLING, EditKind.CASE)


def to_range(document: Document, start: int, end: int) -> types.Range:
    """The editor's range for a span in code points."""
    index = document.line_index
    return types.Range(types.Position(*index.position(start)), types.Position(*index.position(end)))


def to_offsets(document: Document, where: types.Range) -> tuple[int, int]:
    """The span in code points of an editor's range."""
    index = document.line_index
    start = index.offset(where.start.line, where.start.character)
    return start, index.offset(where.end.line, where.end.character)


def find_marks(marks: Iterable[Mark], start: int, end: int) -> list[Mark]:
    """The marks that overlap or touch [start, end]. A cursor has start == end."""
    return [mark for mark in marks if mark.start <= end and start <= mark.end]


def make_diagnostic(document: Document, mark: Mark, severity: str) -> types.Diagnostic:
    """What the editor underlines. Rule id and message are those of HTTP and SARIF."""
    edit = mark.edit
    severity = "hint" if mark.is_hint else severity
    return types.Diagnostic(
        range=to_range(document, mark.start, mark.end),
        message=describe(edit),
        severity=types.DiagnosticSeverity(SEVERITIES.index(severity) + 1),
        code=rule_id(edit),
        source=SOURCE,
        data={
            "replacement": mark.replacement,
            "alternatives": mark.alternatives,
            "confidence": round(edit.confidence, 4),
            "provenance": edit.provenance,
            "type": edit.type,
            "key": mark.key,
        },
    )


def make_workspace_edit(
    document: Document, marks: Sequence[Mark], capabilities: types.ClientCapabilities
) -> types.WorkspaceEdit:
    """The marks' replacements, with the document's version if the editor can check it."""
    edits = [types.TextEdit(to_range(document, mark.start, mark.end), mark.replacement) for mark in marks]
    workspace = capabilities.workspace
    if workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes:
        versioned = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(versioned, [*edits])])
    return types.WorkspaceEdit(changes={document.uri: edits})


def make_fixes(
    document: Document, mark: Mark, severity: str, capabilities: types.ClientCapabilities, *, project_words: bool
) -> list[types.CodeAction]:
    """The actions for one mark: apply one of its corrections, ignore it, or add the word to a dictionary."""
    about = [make_diagnostic(document, mark, severity)]
    edit = mark.edit
    actions = [
        types.CodeAction(
            title=_name_fix(document.source[mark.start : mark.end], each.replacement),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=about,
            is_preferred=each is mark and not mark.is_hint,
            edit=make_workspace_edit(document, [each], capabilities),
        )
        for each in (mark, *(replace(mark, replacement=other) for other in mark.alternatives))
    ]
    commands = [types.Command("Ignore this correction", IGNORE, arguments=[document.uri, mark.key])]
    if edit.kind in ABOUT_WORDS and HYPHENATED_WORD.fullmatch(edit.original):  # "was" is no word to add
        commands.append(types.Command(f"Add “{edit.original}” to my dictionary", ADD_WORD, arguments=[edit.original]))
        if project_words:
            title = f"Add “{edit.original}” to the dictionary of this project"
            commands.append(types.Command(title, ADD_WORD, arguments=[edit.original, document.uri]))
    for command in commands:
        kind = types.CodeActionKind.QuickFix
        actions.append(types.CodeAction(title=command.title, kind=kind, diagnostics=about, command=command))
    return actions


def _name_fix(old: str, new: str) -> str:
    if not old:
        return f"Insert “{new}”"
    return f"Replace “{old}” by “{new}”" if new else f"Delete “{old}”"


def make_fix_all(
    document: Document, marks: Iterable[Mark], confidence: float, capabilities: types.ClientCapabilities
) -> list[types.CodeAction]:
    """One action that makes all corrections of at least this confidence, if there are any. It never includes hints."""
    sure: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.end)):  # a footnote stands inside another sentence
        if not mark.is_hint and mark.edit.confidence >= confidence and (not sure or sure[-1].end <= mark.start):
            sure.append(mark)
    if not sure:
        return []
    title = f"Correct all that is at least {confidence:.0%} sure ({len(sure)})"
    edit = make_workspace_edit(document, sure, capabilities)
    return [types.CodeAction(title=title, kind=FIX_ALL, edit=edit)]


def is_requested(only: Sequence[str] | None, kind: str) -> bool:
    """Whether the editor asks for this kind of action. A kind includes its subkinds: source includes source.fixAll."""
    return not only or any(each == "" or kind == each or kind.startswith(f"{each}.") for each in only)


def make_hover(document: Document, mark: Mark, capabilities: types.ClientCapabilities) -> types.Hover:
    """The correction, its reason, its confidence and who proposed it."""
    client = capabilities.text_document.hover if capabilities.text_document else None
    formats = (client.content_format if client else None) or [types.MarkupKind.PlainText]
    edit = mark.edit
    message = describe(edit)
    facts = f"{edit.confidence:.0%} sure · proposed by {edit.provenance}"
    type_name, reason = edit.type or "", edit.reason or ""
    if formats[0] == types.MarkupKind.Markdown:
        message = f"**{_escape_markdown(message)}**"
        reason = _escape_markdown(reason)
        type_name = f"`{type_name}`" if type_name else ""
    if type_name:
        facts = f"{type_name} · {facts}"
    lines = [message, reason, facts]
    content = types.MarkupContent(formats[0], "\n\n".join(line for line in lines if line))
    return types.Hover(content, to_range(document, mark.start, mark.end))


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#~|])", r"\\\1", text)
