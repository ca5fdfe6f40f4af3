"""When to check a document, and which marks to publish. handlers.py answers the editor.

The model runs in threads of its own. A change cancels the check of its document and starts another after a pause.
Sentences that were checked before, in any document, are not checked again. Marks of a new document are published
paragraph by paragraph. Requests are answered at once from the marks so far, and saving starts nothing.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from edit_gec.config import Settings
from edit_gec.errors import EditGecError, InputError
from edit_gec.lsp import actions
from edit_gec.lsp.documents import Document, Mark
from edit_gec.lsp.options import Options
from edit_gec.lsp.user_dictionary import UserDictionary, correction_key
from edit_gec.runtime.async_corrector import AsyncCorrector, SentenceResult
from edit_gec.text import language_id
from edit_gec.text.annotated import NOWHERE, Annotated, to_document_spans
from edit_gec.text.edits import Edit, contains_word, resolve_overlaps
from edit_gec.text.prose import prose
from edit_gec.version import version

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

DEBOUNCE_S = 0.3  # without a change, before a check begins
PUBLISH_S = 0.5  # between two publications of the same check
MAX_CHARACTERS = 1_000_000  # of a document that is checked
_PARAGRAPH = re.compile(r"\n\s*\n")
_SURROGATE = re.compile(r"[\ud800-\udfff]")  # half a character, which has no UTF-8
log = logging.getLogger(__name__)


class Server(LanguageServer):
    """A language server. `load` returns the corrector and runs in a thread; checks wait for it."""

    def __init__(self, load: Callable[[], Corrector], user_dictionary: UserDictionary, options: Options) -> None:
        super().__init__("edit-gec", version())
        self.load = load
        self.user_dictionary = user_dictionary
        self.options = options
        self.corrector: asyncio.Task[AsyncCorrector] | None = None
        self.checks: dict[str, asyncio.Task[None]] = {}  # by the address of the document
        self.shown_errors: set[str] = set()
        self.has_shut_down = False

    def load_corrector(self) -> None:
        """Start to load the model; the editor is answered meanwhile."""

        async def load() -> AsyncCorrector:
            return AsyncCorrector(await asyncio.to_thread(self.load), max_waiting=1_000_000)

        self.corrector = asyncio.create_task(load())

    def open_documents(self) -> list[Document]:
        """All open documents."""
        return [document for document in self.workspace.text_documents.values() if isinstance(document, Document)]

    def find_document(self, uri: str) -> Document | None:
        """The open document of this address, if there is one."""
        found = self.workspace.get_text_document(uri)
        return found if isinstance(found, Document) and found.version is not None else None

    def show_error(self, error: EditGecError) -> None:
        """Show an error to the user, once."""
        if str(error) not in self.shown_errors:
            self.shown_errors.add(str(error))
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"edit-gec: {error}"))

    # ------------------------------------------------------------------------------------------ checks

    def schedule(self, document: Document, delay: float = DEBOUNCE_S) -> None:
        """Check a document after `delay` seconds, unless it changes again."""
        self.cancel(document.uri)
        self.checks[document.uri] = asyncio.create_task(self._check(document, delay))

    def cancel(self, uri: str) -> None:
        """Stop checking a document."""
        task = self.checks.pop(uri, None)
        if task is not None:
            task.cancel()

    async def _check(self, document: Document, delay: float) -> None:
        try:
            await asyncio.sleep(delay)
            assert self.corrector is not None
            await self._find_marks(await asyncio.shield(self.corrector), document)
        except EditGecError as error:
            self.show_error(error)
        except Exception as error:
            log.exception("checking %s failed", document.uri)
            self.show_error(
                InputError(f"a check failed with {type(error).__name__}; see the log of the language server")
            )

    async def _find_marks(self, corrector: AsyncCorrector, document: Document) -> None:
        """Set the marks of a document, and publish now and then what is done."""
        view = await asyncio.to_thread(self._extract_prose, document)
        if view is None or language_id.confidence(view.view) < language_id.MIN_ENGLISH:
            document.marks = ()
            return self.publish(document)
        done: list[Mark] = []
        waiting: list[SentenceResult] = []  # sentences that are not published yet
        published = time.monotonic()
        async with aclosing(corrector.sentences(view.view, min_confidence=self._min_confidence(document))) as sentences:
            async for sentence in sentences:
                is_due = waiting and time.monotonic() - published > PUBLISH_S
                if is_due and _PARAGRAPH.search(view.view, waiting[-1].end, sentence.start):
                    done += await self._make_marks(corrector, view, waiting)
                    end = _document_offset(view, waiting[-1].end)
                    document.marks = (*done, *(mark for mark in document.marks if mark.start >= end))
                    self.publish(document)
                    waiting = []
                    published = time.monotonic()
                waiting.append(sentence)
        document.marks = (*done, *await self._make_marks(corrector, view, waiting))
        self.publish(document)

    def _extract_prose(self, document: Document) -> Annotated | None:
        text = _SURROGATE.sub("\ufffd", document.source)
        if len(text) > MAX_CHARACTERS:
            return None
        return prose(text, document.language_id or "", document.path or "", code=self.options.comments)

    def _min_confidence(self, document: Document) -> float | None:
        """The least confidence of an edit; None means the model's own."""
        own = self.options.min_confidence
        return self.project_settings(document).min_confidence if own is None else own

    async def _make_marks(
        self, corrector: AsyncCorrector, view: Annotated, sentences: Sequence[SentenceResult]
    ) -> list[Mark]:
        """The marks of some sentences, with their types and messages."""
        keys: dict[Edit, str] = {}
        edits: list[Edit] = []
        for sentence in await corrector.explain(view.view, sentences):
            text = view.view[sentence.start : sentence.end]
            for edit in sentence.edits:
                keys[edit] = correction_key(text, edit.start - sentence.start, edit)
                edits.append(edit)
        return [
            Mark(start, end, replacement, edit, keys[edit])
            for start, end, replacement, edit in to_document_spans(view, resolve_overlaps(edits))
        ]

    # ------------------------------------------------------------------------------------------ publishing

    def project_settings(self, document: Document) -> Settings:
        """The settings of the project that a document is in. An error in them is shown, and they are left out."""
        try:
            return self.user_dictionary.project(document.path or "")
        except EditGecError as error:
            self.show_error(error)
            return Settings()

    def visible_marks(self, document: Document) -> list[Mark]:
        """The marks of a document without those that the user ignores."""
        words = self.user_dictionary.words(self.project_settings(document)).union(
            map(str.casefold, self.options.dictionary)
        )
        ignored = self.user_dictionary.ignored.read()
        return [
            mark for mark in document.marks if mark.key not in ignored and not contains_word(mark.edit.original, words)
        ]

    def publish(self, document: Document) -> None:
        """Send a document's diagnostics."""
        found = [
            actions.make_diagnostic(document, mark, self.options.severity) for mark in self.visible_marks(document)
        ]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, found, version=document.version)
        )

    def configure(self, given: Any) -> None:
        """Take the settings that an editor sent, and check all documents again."""
        try:
            self.options = self.options.with_settings(given)
        except EditGecError as error:
            self.show_error(error)
        for document in self.open_documents():
            self.schedule(document, 0)


def _document_offset(view: Annotated, end: int) -> int:
    """The offset in the document behind view[:end]."""
    return next((at + 1 for at in reversed(view.offsets[:end]) if at != NOWHERE), 0)
