"""The systems that are measured, built of model folders or of presets with random weights.

t5                 the target alone: one decoder step for each token
edit5              EdiT5 alone, all slots at once, as `edit-gec correct` runs it
edit5-sequential   the same with one slot after the other, as in the paper
verified           EdiT5 drafts, the target verifies
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.corrector import Corrector, find_model
from edit_gec.errors import InputError
from edit_gec.performance.stage_replay import ReplayedCorrector, ReplayedTarget, Text
from edit_gec.target import Target
from edit_gec.tokens import EOS
from edit_gec.verified import Verifier

if TYPE_CHECKING:
    import torch

SYSTEMS = ("t5", "edit5-sequential", "edit5", "verified")
MODES = ("eager", "compiled", "graph")
DTYPES = {"cpu": ("float32", "bfloat16"), "cuda": ("float32", "bfloat16", "float16")}


@dataclass(frozen=True)
class Settings:
    """What was asked for: presets and folders, of an EdiT5, a T5 or one of each."""

    systems: tuple[str, ...] = ()  # none: all that the models allow
    presets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    device: str = "cpu"
    dtype: str = "float32"
    mode: str = "eager"


@dataclass
class Models:
    """An EdiT5 and a T5, or one of them, and what they are called."""

    corrector: Corrector | None = None
    target: Target | None = None
    names: tuple[str, ...] = ()
    random: bool = False
    graphs: bool = False


@dataclass(frozen=True)
class System:
    """Something that corrects a sentence, and returns the corrected text."""

    name: str
    correct: Callable[[str], str]


def load(settings: Settings) -> Models:
    """Load or build the models. Raises InputError for what is not there or does not fit."""
    check(settings)
    loaded = Models(
        names=(*settings.presets, *settings.models), random=bool(settings.presets), graphs=settings.mode == "graph"
    )
    for name in settings.presets:
        _build(loaded, name, settings)
    for name in sorted(settings.models, key=lambda name: not is_edit5(name)):  # a target may stand on its encoder
        _load(loaded, name, settings)
    for owner in (loaded.corrector, loaded.target):
        if owner is not None:
            speed_up(owner.model, settings.mode)
    return loaded


def check(settings: Settings) -> None:
    """Raises InputError for a device, dtype or mode that this machine cannot do."""
    import torch

    kind = settings.device.partition(":")[0]
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device {settings.device}: this torch sees no GPU; leave --device out to use the CPU")
    if kind not in DTYPES or settings.dtype not in DTYPES[kind]:
        raise InputError(f"dtype {settings.dtype}: on {kind} {', '.join(DTYPES.get(kind, ()))} can be profiled")
    if settings.mode == "graph" and kind != "cuda":
        raise InputError(f"mode graph: CUDA graphs need --device cuda, not {settings.device}; eager or compiled can do")
    if settings.presets and settings.models:
        raise InputError("--preset has random weights and --model has not: give one of them")


def _build(loaded: Models, name: str, settings: Settings) -> None:
    from edit_gec.decode import Options
    from edit_gec.edit5 import PRESETS
    from edit_gec.performance.random_weights import build_edit5, build_target
    from edit_gec.t5 import PRESETS as T5_PRESETS

    if name in PRESETS and loaded.corrector is None:
        model, tokens = build_edit5(name, device=settings.device, dtype=settings.dtype)
        loaded.corrector = Corrector(model, tokens, Options(), folder=Path(name), batch_size=1)
    elif name in T5_PRESETS and loaded.target is None:
        loaded.target = build_target(name, device=settings.device, dtype=settings.dtype)
    else:
        raise InputError(f"preset {name}: one of {', '.join(PRESETS)} and one of {', '.join(T5_PRESETS)} are wanted")


def _load(loaded: Models, name: str, settings: Settings) -> None:
    import torch

    folder = find_model(name)
    if is_edit5(name):
        if loaded.corrector is not None:
            raise InputError(f"model {name}: an EdiT5 was given already; one EdiT5 and one T5 are wanted")
        loaded.corrector = Corrector.load(folder, device=settings.device, dtype=settings.dtype, batch_size=1)
    else:
        if loaded.target is not None:
            raise InputError(f"model {name}: a T5 was given already; one EdiT5 and one T5 are wanted")
        loaded.target = Target.load(
            folder, device=settings.device, dtype=getattr(torch, settings.dtype),
            edit5=None if loaded.corrector is None else loaded.corrector.model,
        )  # fmt: skip


def is_edit5(name: str) -> bool:
    """Whether a model of that name or folder is an EdiT5. Raises InputError where there is none."""
    from edit_gec.checkpoint import read_config

    return read_config(find_model(name)).get("model_type") == "edit5"


def speed_up(model: torch.nn.Module, mode: str) -> None:
    """Compile what takes the time of a model, in place; `graph` lets the compiler record CUDA graphs."""
    if mode != "eager":
        for name in ("encoder", "tag_layer", "memory_layer", "decoder"):
            if hasattr(model, name):
                getattr(model, name).compile(mode="reduce-overhead" if mode == "graph" else None)


def build(loaded: Models, wanted: Sequence[str], texts: Sequence[Text]) -> list[System]:
    """The systems, all those that the models allow if none are named. Random weights replay `corrected`.

    Raises InputError for a system that lacks its model, and for random weights without anything to replay.
    """
    needs = {"t5": (loaded.target,), "verified": (loaded.target, loaded.corrector)}
    possible = [name for name in SYSTEMS if all(needs.get(name, (loaded.corrector,)))]
    if missing := [name for name in wanted if name not in possible]:
        kinds = {"t5": "a T5", "verified": "both an EdiT5 and a T5"}
        raise InputError(f"system {missing[0]} needs {kinds.get(missing[0], 'an EdiT5')}; add a --preset or a --model")
    if loaded.random and any(text.corrected is None for text in texts):
        raise InputError("random weights write nothing of use: say what they shall write with --corrected, or give "
                         "--file lines with the sentence, a tab and its correction")  # fmt: skip
    systems = [_system(name, loaded, texts) for name in wanted or possible]
    return [System(each.name, marked(each.correct)) for each in systems] if loaded.graphs else systems


def marked(correct: Callable[[str], str]) -> Callable[[str], str]:
    """The same, told to CUDA graphs as one iteration: what one graph wrote stays until the sentence is finished, or the
    encoder's states would be lost when the next stage runs."""
    import torch

    def one_iteration(text: str) -> str:
        torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]
        return correct(text)

    return one_iteration


def _system(name: str, loaded: Models, texts: Sequence[Text]) -> System:
    target, corrector = loaded.target, loaded.corrector
    if target is not None and loaded.random:
        outputs = {text.source: [*target.tokens.ids(text.corrected or ""), EOS] for text in texts}
        target = ReplayedTarget(target, outputs)
    if name == "t5":
        assert target is not None
        alone = target
        return System(name, lambda text: alone.text(alone.generate([text])[0]))
    assert corrector is not None
    own = copy(corrector)
    own.options = replace(corrector.options, sequential=name == "edit5-sequential")
    if name == "verified":
        assert target is not None
        own = own.verified_by(Verifier(target))
    if loaded.random:
        own = ReplayedCorrector(own, {text.source: text.plan(own.tokens) for text in texts})
    return System(name, lambda text: own.correct(text, markup=False).corrected)
