"""Settings -> a predictor, and how its changes become edits. What a Corrector is made of is chosen here, once.

target                       predictor         projection
none                         EdiT5Predictor    Projection
a language model judges      Judged            Projection            speculative/judge.py
its own text counts          Verified          VerifiedProjection    speculative/verifier.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from edit_gec.catalog import find_model, find_pretrained
from edit_gec.config.load_settings import LoadSettings
from edit_gec.errors import DeviceError, InputError, ModelError
from edit_gec.speculative.prompt import Prompt

if TYPE_CHECKING:
    from edit_gec.backends.network import Network
    from edit_gec.backends.torch_network import TorchNetwork
    from edit_gec.editing.document_edits import Projection
    from edit_gec.editing.predictor import EdiT5Predictor, Predictor
    from edit_gec.modeling.config import EdiT5Config
    from edit_gec.modeling.tokenizer import Tokens


class Parts(NamedTuple):
    """What a Corrector is made of.

    presets: thresholds by name. folder: that of the EdiT5. workers: batches that its device reads at the same time.
    """

    predictor: Predictor
    projection: Projection
    presets: dict[str, float]
    folder: Path
    workers: int


def load_parts(settings: LoadSettings) -> Parts:
    """Load what the settings name.

    Raises ModelError for an unknown model, a broken folder or one with another kind of model, and DeviceError for a
    missing device.
    """
    if settings.target_prompt is not None:
        Prompt.parse(settings.target_prompt)
    folder = find_model(settings.model)  # before torch is imported, which takes a second
    target = None if settings.target is None else find_pretrained(settings.target)
    from edit_gec.editing.document_edits import Projection
    from edit_gec.editing.thresholds import read_presets

    judges = target is not None and _can_judge(target, settings)
    needs_torch = settings.needs_torch or (None if target is None or judges else "a target")
    edit5, workers = _load_edit5(folder, settings, needs_torch)
    predictor: Predictor = edit5
    presets = read_presets(folder)
    if target is not None:
        predictor = (_ask_judge if judges else _ask_target)(target, edit5, settings)
        presets = {} if predictor.is_exact else read_presets(target)
    wanted = _find_threshold(presets, settings, target or folder)
    if wanted is not None:
        predictor = predictor.with_thresholds(min_confidence=wanted)
    words = frozenset(word.casefold() for word in settings.dictionary)
    projection = Projection(edit5.spelling, words, settings.dialect)
    return Parts(predictor, fit_projection(projection, predictor), presets, folder, workers)


def fit_projection(projection: Projection, predictor: Predictor) -> Projection:
    """The projection of a predictor's changes, with the words and the dialect of this one."""
    from edit_gec.editing.document_edits import Projection

    settings = {**vars(projection), "min_confidence": predictor.edit5.threshold}
    if not predictor.is_exact:
        return Projection(**settings)
    from edit_gec.speculative.provenance import VerifiedProjection

    return VerifiedProjection(**settings)


def _find_threshold(presets: dict[str, float], settings: LoadSettings, folder: Path) -> float | None:
    """The requested confidence; `presets` are those of this folder. None: that of the model."""
    if settings.min_confidence is not None or settings.strictness in (None, "default"):
        return settings.min_confidence
    if settings.strictness not in presets:
        missing = f"{folder / 'config.json'}: no strictness {settings.strictness!r}"
        raise ModelError(f"{missing}; give --min-confidence, a number from 0 to 1")
    return presets[settings.strictness]


def _load_edit5(folder: Path, settings: LoadSettings, needs_torch: str | None) -> tuple[EdiT5Predictor, int]:
    """The EdiT5 of a folder with its own threshold, and how many batches its device reads at once."""
    from edit_gec.backends.choose import choose_backend

    backend = choose_backend(folder, settings.backend, needs_torch)
    from edit_gec.editing.lexicon import WordList
    from edit_gec.editing.predictor import EdiT5Predictor
    from edit_gec.editing.thresholds import load_thresholds

    network, workers = _load_onnx(folder, settings) if backend == "onnx" else _load_torch(folder, settings)
    tokens = load_tokens(folder, network.config)
    return EdiT5Predictor(network, tokens, load_thresholds(folder), WordList.load(folder)), workers


def load_tokens(folder: Path, config: EdiT5Config) -> Tokens:
    """The vocabulary of an EdiT5's folder. Raises ModelError for one of another size."""
    from edit_gec.modeling.tokenizer import Tokens

    tokens = Tokens.load(folder, config.slots)
    if tokens.size != (expected := config.vocab_size):
        raise ModelError(f"{folder}: the vocabulary has {tokens.size} entries with slots, config.json says {expected}")
    return tokens


def _load_onnx(folder: Path, settings: LoadSettings) -> tuple[Network, int]:
    """The network by ONNX Runtime, and how many batches it reads at once."""
    from edit_gec.backends.choose import choose_int8, count_cores
    from edit_gec.backends.onnx_network import OnnxNetwork

    workers = settings.threads or count_cores()
    return OnnxNetwork.load(folder, int8=choose_int8(folder, settings.precision), threads=workers), workers


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


def check_device(device: str) -> str:
    """The kind of a device, "cpu" or "cuda". Raises DeviceError for a device that is unknown or missing."""
    if device == "cpu":  # without torch, too
        return device
    import torch

    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise DeviceError(f"device {device}: expected cpu, cuda or cuda:0 and so on") from None
    if kind == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"device {device}: this torch sees no GPU; leave the device out to use the CPU")
    if kind == "cuda" and (torch.device(device).index or 0) >= (there := torch.cuda.device_count()):
        raise DeviceError(f"device {device}: this torch sees {there} GPUs, numbered from cuda:0")
    return kind


def _can_judge(target: Path, settings: LoadSettings) -> bool:
    """Whether the settings want a target to judge: they say so, or its folder has the numbers and they say nothing."""
    from edit_gec.modeling.config import read_config
    from edit_gec.speculative.judge import KEY

    knows = KEY in read_config(target) if target.is_dir() else False
    if settings.verify == "judge" and not knows:
        wanted = "fit them (python -m edit_gec.lab.training.judge_scale), or set verify to exact"
        raise ModelError(f"{target}: no {KEY!r} in its config.json, the numbers that join both models; {wanted}")
    return knows and settings.verify != "exact"


def _ask_judge(folder: Path, edit5: EdiT5Predictor, settings: LoadSettings) -> Predictor:
    """The EdiT5 with a language model that judges its edits, at a threshold of the judge's own."""
    from edit_gec.backends.choose import choose_backend, count_cores
    from edit_gec.speculative.judge import LanguageJudge
    from edit_gec.speculative.judged import Judged

    how: dict[str, Any] = {"precision": settings.precision, "threads": settings.threads or count_cores()}
    if choose_backend(folder, settings.backend, settings.needs_torch) == "torch":
        check_device(settings.device)
        how = {"device": settings.device, "dtype": settings.dtype}
    judge = LanguageJudge.load(folder, words=edit5.spelling, **how)
    return Judged(edit5.with_thresholds(min_confidence=judge.scale.min_confidence), judge)


def _ask_target(folder: Path, edit5: EdiT5Predictor, settings: LoadSettings) -> Predictor:
    """The EdiT5 with a T5 or a language model that verifies its drafts."""
    import torch

    from edit_gec.modeling.causal_files import is_causal
    from edit_gec.speculative.causal_target import CausalTarget
    from edit_gec.speculative.drafting import DraftingProfile
    from edit_gec.speculative.target import Target
    from edit_gec.speculative.verified import Verified
    from edit_gec.speculative.verifier import Verifier

    if settings.strictness is not None:
        raise InputError(f"strictness {settings.strictness}: the target's own text has no presets; give min_confidence")
    how: dict[str, Any] = {"device": settings.device, "dtype": getattr(torch, settings.dtype)}
    if is_causal(folder):
        if settings.target_prefix is not None:
            raise InputError(f"target_prefix: {folder.name} is no T5 but a language model; give target_prompt")
        verifier = Verifier(CausalTarget.load(folder, prompt=settings.target_prompt, **how))
    else:
        if settings.target_prompt is not None:
            raise InputError(f"target_prompt: {folder.name} is a T5, which knows a prefix only; give target_prefix")
        target = Target.load(folder, edit5=edit5.model, prefix=settings.target_prefix, **how)
        verifier = Verifier(target, DraftingProfile.load(folder, target))
    return Verified.drafted_by(edit5, verifier)
