"""The setup of a measurement: plain values, and the models that they name.

    setup = Setup(model="models/edit5-mini", target="models/t5-mini")          folders; `random`: presets instead
    pair = Pair(setup)
    pair.corrector, pair.target, pair.verified()                               each loaded when it is first used

With `streams` the models follow these (replay.py): random weights write nothing useful.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.catalog import find_model
from edit_gec.corrector import Corrector
from edit_gec.errors import InputError
from edit_gec.lab.performance.timing import use_device
from edit_gec.loading import check_device

if TYPE_CHECKING:
    import torch

    from edit_gec.lab.performance.replay import Streams
    from edit_gec.modeling.edit5 import EdiT5
    from edit_gec.speculative.causal_target import CausalTarget
    from edit_gec.speculative.drafting import DraftingProfile
    from edit_gec.speculative.target import Target

ONNX = "onnx"  # the mode in which ONNX Runtime runs an EdiT5; its precision is the dtype
DTYPES = {"cpu": ("float32", "bfloat16"), "cuda": ("float32", "bfloat16", "float16")}


@dataclass(frozen=True)
class Setup:
    """Where everything is and how it runs."""

    model: str = ""  # EdiT5 folder
    target: str = ""  # Hugging Face T5 folder with spiece.model; none: no T5 runs
    assistant: str = ""  # a small T5 for transformers' assisted generation
    random: bool = False  # model and target are presets, with random weights
    converted: dict[str, str] = field(default_factory=dict)  # CTranslate2 folders by precision
    streams: Streams | None = None  # what the models write; None: what they decide themselves
    prefix: str | None = None  # of the target's sources; None: what its config.json says
    prompt: str | None = None  # of a target that is a language model
    sentinel: int = 0  # piece that the target reads before each source; 0: none
    shared: str = ""  # the target as it is stored, where it stands on the model's encoder
    max_length: int = 256
    device: str = "cpu"
    dtype: str = "float32"
    mode: str = "eager"
    threads: int = 1

    @classmethod
    def of_presets(cls, names: Sequence[str], **how: Any) -> Setup:
        """An EdiT5 preset, a T5 preset or one of each, with random weights. Raises InputError for anything else."""
        from edit_gec.modeling.edit5 import PRESETS
        from edit_gec.modeling.t5 import PRESETS as T5_PRESETS

        found: dict[str, Any] = {}
        for name in names:
            kind = "model" if name in PRESETS else "target"
            if kind in found or name not in (PRESETS if kind == "model" else T5_PRESETS):
                known = f"one of {', '.join(PRESETS)} and one of {', '.join(T5_PRESETS)}"
                raise InputError(f"preset {name}: expected {known}")
            found[kind] = name
        return cls(**found, random=True, **how)

    @classmethod
    def of_models(cls, names: Sequence[str], **how: Any) -> Setup:
        """An EdiT5, a T5 or one of each, by name or folder. Raises InputError for anything else."""
        found: dict[str, Any] = {}
        for name in names:
            kind = "model" if is_edit5(name) else "target"
            if kind in found:
                what = "an EdiT5" if kind == "model" else "a T5"
                raise InputError(f"model {name}: {what} was given already; expected one EdiT5 and one T5")
            found[kind] = str(find_model(name))
        return cls(**found, **how)

    def check(self) -> None:
        """Raises DeviceError for a device that is not there, InputError for a dtype that it cannot do.

        Clocks and counts of memory mean this device from now on.
        """
        if self.mode == ONNX:
            return
        kind = check_device(self.device)
        if kind not in DTYPES or self.dtype not in DTYPES[kind]:
            raise InputError(f"dtype {self.dtype}: on {kind} {', '.join(DTYPES.get(kind, ()))} can be measured")
        use_device(self.device)

    @property
    def is_causal(self) -> bool:
        """Whether the target is a language model."""
        from edit_gec.modeling.causal_files import is_causal

        return bool(self.target) and not self.random and is_causal(Path(self.target))


def is_edit5(name: str) -> bool:
    """Whether a model of that name or folder is an EdiT5. Raises ModelError where there is none."""
    from edit_gec.modeling.config import read_config

    return read_config(find_model(name)).get("model_type") == "edit5"


def tensor_type(name: str) -> torch.dtype:
    """float32 -> torch.float32."""
    import torch

    return getattr(torch, name)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- loading


class Pair:
    """The EdiT5 and the T5 of a setup, each loaded on first use. Raises ModelError for a missing model."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    @cached_property
    def corrector(self) -> Corrector:
        """EdiT5 alone."""
        return load_corrector(self.setup)

    @cached_property
    def target(self) -> Target:
        """The T5; on the encoder of the EdiT5, if that is how it is stored."""
        return self._on_encoder("target")

    @cached_property
    def any_target(self) -> Target | CausalTarget:
        """The target, a T5 or a language model."""
        return load_any_target(self.setup) if self.setup.is_causal else self.target

    @cached_property
    def drafted_target(self) -> Target | CausalTarget:
        """The target, on the encoder of the EdiT5 that drafts for it where they share one."""
        return self._on_encoder("shared") if self.setup.shared else self.any_target

    def verified(self, *, respelt: bool = True) -> Corrector:
        """The whole path, with EdiT5 as the drafter of the target; without `respelt` it reads what other T5s read."""
        from edit_gec.speculative.verified import Verified
        from edit_gec.speculative.verifier import Verifier

        target = self._on_encoder("shared") if self.setup.shared else self.target
        profile = load_profile(self.setup, "shared" if self.setup.shared else "target", target)
        if not respelt:
            profile = replace(profile, respelt=False)
        return self.corrector.with_predictor(Verified.drafted_by(self.corrector.edit5, Verifier(target, profile)))

    def _on_encoder(self, which: str) -> Target:
        """A target with the encoder of the pair's own EdiT5 where it shares one; no EdiT5 is loaded for another one."""
        from edit_gec.modeling.config import read_config

        folder = getattr(self.setup, which)
        shares = not self.setup.random and self.setup.model and "encoder" in read_config(find_model(folder))
        return load_target(self.setup, which, self.corrector.edit5.model if shares else None)


def load_corrector(setup: Setup) -> Corrector:
    """The EdiT5 of a setup."""
    if setup.mode == ONNX:
        return Corrector.load(setup.model, backend=ONNX, precision=setup.dtype, threads=setup.threads)
    from edit_gec.backends.torch_network import TorchNetwork

    if setup.random:
        from edit_gec.editing.document_edits import Projection
        from edit_gec.editing.predictor import EdiT5Predictor
        from edit_gec.editing.thresholds import Thresholds
        from edit_gec.lab.performance.random_weights import build_edit5

        model, tokens = build_edit5(setup.model, device=setup.device, dtype=setup.dtype)
        edit5 = EdiT5Predictor(TorchNetwork(model), tokens, Thresholds())
        corrector = Corrector(edit5, Projection(None), folder=Path(setup.model), batch_size=1)
    else:
        corrector = Corrector.load(setup.model, backend="torch", device=setup.device, dtype=setup.dtype)
    speed_up(corrector.edit5.model, setup.mode)
    if setup.streams is None:
        return corrector
    from edit_gec.lab.performance.replay import ReplayedEdiT5

    replaying = ReplayedEdiT5(corrector.edit5.model, corrector.edit5.tokens, setup.streams)
    return corrector.with_predictor(replace(corrector.edit5, network=TorchNetwork(replaying)))


def load_target(setup: Setup, which: str = "target", edit5: EdiT5 | None = None) -> Target:
    """The target, the assistant, or the one that is "shared" with `edit5`."""
    from edit_gec.speculative.target import Target

    name = getattr(setup, which)
    if setup.random:
        from edit_gec.lab.performance.random_weights import build_target

        target = build_target(name, device=setup.device, dtype=setup.dtype)
    else:
        target = Target.load(
            name, prefix=setup.prefix, device=setup.device, dtype=tensor_type(setup.dtype),
            max_length=setup.max_length, edit5=edit5,
        )  # fmt: skip
    speed_up(target.model, setup.mode)
    if setup.streams is None:
        return target
    from edit_gec.lab.performance.replay import ReplayedTarget

    return ReplayedTarget(target, setup.streams)


def load_any_target(setup: Setup) -> Target | CausalTarget:
    """The target, a T5 or a language model."""
    from edit_gec.speculative.causal_target import CausalTarget

    if not setup.is_causal:
        return load_target(setup)
    how: dict[str, Any] = {"device": setup.device, "dtype": tensor_type(setup.dtype), "max_length": setup.max_length}
    return CausalTarget.load(setup.target, prompt=setup.prompt, **how)


def load_profile(setup: Setup, which: str, target: Target) -> DraftingProfile:
    """How EdiT5 drafts for the loaded target; models of random weights have no such profile."""
    from edit_gec.speculative.drafting import DraftingProfile

    return DraftingProfile() if setup.random else DraftingProfile.load(find_model(getattr(setup, which)), target)


def speed_up(model: torch.nn.Module, mode: str) -> None:
    """Compile what takes the time of a model, in place."""
    if mode != "eager":
        for name in ("encoder", "tag_layer", "memory_layer", "decoder"):
            if hasattr(model, name):
                getattr(model, name).compile()
