"""The target: the tokens of `transformers`, sampling as it says, and clear errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.correctors import verifier_of
from support.strategies import brief
from support.tiny_t5 import broken_target, random_target

from edit_gec.corrector import Corrector
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.checkpoint import save_t5
from edit_gec.modeling.tokenizer import EOS, FILE, PAD, Tokens
from edit_gec.speculative.ragged_cache import RaggedDecoder
from edit_gec.speculative.sampling import Sampling, choose_tokens, draw_tokens, token_probabilities, uniform
from edit_gec.speculative.target import Encoded, Target

SENTENCES = ["She go home.", "My brother walk to the the station every day", "", "I", "They was late, again and again!"]


@pytest.fixture(scope="module")
def folder(tokens: Tokens, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random target, saved as `transformers` saves its T5s."""
    folder = tmp_path_factory.mktemp("target")
    save_t5(random_target(tokens, prefix="fix: ").model, folder)
    (folder / FILE).write_bytes(tokens.processor.serialized_model_proto())
    return folder


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    """The same model in `transformers`."""
    from transformers import T5ForConditionalGeneration

    return T5ForConditionalGeneration.from_pretrained(folder).eval()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("prefix", ["", "grammar: "])
def test_greedy_is_that_of_transformers(folder: Path, theirs: Any, prefix: str) -> None:
    target = Target.load(folder, prefix=prefix, max_length=24)
    outputs = target.generate(SENTENCES)
    for sentence, output in zip(SENTENCES, outputs, strict=True):
        ids = torch.tensor([target.source_ids(sentence)])
        wanted = theirs.generate(ids, max_new_tokens=target.limit(sentence), do_sample=False)[0, 1:].tolist()
        assert output == wanted
    assert len({len(output) for output in outputs}) > 1, "outputs of one length would hide what batching breaks"


@pytest.mark.parametrize("sampling", [None, Sampling(seed=3), Sampling(0.7, top_k=5, top_p=0.9, seed=4)])
@pytest.mark.parametrize("batch_size", [1, 2, 4])
def test_batches_change_nothing(tokens: Tokens, sampling: Sampling | None, batch_size: int) -> None:
    target = random_target(tokens, 1)
    assert target.generate(SENTENCES, sampling, batch_size=batch_size) == target.generate(SENTENCES, sampling)


def test_prefix_comes_from_the_folder(folder: Path, tokens: Tokens, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert Target.load(tmp_path).prefix == ""
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace("{", '{"prefix": "grammar: ",', 1))
    target = Target.load(tmp_path)
    assert target.source_ids("I go.") == [*tokens.ids("grammar: I go."), EOS]
    assert Target.load(tmp_path, prefix="").source_ids("I go.") == [*tokens.ids("I go."), EOS]


def test_a_target_of_the_hub_verifies(
    folder: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its id, from the cache, without the network, and with the prefix that its card names."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    hub_id, commit = "vennify/t5-base-grammar-correction", "1" * 40
    cached = tmp_path / "models--vennify--t5-base-grammar-correction"
    shutil.copytree(folder, cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    by_id = Corrector.load(model_folder, target=hub_id)
    by_folder = Corrector.load(model_folder, target=folder, target_prefix="grammar: ")
    verified = verifier_of(by_id).target
    assert isinstance(verified, Target) and verified.prefix == "grammar: "
    for sentence in SENTENCES:
        assert by_id.correct(sentence) == by_folder.correct(sentence)
    with pytest.raises(ModelError, match="the hub does not give it"):
        Corrector.load(model_folder, target="someone/else")


def test_text_of_an_output(tokens: Tokens) -> None:
    target = random_target(tokens)
    for sentence in ("She goes home.", "naïve 😀"):
        assert target.text([*tokens.ids(sentence), EOS]) == sentence


# ---------------------------------------------------------------- sampling


def test_probabilities_are_those_of_transformers() -> None:
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    logits = torch.randn(20, 50, generator=torch.Generator().manual_seed(0)) * 3
    for temperature, top_k, top_p in ((1.0, 0, 1.0), (0.5, 7, 1.0), (2.0, 0, 0.8), (1.3, 10, 0.5)):
        scores = TemperatureLogitsWarper(temperature)(None, logits.double())
        scores = TopKLogitsWarper(top_k)(None, scores) if top_k else scores
        scores = TopPLogitsWarper(top_p)(None, scores) if top_p < 1 else scores
        torch.testing.assert_close(token_probabilities(logits, Sampling(temperature, top_k, top_p)), scores.softmax(-1))


def test_draws_have_their_probabilities() -> None:
    weights = torch.tensor([[0.0, 0.5, 0.0, 0.3, 0.2, 0.0]], dtype=torch.float64)
    uniforms = [uniform(5, sentence, position, 0) for sentence in range(100) for position in range(200)]
    drawn = torch.tensor(draw_tokens(weights.expand(20000, 6), uniforms)).bincount(minlength=6)
    assert drawn[[0, 2, 5]].sum() == 0
    expected = 20000 * weights[0][[1, 3, 4]]
    assert ((drawn[[1, 3, 4]] - expected) ** 2 / expected).sum() < 13.8  # chi-square, 2 degrees, p = 0.001


@brief
@given(st.integers(-(2**70), 2**70), st.integers(0, 2**40), st.integers(0, 2**20), st.integers(0, 3))
def test_random_numbers_belong_to_their_place(seed: int, sentence: int, position: int, purpose: int) -> None:
    number = uniform(seed, sentence, position, purpose)
    assert 0 <= number < 1 and number == uniform(seed, sentence, position, purpose)
    others = {uniform(seed, sentence + 1, position, purpose), uniform(seed, sentence, position + 1, purpose)}
    assert number not in others | {uniform(seed, sentence, position, purpose + 1)}


def test_extreme_numbers_draw_possible_tokens() -> None:
    weights = torch.tensor([[0.0, 1e-300, 0.0, 1.0, 0.0]], dtype=torch.float64).expand(2, 5)
    assert draw_tokens(weights, [0.0, 1 - 2.0**-52]) == [1, 3]


def test_seeds_differ(tokens: Tokens) -> None:
    target = random_target(tokens)
    first, second = (target.generate(SENTENCES, Sampling(2.0, seed=seed)) for seed in (1, 2))
    assert first != second and first != target.generate(SENTENCES)


# ---------------------------------------------------------------- rows at lengths of their own


def test_rolled_back_rows_are_as_if_never_longer(tokens: Tokens) -> None:
    """Caches after admissions, roll-backs and drops give the states of one clean pass over what is left."""
    model = random_target(tokens).model
    generator = torch.Generator().manual_seed(2)

    def source(length: int) -> Encoded:
        ids = torch.randint(3, tokens.size, (1, length), generator=generator)
        mask = torch.ones_like(ids, dtype=torch.bool)
        return Encoded(model.encode(ids, mask), mask, None)

    with torch.inference_mode():
        sources = [source(length) for length in (4, 9, 6)]
        decoder = RaggedDecoder(model)
        decoder.add_sources(sources[0])
        decoder.forward([[PAD, 5, 6, 7]])
        decoder.add_sources(sources[1])
        decoder.forward([[8, 9], [PAD]])
        decoder.roll_back([3, 1])  # the first row: <pad> 5 6
        decoder.add_sources(sources[2])
        decoder.forward([[10], [11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28], [PAD, 30]])
        decoder.roll_back([4, 5, 2])
        decoder.keep([2, 1])
        hidden = decoder.forward([[31, 32], [40]])
        written = [[PAD, 30, 31, 32], [PAD, 11, 12, 13, 14, 40]]
        for n, (tokens_of_row, encoded) in enumerate(zip(written, (sources[2], sources[1]), strict=True)):
            clean = RaggedDecoder(model)
            clean.add_sources(encoded)
            wanted = clean.forward([tokens_of_row])[-1]
            torch.testing.assert_close(hidden[[1, 2][n]], wanted, atol=1e-5, rtol=1e-5)


# ---------------------------------------------------------------- bad input


def test_a_sentence_that_cannot_fit_is_refused(tokens: Tokens) -> None:
    with pytest.raises(InputError, match="expected at most 9; split it, or raise max_length"):
        random_target(tokens, max_length=10).generate(["This sentence has more pieces than ten, by far."])


def test_sources_are_as_long_as_it_was_trained_on(tokens: Tokens, tmp_path: Path) -> None:
    target = random_target(tokens, max_length=40)
    assert target.max_pieces == 39
    target.longest_source = 6
    target.export(tmp_path)
    loaded = Target.load(tmp_path)
    assert loaded.max_pieces == 6 and loaded.max_length > 6, "what it writes may be longer"
    assert loaded.fits("walk") and not loaded.fits("This sentence has more pieces than six.")
    with pytest.raises(InputError, match="expected at most 6"):
        loaded.generate(["This sentence has more pieces than six."])
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"n_positions": "many"}))
    with pytest.raises(ModelError, match="n_positions 'many'; expected a whole number"):
        Target.load(tmp_path)


def test_output_ends_at_max_length(tokens: Tokens) -> None:
    target = random_target(tokens, 1, max_length=16)
    outputs = target.generate(["I go", "She", "Home", "They"])
    assert max(map(len, outputs)) == 16 and any(output[-1] != EOS for output in outputs)


def test_output_ends_at_the_limit_of_its_source(tokens: Tokens) -> None:
    """Whatever stands beside it in a batch: at twice the source and some more, but never above max_length."""
    target = random_target(tokens, max_length=40)
    with torch.no_grad():
        target.model.output.weight[EOS] = 0.0  # type: ignore[union-attr]
    sentences = [*SENTENCES, "This one has some twenty pieces, or at least it has more than twelve."]
    wanted = [min(40, 2 * len(tokens.ids(sentence)) + 16) for sentence in sentences]
    assert [target.limit(sentence) for sentence in sentences] == wanted and 16 in wanted and 40 in wanted
    outputs = target.generate(sentences)
    assert [len(output) for output in outputs] == wanted and all(EOS not in output for output in outputs)
    assert outputs == [target.generate([sentence])[0] for sentence in sentences]


@pytest.mark.parametrize("sampling", [None, Sampling()])
def test_nan_is_an_error(tokens: Tokens, sampling: Sampling | None) -> None:
    with pytest.raises(ModelError, match="logits that are not finite"):
        broken_target(tokens).generate(["She go home."], sampling)
    with pytest.raises(ModelError, match="logits that are not finite"):
        choose_tokens(torch.tensor([[0.0, torch.inf]]), sampling, [(0, 0)])


@pytest.mark.parametrize("wrong", [{"temperature": 0}, {"temperature": -1}, {"top_k": -1}, {"top_p": 0}, {"top_p": 2}])
def test_impossible_sampling_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected"):
        Sampling(**wrong)  # type: ignore[arg-type]


def test_folders_that_are_no_target(folder: Path, model_folder: Path, tmp_path: Path, tokens: Tokens) -> None:
    with pytest.raises(ModelError, match="expected a T5"):
        Target.load(model_folder)
    for file in folder.iterdir():
        if file.name != FILE:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ModelError, match=f"no {FILE} here"):
        Target.load(tmp_path)
    with pytest.raises(ModelError, match="the model only 64 of them"):
        random_target(tokens, vocab_size=64)
