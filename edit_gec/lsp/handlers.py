"""The requests, notifications and commands of the editor, and how each is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types

from edit_gec.errors import EditGecError
from edit_gec.lsp import actions
from edit_gec.lsp.documents import Documents
from edit_gec.lsp.server import Server

SECTION = "edit-gec"  # of the editor's settings


def initialize(ls: Server, params: types.InitializeParams) -> None:
    """Use our own class of documents, take the editor's options, and start to load the model."""
    created = ls.workspace
    ls.protocol._workspace = Documents(
        created.root_uri, workspace_folders=[*created.folders.values()], position_encoding=created.position_encoding
    )
    ls.load_corrector()
    ls.configure(params.initialization_options)


async def initialized(ls: Server, _: types.InitializedParams) -> None:
    """Ask for the editor's settings, if it can be asked."""
    await did_change_configuration(ls, None)


async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams | None) -> None:
    """Take the settings that were sent, or else ask the editor for them."""
    sent = params.settings if params is not None else None
    given = sent.get(SECTION) if isinstance(sent, dict) else None
    workspace = ls.client_capabilities.workspace
    if given is None and workspace and workspace.configuration:
        item = types.ConfigurationItem(section=SECTION)
        given = next(iter(await ls.workspace_configuration_async(types.ConfigurationParams([item]))), None)
    if given is not None:
        ls.configure(given)


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """Check the document at once."""
    if document := ls.find_document(params.text_document.uri):
        ls.schedule(document, 0)


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """Check the document after a pause. Its marks have moved already."""
    if document := ls.find_document(params.text_document.uri):
        ls.schedule(document)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Stop checking the document and remove its diagnostics."""
    uri = params.text_document.uri
    ls.cancel(uri)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Fixes for the marks in a range, and one action for all confident corrections."""
    document = ls.find_document(params.text_document.uri)
    if document is None:
        return []
    marks = ls.visible_marks(document)
    only = params.context.only
    capabilities = ls.client_capabilities
    found: list[types.CodeAction] = []
    if actions.is_requested(only, types.CodeActionKind.QuickFix.value):
        has_words = ls.project_settings(document).words_file is not None
        for mark in actions.find_marks(marks, *actions.to_offsets(document, params.range)):
            severity = ls.options.severity
            found += actions.make_fixes(document, mark, severity, capabilities, project_words=has_words)
    if actions.is_requested(only, actions.FIX_ALL):
        found += actions.make_fix_all(document, marks, ls.options.fix_all_confidence, capabilities)
    return found


def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """The mark at a position. Where two marks touch, the one that begins there."""
    if document := ls.find_document(params.text_document.uri):
        at = document.line_index.offset(params.position.line, params.position.character)
        if marks := actions.find_marks(ls.visible_marks(document), at, at):
            return actions.make_hover(document, marks[-1], ls.client_capabilities)
    return None


def ignore(ls: Server, *args: Any) -> None:
    """edit-gec.ignore(uri, key): never show this correction again, wherever its sentence stands."""
    _change_dictionary(ls, lambda: ls.user_dictionary.ignored.add(str(args[1])))


def add_word(ls: Server, *args: Any) -> None:
    """edit-gec.addToDictionary(word[, uri]): ignore a word, everywhere or in the project of that document."""
    word, *uri = map(str, args)
    document = ls.find_document(uri[0]) if uri else None
    project = ls.project_settings(document) if document else None
    _change_dictionary(ls, lambda: ls.user_dictionary.add_word(word, project))


def _change_dictionary(ls: Server, change: Callable[[], object]) -> None:
    """Change what is ignored, and publish all documents again."""
    try:
        change()
    except EditGecError as error:
        ls.shown_errors.discard(str(error))  # every attempt is answered
        ls.show_error(error)
    for document in ls.open_documents():
        ls.publish(document)


def shutdown(ls: Server, _: Any = None) -> None:
    """The editor ends the session in order."""
    ls.has_shut_down = True


def register(server: Server) -> None:
    """Register all handlers and commands."""
    kinds: list[types.CodeActionKind | str] = [types.CodeActionKind.QuickFix, actions.FIX_ALL]
    handlers: list[tuple[str, Callable[..., Any], Any]] = [
        (types.INITIALIZE, initialize, None),
        (types.INITIALIZED, initialized, None),
        (types.SHUTDOWN, shutdown, None),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration, None),
        (types.TEXT_DOCUMENT_DID_OPEN, did_open, None),
        (types.TEXT_DOCUMENT_DID_CHANGE, did_change, None),
        (types.TEXT_DOCUMENT_DID_CLOSE, did_close, None),
        (types.TEXT_DOCUMENT_CODE_ACTION, code_action, types.CodeActionOptions(code_action_kinds=kinds)),
        (types.TEXT_DOCUMENT_HOVER, hover, None),
    ]
    for feature, handler, options in handlers:
        server.feature(feature, options)(handler)
    server.command(actions.IGNORE)(ignore)
    server.command(actions.ADD_WORD)(add_word)
