"""When to check a document, and what of it to show. handlers.py hears what the editor says.

The model runs in threads of the checker. A change cancels the check of its document and starts another after a pause;
sentences that were checked before, in whatever document, are not checked again. A new document is shown paragraph by
paragraph as it gets done. Requests are answered at once from what is known; nothing happens on save.
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
from edit_gec.lsp.user_dictionary import Memory, key
from edit_gec.runtime.async_corrector import AsyncCorrector, SentenceResult
from edit_gec.server.languagetool import placed
from edit_gec.text import language_id
from edit_gec.text.annotated import NOWHERE, Annotated
from edit_gec.text.edits import contains_word, resolve_overlaps
from edit_gec.text.prose import prose
from edit_gec.version import version

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

DEBOUNCE_S = 0.3  # without a change before a check begins
SHOW_S = 0.5  # a long document is shown as it gets done, this often
LONGEST = 1_000_000  # characters of a document that is checked
SILENT = 0.5  # a text that is less surely English is left alone
_PARAGRAPH = re.compile(r"\n\s*\n")
_SURROGATE = re.compile(r"[\ud800-\udfff]")  # half a character, which no model can read
log = logging.getLogger(__name__)


class Server(LanguageServer):
    """A language server. `load` gives the corrector, in a thread; documents wait until it is there."""

    def __init__(self, load: Callable[[], Corrector], memory: Memory, options: Options) -> None:
        super().__init__("edit-gec", version())
        self.load, self.memory, self.options = load, memory, options
        self.checker: asyncio.Task[AsyncCorrector] | None = None
        self.checks: dict[str, asyncio.Task[None]] = {}
        self.told: set[str] = set()
        self.left = False  # in order, by shutdown

    def begin(self) -> None:
        """Load the model; the editor is answered meanwhile."""

        async def checker() -> AsyncCorrector:
            return AsyncCorrector(await asyncio.to_thread(self.load), max_waiting=1_000_000)

        self.checker = asyncio.create_task(checker())

    def documents(self) -> list[Document]:
        """All that are open."""
        return [document for document in self.workspace.text_documents.values() if isinstance(document, Document)]

    def document(self, uri: str) -> Document | None:
        """An open document."""
        found = self.workspace.get_text_document(uri)
        return found if isinstance(found, Document) and found.version is not None else None

    def tell(self, error: EditGecError) -> None:
        """Show an error, once."""
        if str(error) not in self.told:
            self.told.add(str(error))
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"edit-gec: {error}"))

    # ------------------------------------------------------------------------------------------ checks

    def schedule(self, document: Document, delay: float = DEBOUNCE_S) -> None:
        """Check a document after `delay` seconds, unless it changes again."""
        self.cancel(document.uri)
        self.checks[document.uri] = asyncio.create_task(self._check(document, delay))

    def cancel(self, uri: str) -> None:
        """Stop checking a document."""
        if task := self.checks.pop(uri, None):
            task.cancel()

    async def _check(self, document: Document, delay: float) -> None:
        try:
            await asyncio.sleep(delay)
            assert self.checker is not None
            await self._mark(await asyncio.shield(self.checker), document)
        except EditGecError as error:
            self.tell(error)
        except Exception as error:
            log.exception("checking %s failed", document.uri)
            self.tell(InputError(f"a check failed with {type(error).__name__}; see the log of the language server"))

    async def _mark(self, checker: AsyncCorrector, document: Document) -> None:
        """Find the marks of a document, publishing what is done now and then."""
        view = await asyncio.to_thread(self._view, document)
        if view is None or language_id.confidence(view.view) < SILENT:
            document.marks = ()
            return self.publish(document)
        done: list[Mark] = []
        together: list[SentenceResult] = []
        shown = time.monotonic()
        async with aclosing(checker.sentences(view.view, min_confidence=self._confidence(document))) as sentences:
            async for sentence in sentences:
                late = together and time.monotonic() - shown > SHOW_S
                if late and _PARAGRAPH.search(view.view, together[-1].end, sentence.start):
                    done += await self._marks(checker, view, together)
                    end = _place(view, together[-1].end)
                    document.marks = (*done, *(mark for mark in document.marks if mark.start >= end))
                    self.publish(document)
                    together, shown = [], time.monotonic()
                together.append(sentence)
        document.marks = (*done, *await self._marks(checker, view, together))
        self.publish(document)

    def _view(self, document: Document) -> Annotated | None:
        text = _SURROGATE.sub("\ufffd", document.source)
        if len(text) > LONGEST:
            return None
        return prose(text, document.language_id or "", document.path or "", code=self.options.comments)

    def _confidence(self, document: Document) -> float | None:
        """The confidence that an edit must have; None leaves that to the model."""
        own = self.options.min_confidence
        return self.project(document).min_confidence if own is None else own

    async def _marks(self, checker: AsyncCorrector, view: Annotated, sentences: Sequence[SentenceResult]) -> list[Mark]:
        """The marks of some sentences, with their types and messages."""
        keys, edits = {}, []
        for sentence in await checker.explain(view.view, sentences):
            text = view.view[sentence.start : sentence.end]
            for edit in sentence.edits:
                keys[edit] = key(text, edit.start - sentence.start, edit)
                edits.append(edit)
        return [
            Mark(start, end, shown.replacement, edit, keys[edit])
            for start, end, shown, edit in placed(view, resolve_overlaps(edits), lambda _: True)
        ]

    # ------------------------------------------------------------------------------------------ what is shown

    def project(self, document: Document) -> Settings:
        """The settings of the project that a document is in; wrong ones are told, and as if there were none."""
        try:
            return self.memory.project(document.path or "")
        except EditGecError as error:
            self.tell(error)
            return Settings()

    def marks(self, document: Document) -> list[Mark]:
        """The marks of a document without what somebody chose to leave alone."""
        words = self.memory.words(self.project(document)).union(map(str.casefold, self.options.dictionary))
        ignored = self.memory.ignored.read()
        return [
            mark for mark in document.marks if mark.key not in ignored and not contains_word(mark.edit.original, words)
        ]

    def publish(self, document: Document) -> None:
        """Send a document's diagnostics."""
        found = [actions.diagnostic(document, mark, self.options.severity) for mark in self.marks(document)]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, found, version=document.version)
        )

    def configure(self, given: Any) -> None:
        """Take over what the editor sets, and check anew."""
        try:
            self.options = self.options.update(given)
        except EditGecError as error:
            self.tell(error)
        for document in self.documents():
            self.schedule(document, 0)


def _place(view: Annotated, end: int) -> int:
    """The document's offset behind view[:end]."""
    return next((at + 1 for at in reversed(view.offsets[:end]) if at != NOWHERE), 0)
