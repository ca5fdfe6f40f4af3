"""The whole path in one short class: START READING HERE.

    >>> from edit_gec import Corrector                                                     # doctest: +SKIP
    >>> corrector = Corrector.from_pretrained()                                            # doctest: +SKIP
    >>> corrector("She go home becuase she is tired.").corrected                           # doctest: +SKIP
    'She goes home because she is tired.'

    prepare   texts -> sentences (1) -> pieces (2)
    predict   pieces -> plans: tags, order, insertions (3) -> changes (4) -> second pass (5), a T5 judges (6)
    finish    changes of sentences -> edits of the texts (7)

Text outside the edits is copied, never generated. With a target, the confidence of an edit is that of EdiT5 and of a
T5 together. With `verify="exact"`, EdiT5 drafts and the T5 verifies: the edits are those that the T5 makes on its own,
in a fraction of its time.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import DEFAULT_MODEL, find_pretrained
from edit_gec.speculative.loading import LoadSettings, load_models
from edit_gec.speculative.text_corrector import TextCorrector
from edit_gec.text.correction import (
    Correction,
    SentenceEdits,
    assemble_part,
    assemble_texts,
    check_correction,
    check_text,
    check_texts,
)
from edit_gec.text.stretches import Progress, Stretch, cut_stretches, group_texts, split_texts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from edit_gec.speculative.loading import LoadKeywords
    from edit_gec.speculative.window_corrector import ModelWindow, SentenceChanges


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Corrector(TextCorrector):
    """A loaded model, from texts to corrections. Immutable and thread-safe."""

    folder: Path
    presets: Mapping[str, float] = field(default_factory=dict)  # strictness: lowest confidence of an edit

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
            folder=parts.folder, presets=parts.presets, batch_size=settings.batch_size, workers=parts.workers,
            dictionary=frozenset(word.casefold() for word in settings.dictionary), dialect=settings.dialect,
            second_opinion=parts.second_opinion,
        )  # fmt: skip
        if parts.verifier is not None:
            lowest = settings.min_confidence or 0.0
            corrector = replace(corrector.verified_by(parts.verifier), verified_confidence=lowest)
        return replace(corrector, settings=settings)

    # ---------------------------------------------------------------- texts in, corrections out

    def __call__(self, text: str) -> Correction:
        """Short for `correct`."""
        return self.correct(text)

    def correct(self, text: str, *, lines: bool = False, markup: bool = True, format: str = "markdown") -> Correction:
        """Correct one text. With `lines`, each line is a text of its own.

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
        stretches = cut_stretches(given, formats, lines=lines, markup=markup)
        edits = (edit for stretch in stretches for edit in self.find_edits(given, stretch, progress))
        return assemble_texts(given, edits)

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

    def find_edits(
        self, texts: Sequence[str], stretch: Stretch, progress: Progress | None = None
    ) -> list[SentenceEdits]:
        """The edits of a stretch of sentences; `progress` counts characters of all texts."""
        windows = self.encode_windows(stretch.sentences)  # 2
        return self.project(texts, windows, self.predict(windows, stretch.report_to(progress)))

    # ---------------------------------------------------------------- the stages

    def suggest(
        self, correction: Correction, *, lines: bool = False, markup: bool = True, format: str = "markdown"
    ) -> Correction:
        """The same correction with alternatives to its edits, and with hints.

        The text is read once more, as `correct` reads it with these arguments. With a target there are neither: its
        text is the only one. Raises InputError for what is no correction, and for formats that are unknown.
        """
        check_correction(correction)
        if self.verifier is not None:
            return correction
        sentences = split_texts([correction.text], [format], lines=lines, markup=markup)
        return self.suggester().extend(correction, [sentence for _, sentence in sentences])

    def prepare(
        self, texts: Sequence[str], *, lines: bool = False, markup: bool = True, formats: Sequence[str] = ()
    ) -> list[ModelWindow]:
        """The windows that the model reads; arguments as for `correct_batch`."""
        return self.encode_windows(split_texts(texts, formats, lines=lines, markup=markup))  # 1, 2

    def predict(self, windows: Sequence[ModelWindow], progress: Progress | None = None) -> list[SentenceChanges]:
        """What changes in each window (3 to 6); `progress` is called with (windows done, windows in all)."""
        return self.correct_all([window.pieces for window in windows], progress)

    def finish(
        self, texts: Sequence[str], windows: Sequence[ModelWindow], changes: Sequence[SentenceChanges]
    ) -> list[Correction]:
        """The changes of windows as corrections of their texts."""
        return assemble_texts(texts, self.project(texts, windows, changes))

    # ---------------------------------------------------------------- as a value

    def __repr__(self) -> str:
        lowest = self.thresholds.min_confidence if self.verifier is None else self.verified_confidence
        target = "" if self.settings is None or self.settings.target is None else f", target={self.settings.target!r}"
        where = f"backend={self.network.backend!r}, device={self.network.device!r}"
        return f"Corrector({self.folder.name!r}, {where}, min_confidence={lowest:g}{target})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.settings is None:
            raise pickle.PicklingError("expected a Corrector made by `load`, which is what it is pickled as")
        names = ("thresholds", "verified_confidence", "batch_size", "workers", "dictionary", "dialect")
        return _reload, (self.settings, {name: getattr(self, name) for name in names})


def _reload(settings: LoadSettings, values: dict[str, Any]) -> Corrector:
    return replace(Corrector.load(**vars(settings)), **values)
