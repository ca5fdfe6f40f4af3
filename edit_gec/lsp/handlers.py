"""What the editor says, and what it gets to hear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types

from edit_gec.errors import EditGecError
from edit_gec.lsp import actions as answers
from edit_gec.lsp.documents import Documents
from edit_gec.lsp.server import Server

SECTION = "edit-gec"  # of the editor's settings


def initialize(ls: Server, params: types.InitializeParams) -> None:
    """Documents of our own kind, the editor's options, and the model begins to load."""
    theirs = ls.workspace
    ls.protocol._workspace = Documents(
        theirs.root_uri, workspace_folders=[*theirs.folders.values()], position_encoding=theirs.position_encoding
    )
    ls.begin()
    ls.configure(params.initialization_options)


async def initialized(ls: Server, _: types.InitializedParams) -> None:
    """Ask for the editor's settings, where it has some to give."""
    await did_change_configuration(ls, None)


async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams | None) -> None:
    """The settings that came along, or else those that the editor gives when it is asked."""
    sent = params.settings if params is not None else None
    given = sent.get(SECTION) if isinstance(sent, dict) else None
    workspace = ls.client_capabilities.workspace
    if given is None and workspace and workspace.configuration:
        item = types.ConfigurationItem(section=SECTION)
        given = next(iter(await ls.workspace_configuration_async(types.ConfigurationParams([item]))), None)
    if given is not None:
        ls.configure(given)


def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """Check at once."""
    if document := ls.document(params.text_document.uri):
        ls.schedule(document, 0)


def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """The marks have moved already; check when there is a pause."""
    if document := ls.document(params.text_document.uri):
        ls.schedule(document)


def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Nothing is wrong any more in what nobody sees."""
    uri = params.text_document.uri
    ls.cancel(uri)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Fixes for what is marked in a range, and one for all that is sure."""
    document = ls.document(params.text_document.uri)
    if document is None:
        return []
    marks, only, actions = ls.marks(document), params.context.only, []
    if answers.wanted(only, types.CodeActionKind.QuickFix.value):
        words = ls.project(document).words_file is not None
        for mark in answers.touching(marks, *answers.offsets(document, params.range)):
            actions += answers.fixes(document, mark, ls.options.severity, ls.client_capabilities, project_words=words)
    if answers.wanted(only, answers.FIX_ALL):
        actions += answers.fix_all(document, marks, ls.options.fix_all_confidence, ls.client_capabilities)
    return actions


def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """What is marked at a place."""
    if document := ls.document(params.text_document.uri):
        at = document.places.offset(params.position.line, params.position.character)
        for mark in answers.touching(ls.marks(document), at, at):
            return answers.hover(document, mark, ls.client_capabilities)
    return None


def ignore(ls: Server, *args: Any) -> None:
    """edit-gec.ignore(uri, key): a correction that is never shown again, wherever that sentence stands."""
    _remember(ls, lambda: ls.memory.ignored.add(str(args[1])))


def add_word(ls: Server, *args: Any) -> None:
    """edit-gec.addToDictionary(word[, uri]): a word to leave alone, everywhere or in the project of that document."""
    word, *uri = map(str, args)
    document = ls.document(uri[0]) if uri else None
    _remember(ls, lambda: ls.memory.add_word(word, ls.project(document) if document else None))


def _remember(ls: Server, how: Callable[[], None]) -> None:
    """Keep something in mind, and show all documents without it."""
    try:
        how()
    except EditGecError as error:
        ls.told.discard(str(error))  # every attempt is answered
        ls.tell(error)
    for document in ls.documents():
        ls.publish(document)


def shutdown(server: Server, _: Any = None) -> None:
    """The editor says goodbye before it leaves."""
    server.left = True


def register(server: Server) -> None:
    """Make the server listen."""
    kinds: list[types.CodeActionKind | str] = [types.CodeActionKind.QuickFix, answers.FIX_ALL]
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
    server.command(answers.IGNORE)(ignore)
    server.command(answers.ADD_WORD)(add_word)
