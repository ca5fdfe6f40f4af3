"""Replay: models that compute all they would write what they are given, in batches and in threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from support.correctors import edit5_corrector
from support.lively import write_one_piece
from support.strategies import law
from support.tiny_t5 import SHAPE, broken_target, pairs, random_target

from edit_gec import tracing
from edit_gec.backends.torch_network import TorchNetwork
from edit_gec.corrector import Corrector
from edit_gec.editing.alignment import align
from edit_gec.editing.decode import predict
from edit_gec.editing.plan import realize, unchanged
from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import InputError, ModelError
from edit_gec.lab.performance import sizes, systems
from edit_gec.lab.performance.replay import Recording, ReplayedEdiT5, ReplayedTarget, Script, Streams, record
from edit_gec.lab.performance.sentences import Text
from edit_gec.lab.performance.setup import Pair, Setup
from edit_gec.modeling.config import EdiT5Config, T5Config
from edit_gec.modeling.edit5 import PRESETS, EdiT5
from edit_gec.modeling.t5 import PRESETS as T5_PRESETS
from edit_gec.modeling.tokenizer import EOS, FILE

if TYPE_CHECKING:
    from edit_gec.modeling.tokenizer import Tokens
    from edit_gec.speculative.target import Target

SENTENCES = [source for source, _ in pairs(6, 7)] + ["We was there on 3 May.", "It is fine."]
CORRECTED = dict(pairs(12, 5))
PROSE = Path(__file__).parents[3] / "data" / "samples" / "prose.txt"
words = st.lists(st.sampled_from(PROSE.read_text(encoding="utf-8").split()[:60]), min_size=1, max_size=9).map(" ".join)


def streams_of(corrections: dict[str, str], tokens: Tokens) -> Streams:
    """Streams of these corrections, or of what tags can say of them."""
    streams = {}
    for source, right in corrections.items():
        pieces, ids = tokens.encode(source), tokens.ids(right)
        streams[source] = Recording((*ids, EOS), Script.from_plan(align(pieces.ids, ids, tokens), pieces, tokens).plan)
    return Streams(streams)


def test_random_models_take_the_steps_of_a_stream(
    make_model: Callable[..., EdiT5], model_folder: Path, tokens: Tokens, target: Target
) -> None:
    lively = Corrector.load(model_folder)
    streams = record(lively, target, SENTENCES)
    assert any(stream.plan.insertions for stream in streams.by_sentence.values())
    untrained = random_target(tokens, 3, max_length=48)
    assert ReplayedTarget(untrained, streams).generate(SENTENCES) == target.generate(SENTENCES)
    own = edit5_corrector(TorchNetwork(make_model(5)), tokens)
    other = edit5_corrector(TorchNetwork(ReplayedEdiT5(own.edit5.model, tokens, streams)), tokens)
    assert [p.plan for p in other.edit5.predict_plans([tokens.encode(s) for s in SENTENCES])] == [
        streams.find(s).plan for s in SENTENCES
    ]
    assert record(other, ReplayedTarget(untrained, streams), SENTENCES) == streams
    assert record(own, untrained, SENTENCES) != streams, "on their own they do something else"


@pytest.mark.parametrize("sequential", [False, True])
def test_batches_are_replayed_in_any_order(sequential: bool, make_model: Callable[..., EdiT5], tokens: Tokens) -> None:
    """Also in batches in which no sentence has two slots, or none has any."""
    streams = streams_of({**CORRECTED, "It is fine.": "It is fine."}, tokens)
    model, sources = make_model(5), list(streams.by_sentence)
    replaying = ReplayedEdiT5(model, tokens, streams)
    for batch in (sources, sources[::-1], *([source] for source in sources)):
        pieces = [tokens.encode(source) for source in batch]
        predictions = predict(TorchNetwork(replaying), tokens, pieces, Thresholds(sequential=sequential))
        assert [p.plan for p in predictions] == [streams.find(source).plan for source in batch]


@law
@for_all(source=words, right=words)
def test_any_correction_is_written_or_refused(
    source: str, right: str, make_model: Callable[..., EdiT5], tokens: Tokens
) -> None:
    try:
        streams = Streams.of_texts([Text(source, right)], tokens)
    except InputError as error:
        assert "of a doubled word one goes" in str(error)
        return
    pieces = tokens.encode(source)
    (prediction,) = predict(TorchNetwork(ReplayedEdiT5(make_model(5), tokens, streams)), tokens, [pieces], Thresholds())
    assert prediction.plan == streams.find(source).plan
    assert realize(prediction.plan, pieces, tokens) == tokens.decode(tokens.ids(right)).removeprefix(" ")


@law
@for_all(source=words, right=words)
def test_a_script_is_what_the_path_leaves_of_a_plan(source: str, right: str, tokens: Tokens) -> None:
    pieces = tokens.encode(source)
    once = Script.from_plan(align(pieces.ids, tokens.ids(right), tokens), pieces, tokens).plan
    assert Script.from_plan(once, pieces, tokens).plan == once


def test_a_replayed_step_is_computed(tokens: Tokens) -> None:
    stream = Recording((5, 6, 7, 8, EOS), unchanged(1))
    replaying = ReplayedTarget(random_target(tokens, 3, max_length=48), Streams({"She go.": stream}))
    with tracing.listen(clock := tracing.Clock()):
        assert replaying.generate(["She go."]) == [[5, 6, 7, 8, EOS]]
    assert sum(span.name == "decoder step" for span in clock.spans) == 5


def test_broken_weights_are_not_hidden(tokens: Tokens) -> None:
    replaying = ReplayedTarget(broken_target(tokens), Streams({"She go.": Recording((5, EOS), unchanged(1))}))
    with pytest.raises(ModelError, match="not finite"):
        replaying.generate(["She go."])


def test_only_what_was_given_is_replayed(make_model: Callable[..., EdiT5], tokens: Tokens) -> None:
    streams = streams_of(CORRECTED, tokens)
    with pytest.raises(InputError, match=r"replay: no stream was given for the sentence 'He go\.'"):
        ReplayedTarget(random_target(tokens, 3, max_length=48), streams).generate(["He go."])
    with pytest.raises(InputError, match=r"replay: no stream was given for the sentence 'He go\.'"):
        predict(
            TorchNetwork(ReplayedEdiT5(make_model(5), tokens, streams)), tokens, [tokens.encode("He go.")], Thresholds()
        )


def test_thresholds_must_let_all_pass(make_model: Callable[..., EdiT5], tokens: Tokens) -> None:
    streams = Streams.of_texts([Text("a b c", "a big b and c")], tokens)
    replaying = ReplayedEdiT5(make_model(5), tokens, streams)
    assert len(streams.find("a b c").plan.insertions) == 2
    deaf = Thresholds(slope=1.0, insert_offset=-30.0, min_confidence=0.5)
    predictions = predict(TorchNetwork(replaying), tokens, [tokens.encode("a b c")], deaf)
    assert predictions[0].plan == unchanged(len(tokens.ids("a b c")) + 1)


def test_each_thread_replays_its_own_sentence(tokens: Tokens) -> None:
    """A corrector's threads verify their batches at the same time."""
    start = Barrier(2)
    streams = Streams(
        {text: Recording((*[5 + n] * 20, EOS), unchanged(1)) for n, text in enumerate(("She go.", "He go."))}
    )
    replaying = ReplayedTarget(random_target(tokens, 3, max_length=48), streams)

    def write(text: str) -> list[list[int]]:
        start.wait()
        return replaying.generate([text])

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(write, streams.by_sentence)) == [[[5] * 20 + [EOS]], [[6] * 20 + [EOS]]]


# ---------------------------------------------------------------- base size


@pytest.fixture
def small_base(monkeypatch: pytest.MonkeyPatch) -> None:
    """Presets of base size that are tiny."""
    small: dict[str, Any] = {**SHAPE, "vocab_size": 8200 + 128}
    monkeypatch.setitem(PRESETS, "edit5-base", EdiT5Config(**{**small, "num_decoder_layers": 1}, slots=128))
    monkeypatch.setitem(T5_PRESETS, "t5-base", T5Config(**small))


@pytest.fixture
def lively_pair(shipped: Tokens, make_model: Callable[..., EdiT5], tmp_path: Path) -> Setup:
    """Random models with the shipped vocabulary that edit most sentences."""
    model, target = (
        make_model(2, vocab_size=shipped.size, slots=192),
        random_target(shipped, 1, max_length=16),
    )
    write_one_piece(model)
    model.save(tmp_path / "edit5")
    target.export(tmp_path / "t5")
    (tmp_path / "edit5" / FILE).write_bytes(shipped.processor.serialized_model_proto())
    return Setup(model=str(tmp_path / "edit5"), target=str(tmp_path / "t5"), max_length=16)


@pytest.mark.usefixtures("small_base")
def test_base_size_replays_the_trained_pair(lively_pair: Setup, tmp_path: Path) -> None:
    sentences = ["She go home.", "We was there on 3 May.", "My sister walk to the station every morning."]
    made = sizes.prepare_base(tmp_path / "work", lively_pair, sentences)
    target, corrector = Pair(lively_pair).t5, Pair(lively_pair).corrector
    expected = [target.text(ids) for ids in target.generate(sentences)]
    for name in ("transformers", "t5", "t5 + copy, SAD", "t5 + edit5 draft", "transformers assisted"):
        run = systems.find_system(name).build(Pair(made))
        assert [run([sentence])[0] for sentence in sentences] == expected, name
    alone = systems.find_system("edit5").build(Pair(made))(sentences)
    assert alone == [corrector.correct(s, lines=True, markup=False).corrected for s in sentences] != sentences


@pytest.mark.usefixtures("small_base")
def test_without_a_target_t5s_write_what_edit5_makes_of_it(lively_pair: Setup, tmp_path: Path) -> None:
    sentences = ["She go home.", "My sister walk to the station every morning."]
    alone = Setup(model=lively_pair.model, max_length=60)
    made = sizes.prepare_base(tmp_path / "work", alone, sentences)
    corrector = Pair(alone).corrector
    expected = [corrector.correct(s, lines=True, markup=False).corrected for s in sentences]
    for name in ("t5", "edit5", "t5 + edit5 draft", "edit5 + t5"):
        assert systems.find_system(name).build(Pair(made))(sentences) == expected, name


@pytest.mark.usefixtures("small_base")
def test_base_size_has_the_shipped_vocabulary(given: Setup, sentences: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="shipped vocabulary: this target has another"):
        sizes.prepare_base(tmp_path / "other", given, sentences)
