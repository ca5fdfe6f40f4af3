"""What is compared: model folders on disk, so that every system, in this process or a new one, loads the same weights.

    shipped   EdiT5 and target as they were trained; outputs are their own
    base      edit5-base, t5-base and t5-slim with random weights, written to a temporary folder. Latency depends on
              how many steps are taken, not on the values of weights: the steps are those that the shipped pair takes on
              the same sentences (replay.py). Without a trained target the T5s write what EdiT5 makes of them

The slim target has the target's shape and one decoder layer. Nobody trained it: it always replays.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edit_gec.errors import InputError
from edit_gec.performance.replay import Streams, record

if TYPE_CHECKING:
    import torch

    from edit_gec.corrector import Corrector
    from edit_gec.edit5 import EdiT5
    from edit_gec.t5 import T5
    from edit_gec.target import Target

SIZES = ("shipped", "base")


@dataclass(frozen=True)
class Setup:
    """Where everything is and how it runs; plain values, so that it can be handed to a new process."""

    model: str  # EdiT5 folder
    target: str = ""  # Hugging Face T5 folder with spiece.model; none: no T5 runs
    slim: str = ""
    assistant: str = ""  # a small T5 for transformers' assisted generation
    speculator: str = ""  # folder of an MLP that drafts for the target (speculator.py)
    harper: str = ""  # folder with node_modules/harper.js
    converted: dict[str, str] = field(default_factory=dict)  # CTranslate2 folders by precision
    replayed: tuple[str, ...] = ()  # which of model, target and slim follow the streams
    streams: str = ""  # file of the streams
    prefix: str = ""
    sentinel: int = 0  # piece that the target wants before each source; 0: none
    shared: str = ""  # the target as it is stored, where it stands on the model's encoder
    max_length: int = 256
    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 1

    def dumps(self) -> str:
        """As JSON, for `loads`."""
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Setup:
        """What `dumps` wrote."""
        values = json.loads(text)
        return cls(**{**values, "replayed": tuple(values["replayed"])})

    def streams_of(self, which: str) -> Streams | None:
        """The streams that "model", "target" or "slim" follows, None where it decides itself."""
        return Streams.read(self.streams) if which in self.replayed else None


def tensor_type(name: str) -> torch.dtype:
    """float32 -> torch.float32."""
    import torch

    return getattr(torch, name)  # type: ignore[no-any-return]


def load_target(setup: Setup, which: str = "target", edit5: EdiT5 | None = None) -> Target:
    """The target, the slim one, or the one that is "shared" with an EdiT5."""
    from edit_gec.target import Target

    options: dict[str, Any] = {"prefix": setup.prefix, "device": setup.device, "dtype": tensor_type(setup.dtype)}
    return Target.load(getattr(setup, which), max_length=setup.max_length, edit5=edit5, **options)


def load_corrector(setup: Setup, *, verified: bool = False) -> Corrector:
    """The whole path; with the target where `verified`, on the corrector's own encoder if that is how it is stored."""
    from edit_gec.corrector import Corrector
    from edit_gec.verified import Verifier

    corrector = Corrector.load(setup.model, device=setup.device, dtype=setup.dtype)
    if not verified:
        return corrector
    target = load_target(setup, "shared" if setup.shared else "target", corrector.model)
    target.respelt = False  # it reads what the other T5s read
    return corrector.verified_by(Verifier(target))


# ---------------------------------------------------------------- preparing


def shipped(work: Path, setup: Setup, sentences: Sequence[str]) -> Setup:
    """The trained pair as it is; with a target, the slim one is made and its streams are recorded, in folder `work`."""
    if not setup.target:
        return setup
    import torch

    from edit_gec.checkpoint import load_t5
    from edit_gec.t5 import T5
    from edit_gec.tokens import FILE

    setup = _complete(work, _recorded(work, setup, sentences))
    torch.manual_seed(0)
    config = replace(load_t5(setup.target).config, num_decoder_layers=1)
    slim = _written(T5(config), work / "slim", (Path(setup.target) / FILE).read_bytes())
    return replace(setup, slim=slim, replayed=("slim",))


def base(work: Path, setup: Setup, sentences: Sequence[str]) -> Setup:
    """Base-size models in folder `work`, replaying what the trained pair does, or EdiT5 alone where there is no target.

    Raises InputError for a target with another vocabulary.
    """
    from edit_gec.performance import random_weights as presets
    from edit_gec.t5 import PRESETS, T5
    from edit_gec.tokens import FILE

    setup = _recorded(work, setup, sentences)
    model, tokens = presets.build_edit5("edit5-base")
    model.save(work / "model", thresholds={})
    vocabulary = presets.vocabulary(tokens.pieces)
    if not vocabulary.startswith((Path(setup.target or setup.model) / FILE).read_bytes()):
        raise InputError("bench --size base replays pieces of the shipped vocabulary: this target has another one")
    (work / "model" / FILE).write_bytes(vocabulary)
    # As t5-small v1.1 is, but for heads that fill the width: CTranslate2 takes no others.
    small = replace(PRESETS["t5-base"], d_model=512, d_ff=1024, num_heads=8, num_layers=8, num_decoder_layers=8)
    return replace(
        setup,
        model=str(work / "model"),
        target=_written(presets.build_target("t5-base").model, work / "target", vocabulary),
        slim=_written(presets.build_target("t5-slim").model, work / "slim", vocabulary),
        assistant=_written(T5(small), work / "assistant", vocabulary),
        replayed=("model", "target", "slim"),
    )


def _recorded(work: Path, setup: Setup, sentences: Sequence[str]) -> Setup:
    """The setup with the streams of its trained pair. Raises InputError when the two have other vocabularies."""
    corrector, target = load_corrector(setup), load_target(setup) if setup.target else None
    ours, theirs = (t.processor.serialized_model_proto() for t in (corrector.tokens, (target or corrector).tokens))
    if ours != theirs:
        raise InputError("bench replays with one vocabulary: the model's and the target's spiece.model differ")
    work.mkdir(parents=True, exist_ok=True)
    record(corrector, target, sentences).write(work / "streams.json")
    return replace(setup, streams=str(work / "streams.json"), prefix=target.prefix if target else "")


def _complete(work: Path, setup: Setup) -> Setup:
    """A target on the model's encoder is written as a T5 of its own, for those who know no other."""
    from edit_gec.checkpoint import read_config

    if "encoder" not in read_config(Path(setup.target)):
        return setup
    target = load_target(setup)
    target.export(work / "target")
    return replace(setup, target=str(work / "target"), shared=setup.target, sentinel=target.tokens.slot(0))


def _written(model: T5, folder: Path, vocabulary: bytes) -> str:
    from edit_gec.checkpoint import save_t5
    from edit_gec.tokens import FILE

    save_t5(model, folder)
    (folder / FILE).write_bytes(vocabulary)
    return str(folder)
