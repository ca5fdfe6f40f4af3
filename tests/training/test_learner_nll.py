"""Learner NLL: the same whatever else is in the batch, and that of the model's own losses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from edit_gec.annotation import m2
from edit_gec.modeling.edit5 import Batch, EdiT5
from edit_gec.modeling.tokenizer import Tokens
from edit_gec.training.collate import make_example
from edit_gec.training.learner_nll import Judge, compare, measure, read_gold, table

M2 = """S They has n't a dog .
A 1 2|||R:VERB:SVA|||have|||REQUIRED|||-NONE-|||0

S We walk to park .
A 3 3|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 4 5|||R:PUNCT|||!|||REQUIRED|||-NONE-|||0

S It rains .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
"""


def test_sentences_are_as_their_writers_typed_them(tmp_path: Path) -> None:
    (tmp_path / "x.m2").write_text(M2)
    first, second, third = read_gold(m2.read_m2(tmp_path / "x.m2"))
    assert (first.source, first.target) == ("They hasn't a dog.", "They haven't a dog.")
    assert (second.source, second.target) == ("We walk to park.", "We walk to the park!")
    assert [(second.source[a:b], kind) for a, b, kind in second.edits] == [("", "M:DET"), (".", "R:PUNCT")]
    assert third.source == third.target == "It rains." and third.edits == []


def test_losses_do_not_depend_on_the_batch(model_folder: Path, tokens: Tokens, tmp_path: Path) -> None:
    (tmp_path / "x.m2").write_text(M2)
    golds = read_gold(m2.read_m2(tmp_path / "x.m2"))
    judge, model = Judge(model_folder), EdiT5.load(model_folder)
    for gold, loss in zip(golds, judge.losses(golds), strict=True):
        (alone,) = judge.losses([gold])
        assert loss is not None and alone is not None
        assert loss.tag == pytest.approx(alone.tag, abs=1e-3)
        assert loss.insertion == pytest.approx(alone.insertion, abs=1e-3)
        made = make_example(gold.source, gold.target, tokens)
        assert made is not None
        inputs = judge.objective.collate([made])
        with torch.inference_mode():
            expected = model(Batch(**{name: inputs[name] for name in Batch._fields}))[0]
        assert (loss.tag, loss.insertion) == pytest.approx((float(expected.tag), float(expected.insertion)), abs=1e-3)
        assert [kind for kind, _ in loss.types] == [kind for _, _, kind in gold.edits]
        assert not gold.edits or 0 < sum(nats for _, nats in loss.types) <= loss.tag + 1e-3


def test_models_are_compared_on_the_same_sentences(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.m2").write_text(M2)
    golds = read_gold(m2.read_m2(tmp_path / "x.m2"))
    result = measure(model_folder, golds, ["It rains.", "We walk."])
    assert result["sentences"] == 3 and result["nll"] == pytest.approx(result["tag"] + result["insertion"])
    assert len(result["each"]) == 3 and len(result["each_clean"]) == 2
    worse = {**result, "each": [nats + 1 for nats in result["each"]]}
    difference = compare(result, worse, "each")
    assert difference.delta == pytest.approx(1) and difference.low == pytest.approx(1)
    assert len(table([result, worse]).splitlines()) > 5
