"""What `Corrector.load` loads: an EdiT5 with all that is in its folder and, if one is named, a target.

Wrong arguments are rejected before anything heavy is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from edit_gec.catalog import find_model, find_pretrained
from edit_gec.errors import DeviceError, InputError, ModelError
from edit_gec.text.dialect import check_dialect

if TYPE_CHECKING:
    from edit_gec.backends.network import Network
    from edit_gec.backends.torch_network import TorchNetwork
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import Thresholds
    from edit_gec.modeling.tokenizer import Tokens
    from edit_gec.speculative.second_opinion import SecondOpinion
    from edit_gec.speculative.verifier import Verifier

VERIFY = ("both", "exact")
STRICTNESS = ("low", "default", "high")  # thresholds that a model folder names, from few edits to many
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
    verify: str | None


@dataclass(frozen=True)
class LoadSettings:
    """The arguments of `Corrector.load`.

    backend: "onnx", "torch", or "auto": ONNX Runtime if it is installed, the model folder has graphs for it
        (edit-gec export), and nothing below needs torch.
    precision: of ONNX Runtime, "float32", "int8", or "auto": int8 if the processor is fast at it and the model folder
        has a graph for it. Both use the same thresholds; their edits differ where the evidence is at a threshold.
    device, dtype: of torch. Anything but cpu and float32 needs torch, as a target does.
    min_confidence: from 0 to 1, replaces the model's own threshold; with "exact", the lowest probability of the
        target's edits, 0 by default (drafts then follow thresholds that suit the target).
    strictness: instead of `min_confidence`, a preset of the model: "low" for fewer, more confident edits, "high" for
        more edits. "exact" has none.
    dictionary: words to leave alone. dialect: one of text.dialect.DIALECTS, the spelling to enforce; None accepts all.
    target: a T5 that judges or verifies the edits: a folder, one of our names, or an id (owner/name) on the Hugging
        Face hub. target_prefix: the text that it expects before each sentence ("grammar: "), by default that of its
        config.json or the known prefix of a public model (prefixes.py).
    verify: what a target is for. "both": the edits that both models support, with one confidence from both
        (second_opinion.py). "exact": the target's own text. None: "both" if the target has a scale for it, else
        "exact".
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
        if self.target is not None:
            return "a target"
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


def check_device(device: str) -> str:
    """The kind of a device, "cpu" or "cuda". Raises DeviceError for a device that is unknown or missing."""
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

    network: Network
    tokens: Tokens
    thresholds: Thresholds
    presets: dict[str, float]
    spelling: WordList | None
    folder: Path
    workers: int  # batches that this device reads at the same time
    verifier: Verifier | None  # of exact verification
    second_opinion: SecondOpinion | None


def load_models(settings: LoadSettings) -> Loaded:
    """Load what the settings name.

    Raises ModelError for an unknown model, a broken folder or one with another kind of model, and DeviceError for a
    missing device.
    """
    folder = find_model(settings.model)  # before torch is imported, which takes a second
    target = None if settings.target is None else find_pretrained(settings.target)
    from edit_gec.backends.choose import choose_backend

    backend = choose_backend(folder, settings.backend, settings.needs_torch)
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.thresholds import load_thresholds, read_presets
    from edit_gec.modeling.tokenizer import Tokens

    network, workers = _load_onnx(folder, settings) if backend == "onnx" else _load_torch(folder, settings)
    tokens = Tokens.load(folder, network.config.slots)
    if tokens.size != (expected := network.config.vocab_size):
        raise ModelError(f"{folder}: the vocabulary has {tokens.size} entries with slots, config.json says {expected}")
    thresholds = load_thresholds(folder)
    presets = read_presets(folder)
    verifier, second_opinion = _load_target(target, network, settings) if target else (None, None)
    if target and second_opinion:
        thresholds = replace(thresholds, min_confidence=second_opinion.scale.min_confidence)
        presets = read_presets(target)
    if verifier is None:
        thresholds = _apply_strictness(thresholds, presets, settings, target or folder)
    spelling = WordList.load(folder)
    return Loaded(network, tokens, thresholds, presets, spelling, folder, workers, verifier, second_opinion)


def _apply_strictness(
    thresholds: Thresholds, presets: dict[str, float], settings: LoadSettings, folder: Path
) -> Thresholds:
    """The thresholds with the requested confidence; `presets` are those of this folder."""
    if settings.min_confidence is not None:
        return replace(thresholds, min_confidence=settings.min_confidence)
    if settings.strictness in (None, "default"):
        return thresholds
    if settings.strictness not in presets:
        missing = f"{folder / 'config.json'}: no strictness {settings.strictness!r}"
        raise ModelError(f"{missing}; give --min-confidence, a number from 0 to 1")
    return replace(thresholds, min_confidence=presets[settings.strictness])


def _load_onnx(folder: Path, settings: LoadSettings) -> tuple[Network, int]:
    """The network by ONNX Runtime, and how many batches it reads at once."""
    from edit_gec.backends.choose import count_cores, load_onnx

    workers = settings.threads or count_cores()
    return load_onnx(folder, settings.precision, workers), workers


def _load_torch(folder: Path, settings: LoadSettings) -> tuple[TorchNetwork, int]:
    """The network by torch, and how many batches its device reads at once."""
    if settings.precision == "int8":
        raise InputError("precision int8: computed by backend onnx only; leave it out")
    import torch

    from edit_gec.backends.torch_network import TorchNetwork
    from edit_gec.modeling.edit5 import EdiT5

    kind = check_device(settings.device)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    model = EdiT5.load(folder, getattr(torch, settings.dtype)).to(settings.device)
    return TorchNetwork(model), torch.get_num_threads() if kind == "cpu" else 1


def _load_target(
    folder: Path, network: Network, settings: LoadSettings
) -> tuple[Verifier | None, SecondOpinion | None]:
    """What the settings want of a T5: exact verification, or a second opinion."""
    import torch

    from edit_gec.backends.torch_network import TorchNetwork
    from edit_gec.speculative.second_opinion import KEY, JointScale, SecondOpinion
    from edit_gec.speculative.target import Target
    from edit_gec.speculative.verifier import Verifier

    scale = JointScale.load(folder) if settings.verify != "exact" else None
    if scale is None and settings.strictness is not None:
        raise InputError(f"strictness {settings.strictness}: the T5's own text has no presets; give min_confidence")
    assert isinstance(network, TorchNetwork), "choose_backend takes torch for a target"
    how: dict[str, Any] = {"device": settings.device, "dtype": getattr(torch, settings.dtype)}
    target = Target.load(folder, edit5=network.model, prefix=settings.target_prefix, **how)
    if scale is None and settings.verify == "both":
        wanted = "fit them (python -m edit_gec.training.second_opinion), or take --verify-mode exact"
        raise ModelError(f"{folder / 'config.json'}: no {KEY}, the numbers that join both opinions; {wanted}")
    if scale is not None:
        return None, SecondOpinion(target, scale)
    return Verifier.load(folder, target), None
