"""What `Corrector.load` loads: an EdiT5 with all that is in its folder, and a target that verifies where one is named.

Wrong arguments are answered before torch is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from edit_gec.catalog import find_model
from edit_gec.errors import DeviceError, InputError, ModelError

if TYPE_CHECKING:
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import Thresholds
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Tokens
    from edit_gec.speculative.verifier import Verifier

VERIFY = ("always", "auto")
DTYPES = ("float32", "bfloat16", "float16")


class LoadKeywords(TypedDict, total=False):
    """The keywords of `Corrector.load`; LoadSettings says what they mean."""

    device: str
    dtype: str
    threads: int | None
    min_confidence: float | None
    batch_size: int
    dictionary: Iterable[str]
    target: str | Path | None
    target_prefix: str | None
    verify: str
    lenience: float


@dataclass(frozen=True)
class LoadSettings:
    """What is loaded, and how it decides.

    min_confidence: from 0 to 1, in place of the model's own threshold; with a target the least probability of its
        edits, 0 by default (drafts then follow thresholds that suit the target).
    dictionary: words to leave alone.
    target: a T5 folder or one of our names; it verifies every sentence. target_prefix: what it expects before each
        ("grammar: "), if its config.json does not say so.
    verify, lenience: two ways to save time at the price of exactness. "auto" verifies only what the model edits or
        doubts; below 1, drafted words pass that have this share of the probability of the target's own.
    threads: of torch, which has its own idea by default. batch_size: windows that are read together, at most.
    """

    model: str | Path
    device: str = "cpu"
    dtype: str = "float32"
    threads: int | None = None
    min_confidence: float | None = None
    batch_size: int = 32
    dictionary: Iterable[str] = ()
    target: str | Path | None = None
    target_prefix: str | None = None
    verify: str = "always"
    lenience: float = 1.0

    def __post_init__(self) -> None:
        """Raises InputError for values that no model could work with."""
        if self.verify not in VERIFY or not 0 < self.lenience <= 1:
            given = f"verify {self.verify!r}, lenience {self.lenience}"
            raise InputError(f"{given}: {' or '.join(VERIFY)}, and above 0 up to 1")
        if self.dtype not in DTYPES:
            raise InputError(f"dtype {self.dtype}: {', '.join(DTYPES)} are known")
        if self.batch_size < 1:
            raise InputError(f"batch_size {self.batch_size}: expected at least 1")
        if isinstance(self.dictionary, str):
            raise InputError(f"dictionary {self.dictionary!r}: expected a list of words, not one text")
        check_confidence(self.min_confidence)
        object.__setattr__(self, "dictionary", tuple(self.dictionary))


def check_confidence(value: float | None) -> None:
    """Raises InputError unless the value is a probability, or None."""
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"min_confidence {value}: expected a number from 0 to 1")


def check_device(device: str) -> str:
    """Its kind, "cpu" or "cuda". Raises DeviceError for a device that is unknown or not there."""
    import torch

    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise DeviceError(f"device {device}: expected cpu, cuda or cuda:0 and so on") from None
    if kind == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"device {device}: this torch sees no GPU; leave --device out to use the CPU")
    return kind


class Loaded(NamedTuple):
    """An EdiT5, what its folder says, and its target."""

    model: EdiT5
    tokens: Tokens
    thresholds: Thresholds
    spelling: WordList | None
    folder: Path
    workers: int  # batches that this device reads at the same time
    verifier: Verifier | None


def load_models(settings: LoadSettings) -> Loaded:
    """Load what the settings name.

    Raises ModelError for an unknown model, DeviceError for a device that is not there, InputError or ModelError for a
    folder that is broken or holds another kind of model.
    """
    folder = find_model(settings.model)  # before torch is imported, which takes a second
    target = None if settings.target is None else find_model(settings.target)
    import torch

    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import load_thresholds
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.modeling.tokenizer import Tokens

    kind = check_device(settings.device)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    model = EdiT5.load(folder, getattr(torch, settings.dtype)).to(settings.device)
    tokens = Tokens.load(folder, model.config.slots)
    if tokens.size != (expected := model.config.vocab_size):
        raise ModelError(f"{folder}: the vocabulary has {tokens.size} entries with slots, config.json says {expected}")
    own = settings.min_confidence if target is None else None
    thresholds = load_thresholds(folder, **({} if own is None else {"min_confidence": own}))
    workers = torch.get_num_threads() if kind == "cpu" else 1
    verifier = None if target is None else _load_verifier(target, model, settings)
    return Loaded(model, tokens, thresholds, WordList.load(folder), folder, workers, verifier)


def _load_verifier(folder: Path, edit5: EdiT5, settings: LoadSettings) -> Verifier:
    import torch

    from edit_gec.speculative.target import Target
    from edit_gec.speculative.verifier import Verifier

    how: dict[str, Any] = {"device": settings.device, "dtype": getattr(torch, settings.dtype)}
    target = Target.load(folder, edit5=edit5, prefix=settings.target_prefix, **how)
    return Verifier.load(folder, target, auto=settings.verify == "auto", lenience=settings.lenience)
