"""Models with random weights: the shapes of the presets, and a vocabulary of their size that reads text alike."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from edit_gec.errors import InputError
from edit_gec.lab.performance.random_weights import build_edit5, build_target, vocabulary
from edit_gec.modeling.config import T5Config
from edit_gec.modeling.edit5 import PRESETS
from edit_gec.modeling.t5 import PRESETS as T5_PRESETS
from edit_gec.modeling.tokenizer import FILE, Tokens

CASE_STUDY = "i was walking through the park when struck by bicycle ... my arm hurts a little now ."


def test_a_larger_vocabulary_reads_text_as_before(shipped: Tokens, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(vocabulary(32000))
    larger = Tokens.load(tmp_path, 128)
    assert (larger.pieces, larger.size) == (32000, 32128)
    for text in (CASE_STUDY, "", "Ünïcode 🏠 <unused_9000>", "two  spaces\t"):
        assert larger.encode(text) == shipped.encode(text)
        assert larger.decode(larger.ids(text)) == shipped.decode(shipped.ids(text))
    assert vocabulary(8000) == shipped.processor.serialized_model_proto()


def test_a_smaller_vocabulary_is_refused() -> None:
    with pytest.raises(InputError, match="has 8000 and cannot get smaller"):
        vocabulary(7999)


def test_the_mini_model_at_random() -> None:
    model, tokens = build_edit5("edit5-mini", dtype="bfloat16")
    again, _ = build_edit5("edit5-mini", dtype="bfloat16")
    assert model.config == PRESETS["edit5-mini"] and tokens.size == model.config.vocab_size == 8192
    assert model.embedding.weight.dtype == torch.bfloat16 and not model.training
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_a_target_of_a_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        T5_PRESETS, "t5-base", T5Config(vocab_size=8200, d_model=16, d_ff=16, num_layers=1, num_decoder_layers=1)
    )
    target = build_target("t5-base", max_length=5)
    assert target.tokens.pieces == 8200 - 128 and target.max_length == 5
    assert len(target.generate(["She go home."])[0]) <= 5


@pytest.mark.parametrize("name", ["t5-base", "edit5-huge"])
def test_presets_of_another_kind(name: str) -> None:
    with pytest.raises(InputError, match=f"preset {name}: edit5-base, edit5-mini are EdiT5s"):
        build_edit5(name)
    with pytest.raises(InputError, match=r"preset edit5-mini: t5-base.* are T5s"):
        build_target("edit5-mini")
