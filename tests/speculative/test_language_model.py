"""Gains of variants: what reading each text alone gives, whatever is packed together."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.language_gains import Comparison, find_gains
from support.tiny_causal import make_oracle, save_folder, save_gguf

from edit_gec.backends.export import export
from edit_gec.backends.onnx_language_network import OnnxLanguageNetwork
from edit_gec.backends.torch_language_network import TorchLanguageNetwork
from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.modeling.causal_lm import CausalLM, causal_visibility
from edit_gec.speculative import language_model
from edit_gec.speculative.language_model import LanguageModel, Question, find_branch, put_in_rows

WORDS = st.sampled_from("She goes go to school every day because it likes there . , 1984 a".split())
TEXTS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    folder = tmp_path_factory.mktemp("judge")
    save_folder(folder)
    return LanguageModel(TorchLanguageNetwork(load_causal(folder)), BytePairs.load(folder))


def log_likelihood(model: LanguageModel, before: str, text: str) -> float:
    """log p(text) after what stands before it, read alone."""
    assert isinstance(model.network, TorchLanguageNetwork)
    network: CausalLM = model.network.model
    first = [0, *model.tokens.encode(before).ids]
    ids = torch.tensor([[*first, *model.tokens.encode(text).ids]])
    with torch.inference_mode():
        hidden = network(ids, torch.arange(ids.shape[1])[None], causal_visibility([ids.shape[1]]))
        chances = network.logits(hidden).log_softmax(-1)[0, :-1].gather(1, ids[0, 1:, None])
    return float(chances[len(first) - 1 :].sum())


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, max_size=4)), min_size=1, max_size=4))
def test_gains_are_differences_of_likelihoods(model: LanguageModel, asked: list[tuple[str, str, list[str]]]) -> None:
    """Variants share a row, questions a pass; texts are shorter than what is compared after a difference."""
    questions = [Comparison(before + ". ", source, tuple(variants)) for before, source, variants in asked]
    for question, gains in zip(questions, find_gains(model, questions), strict=True):
        source = log_likelihood(model, question.before, question.source)
        wanted = [log_likelihood(model, question.before, variant) - source for variant in question.variants]
        assert gains == pytest.approx(wanted, abs=2e-3)


def test_many_variants_take_several_rows(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same gains, whatever fits into a row or a pass."""
    source = "She go to school every day because it likes there"
    question = Comparison(
        "", source, tuple(source.replace("go", word) for word in ("goes", "a", "likes", "1984", "go"))
    )
    whole = find_gains(model, [question])
    monkeypatch.setattr(language_model, "WIDTH", 12)
    monkeypatch.setattr(language_model, "MOST_TOKENS", 20)
    read = model.encode(0, Question("", source))
    found = (find_branch(n, read, model.tokens.encode(text).ids) for n, text in enumerate(question.variants))
    rows = put_in_rows(0, [branch for branch in found if branch])
    assert len(rows) > 1 and all(row.length <= 12 or len(row.branches) == 1 for row in rows)
    assert find_gains(model, [question])[0] == pytest.approx(whole[0], abs=1e-3)
    assert whole[0][-1] == 0.0


def test_no_question_and_empty_texts(model: LanguageModel) -> None:
    assert find_gains(model, []) == []
    assert find_gains(model, [Comparison("", "", ())]) == [[]]
    ((gain, none),) = find_gains(model, [Comparison("", "", ("She", ""))])
    assert gain < 0 and none == 0.0
    assert gain == pytest.approx(log_likelihood(model, "", "She"), abs=1e-3)


def test_a_model_is_loaded_by_its_folder_or_file(tmp_path: Path) -> None:
    """In torch, or in ONNX Runtime where a precision is named; the same gains."""
    save_folder(tmp_path)
    save_gguf(tmp_path / "tiny.gguf", make_oracle())
    question = Comparison("", "She go to school", ("She goes to school",))
    ((wanted,),) = find_gains(LanguageModel.load(tmp_path), [question])
    assert find_gains(LanguageModel.load(tmp_path / "tiny.gguf"), [question])[0] == pytest.approx([wanted], abs=1e-3)
    pytest.importorskip("onnx")
    export(tmp_path)
    loaded = LanguageModel.load(tmp_path, precision="float32")
    assert isinstance(loaded.network, OnnxLanguageNetwork)
    assert find_gains(loaded, [question])[0] == pytest.approx([wanted], abs=1e-3)


def test_folder_name(tmp_path: Path) -> None:
    """A model that knows no first token compares from the second one on."""
    save_folder(tmp_path)
    tokens = BytePairs.load(tmp_path)
    model = LanguageModel(TorchLanguageNetwork(load_causal(tmp_path)), BytePairs(tokens.tokenizer, None, None))
    assert find_gains(model, [Comparison("", "She goes", ("He goes",))])[0][0] != 0
