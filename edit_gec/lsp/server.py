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
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from edit_gec.config.settings import Settings
from edit_gec.errors import EditGecError, InputError
from edit_gec.lsp import actions
from edit_gec.lsp.documents import Document, Mark
from edit_gec.lsp.options import Options, describe_unknown
from edit_gec.lsp.user_dictionary import UserDictionary, correction_key
from edit_gec.runtime.async_corrector import AsyncCorrector, SentenceResult
from edit_gec.text import formats, language_id
from edit_gec.text.annotated import plain, to_document_spans
from edit_gec.text.edits import contains_word, resolve_overlaps
from edit_gec.text.file_search import Patterns
from edit_gec.text.sentences import split
from edit_gec.version import version

if TYPE_CHECKING:
    from edit_gec.corrector import Corrector

DEBOUNCE_S = 0.3  # pause after the last change before a check begins
PUBLISH_S = 0.5  # at least, between two publications of one check
MAX_CHARACTERS = 1_000_000  # longer documents are not checked
JUDGED_CHARACTERS = 50_000  # from the start of a document; they decide whether it is English
_SURROGATE = re.compile(r"[\ud800-\udfff]")  # half a character; it has no UTF-8 form
log = logging.getLogger(__name__)


class Server(LanguageServer):
    """A language server. `load` runs in a thread and returns the corrector. Checks wait for it."""

    def __init__(self, load: Callable[[], Corrector], user_dictionary: UserDictionary, options: Options) -> None:
        super().__init__("edit-gec", version())
        self.load = load
        self.user_dictionary = user_dictionary
        self.options = options
        self.corrector: asyncio.Task[AsyncCorrector] | None = None
        self.checks: dict[str, asyncio.Task[None]] = {}  # by the URI of the document
        self.shown_errors: set[str] = set()
        self.has_shut_down = False

    def load_corrector(self) -> None:
        """Start to load the model. Requests are answered meanwhile."""

        async def load() -> AsyncCorrector:
            return AsyncCorrector(await asyncio.to_thread(self.load), max_waiting=1_000_000)

        self.corrector = asyncio.create_task(load())

    def open_documents(self) -> list[Document]:
        """All open documents."""
        return [document for document in self.workspace.text_documents.values() if isinstance(document, Document)]

    def find_document(self, uri: str) -> Document | None:
        """The open document with this URI, or None."""
        found = self.workspace.get_text_document(uri)
        return found if isinstance(found, Document) and found.version is not None else None

    def show_error(self, error: EditGecError) -> None:
        """Show an error to the user. The same error is shown once."""
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
        """Set the marks of a document, and publish finished paragraphs from time to time."""
        format = self._find_format(document)
        text = _SURROGATE.sub("\ufffd", document.source)
        if format is None or len(text) > MAX_CHARACTERS or not await asyncio.to_thread(_is_english, text, format):
            document.marks = ()
            return self.publish(document)
        done: list[Mark] = []
        waiting: list[SentenceResult] = []  # sentences that are not published yet
        published = time.monotonic()
        found = corrector.sentences(text, settings=self._settings(document), format=format)
        async with aclosing(found) as sentences:
            async for sentence in sentences:
                is_due = waiting and time.monotonic() - published > PUBLISH_S
                if is_due and text.count("\n", waiting[-1].end, sentence.start) > 1:  # another paragraph or comment
                    done += await self._make_marks(corrector, document, text, waiting)
                    end = waiting[-1].end
                    document.marks = (*done, *(mark for mark in document.marks if mark.start >= end))
                    self.publish(document)
                    waiting = []
                    published = time.monotonic()
                waiting.append(sentence)
        document.marks = (*done, *await self._make_marks(corrector, document, text, waiting))
        self.publish(document)

    def _find_format(self, document: Document) -> str | None:
        """The format of a document; None if it is not checked."""
        found = formats.find_format(document.language_id or "", document.path or "")
        is_left_out = not self.options.comments and (found or "").startswith("code/")
        is_left_out = is_left_out or self._is_excluded(document)
        return found if formats.is_understood(found) and not is_left_out else None

    def _is_excluded(self, document: Document) -> bool:
        """Whether the settings of the project exclude a document."""
        settings = self.project_settings(document)
        return bool(document.path) and Patterns(settings.exclude, settings.root).fit_below(document.path)

    def _settings(self, document: Document) -> Settings:
        """The settings of a document's project, overridden by those of the editor. Words apply when marks are shown."""
        asked = Settings(min_confidence=self.options.min_confidence, strictness=self.options.strictness)
        return replace(self.project_settings(document).override_with(asked), dictionary=())

    async def _make_marks(
        self, corrector: AsyncCorrector, document: Document, text: str, sentences: Sequence[SentenceResult]
    ) -> list[Mark]:
        """The marks of some sentences, with types and messages. `text` is the text of the document as it was read."""
        settings = self._settings(document)
        suggested = await corrector.suggest(text, sentences, settings, hints=self.options.hints)
        marks: list[Mark] = []
        for sentence in await corrector.explain(text, suggested):
            whole = text[sentence.start : sentence.end]
            found = resolve_overlaps((*sentence.edits, *(sentence.hints if self.options.hints else ())))
            for start, end, replacement, edit, others in to_document_spans(plain(text), found):
                key = correction_key(whole, edit.start - sentence.start, edit)
                marks.append(Mark(start, end, replacement, edit, key, others, edit in sentence.hints))
        return marks

    # ------------------------------------------------------------------------------------------ publishing

    def project_settings(self, document: Document) -> Settings:
        """The settings of a document's project. Faulty settings are reported and ignored."""
        try:
            return self.user_dictionary.projects.find_settings(document.path or "")
        except EditGecError as error:
            self.show_error(error)
            return Settings()

    def visible_marks(self, document: Document) -> list[Mark]:
        """The marks of a document without those that the user ignores."""
        listed = (*self.project_settings(document).dictionary, *self.options.dictionary)
        words = frozenset(map(str.casefold, listed))
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
        """Apply the settings that an editor sent, and check all documents again. Wrong ones are said."""
        if unknown := describe_unknown(given):
            self.show_error(InputError(unknown))
        try:
            self.options = self.options.with_settings(given)
        except EditGecError as error:
            self.show_error(error)
        for document in self.open_documents():
            self.schedule(document, 0)


def _is_english(text: str, format: str) -> bool:
    """Whether the prose at the start of a document is English."""
    prose = "\n".join(sentence.text for sentence in split(text[:JUDGED_CHARACTERS], format=format))
    return language_id.confidence(prose) >= language_id.MIN_ENGLISH
