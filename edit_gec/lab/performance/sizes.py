"""Model folders on disk: every system of `edit-gec bench`, in this process or a new one, loads the same weights.

shipped   EdiT5 and target as they were trained; outputs are their own
base      edit5-base and t5-base with random weights, written to a temporary folder. They take the steps
          that the shipped pair takes on the same sentences (replay.py). Without a trained target the T5s write what
          EdiT5 makes of them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from edit_gec.errors import InputError
from edit_gec.lab.performance.setup import Pair, Setup

if TYPE_CHECKING:
    from edit_gec.modeling.t5 import T5


def prepare_shipped(work: Path, setup: Setup, sentences: Sequence[str]) -> Setup:
    """The trained pair as it is; a target on the model's encoder is written to `work` as a T5 of its own."""
    return _export_target(work, setup) if setup.target and not setup.is_causal else setup


def prepare_base(work: Path, setup: Setup, sentences: Sequence[str]) -> Setup:
    """Base-size models in folder `work`, replaying what the trained pair does, or EdiT5 alone where there is no target.

    Raises InputError for a target with another vocabulary.
    """
    from edit_gec.lab.performance import random_weights
    from edit_gec.modeling.t5 import PRESETS, T5
    from edit_gec.modeling.tokenizer import FILE

    if setup.is_causal:
        raise InputError("bench --size base replays what a T5 does: leave --size out for a language model")
    setup = _record_streams(setup, sentences)
    model, tokens = random_weights.build_edit5("edit5-base")
    model.save(work / "model", thresholds={})
    vocabulary = random_weights.vocabulary(tokens.pieces)
    if not vocabulary.startswith((Path(setup.target or setup.model) / FILE).read_bytes()):
        raise InputError("bench --size base replays pieces of the shipped vocabulary: this target has another one")
    (work / "model" / FILE).write_bytes(vocabulary)
    # Like t5-small v1.1, except that the heads fill the width, as CTranslate2 requires.
    small = replace(PRESETS["t5-base"], d_model=512, d_ff=1024, num_heads=8, num_layers=8, num_decoder_layers=8)
    return replace(
        setup,
        model=str(work / "model"),
        target=_save_t5(random_weights.build_target("t5-base").model, work / "target", vocabulary),
        assistant=_save_t5(T5(small), work / "assistant", vocabulary),
    )


def _record_streams(setup: Setup, sentences: Sequence[str]) -> Setup:
    """The setup with the streams of its trained pair. Raises InputError when the two have other vocabularies."""
    from edit_gec.lab.performance.replay import record

    pair = Pair(setup)
    corrector, target = pair.corrector, pair.t5 if setup.target else None
    both = (corrector.edit5, target or corrector.edit5)
    ours, theirs = (each.tokens.processor.serialized_model_proto() for each in both)
    if ours != theirs:
        raise InputError("bench replays with one vocabulary: the model's and the target's spiece.model differ")
    return replace(setup, streams=record(corrector, target, sentences), prefix=target.prefix if target else "")


def _export_target(work: Path, setup: Setup) -> Setup:
    """Write a target on the model's encoder as a T5 of its own, for tools that support nothing else."""
    from edit_gec.modeling.config import read_config

    if "encoder" not in read_config(Path(setup.target)):
        return setup
    target = Pair(setup).t5
    target.export(work / "target")
    return replace(setup, exported=str(work / "target"), sentinel=target.tokens.slot(0))


def _save_t5(model: T5, folder: Path, vocabulary: bytes) -> str:
    from edit_gec.modeling.checkpoint import save_t5
    from edit_gec.modeling.tokenizer import FILE

    save_t5(model, folder)
    (folder / FILE).write_bytes(vocabulary)
    return str(folder)


SIZES = {"shipped": prepare_shipped, "base": prepare_base}
