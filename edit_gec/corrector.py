"""The whole path in one short class: START READING HERE.

    >>> from edit_gec import Corrector                                                     # doctest: +SKIP
    >>> corrector = Corrector.from_pretrained()                                            # doctest: +SKIP
    >>> corrector("She go home becuase she is tired.").corrected                           # doctest: +SKIP
    'She goes home because she is tired.'

    prepare   texts -> sentences (1) -> windows of pieces (2)
    predict   windows -> changes (3), by a predictor: an EdiT5, alone, judged or verified by another model
    finish    changes -> edits of the texts (4), by a projection -> corrections (5)

Text outside the edits is copied, never generated. Predictor and projection are chosen once, when the models are loaded
(loading.py). With a judge, the confidence of an edit is that of both models together. With `verify="exact"`, EdiT5
drafts and a T5 verifies: the edits are those that the T5 makes on its own, in a fraction of its time.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import DEFAULT_MODEL, find_pretrained
from edit_gec.config.load_settings import LoadSettings
from edit_gec.editing.document_edits import Projection
from edit_gec.editing.predictor import EdiT5Predictor, Predictor, Window, WindowChanges, join_changes
from edit_gec.errors import InputError
from edit_gec.loading import fit_projection, load_parts
from edit_gec.rules.dialect import check_dialect
from edit_gec.text.correction import (
    Correction,
    SentenceEdits,
    assemble_part,
    assemble_texts,
    check_correction,
    check_text,
    check_texts,
)
from edit_gec.text.stretches import NumberedSentence, Progress, Stretch, cut_stretches, group_texts, split_texts
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from edit_gec.config.load_settings import LoadKeywords
    from edit_gec.editing.alternatives import Suggester
    from edit_gec.editing.settling import Settling
    from edit_gec.text.sentences import Sentence

    Read = Callable[[Sequence[Sentence]], Sequence[WindowChanges]]

__all__ = ["Corrector", "Window", "WindowChanges"]


@dataclass(frozen=True, eq=False, repr=False)
class Corrector:
    """Loaded models, from texts to corrections. Immutable and thread-safe.

    folder: that of the EdiT5. settings: the arguments of `load`. presets: the lowest confidence of an edit, by names of
    strictness. batch_size: windows that are read together. workers: batches that are read at the same time.
    """

    predictor: Predictor
    projection: Projection
    _: KW_ONLY
    folder: Path
    settings: LoadSettings | None = None
    presets: Mapping[str, float] = field(default_factory=dict)
    batch_size: int = 32
    workers: int = 1

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
        """Load a model by name or folder; config.load_settings.LoadSettings says what the keywords mean.

        Raises InputError for wrong arguments, before torch is imported; ModelError for a model that is
        unknown or broken, DeviceError for a device that is not there.
        """
        settings = LoadSettings(model, **keywords)
        return cls(**load_parts(settings)._asdict(), settings=settings, batch_size=settings.batch_size)

    # ---------------------------------------------------------------- texts in, corrections out

    def __call__(self, text: str) -> Correction:
        """Short for `correct`."""
        return self.correct(text)

    def correct(self, text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown") -> Correction:
        """Correct one text. With `lines`, each line is one sentence.

        `format` is one of text.formats.UNDERSTOOD, or a programming language. Without `markup` the text is plain:
        all of it is prose. Raises InputError for a text that is not a string, and for an unknown format.
        """
        return self.correct_batch([check_text(text)], lines=lines, markup=markup, formats=[format])[0]

    def correct_batch(
        self,
        texts: Iterable[str],
        *,
        lines: bool = False,
        markup: bool = True,
        formats: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> list[Correction]:
        """Correct several texts together; `progress` is called with (characters done, characters in all).

        `formats` has one entry per text; by default all are Markdown. Raises InputError for a text that is not a
        string, for an unknown format, and if there are more or fewer formats than texts.
        """
        given = list(check_texts(texts))
        stretches = cut_stretches(given, formats, lines=lines, markup=markup)  # 1
        edits = (edit for stretch in stretches for edit in self.find_edits(given, stretch, progress))
        return assemble_texts(given, edits)  # 5

    def correct_in_stretches(
        self, text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown"
    ) -> Iterator[Correction]:
        """The correction of one text of any length, in consecutive stretches of about 200,000 characters.

        Memory holds the text, a few bytes for each of its characters, and one stretch. Raises InputError as `correct`
        does.
        """
        begin = 0
        for stretch in cut_stretches([check_text(text)], [format], lines=lines, markup=markup):
            found = self.find_edits([text], stretch)
            end = max(stretch.end, *(edit.end for sentence in found for edit in sentence.edits), 0)
            yield assemble_part(text, begin, end, found)
            begin = end
        if begin < len(text):  # nothing in it is prose
            yield assemble_part(text, begin, len(text), [])

    def stream(self, texts: Iterable[str], *, lines: bool = False, markup: bool = True) -> Iterator[Correction]:
        """The corrections of any number of texts, in order. Memory holds about 100,000 characters at a time.

        Raises InputError for a text that is not a string.
        """
        for group in group_texts(check_texts(texts)):
            yield from self.correct_batch(group, lines=lines, markup=markup)

    # ---------------------------------------------------------------- the stages

    def find_edits(
        self, texts: Sequence[str], stretch: Stretch, progress: Progress | None = None
    ) -> list[SentenceEdits]:
        """The edits of a stretch of sentences; `progress` counts characters of all texts."""
        windows = self.encode(stretch.sentences)
        return self.project(texts, windows, self.predict(windows, stretch.report_to(progress)))

    def prepare(
        self, texts: Sequence[str], *, lines: bool = False, markup: bool = True, formats: Sequence[str] = ()
    ) -> list[Window]:
        """The windows that the models read; arguments as for `correct_batch`."""
        return self.encode(split_texts(texts, formats, lines=lines, markup=markup))  # 1

    def encode(self, sentences: Iterable[NumberedSentence]) -> list[Window]:
        """The sentences in windows that the models can read at once (2)."""
        with span(Stage.TOKENIZE):
            return [
                Window(number, sentence, pieces)
                for number, sentence in sentences
                for pieces in self.predictor.encode(sentence.text)
            ]

    def predict(self, windows: Sequence[Window], progress: Progress | None = None) -> list[WindowChanges]:
        """What changes in each window (3). Windows of similar length make a batch; the longest are read first.

        `progress` is called with (windows done, windows in all) after each batch.
        """
        from edit_gec.editing.workers import map_batches  # numpy

        size = min(self.batch_size, -(-len(windows) // self.workers) or 1)  # something for every worker
        batches = self.edit5.group_by_length([window.pieces for window in windows], size)
        read = [[windows[n] for n in batch] for batch in batches]
        results = map_batches(self.predictor.predict, read, self.workers, self.edit5.network)
        found: dict[int, WindowChanges] = {}
        for batch, changes in zip(batches, results, strict=True):
            found.update(zip(batch, changes, strict=True))
            if progress:
                progress(len(found), len(windows))
        return [found[n] for n in range(len(windows))]

    def project(
        self,
        texts: Sequence[str],
        windows: Sequence[Window],
        changes: Sequence[WindowChanges],
        read: Read | None = None,
    ) -> list[SentenceEdits]:
        """The changes of windows as edits of their texts (4), one entry for each sentence.

        Changed sentences are read again, by `read` if it is given.
        """
        from edit_gec.editing.settling import settle_together

        texts_of: list[int] = []
        settling = []
        parts = zip(windows, changes, strict=True)
        for _, of_sentence in groupby(parts, key=lambda part: (part[0].text, id(part[0].sentence))):
            own, each = zip(*of_sentence, strict=True)
            texts_of.append(own[0].text)
            settling.append(self.settle(texts[own[0].text], own[0].sentence, join_changes(each)))
        found = settle_together(settling, read or self.read)
        return [SentenceEdits(text, *edits) for text, edits in zip(texts_of, found, strict=True)]

    def settle(self, text: str, sentence: Sentence, changes: WindowChanges) -> Settling:
        """The edits of a sentence of the text, from its changes and those of the sentences that are yielded."""
        from edit_gec.editing.settling import READINGS, settle

        return settle(self.projection, text, sentence, changes, READINGS if self.predictor.settles else 0)

    def read(self, sentences: Sequence[Sentence]) -> list[WindowChanges]:
        """What changes in each sentence."""
        windows = self.encode(NumberedSentence(n, sentence) for n, sentence in enumerate(sentences))
        found: list[list[WindowChanges]] = [[] for _ in sentences]
        for window, changes in zip(windows, self.predict(windows), strict=True):
            found[window.text].append(changes)
        return [join_changes(each) for each in found]

    def finish(
        self,
        texts: Sequence[str],
        windows: Sequence[Window],
        changes: Sequence[WindowChanges],
        read: Read | None = None,
    ) -> list[Correction]:
        """The changes of windows as corrections of their texts; `read` as for `project`."""
        return assemble_texts(texts, self.project(texts, windows, changes, read))  # 5

    # ---------------------------------------------------------------- what else may stand there

    def suggest(
        self, correction: Correction, *, lines: bool = False, markup: bool = True, format: str = "markdown"
    ) -> Correction:
        """The same correction with alternatives to its edits, and with hints.

        The text is read once more, as `correct` reads it with these arguments. With a target whose text is exact there
        are neither. Raises InputError for what is no correction, and for formats that are unknown.
        """
        check_correction(correction)
        suggester = self.suggester()
        if suggester is None:
            return correction
        sentences = split_texts([correction.text], [format], lines=lines, markup=markup)
        return suggester.extend(correction, [each.sentence for each in sentences])

    def suggester(self) -> Suggester | None:
        """What finds alternatives and hints, sentence by sentence; None beside a target whose text is exact."""
        if self.predictor.is_exact:
            return None
        from edit_gec.editing.alternatives import Suggester  # numpy

        return Suggester(self.edit5.network, self.edit5.tokens, self.edit5.thresholds, self.projection)

    # ---------------------------------------------------------------- copies and facts

    @property
    def edit5(self) -> EdiT5Predictor:
        """The EdiT5 that proposes, with its network, vocabulary and thresholds."""
        return self.predictor.edit5

    @property
    def min_confidence(self) -> float:
        """The lowest confidence of an edit."""
        return self.predictor.threshold

    def with_predictor(self, predictor: Predictor) -> Corrector:
        """A copy with another predictor, which can no longer be pickled."""
        projection = fit_projection(self.projection, predictor)
        return replace(self, predictor=predictor, projection=projection, settings=None)

    def with_thresholds(self, **given: float) -> Corrector:
        """A copy with other thresholds (editing/thresholds.py).

        Raises InputError for an unknown threshold, or a `min_confidence` that is not a probability.
        """
        return replace(self.with_predictor(self.predictor.with_thresholds(**given)), settings=self.settings)

    def with_settings(self, threshold: float | str | None, dialect: str | None) -> Corrector:
        """A copy with another threshold and dialect; None keeps the current one. A strictness is a threshold, too.

        Raises InputError for a threshold out of range, and for an unknown strictness or dialect.
        """
        check_dialect(dialect)
        least = self._find_preset(threshold) if isinstance(threshold, str) else threshold
        copy = self.with_thresholds(**{} if least is None else {"min_confidence": least})
        return replace(copy, projection=replace(copy.projection, dialect=dialect or self.projection.dialect))

    def _find_preset(self, strictness: str) -> float | None:
        """The threshold of a strictness; None for the current one, which a target's own text always keeps."""
        if strictness == "default" or self.predictor.is_exact:
            return None
        if strictness not in self.presets:
            raise InputError(f"strictness {strictness!r}: this model has no such threshold; give min_confidence")
        return self.presets[strictness]

    def __repr__(self) -> str:
        target = "" if self.settings is None or self.settings.target is None else f", target={self.settings.target!r}"
        where = f"backend={self.edit5.network.backend!r}, device={self.edit5.network.device!r}"
        return f"Corrector({self.folder.name!r}, {where}, min_confidence={self.min_confidence:g}{target})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.settings is None:
            raise pickle.PicklingError("expected a Corrector made by `load`, which is what it is pickled as")
        thresholds = {**asdict(self.edit5.thresholds), "min_confidence": self.min_confidence}
        words = {"dictionary": self.projection.dictionary, "dialect": self.projection.dialect}
        return _reload, (self.settings, thresholds, words, self.batch_size, self.workers)


def _reload(
    settings: LoadSettings, thresholds: dict[str, float], words: dict[str, Any], batch_size: int, workers: int
) -> Corrector:
    loaded = Corrector.load(**vars(settings)).with_thresholds(**thresholds)
    projection = replace(loaded.projection, **words)
    return replace(loaded, projection=projection, batch_size=batch_size, workers=workers)
