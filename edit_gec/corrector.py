"""The whole path in one short class: START READING HERE.

    >>> from edit_gec import Corrector                                                     # doctest: +SKIP
    >>> corrector = Corrector.load()                                                       # doctest: +SKIP
    >>> corrector.correct("She go home becuase its late.").corrected                       # doctest: +SKIP
    'She goes home because it's late.'

Text is split into sentences (1), sentences into pieces (2); the model tags, points and writes insertions (3, 4); plans
become edits of the sentence (5), which is then read once more, and of the document (7). What is not edited is never
produced again. With a `target`, a T5 verifies what EdiT5 drafted (6), and the edits are the target's own: those it
would make alone, in a fraction of its time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from edit_gec.catalog import DEFAULT_MODEL, find_model
from edit_gec.editing.batching import CPU_BATCH_OVERHEAD, GPU_BATCH_OVERHEAD, plan_batches
from edit_gec.errors import DeviceError, InputError, ModelError
from edit_gec.text.edits import Change, Edit, apply, minimal, whole_words
from edit_gec.text.sentences import Sentence, split
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from torch import Tensor

    from edit_gec.editing.decode import Prediction
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import Thresholds
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Pieces, Tokens
    from edit_gec.speculative.target import Encoded
    from edit_gec.speculative.verifier import Verifier

VERIFY = ("always", "auto")
DTYPES = ("float32", "bfloat16", "float16")
NARROW = 1 << 20  # weights of a layer up to which a sentence is not worth a second thread (edit5-mini: 180k)
_WORD = re.compile(r"[^\W_]+(?:[-'’_.][^\W_]+)*")


@dataclass(frozen=True)
class Correction:
    """A text, its corrected form and the edits between them (code points of `text`).

    `refused` are edits that EdiT5 drafted and a target did not make; they are not in `corrected`.
    """

    text: str
    corrected: str
    edits: tuple[Edit, ...]
    refused: tuple[Edit, ...] = ()


class Found(NamedTuple):
    """What changes in a sentence: what EdiT5 drafts, and what a target makes of it, where there is one."""

    drafted: tuple[Change, ...]
    verified: tuple[Change, ...] | None = None


@dataclass(frozen=True)
class Window:
    """A stretch of pieces that the model reads at once: a sentence, or a part of an overlong one."""

    text: int  # which of the texts
    sentence: Sentence
    pieces: Pieces


class Corrector:
    """A loaded model and its decisions. Build one with `load`; it may be used for any number of texts."""

    def __init__(
        self,
        model: EdiT5,
        tokens: Tokens,
        options: Thresholds,
        *,
        folder: Path,
        batch_size: int = 32,
        dictionary: Iterable[str] = (),
        verifier: Verifier | None = None,
        workers: int = 1,
        spelling: WordList | None = None,
    ) -> None:
        self.model, self.tokens, self.options, self.folder = model, tokens, options, folder
        self.batch_size, self.verifier, self.workers = batch_size, verifier, workers
        self.dictionary = frozenset(word.casefold() for word in dictionary)
        self.spelling = spelling
        self.narrow = model.config.d_model * model.config.d_ff < NARROW

    @classmethod
    def load(
        cls,
        model: str | Path = DEFAULT_MODEL,
        *,
        device: str = "cpu",
        dtype: str = "float32",
        threads: int | None = None,
        min_confidence: float | None = None,
        batch_size: int = 32,
        dictionary: Iterable[str] = (),
        target: str | Path | None = None,
        target_prefix: str | None = None,
        verify: str = "always",
        lenience: float = 1.0,
    ) -> Corrector:
        """Load a model by name or folder. `min_confidence` (0 to 1) replaces the model's own threshold.

        With a `target` it is the least probability of an edit, 0 by default; drafts follow thresholds that suit it.
        `target`, a T5 folder or one of our names, verifies every sentence; `target_prefix` is what it wants before each
        ("grammar: "), if its config.json does not say so. Two ways to save time at the price of exactness: `verify`
        "auto" verifies only what the model edits or doubts; `lenience` below 1 lets drafted words pass that have this
        share of the probability of the target's own. Raises ModelError for an unknown model or a broken folder,
        DeviceError for a device that is not there, InputError for other arguments.
        """
        folder = find_model(model)  # before torch is imported: a typing error is answered at once
        target_folder = None if target is None else find_model(target)
        import torch

        from edit_gec.editing.lexicon import WordList
        from edit_gec.editing.thresholds import load_thresholds
        from edit_gec.modeling.edit5 import EdiT5
        from edit_gec.modeling.tokenizer import Tokens

        if verify not in VERIFY or not 0 < lenience <= 1:
            raise InputError(f"verify {verify!r}, lenience {lenience}: {' or '.join(VERIFY)}, and above 0 up to 1")
        if dtype not in DTYPES:
            raise InputError(f"dtype {dtype}: {', '.join(DTYPES)} are known")
        try:
            kind = torch.device(device).type
        except RuntimeError:
            raise DeviceError(f"device {device}: cpu, cuda or cuda:0 and so on is wanted") from None
        if kind == "cuda" and not torch.cuda.is_available():
            raise DeviceError(f"device {device}: this torch sees no GPU; leave --device out to use the CPU")
        if threads:
            torch.set_num_threads(threads)
        network = EdiT5.load(folder, getattr(torch, dtype)).to(device)
        own = {} if min_confidence is None or target_folder is not None else {"min_confidence": min_confidence}
        tokens = Tokens.load(folder, network.config.slots)
        if tokens.size != network.config.vocab_size:
            given, wanted = tokens.size, network.config.vocab_size
            raise ModelError(f"{folder}: the vocabulary has {given} entries with slots, config.json says {wanted}")
        corrector = cls(
            network, tokens, load_thresholds(folder, **own), folder=folder, batch_size=batch_size,
            dictionary=dictionary, spelling=WordList.load(folder),
            workers=torch.get_num_threads() if kind == "cpu" else 1,
        )  # fmt: skip
        if target_folder is None:
            return corrector
        from edit_gec.speculative.target import Target
        from edit_gec.speculative.verifier import Verifier

        options_of_target = {"prefix": target_prefix, "device": device, "dtype": getattr(torch, dtype)}
        t5 = Target.load(target_folder, edit5=network, **options_of_target)
        verifier = Verifier(t5, min_confidence=min_confidence or 0.0, auto=verify == "auto", lenience=lenience)
        return corrector.verified_by(verifier)

    def verified_by(self, verifier: Verifier) -> Corrector:
        """The same with a target that has the say, and with the EdiT5 and the thresholds that draft best for it."""
        from edit_gec.editing.thresholds import with_overrides

        made, target = copy(self), verifier.target
        made.verifier, made.model = verifier, target.drafter(self.model, verifier.hypotheses)
        made.options = with_overrides(self.options, target.thresholds_for(verifier.hypotheses))
        return made

    def correct(self, text: str, *, lines: bool = False, markup: bool = True) -> Correction:
        """Correct one text. `lines` takes each line as a text of its own; `markup` leaves Markdown and HTML alone."""
        return self.correct_batch([text], lines=lines, markup=markup)[0]

    def correct_batch(
        self,
        texts: Sequence[str],
        *,
        lines: bool = False,
        markup: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Correction]:
        """Correct several texts together; `progress` is called with (windows done, windows in all)."""
        with span(Stage.SPLIT):
            sentences = [split(text, lines=lines, markup=markup) for text in texts]  # 1
        with span(Stage.TOKENIZE):
            windows = [
                Window(number, sentence, pieces)
                for number, of_text in enumerate(sentences)
                for sentence in of_text
                for pieces in self.readable(self.tokens.encode(sentence.text))  # 2
            ]
        edits: list[list[Edit]] = [[] for _ in texts]
        refused: list[list[Edit]] = [[] for _ in texts]
        batches = list(self.batches(windows))
        done = 0
        for batch, found in zip(batches, self.run(batches), strict=True):
            for window, each in zip(batch, found, strict=True):
                of_window, left_out = self.edits(texts[window.text], window.sentence, each)  # 7
                edits[window.text] += of_window
                refused[window.text] += left_out
            done += len(batch)
            if progress:
                progress(done, len(windows))
        with span(Stage.DETOKENIZE):
            return [self.apply(*each) for each in zip(texts, edits, refused, strict=True)]

    # ---------------------------------------------------------------- the stages

    def windows(self, pieces: Pieces) -> Iterator[Pieces]:
        """Cut what is longer than the model reads at once; at spaces where there are any."""
        longest = self.model.config.max_pieces
        start = 0
        while len(pieces) - start > longest:
            end = start + longest
            spaces = (n for n in range(end, start + longest // 2, -1) if self.tokens.starts_word(pieces.ids[n]))
            end = next(spaces, end)
            yield pieces.window(start, end)
            start = end
        if start < len(pieces):
            yield pieces.window(start, len(pieces))

    def readable(self, pieces: Pieces) -> list[Pieces]:
        """The windows, without those inside a word: what has no space for hundreds of pieces was not written to read.

        The model would take long over them, at a piece for each character.
        """
        windows = list(self.windows(pieces))
        if len(windows) == 1:
            return windows
        return [window for window in windows if any(map(self.tokens.starts_word, window.ids[1:]))]

    def batches(self, windows: list[Window]) -> Iterator[list[Window]]:
        """Windows of similar length together, so that little is spent on padding; something for every worker.

        The longest come first: at the end no worker waits long for the others.
        """
        size = min(self.batch_size, -(-len(windows) // self.workers) or 1)
        for batch in self.alike([window.pieces for window in windows], size):
            yield [windows[n] for n in batch]

    def alike(self, sentences: Sequence[Pieces], most: int) -> list[list[int]]:
        """Which sentences make a batch: the places of each batch's, `most` at most, the longest first."""
        on_cpu = self.model.embedding.weight.device.type == "cpu"
        overhead = CPU_BATCH_OVERHEAD if on_cpu else GPU_BATCH_OVERHEAD
        return plan_batches([len(pieces) for pieces in sentences], most, overhead)

    def run(self, batches: list[list[Window]]) -> Iterator[list[Found]]:
        """What is found in each window of each batch.

        On a CPU each core takes a batch of its own: twice as fast on two cores, where two for each product are hardly
        faster than one. A single batch of a narrow model is one core's work: to wake another one for each product takes
        longer than the product, and nothing is worse than to wait for one that is busy.
        """
        from concurrent.futures import ThreadPoolExecutor

        from torch import get_num_threads, set_num_threads

        pieces = [[window.pieces for window in batch] for batch in batches]
        workers, threads = min(self.workers, len(batches)), get_num_threads()
        try:
            if workers > 1:
                with ThreadPoolExecutor(workers, initializer=set_num_threads, initargs=(1,)) as pool:
                    yield from pool.map(self.read, pieces)
            else:
                if self.narrow:
                    set_num_threads(1)
                yield from map(self.read, pieces)
        finally:
            set_num_threads(threads)

    def read(self, sentences: Sequence[Pieces], options: Thresholds | None = None) -> list[Found]:
        """What changes in each sentence of a batch: the model alone, without the document around it."""
        predictions, encoded = self.draft(sentences, options)  # 3, 4
        drafted = map(tuple, self.changes(sentences, predictions, options))  # 5
        if self.verifier is None:
            return [Found(changes) for changes in drafted]
        revised = self.verifier.revise(self.model, self.tokens, sentences, predictions, encoded)  # 6
        return [Found(*each) for each in zip(drafted, map(tuple, revised), strict=True)]

    def draft(
        self, sentences: Sequence[Pieces], options: Thresholds | None = None
    ) -> tuple[list[Prediction], Encoded | None]:
        """Plans for one batch, and what was encoded for a target that shares the encoder."""
        begun = perf_counter()
        encoded = self.verifier.encode(self.model, sentences) if self.verifier else None
        predictions = self.predict(sentences, encoded.edit5 if encoded else None, options)
        if self.verifier is not None:
            self.verifier.count_draft(perf_counter() - begun)
        return predictions, encoded

    def predict(
        self, sentences: Sequence[Pieces], encoded: Tensor | None = None, options: Thresholds | None = None
    ) -> list[Prediction]:
        """Plans for one batch; `encoded`: what a target's encoder made of it; `options`: instead of the corrector's."""
        from edit_gec.editing.decode import predict

        given = options or self.options
        return predict(self.model, self.tokens, sentences, given, encoded=encoded, lexicon=self.spelling)

    def changes(
        self, sentences: Sequence[Pieces], predictions: Sequence[Prediction], options: Thresholds | None = None
    ) -> list[list[Change]]:
        """What changes in each sentence. Those that change are read again, unless a target has the say."""
        with span(Stage.REALIZE):
            first = [list(p.changes(s, self.tokens)) for s, p in zip(sentences, predictions, strict=True)]
        given = options or self.options
        if self.verifier is not None or not given.second_pass_factor:
            return first
        again = [n for n, changes in enumerate(first) if changes]
        second = self.reread([sentences[n] for n in again], [first[n] for n in again], given)
        for n, changes in zip(again, second, strict=True):
            first[n] = changes
        return first

    def reread(self, sentences: Sequence[Pieces], first: list[list[Change]], options: Thresholds) -> list[list[Change]]:
        """The changes of sentences, and those of a second reading with them."""
        from edit_gec.editing.second_pass import both, edited, holds

        with span(Stage.TOKENIZE):
            again = [edited(*each, self.tokens) for each in zip(sentences, first, strict=True)]
        short = [n for n, pieces in enumerate(again) if 0 < len(pieces) <= self.model.config.max_pieces]
        laxer = replace(options, min_confidence=options.min_confidence * options.second_pass_factor, sentence_gate=0.0)
        predictions = self.predict([again[n] for n in short], options=laxer) if short else []
        with span(Stage.REALIZE):
            for n, prediction in zip(short, predictions, strict=True):
                held = holds(
                    sentences[n],
                    first[n],
                    again[n],
                    prediction.doubts,
                    options.sentence_gate,
                    options.second_pass_penalty,
                )
                second = prediction.changes(again[n], self.tokens)
                first[n] = both(sentences[n], first[n], list(second)) if held else []
        return first

    def edits(
        self, text: str, sentence: Sentence, found: Found, min_confidence: float = 0.0
    ) -> tuple[list[Edit], list[Edit]]:
        """What was found in a sentence as edits of the document, and those of the draft that a target refused.

        `min_confidence` is that of a target's edits.
        """
        with span(Stage.REALIZE):
            drafted = list(self.projected(text, sentence, found.drafted))
        if found.verified is None:
            return drafted, []
        from edit_gec.speculative.verifier import compare

        with span(Stage.ALIGN):
            sure = [change for change in found.verified if change[3] >= min_confidence]
            return compare(drafted, list(self.projected(text, sentence, sure)))

    def projected(self, text: str, sentence: Sentence, changes: Iterable[Change]) -> Iterator[Edit]:
        """Changes of a sentence as edits of the document, without those that touch protected text or words to leave
        alone."""
        for start, end, replacement, confidence in changes:
            place = minimal(sentence.text, *whole_words(sentence.text, start, end, replacement))
            projected = sentence.project(*place)
            if projected:
                begin, stop, new = whole_words(text, *projected)
                if mentions(self.dictionary, text[begin:stop]):
                    continue
                yield Edit(begin, stop, text[begin:stop], new, round(confidence, 4))

    def apply(self, text: str, found: list[Edit], refused: Sequence[Edit] = ()) -> Correction:
        """The corrected text; of two edits that meet after projection the surer one wins."""
        chosen = surest(found)
        return Correction(text, apply(text, chosen), tuple(chosen), tuple(surest(refused)))


def mentions(words: frozenset[str], text: str) -> bool:
    """Does the text have one of these words, which are case folded?"""
    return not words.isdisjoint(_WORD.findall(text.casefold()))


def surest(found: Iterable[Edit]) -> list[Edit]:
    """The edits in order; of two that meet only the surer one."""
    chosen: list[Edit] = []
    for edit in sorted(found, key=lambda e: (e.start, e.end)):
        if chosen and edit.start < max(chosen[-1].end, chosen[-1].start + 1):
            if edit.confidence > chosen[-1].confidence:
                chosen[-1] = edit
            continue
        chosen.append(edit)
    return chosen
