"""What `Corrector.load` is asked for. Wrong arguments are rejected before anything heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TypedDict

from edit_gec.errors import InputError
from edit_gec.rules.dialect import check_dialect

VERIFY = ("judge", "exact")
STRICTNESS = ("sure", "low", "default", "high")  # thresholds that a model folder names, from few edits to many
DTYPES = ("float32", "bfloat16", "float16")
BACKENDS = ("auto", "onnx", "torch")
PRECISIONS = ("auto", "float32", "int8")  # of the backend onnx


class LoadKeywords(TypedDict, total=False):
    """The keywords of `Corrector.load`; LoadSettings says what they mean."""

    backend: str
    precision: str
    device: str
    dtype: str
    threads: int | None
    min_confidence: float | None
    strictness: str | None
    batch_size: int
    dictionary: Iterable[str]
    dialect: str | None
    target: str | Path | None
    target_prefix: str | None
    target_prompt: str | None
    verify: str | None


@dataclass(frozen=True)
class LoadSettings:
    """The arguments of `Corrector.load`.

    backend: "onnx", "torch", or "auto": ONNX Runtime if it is installed, the model folder has graphs for it
        (edit-gec export), and nothing below needs torch.
    precision: of ONNX Runtime, "float32", "int8", or "auto": int8 if the processor is fast at it and the model folder
        has a graph for it. Both use the same thresholds; their edits differ where the evidence is at a threshold.
    device, dtype: of torch. Anything but cpu and float32 needs torch, as a target does that verifies.
    min_confidence: from 0 to 1, replaces the model's own threshold; with "exact", the lowest probability of the
        target's edits, 0 by default (drafts then follow thresholds that suit the target).
    strictness: instead of `min_confidence`, a preset of the model: "sure" for edits to apply unread, "low" for fewer
        edits, "high" for more. "exact" has none.
    dictionary: words to leave alone. dialect: one of rules.dialect.DIALECTS, the spelling to enforce; None accepts all.
    target: a second model that judges or verifies the edits: a folder, one of our names, an id (owner/name) on the
        Hugging Face hub, or a GGUF file. target_prefix: the text that a T5 expects before each sentence ("grammar: "),
        by default that of its config.json or the known prefix of a public model (prefixes.py). target_prompt: the text
        in which a language model that verifies reads each sentence, with {source} in its place, by default "prompt" of
        its config.json (speculative/prompt.py).
    verify: what a target is for. "judge": a language model judges the edits, and their confidence is that of both
        models (speculative/judge.py). "exact": the target's own text. None: "judge" if the target has the numbers for
        it, else "exact".
    threads: of the backend, by default its own choice. batch_size: most windows that are read together.
    """

    model: str | Path
    backend: str = "auto"
    precision: str = "auto"
    device: str = "cpu"
    dtype: str = "float32"
    threads: int | None = None
    min_confidence: float | None = None
    strictness: str | None = None
    batch_size: int = 32
    dictionary: Iterable[str] = ()
    dialect: str | None = None
    target: str | Path | None = None
    target_prefix: str | None = None
    target_prompt: str | None = None
    verify: str | None = None

    def __post_init__(self) -> None:
        """Raises InputError for values of other types, and for those out of range."""
        self._check_types()
        if self.verify not in (None, *VERIFY):
            raise InputError(f"verify {self.verify!r}: expected {' or '.join(VERIFY)}")
        for name, known in (("dtype", DTYPES), ("backend", BACKENDS), ("precision", PRECISIONS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} {getattr(self, name)}: {', '.join(known)} are known")
        check_dialect(self.dialect)
        if self.strictness not in (None, *STRICTNESS):
            raise InputError(f"strictness {self.strictness!r}: expected one of {', '.join(STRICTNESS)}")
        if self.strictness is not None and self.min_confidence is not None:
            raise InputError("min_confidence and strictness: expected one of them, both say how sure an edit must be")
        check_confidence(self.min_confidence)

    def _check_types(self) -> None:
        """Raises InputError for a value of another type; an iterable of words becomes a tuple."""
        if not isinstance(self.model, str | Path):
            raise InputError(f"model: expected a name or a folder, not {type(self.model).__name__}")
        for name in ("threads", "batch_size"):
            value = getattr(self, name)
            if not (_is_whole(value) and value >= 1) and not (value is None and name == "threads"):
                raise InputError(f"{name} {value!r}: expected a whole number from 1")
        if isinstance(self.dictionary, str) or not isinstance(self.dictionary, Iterable):
            raise InputError(f"dictionary {self.dictionary!r}: expected a list of words")
        object.__setattr__(self, "dictionary", tuple(self.dictionary))
        if wrong := [word for word in self.dictionary if not isinstance(word, str)]:
            raise InputError(f"dictionary: expected words, not {wrong[0]!r}")

    @property
    def needs_torch(self) -> str | None:
        """The setting that needs torch, if any does."""
        if self.device != "cpu":
            return f"device {self.device}"
        return None if self.dtype == "float32" else f"dtype {self.dtype}"


def check_confidence(value: float | None) -> None:
    """Raises InputError unless the value is a probability, or None."""
    if value is not None and not (_is_number(value) and 0 <= value <= 1):
        raise InputError(f"min_confidence {value!r}: expected a number from 0 to 1")


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)  # those of numpy, too
