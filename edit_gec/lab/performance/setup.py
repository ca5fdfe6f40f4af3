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
    exported: str = ""  # the target as a T5 of its own, where it stands on the model's encoder: what peers read
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


class Pair:
    """The EdiT5 and the T5 of a setup, each loaded on first use. Raises ModelError for a missing model."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    @cached_property
    def corrector(self) -> Corrector:
        """EdiT5 alone."""
        setup = self.setup
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

    @cached_property
    def t5(self) -> Target:
        """The target that is a T5; on the encoder of the EdiT5, if that is how it is stored."""
        return self.load_t5(self.setup.target)

    @cached_property
    def target(self) -> Target | CausalTarget:
        """The target, a T5 or a language model."""
        setup = self.setup
        if not setup.is_causal:
            return self.t5
        from edit_gec.speculative.causal_target import CausalTarget

        how = {"device": setup.device, "dtype": tensor_type(setup.dtype), "max_length": setup.max_length}
        return CausalTarget.load(setup.target, prompt=setup.prompt, **how)  # type: ignore[arg-type]

    @property
    def profile(self) -> DraftingProfile:
        """How EdiT5 drafts for the T5; models of random weights have no such profile."""
        from edit_gec.speculative.drafting import DraftingProfile

        return DraftingProfile() if self.setup.random else DraftingProfile.load(find_model(self.setup.target), self.t5)

    def verified(self, *, respelt: bool = True) -> Corrector:
        """The whole path, with EdiT5 as the drafter of the target; without `respelt` it reads what other T5s read."""
        from edit_gec.speculative.verified import Verified
        from edit_gec.speculative.verifier import Verifier

        profile = replace(self.profile, respelt=respelt and self.profile.respelt)
        return self.corrector.with_predictor(Verified.drafted_by(self.corrector.edit5, Verifier(self.t5, profile)))

    def load_t5(self, name: str) -> Target:
        """A T5 by name or folder; no EdiT5 is loaded for one with an encoder of its own."""
        from edit_gec.modeling.config import read_config
        from edit_gec.speculative.target import Target

        setup = self.setup
        if setup.random:
            from edit_gec.lab.performance.random_weights import build_target

            target = build_target(name, device=setup.device, dtype=setup.dtype)
        else:
            shares = setup.model and "encoder" in read_config(find_model(name))
            target = Target.load(
                name, prefix=setup.prefix, device=setup.device, dtype=tensor_type(setup.dtype),
                max_length=setup.max_length, edit5=self.corrector.edit5.model if shares else None,
            )  # fmt: skip
        speed_up(target.model, setup.mode)
        if setup.streams is None:
            return target
        from edit_gec.lab.performance.replay import ReplayedTarget

        return ReplayedTarget(target, setup.streams)


def speed_up(model: torch.nn.Module, mode: str) -> None:
    """Compile what takes the time of a model, in place."""
    if mode != "eager":
        for name in ("encoder", "tag_layer", "memory_layer", "decoder"):
            if hasattr(model, name):
                getattr(model, name).compile()
