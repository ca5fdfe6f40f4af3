"""The whole path in one short class: START READING HERE.

    >>> from edit_gec import Corrector                                                     # doctest: +SKIP
    >>> corrector = Corrector.from_pretrained()                                            # doctest: +SKIP
    >>> corrector("She go home becuase she is tired.").corrected                           # doctest: +SKIP
    'She goes home because she is tired.'

    prepare   texts -> sentences (1) -> pieces (2)
    predict   pieces -> plans: tags, order, insertions (3) -> changes (4), read once more (5) or verified by a T5 (6)
    finish    changes of sentences -> edits of the texts (7)

What is not edited is never produced again. With a target, a T5 verifies what EdiT5 drafted, and the edits are the
target's own: those it would make alone, in a fraction of its time.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import DEFAULT_MODEL, find_pretrained
from edit_gec.speculative.loading import LoadSettings, load_models
from edit_gec.speculative.window_corrector import ModelWindow, SentenceChanges, WindowCorrector
from edit_gec.text.correction import Correction, assemble, check_text, check_texts
from edit_gec.text.edits import Change, Edit, contains_word
from edit_gec.text.formats import check_formats
from edit_gec.text.sentences import Sentence, split
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from edit_gec.speculative.loading import LoadKeywords

STREAMED_CHARACTERS = 100_000  # of the texts that `stream` corrects together


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Corrector(WindowCorrector):
    """A loaded model, from texts to corrections. It never changes, and several threads may use it."""

    folder: Path
    batch_size: int = 32
    workers: int = 1  # batches that are read at the same time
    dictionary: frozenset[str] = frozenset()  # words to leave alone, case folded

    @classmethod
    def from_pretrained(
        cls, model: str | Path = DEFAULT_MODEL, *, revision: str | None = None, **keywords: Unpack[LoadKeywords]
    ) -> Corrector:
        """`load` a model by name, by folder or by its id on the Hugging Face hub (owner/name, at a `revision`).

        Raises as `load` does, and ModelError where the hub has no such model.
        """
        return cls.load(find_pretrained(model, revision), **keywords)

    @classmethod
    def load(cls, model: str | Path = DEFAULT_MODEL, **keywords: Unpack[LoadKeywords]) -> Corrector:
        """Load a model by name or folder; speculative.loading.LoadSettings says what the keywords mean.

        Raises InputError for wrong arguments, before torch is imported; ModelError for an unknown model, DeviceError
        for a device that is not there, InputError or ModelError for a broken folder.
        """
        settings = LoadSettings(model, **keywords)
        parts = load_models(settings)
        corrector = cls(
            model=parts.model, tokens=parts.tokens, thresholds=parts.thresholds, spelling=parts.spelling,
            folder=parts.folder, batch_size=settings.batch_size, workers=parts.workers,
            dictionary=frozenset(word.casefold() for word in settings.dictionary),
        )  # fmt: skip
        if parts.verifier is not None:
            least = settings.min_confidence or 0.0
            corrector = replace(corrector.verified_by(parts.verifier), verified_confidence=least)
        return replace(corrector, settings=settings)

    # ---------------------------------------------------------------- texts in, corrections out

    def __call__(self, text: str) -> Correction:
        return self.correct(text)

    def correct(self, text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown") -> Correction:
        """Correct one text. `lines` takes each line as a text of its own. `format` is one of text.formats.UNDERSTOOD;
        without `markup` the text is plain, and nothing in it is left out.

        Raises InputError for what is no text, and for other formats.
        """
        return self.correct_batch([check_text(text)], lines=lines, markup=markup, formats=[format])[0]

    def correct_batch(
        self,
        texts: Iterable[str],
        *,
        lines: bool = False,
        markup: bool = True,
        formats: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Correction]:
        """Correct several texts together; `progress` is called with (windows done, windows in all).

        `formats` has one for each text; by default all are Markdown. Raises InputError for what is no text, and for
        formats that are unknown or not as many as the texts.
        """
        given = list(check_texts(texts))
        windows = self.prepare(given, lines=lines, markup=markup, formats=formats)
        changes = self.predict(windows, progress)
        return self.finish(given, windows, changes)

    def stream(self, texts: Iterable[str], *, lines: bool = False, markup: bool = True) -> Iterator[Correction]:
        """The corrections of any number of texts, in order. Some 100,000 characters are in memory at a time.

        Raises InputError for what is no text.
        """
        group: list[str] = []
        characters = 0
        for text in check_texts(texts):
            group.append(text)
            characters += len(text) + 1
            if characters >= STREAMED_CHARACTERS:
                yield from self.correct_batch(group, lines=lines, markup=markup)
                group, characters = [], 0
        yield from self.correct_batch(group, lines=lines, markup=markup)

    def prepare(
        self, texts: Sequence[str], *, lines: bool = False, markup: bool = True, formats: Sequence[str] = ()
    ) -> list[ModelWindow]:
        """What the model reads of the texts; `formats` as for `correct_batch`."""
        named = check_formats(formats, len(texts))
        with span(Stage.SPLIT):
            sentences = [
                split(text, lines=lines, markup=markup, format=format)
                for text, format in zip(texts, named, strict=True)
            ]  # 1
        with span(Stage.TOKENIZE):
            return [
                ModelWindow(number, sentence, pieces)
                for number, of_text in enumerate(sentences)
                for sentence in of_text
                for pieces in self.encode(sentence.text)  # 2
            ]

    def predict(
        self, windows: Sequence[ModelWindow], progress: Callable[[int, int], None] | None = None
    ) -> list[SentenceChanges]:
        """What changes in each window; those of similar length are read together, the longest first."""
        from edit_gec.editing.workers import is_small, map_batches

        size = min(self.batch_size, -(-len(windows) // self.workers) or 1)  # something for every worker
        batches = self.group_by_length([window.pieces for window in windows], size)
        read = [[windows[n].pieces for n in batch] for batch in batches]
        results = map_batches(self.correct_windows, read, self.workers, small=is_small(self.model))  # 3 to 6
        found: dict[int, SentenceChanges] = {}
        for batch, changes in zip(batches, results, strict=True):
            found.update(zip(batch, changes, strict=True))
            if progress:
                progress(len(found), len(windows))
        return [found[n] for n in range(len(windows))]

    def finish(
        self, texts: Sequence[str], windows: Sequence[ModelWindow], changes: Sequence[SentenceChanges]
    ) -> list[Correction]:
        """The changes of windows as corrections of their texts."""
        edits: list[list[Edit]] = [[] for _ in texts]
        refused: list[list[Edit]] = [[] for _ in texts]
        for window, each in zip(windows, changes, strict=True):
            made, left_out = self.to_document_edits(texts[window.text], window.sentence, each)  # 7
            edits[window.text] += made
            refused[window.text] += left_out
        with span(Stage.DETOKENIZE):
            return [assemble(*each) for each in zip(texts, edits, refused, strict=True)]

    def to_document_edits(
        self, text: str, sentence: Sentence, changes: SentenceChanges
    ) -> tuple[list[Edit], list[Edit]]:
        """The changes of a sentence as edits of its text, and the drafted edits that a target refused."""
        with span(Stage.REALIZE):
            drafted = self._project(text, sentence, changes.drafted)
        if changes.verified is None:
            return drafted, []
        from edit_gec.speculative.provenance import attribute_provenance

        with span(Stage.ALIGN):
            sure = [change for change in changes.verified if change[3] >= self.verified_confidence]
            return attribute_provenance(drafted, self._project(text, sentence, sure))

    def _project(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> list[Edit]:
        edits = (sentence.project(text, change) for change in changes)
        return [edit for edit in edits if edit and not contains_word(edit.original, self.dictionary)]

    # ---------------------------------------------------------------- as a value

    def __repr__(self) -> str:
        least = self.thresholds.min_confidence if self.verifier is None else self.verified_confidence
        target = "" if self.settings is None or self.settings.target is None else f", target={self.settings.target!r}"
        device = str(self.model.embedding.weight.device)
        return f"Corrector({self.folder.name!r}, device={device!r}, min_confidence={least:g}{target})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.settings is None:
            raise pickle.PicklingError("expected a Corrector made by `load`, which is what it is pickled as")
        names = ("thresholds", "verified_confidence", "batch_size", "workers", "dictionary")
        return _reload, (self.settings, {name: getattr(self, name) for name in names})


def _reload(settings: LoadSettings, values: dict[str, Any]) -> Corrector:
    return replace(Corrector.load(**vars(settings)), **values)
