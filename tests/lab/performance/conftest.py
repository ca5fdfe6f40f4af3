"""A tiny pair on disk that corrects a toy task: a T5 that has learnt it, and an EdiT5 that was never trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.tiny_t5 import pairs, trained_target

from edit_gec.lab.performance import peers
from edit_gec.lab.performance.setup import Setup
from edit_gec.lab.performance.sizes import prepare_shipped
from edit_gec.modeling.checkpoint import save_t5
from edit_gec.modeling.tokenizer import FILE

if TYPE_CHECKING:
    from edit_gec.modeling.tokenizer import Tokens
    from edit_gec.speculative.target import Target

SENTENCES = [source for source, _ in pairs(6, 7)]


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return SENTENCES


def save_target(target: Target, folder: Path) -> str:
    save_t5(target.model, folder)
    (folder / FILE).write_bytes(target.tokens.processor.serialized_model_proto())
    return str(folder)


@pytest.fixture(scope="session")
def target(tokens: Tokens) -> Target:
    return trained_target(tokens)


@pytest.fixture(scope="session")
def given(target: Target, model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """A tiny pair on disk; the T5 is its own assistant."""
    folder = save_target(target, tmp_path_factory.mktemp("target"))
    return Setup(model=str(model_folder), target=folder, assistant=folder, max_length=48)


@pytest.fixture(scope="session")
def ready(given: Setup, tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """The same with what CTranslate2 reads."""
    work = tmp_path_factory.mktemp("work")
    made = prepare_shipped(work, given, SENTENCES)
    for precision in peers.PRECISIONS:
        peers.convert_target(made.target, work / precision, precision)
    return replace(made, converted={precision: str(work / precision) for precision in peers.PRECISIONS})
