"""The exported graphs against torch: the same numbers, whatever the batch; broken folders are one clear line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from edit_gec.cli.main import main
from edit_gec.errors import InputError, ModelError
from edit_gec.modeling.edit5 import EdiT5

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from edit_gec.backends.export import export
from edit_gec.backends.onnx_network import FOLDER, INDEX, OnnxNetwork
from edit_gec.backends.weights import FILE, read_weights

SHAPES: list[dict[str, Any]] = [{}, {"gated": False}, {"attention_scale": 0.35, "num_layers": 1}]


@pytest.fixture(scope="module", params=SHAPES, ids=["gated", "relu", "scaled"])
def pair(
    request: pytest.FixtureRequest, make_model: Callable[..., EdiT5], tmp_path_factory: pytest.TempPathFactory
) -> tuple[EdiT5, OnnxNetwork]:
    folder = tmp_path_factory.mktemp("model")
    model = make_model(3, **request.param)
    model.save(folder)
    export(folder)
    return model, OnnxNetwork.load(folder)


def sources(model: EdiT5, lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    ids = torch.randint(3, 300, (len(lengths), max(lengths)), generator=generator)
    mask = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    return ids.where(mask, 0), mask


def close(found: np.ndarray, expected: torch.Tensor) -> None:
    np.testing.assert_allclose(found, expected.numpy(), atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("lengths", [[1], [9], [7, 2, 5]])
@torch.inference_mode()
def test_encoders_are_torchs(pair: tuple[EdiT5, OnnxNetwork], lengths: list[int]) -> None:
    model, network = pair
    ids, mask = sources(model, lengths)
    expected, bias = model.encode(ids, mask)
    encoded, tag_logits = network.encode(ids.numpy(), bias.numpy())
    close(encoded[mask.numpy()], expected[mask])
    close(tag_logits[mask.numpy()], model.tag(expected, bias)[mask])
    tags, ranks = ids % 4, ids % 7
    marked = expected + model.tag_embedding(tags) + model.rank_embedding(ranks)
    states, keys, values = network.encode_plan(marked.numpy(), bias.numpy())
    expected_states = model.encode_plan(expected, bias, tags, ranks)
    close(states[mask.numpy()], expected_states[mask])
    for found, wanted in zip((keys, values), model.decoder.cross_keys(expected_states)[0], strict=True):
        close(found.transpose(0, 2, 1, 3)[mask.numpy()], wanted.transpose(1, 2)[mask])


@torch.inference_mode()
def test_the_decoder_is_torchs_in_one_go_and_step_by_step(pair: tuple[EdiT5, OnnxNetwork]) -> None:
    model, network = pair
    config = model.config
    ids, mask = sources(model, [6, 4])
    encoded, bias = model.encode(ids, mask)
    states = model.encode_plan(encoded, bias, ids % 4, ids % 7)
    keys, values = model.decoder.cross_keys(states)[0]
    rows, steps = torch.tensor([0, 1, 1]), 4
    anchors, stream = torch.tensor([2, 0, 3]), torch.arange(12).reshape(3, steps) + 20
    anchored = model.anchor(states[rows, anchors])
    cross_bias = model.cross_bias(anchors[:, None], mask[rows])
    hidden = model.decoder(model.embedding(stream) + anchored[:, None], [(keys[rows], values[rows])], cross_bias)
    expected = model.output(hidden).log_softmax(-1)
    distance = torch.arange(steps) - torch.arange(steps)[:, None]
    self_bias = model.decoder.relative(distance[None]) + torch.where(distance > 0, -1e9, 0.0)
    none = np.zeros((3, config.num_heads, 0, config.d_kv), np.float32)
    source = {
        "anchored": anchored.numpy(), "sentence": rows.numpy(), "cross_bias": cross_bias.numpy(),
        "cross_keys": keys.numpy().copy(), "cross_values": values.numpy().copy(),
    }  # fmt: skip
    at = np.array([[r, t] for r in range(3) for t in range(steps)])
    found, _, _ = network.decode(
        stream=stream.numpy(), at=at, self_bias=self_bias.numpy(), past_keys=none, past_values=none, **source
    )
    close(found.reshape(3, steps, -1), expected)
    past = (none, none)
    for t in range(steps):
        one, *past = network.decode(
            stream=stream[:, t : t + 1].numpy(), at=np.array([[r, 0] for r in range(3)]),
            self_bias=self_bias[:, :, t : t + 1, : t + 1].numpy(), past_keys=past[0], past_values=past[1], **source,
        )  # fmt: skip
        close(one, expected[:, t])


def test_packed_weights_are_dequantized_exactly(make_model: Callable[..., EdiT5], tmp_path: Path) -> None:
    make_model(3, d_model=128).save(tmp_path, small=True)
    weights, loaded = read_weights(tmp_path), EdiT5.load(tmp_path).state_dict()
    assert weights.is_packed("embedding.weight")
    for name, tensor in loaded.items():
        np.testing.assert_array_equal(weights.dense(name), tensor.numpy())


@torch.inference_mode()
def test_int8_products_are_near_and_leave_other_sentences_alone(
    make_model: Callable[..., EdiT5], tmp_path: Path
) -> None:
    model = make_model(3, d_model=128, d_kv=32, d_ff=96)
    model.save(tmp_path, small=True)
    export(tmp_path)
    exact, rough = OnnxNetwork.load(tmp_path), OnnxNetwork.load(tmp_path, int8=True)
    ids, mask = sources(model, [9])
    bias = model.encoder.bias(mask).numpy()
    expected, _ = exact.encode(ids.numpy(), bias)
    found, _ = rough.encode(ids.numpy(), bias)
    assert 0 < np.abs(found - expected).max() < 0.2 * np.abs(expected).max()


def test_the_command_writes_them(model_folder: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for path in model_folder.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert main(["export", str(tmp_path)]) == 0
    printed = capfd.readouterr().out.splitlines()
    assert [Path(line).name for line in printed] == ["encode.onnx", "encode_plan.onnx", "decode.onnx"]
    assert sum(Path(line).stat().st_size for line in printed) < 100_000, "no weights in them"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (f"{FOLDER}/encode.onnx", b"not a graph", "encode.onnx: not a graph of this model"),
        (f"{FOLDER}/encode.onnx", None, "encode.onnx: cannot be read"),
        (f"{FOLDER}/{INDEX}", b"[]", "does not name the weights of encode.onnx"),
        (f"{FOLDER}/{INDEX}", b'{"encode.onnx": ["x"]}', "no tensor x"),
        (FILE, b"\x08", "not a safetensors file, or a truncated one"),
        (FILE, (2).to_bytes(8, "little") + b"{}", "no tensor"),
        (FILE, (9).to_bytes(8, "little") + b'{"a": [1]', "not a safetensors file"),
        (
            FILE,
            (62).to_bytes(8, "little") + b'{"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 8]}} ' + b"0" * 8,
            "for the shape",
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
    with pytest.raises((ModelError, InputError), match=message) as made:
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
