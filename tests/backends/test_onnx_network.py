"""The exported graphs against torch: the same numbers and edits, whatever the batch; broken folders are one line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import brief, nasty

from edit_gec.backends import choose
from edit_gec.backends.network import Network, ScoringRequest
from edit_gec.backends.relative_bias import relative_buckets
from edit_gec.backends.torch_network import TorchNetwork
from edit_gec.cli.main import main
from edit_gec.corrector import Corrector
from edit_gec.editing.decode import predict
from edit_gec.editing.thresholds import Thresholds
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.config import T5Config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.processor import multiplies_bytes
from edit_gec.modeling.t5 import RelativeBias
from edit_gec.modeling.tokenizer import EOS, PAD, Tokens

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from edit_gec.backends.export import export
from edit_gec.backends.onnx_network import OnnxNetwork
from edit_gec.backends.sessions import FOLDER, INDEX
from edit_gec.modeling.weights import FILE, read_weights

SHAPES: list[dict[str, Any]] = [{}, {"gated": False}, {"attention_scale": 0.35, "num_layers": 1}]
ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "robustness" / "correct.jsonl"
PROSE = ROOT / "data" / "samples" / "prose.txt"


@pytest.fixture(scope="module", params=SHAPES, ids=["gated", "relu", "scaled"])
def pair(
    request: pytest.FixtureRequest, make_model: Callable[..., EdiT5], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Network, Network]:
    folder = tmp_path_factory.mktemp("model")
    model = make_model(3, **request.param)
    model.save(folder)
    export(folder)
    return TorchNetwork(model), OnnxNetwork.load(folder)


@pytest.fixture(scope="module")
def exported(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the model that edits most sentences, with graphs."""
    folder = tmp_path_factory.mktemp("exported")
    for path in model_folder.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    export(folder)
    return folder


def make_ids(config: Any, lengths: Sequence[int]) -> list[list[int]]:
    """Sentinel, random pieces, </s>."""
    random = np.random.default_rng(5)
    return [[config.vocab_size - 1, *random.integers(3, 300, length).tolist(), EOS] for length in lengths]


def close(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], ids: Sequence[Sequence[int]]) -> None:
    """Alike in all that is no padding; what torch says of padding is not looked at."""
    for ours, theirs, sentence in zip(found, expected, ids, strict=True):
        rows = slice(len(sentence))
        columns = rows if ours.shape[-1] == len(sentence) else slice(None)
        np.testing.assert_allclose(ours, theirs[rows, columns], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("lengths", [[1], [9], [7, 2, 5]])
def test_tags_and_points_are_torchs(pair: tuple[Network, Network], lengths: list[int]) -> None:
    ids = make_ids(pair[0].config, lengths)
    tags = [[0, *(piece % 4 for piece in sentence[1:-1]), 0] for sentence in ids]
    expected, found = ([n.tag(source), n.point(source, tags)] for n in pair for source in [n.encode(ids)])
    for ours, theirs in zip(found, expected, strict=True):
        close(ours, theirs, ids)


def test_the_decoder_is_torchs_in_one_go_and_step_by_step(pair: tuple[Network, Network]) -> None:
    ids = make_ids(pair[0].config, [6, 4, 8])
    tags = [[piece % 4 for piece in sentence] for sentence in ids]
    ranks = [[piece % 7 - 1 for piece in sentence] for sentence in ids]
    stream = np.arange(12).reshape(3, 4) + 20
    places = [(row, at) for row in range(3) for at in range(4)]
    asked = ScoringRequest(
        stream.tolist(), places, [(place, piece) for place in range(12) for piece in range(0, 300, 7)]
    )
    results = []
    for network in pair:
        memory = network.remember(network.encode(ids), [0, 2], [tags[0], tags[2]], [ranks[0], ranks[2]])
        writing = memory.attach([0, 1, 1], [2, 0, 3])
        scores = writing.score(asked)
        writing.begin([0, 1, 2])
        steps = [writing.step([0, 1, 2], stream[:, 0].tolist())]
        writing.keep([0, 2])
        steps += [writing.step([0, 2], stream[[0, 2], at].tolist()) for at in (1, 2)]
        results.append((scores, steps))
    (expected, expected_steps), (found, found_steps) = results
    np.testing.assert_allclose(found, expected, atol=2e-4, rtol=1e-4)
    for (values, chosen), (wanted, wanted_chosen) in zip(found_steps, expected_steps, strict=True):
        assert chosen == wanted_chosen and values == pytest.approx(wanted, abs=2e-4)
        assert not {PAD, 2, *range(pair[0].config.vocab_size - pair[0].config.slots, 10**6)} & set(chosen)


@brief
@given(texts=st.lists(nasty.filter(bool), min_size=1, max_size=4), sequential=st.booleans())
def test_both_backends_predict_the_same(
    model: EdiT5, exported: Path, tokens: Tokens, texts: list[str], sequential: bool
) -> None:
    pieces = [tokens.encode(text).window(0, model.config.max_pieces) for text in texts]
    options = Thresholds(sequential=sequential)
    expected = predict(TorchNetwork(model), tokens, pieces, options)
    found = predict(OnnxNetwork.load(exported), tokens, pieces, options)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.plan == theirs.plan and ours.confidence == pytest.approx(theirs.confidence, abs=1e-3)


def test_the_loader_takes_onnx_without_torch(exported: Path) -> None:
    """A corrector that never imports torch, and says which backend it has."""
    code = f"""
import sys
from edit_gec import Corrector
corrector = Corrector.load({str(exported)!r})
corrector.correct_batch(["She walk to school.", "the the cat sat"])
print(repr(corrector), "torch" in sys.modules, "safetensors" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "backend='onnx'" in done.stdout and done.stdout.endswith("False False\n")


@pytest.mark.parametrize(
    ("keywords", "backend"),
    [
        ({}, "onnx"), ({"backend": "onnx"}, "onnx"), ({"backend": "torch"}, "torch"), ({"dtype": "bfloat16"}, "torch"),
    ],
)  # fmt: skip
def test_the_loader_chooses(exported: Path, keywords: dict[str, str], backend: str) -> None:
    assert Corrector.load(exported, **keywords).edit5.network.backend == backend  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"backend": "jax"}, "backend jax: auto, onnx, torch are known"),
        ({"precision": "int4"}, "precision int4: auto, float32, int8 are known"),
        ({"backend": "onnx", "dtype": "bfloat16"}, "backend onnx: dtype bfloat16 needs torch"),
        ({"backend": "onnx", "target": "t5-mini"}, "backend onnx: a target needs torch"),
        ({"backend": "torch", "precision": "int8"}, "precision int8: computed by backend onnx only"),
        ({"precision": "int8"}, "its weights are not in bytes"),
    ],
)
def test_what_does_not_go_together(exported: Path, keywords: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Corrector.load(exported, **keywords)  # type: ignore[arg-type]


def test_a_folder_without_graphs_is_torchs(model_folder: Path) -> None:
    assert Corrector.load(model_folder).edit5.network.backend == "torch"
    with pytest.raises(InputError, match="has no graphs; make it with edit-gec export"):
        Corrector.load(model_folder, backend="onnx")


@pytest.mark.parametrize("count", [4, 6, 32])
@pytest.mark.parametrize("longest", [33, 64, 128, 1000])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_torchs(count: int, longest: int, bidirectional: bool) -> None:
    config = T5Config(relative_attention_num_buckets=count, relative_attention_max_distance=longest)
    theirs = RelativeBias(config, bidirectional=bidirectional).buckets(torch.arange(-longest, longest + 1))
    assert relative_buckets(count, longest, bidirectional=bidirectional).tolist() == theirs.tolist()


def test_packed_weights_are_dequantized_exactly(make_model: Callable[..., EdiT5], tmp_path: Path) -> None:
    make_model(3, d_model=128).save(tmp_path, small=True)
    weights, loaded = read_weights(tmp_path), EdiT5.load(tmp_path).state_dict()
    assert weights.is_packed("embedding.weight")
    for name, tensor in loaded.items():
        np.testing.assert_array_equal(weights.dense(name), tensor.numpy())


has_exact_bytes = pytest.mark.skipif(
    not multiplies_bytes(), reason="int8 is no default here: this processor saturates when it adds products of bytes"
)


@has_exact_bytes
@pytest.mark.parametrize("shape", [{"d_model": 128, "d_kv": 32, "d_ff": 96}, {"d_model": 32, "d_kv": 16}])
def test_int8_products_are_near_and_leave_other_sentences_alone(
    make_model: Callable[..., EdiT5], tmp_path: Path, shape: dict[str, int]
) -> None:
    """Matrices that are too small to be packed are rounded, too: a narrow model has some of both kinds."""
    model = make_model(3, **shape)
    model.save(tmp_path, small=True)
    output = "encoder.layers.0.attention.o.weight"
    assert read_weights(tmp_path).is_packed(output) == (shape["d_model"] == 128)
    export(tmp_path)
    exact, rough = OnnxNetwork.load(tmp_path), OnnxNetwork.load(tmp_path, int8=True)
    ids = make_ids(model.config, [9, 30, 1])
    expected, found = exact.encode(ids), rough.encode(ids)
    for ours, theirs in zip(found, expected, strict=True):
        assert 0 < np.abs(ours.encoded - theirs.encoded).max() < 0.2 * np.abs(theirs.encoded).max()
    for number, sentence in enumerate(ids):
        (alone,) = rough.encode([sentence])
        np.testing.assert_array_equal(alone.encoded, found[number].encoded)
        np.testing.assert_array_equal(alone.tag_logits, found[number].tag_logits)


def test_int8_corrects_a_sentence_as_if_it_were_alone() -> None:
    """The shipped model; confidences differ only by the rounding of the decoder's float32 sums."""
    corrector = replace(Corrector.load(precision="int8", threads=1), batch_size=8)
    texts = ["She go to school yesterday becuase she were late.", "He like it.", "I has two dog and an cat.", "Hello."]
    together = corrector.correct_batch(texts)
    for text, found in zip(texts, together, strict=True):
        alone = corrector.correct(text)
        assert alone.corrected == found.corrected != ""
        assert [e.confidence for e in alone.edits] == pytest.approx([e.confidence for e in found.edits], abs=1e-4)
    assert together[0].edits


def test_the_command_writes_them(model_folder: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for path in model_folder.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert main(["export", str(tmp_path)]) == 0
    printed = capfd.readouterr().out.splitlines()
    assert [Path(line).name for line in printed] == ["encode.onnx", "point.onnx", "encode_plan.onnx", "decode.onnx"]
    assert sum(Path(line).stat().st_size for line in printed) < 100_000, "no weights in them"


def test_the_shipped_graphs_are_what_export_writes(tmp_path: Path) -> None:
    shipped = ROOT / "models" / "edit5-mini"
    for path in shipped.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    for path in [*export(tmp_path), tmp_path / FOLDER / INDEX]:
        assert path.read_bytes() == (shipped / FOLDER / path.name).read_bytes(), "export the shipped model again"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (f"{FOLDER}/encode.onnx", b"not a graph", "encode.onnx: not a graph of this model"),
        (f"{FOLDER}/encode.onnx", None, "encode.onnx: is missing"),
        (f"{FOLDER}/{INDEX}", b"[]", "does not name the weights of encode.onnx"),
        (f"{FOLDER}/{INDEX}", b'{"encode.onnx": ["x"]}', "no tensor x"),
        (FILE, b"\x08", "not a safetensors file, or a truncated one"),
        (FILE, (2).to_bytes(8, "little") + b"{}", "no tensor"),
        (FILE, (9).to_bytes(8, "little") + b'{"a": [1]', "not a safetensors file"),
        (
            FILE,
            (62).to_bytes(8, "little") + b'{"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 8]}} ' + b"0" * 8,
            "8 bytes for tensors of 36",
        ),
    ],
)  # fmt: skip
def test_a_broken_folder_is_one_line(
    make_model: Callable[..., EdiT5], tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    make_model().save(tmp_path)
    export(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=message) as made:
        OnnxNetwork.load(tmp_path)
    assert "\n" not in str(made.value)


def test_a_graph_reads_no_file_of_another_place(make_model: Callable[..., EdiT5], tmp_path: Path) -> None:
    """A hostile graph that names a file outside its folder is refused."""
    import onnx

    make_model().save(tmp_path)
    export(tmp_path)
    path = tmp_path / FOLDER / "encode.onnx"
    graph = onnx.load(str(path), load_external_data=False)
    for tensor in graph.graph.initializer:
        for entry in tensor.external_data:
            entry.value = "/etc/hostname"
    path.write_bytes(graph.SerializeToString())
    index = json.loads((tmp_path / FOLDER / INDEX).read_text())
    index["encode.onnx"] = []
    (tmp_path / FOLDER / INDEX).write_text(json.dumps(index))
    with pytest.raises(ModelError, match="not a graph of this model"):
        OnnxNetwork.load(tmp_path)


@pytest.mark.parametrize("fast", [True, False])
def test_int8_is_the_default_where_the_processor_is_fast_at_it(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "multiplies_bytes", lambda: fast)
    found = [Corrector.load(precision=precision, threads=1) for precision in ("auto", "int8", "float32")]
    assert [each.edit5.network.precision for each in found] == ["int8" if fast else "float32", "int8", "float32"]
    assert found[0].edit5.thresholds == found[1].edit5.thresholds == found[2].edit5.thresholds


@has_exact_bytes
def test_int8_says_what_float32_says() -> None:
    """The shipped model on sentences with errors and on prose: rounding moves the evidence by little."""
    sentences = [json.loads(line)["text"] for line in CASES.read_text(encoding="utf-8").splitlines()]
    sentences += [line for line in PROSE.read_text(encoding="utf-8").splitlines() if line][:100]
    exact, rounded = (Corrector.load(precision=precision, threads=1) for precision in ("float32", "int8"))
    windows = exact.prepare(sentences, lines=True, markup=False)
    ids = [[exact.edit5.network.config.vocab_size - 1, *window.pieces.ids, EOS] for window in windows]
    networks = [each.edit5.network for each in (exact, rounded)]
    logits = [np.concatenate(list(network.tag(network.encode(ids)))) for network in networks]
    moved = logits[1] - logits[0]
    assert 0 < float(np.sqrt((moved**2).mean())) < 0.05 and abs(float(moved.mean())) < 0.01
    texts = [[c.corrected for c in each.correct_batch(sentences, lines=True)] for each in (exact, rounded)]
    differing = sum(ours != theirs for ours, theirs in zip(*texts, strict=True))
    assert differing <= 0.02 * len(sentences), f"{differing} of {len(sentences)}"
