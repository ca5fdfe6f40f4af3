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
from edit_gec.editing.document_edits import Projection
from edit_gec.speculative.loading import LoadSettings, load_models
from edit_gec.speculative.window_corrector import ModelWindow, SentenceChanges, WindowCorrector
from edit_gec.text.correction import Correction, assemble, check_text, check_texts
from edit_gec.text.edits import Edit
from edit_gec.text.formats import check_formats
from edit_gec.text.sentences import Sentence, split
from edit_gec.text.stretches import Found, cut_stretches, shift_progress
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from edit_gec.editing.alternatives import Suggester
    from edit_gec.speculative.loading import LoadKeywords

STREAMED_CHARACTERS = 100_000  # of the texts that `stream` corrects together


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Corrector(WindowCorrector):
    """A loaded model, from texts to corrections. It never changes, and several threads may use it."""

    folder: Path
    batch_size: int = 32
    workers: int = 1  # batches that are read at the same time
    dictionary: frozenset[str] = frozenset()  # words to leave alone, case folded
    dialect: str | None = None  # whose spelling a text is to have; without one each word stays on its side

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

        Raises InputError for wrong arguments, before torch is imported; ModelError for a model that is
        unknown or broken, DeviceError for a device that is not there.
        """
        settings = LoadSettings(model, **keywords)
        parts = load_models(settings)
        corrector = cls(
            network=parts.network, tokens=parts.tokens, thresholds=parts.thresholds, spelling=parts.spelling,
            folder=parts.folder, batch_size=settings.batch_size, workers=parts.workers,
            dictionary=frozenset(word.casefold() for word in settings.dictionary), dialect=settings.dialect,
        )  # fmt: skip
        if parts.verifier is not None:
            least = settings.min_confidence or 0.0
            corrector = replace(corrector.verified_by(parts.verifier), verified_confidence=least)
        return replace(corrector, settings=settings)

    def with_settings(self, min_confidence: float | None, dialect: str | None) -> Corrector:
        """The same for another threshold and dialect; None keeps its own. Raises InputError for a wrong threshold."""
        given = {} if min_confidence is None else {"min_confidence": min_confidence}
        return replace(self.with_thresholds(**given), dialect=dialect or self.dialect)

    # ---------------------------------------------------------------- texts in, corrections out

    def __call__(self, text: str) -> Correction:
        """As `correct`."""
        return self.correct(text)

    def correct(self, text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown") -> Correction:
        """Correct one text. `lines` takes each line as a text of its own. `format` is one of text.formats.UNDERSTOOD,
        or a programming language; without `markup` the text is plain, and nothing in it is left out.

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
        """Correct several texts together; `progress` is called with (sentences done, sentences in all).

        `formats` has one for each text; by default all are Markdown. Raises InputError for what is no text, and for
        formats that are unknown or not as many as the texts.
        """
        given = list(check_texts(texts))
        found = [Found(text, [], []) for text in given]
        for done, stretch, left in cut_stretches(self._split(given, lines=lines, markup=markup, formats=formats)):
            windows = self._encode(stretch)
            changes = self.predict(windows, progress and shift_progress(progress, done, len(stretch), left))
            self._collect(found, windows, changes)
        with span(Stage.DETOKENIZE):
            return [assemble(*each) for each in found]

    def correct_in_stretches(
        self, text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown"
    ) -> Iterator[Correction]:
        """The correction of one text of any length, one stretch of some 200,000 characters after the other.

        The stretches follow each other without a gap. Beside the text, memory is taken for one of them and for all
        sentences: 19 bytes for each character of prose. Raises InputError as `correct` does.
        """
        sentences = self._split([check_text(text)], lines=lines, markup=markup, formats=[format])
        begin = 0
        for _, stretch, left in cut_stretches(sentences):
            found = [Found(text, [], [])]
            windows = self._encode(stretch)
            self._collect(found, windows, self.predict(windows))
            end = len(text) if not left else max([stretch[-1][1].offsets[-1], *(edit.end for edit in found[0].edits)])
            yield assemble(*found[0].between(begin, end))
            begin = end
        if begin < len(text):  # nothing in it is prose
            yield assemble(text[begin:], ())

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

    def suggest(
        self, correction: Correction, *, lines: bool = False, markup: bool = True, format: str = "markdown"
    ) -> Correction:
        """The same correction with alternatives to its edits, and with hints.

        The text is read once more, as `correct` reads it with these arguments. With a target there are neither: its
        text is the only one. Raises InputError for formats that are unknown.
        """
        if self.verifier is not None:
            return correction
        suggester, text = self.suggester(), correction.text
        edits = {edit.span: edit for edit in correction.edits}
        hints: list[Edit] = []
        for _, sentence in self._split([text], lines=lines, markup=markup, formats=[format]):
            inside = [edit for edit in edits.values() if sentence.holds(edit)]
            suggested = suggester.suggest(text, sentence, inside, hints=True)
            edits.update((edit.span, edit) for edit in suggested.edits)
            hints += suggested.hints
        return assemble(text, edits.values(), correction.refused, hints)

    def suggester(self) -> Suggester:
        """What finds alternatives and hints, sentence by sentence."""
        from edit_gec.editing.alternatives import Suggester

        return Suggester(self.network, self.tokens, self.thresholds, self._projection())

    def _projection(self) -> Projection:
        return Projection(self.spelling, self.dictionary, self.dialect, self.thresholds.min_confidence)

    def prepare(
        self, texts: Sequence[str], *, lines: bool = False, markup: bool = True, formats: Sequence[str] = ()
    ) -> list[ModelWindow]:
        """What the model reads of the texts; `formats` as for `correct_batch`."""
        return self._encode(self._split(texts, lines=lines, markup=markup, formats=formats))

    def _split(
        self, texts: Sequence[str], *, lines: bool, markup: bool, formats: Sequence[str]
    ) -> list[tuple[int, Sentence]]:
        """The sentences of the texts, each with the number of its text."""
        named = check_formats(formats, len(texts))
        with span(Stage.SPLIT):
            return [
                (number, sentence)
                for number, (text, format) in enumerate(zip(texts, named, strict=True))
                for sentence in split(text, lines=lines, markup=markup, format=format)
            ]  # 1

    def _encode(self, sentences: Sequence[tuple[int, Sentence]]) -> list[ModelWindow]:
        with span(Stage.TOKENIZE):
            return [
                ModelWindow(number, sentence, pieces)
                for number, sentence in sentences
                for pieces in self.encode(sentence.text)  # 2
            ]

    def predict(
        self, windows: Sequence[ModelWindow], progress: Callable[[int, int], None] | None = None
    ) -> list[SentenceChanges]:
        """What changes in each window; those of similar length are read together, the longest first."""
        from edit_gec.editing.workers import map_batches

        size = min(self.batch_size, -(-len(windows) // self.workers) or 1)  # something for every worker
        batches = self.group_by_length([window.pieces for window in windows], size)
        read = [[windows[n].pieces for n in batch] for batch in batches]
        results = map_batches(self.correct_windows, read, self.workers, self.network)  # 3 to 6
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
        found = [Found(text, [], []) for text in texts]
        self._collect(found, windows, changes)
        with span(Stage.DETOKENIZE):
            return [assemble(*each) for each in found]

    def _collect(
        self, found: Sequence[Found], windows: Sequence[ModelWindow], changes: Sequence[SentenceChanges]
    ) -> None:
        """Add the changes of windows to what was found in their texts."""
        for window, each in zip(windows, changes, strict=True):
            of_text = found[window.text]
            made, left_out = self.to_document_edits(of_text.text, window.sentence, each)  # 7
            of_text.edits.extend(made)
            of_text.refused.extend(left_out)

    def to_document_edits(
        self, text: str, sentence: Sentence, changes: SentenceChanges
    ) -> tuple[list[Edit], list[Edit]]:
        """The changes of a sentence as edits of its text, and the drafted edits that a target refused."""
        projection = self._projection()
        with span(Stage.REALIZE):
            drafted = projection.choose(text, sentence, changes.drafted)
            respelt = projection.respell(text, sentence)
        if changes.verified is None:
            return drafted + respelt, []
        from edit_gec.speculative.provenance import attribute_provenance

        with span(Stage.ALIGN):
            sure = [change for change in changes.verified if change.confidence >= self.verified_confidence]
            edits, refused = attribute_provenance(drafted, projection.project(text, sentence, sure))
            return edits + respelt, refused

    # ---------------------------------------------------------------- as a value

    def __repr__(self) -> str:
        least = self.thresholds.min_confidence if self.verifier is None else self.verified_confidence
        target = "" if self.settings is None or self.settings.target is None else f", target={self.settings.target!r}"
        where = f"backend={self.network.backend!r}, device={self.network.device!r}"
        return f"Corrector({self.folder.name!r}, {where}, min_confidence={least:g}{target})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.settings is None:
            raise pickle.PicklingError("expected a Corrector made by `load`, which is what it is pickled as")
        names = ("thresholds", "verified_confidence", "batch_size", "workers", "dictionary", "dialect")
        return _reload, (self.settings, {name: getattr(self, name) for name in names})


def _reload(settings: LoadSettings, values: dict[str, Any]) -> Corrector:
    return replace(Corrector.load(**vars(settings)), **values)
