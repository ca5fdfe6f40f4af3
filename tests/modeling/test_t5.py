"""T5: the same logits as `transformers`, cached decoding the same as uncached, folders in both directions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from support.strategies import brief
from torch import Tensor

from edit_gec.errors import ModelError
from edit_gec.modeling.checkpoint import INDEX, WEIGHTS, load_t5, save_t5
from edit_gec.modeling.config import T5Config
from edit_gec.modeling.t5 import T5, RelativeBias

SHAPE: dict[str, Any] = {
    "vocab_size": 96,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_decoder_layers": 3,
}
V1_0 = {"num_heads": 4, "feed_forward_proj": "relu", "tie_word_embeddings": True}
V1_1 = {"num_heads": 3, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
FAMILIES = pytest.mark.parametrize("family", [V1_0, V1_1], ids=["v1.0", "v1.1"])


def randomise(model: torch.nn.Module, seed: int = 1) -> None:
    """Weights with large attention scores, biases and norms that differ: nothing hides behind zeros and ones."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_bias_of_every_distance(bidirectional: bool) -> None:
    """What is kept for those who need no gradient is what the buckets say, and follows the weights."""
    bias = RelativeBias(T5Config(**SHAPE), bidirectional=bidirectional)
    relative = torch.arange(-400, 401).reshape(1, 3, 267)  # [B, T, S]
    for seed in (1, 2):
        randomise(bias, seed)
        wanted = bias.weight[bias.buckets(relative)].movedim(-1, 1)  # [B, H, T, S]
        assert torch.equal(bias(relative), wanted) and bias(relative).requires_grad
        with torch.no_grad():
            assert torch.equal(bias(relative), wanted)
    ours, plain = (torch.autograd.grad((found * found).sum(), bias.weight)[0] for found in (bias(relative), wanted))
    assert torch.allclose(ours, plain, rtol=1e-4) and ours.any()


def oracle(folder: Path, family: dict[str, Any], **save: Any) -> Any:
    """A random T5 of `transformers`, saved to the folder."""
    from transformers import T5Config as TheirConfig
    from transformers import T5ForConditionalGeneration

    model: Any = T5ForConditionalGeneration(TheirConfig(**SHAPE, **family))
    model.eval()
    if not family["tie_word_embeddings"]:
        model.lm_head.weight = torch.nn.Parameter(0.2 * torch.randn(SHAPE["vocab_size"], SHAPE["d_model"]))
    randomise(model)
    model.save_pretrained(folder, **save)
    return model


def in_transformers(folder: Path) -> Any:
    """The folder as `transformers` reads it: no tensor missing, none left over."""
    from transformers import T5ForConditionalGeneration

    load: Any = T5ForConditionalGeneration.from_pretrained
    model, report = load(folder, output_loading_info=True)
    assert not any(report.values()), report
    return model.eval()


def batch(sources: int = 23, targets: int = 11) -> tuple[Tensor, Tensor, Tensor]:
    """ids, mask, decoder inputs of three sentences, two of them padded."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(3, 96, (3, sources), generator=generator)
    mask = torch.arange(sources)[None, :] < torch.tensor([sources, sources // 2, 1])[:, None]
    target = torch.randint(3, 96, (3, targets), generator=generator)
    target[:, 0] = 0
    return ids * mask, mask, target


@torch.inference_mode()
def logits(model: Any, ids: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    """Teacher-forced logits of our T5 or theirs."""
    if isinstance(model, T5):
        return model(ids, mask, target)  # type: ignore[no-any-return]
    return model(input_ids=ids, attention_mask=mask, decoder_input_ids=target).logits  # type: ignore[no-any-return]


# --- law 3: our T5 is their T5 ---------------------------------------------------------------------------------------


@FAMILIES
@pytest.mark.parametrize("lengths", [(23, 11), (300, 3), (2, 200)], ids=str)
def test_same_logits_as_transformers(family: dict[str, Any], lengths: tuple[int, int], tmp_path: Path) -> None:
    theirs = oracle(tmp_path, family)
    ours = load_t5(tmp_path)
    assert ours.config.tie_word_embeddings == ours.config.scale_decoder_outputs == family["tie_word_embeddings"]
    expected = logits(theirs, *batch(*lengths))
    assert expected.std() > 0.5
    torch.testing.assert_close(logits(ours, *batch(*lengths)), expected, atol=1e-4, rtol=1e-5)


@FAMILIES
def test_float16_does_not_overflow(family: dict[str, Any], tmp_path: Path) -> None:
    """The output layer of each feed-forward network stays in float32, as in `transformers`, wherever it is moved."""
    from transformers import T5ForConditionalGeneration

    oracle(tmp_path, family)
    tensors = load_file(tmp_path / WEIGHTS)
    wide = [name for name in tensors if name.endswith("wo.weight")]
    save_file({name: p * 1e4 if name in wide else p for name, p in tensors.items()}, tmp_path / WEIGHTS)
    exact, ours = load_t5(tmp_path), load_t5(tmp_path, torch.float16)
    load: Any = T5ForConditionalGeneration.from_pretrained
    theirs = load(tmp_path, dtype=torch.float16).eval()
    assert ours.encode(*batch()[:2]).dtype == torch.float16
    moved = load_t5(tmp_path).to("cpu", torch.float32).half()
    expected = logits(exact, *batch())
    for model in (ours, moved, theirs):
        half = logits(model, *batch()).float()
        assert torch.isfinite(half).all() and (half - expected).abs().max() < 0.1 * expected.std()
    assert moved.float().encoder.layers[0].feed_forward.wo.weight.dtype == torch.float32  # type: ignore[union-attr]


@FAMILIES
def test_what_we_save_loads_in_transformers(family: dict[str, Any], tmp_path: Path) -> None:
    theirs = oracle(tmp_path / "theirs", family)
    save_t5(load_t5(tmp_path / "theirs"), tmp_path / "ours")
    torch.testing.assert_close(
        logits(in_transformers(tmp_path / "ours"), *batch()), logits(theirs, *batch()), atol=1e-4, rtol=1e-5
    )
    torch.testing.assert_close(
        logits(load_t5(tmp_path / "ours"), *batch()), logits(theirs, *batch()), atol=1e-4, rtol=1e-5
    )


@FAMILIES
def test_shards(family: dict[str, Any], tmp_path: Path) -> None:
    theirs = oracle(tmp_path, family, max_shard_size="20KB")
    assert (tmp_path / INDEX).exists() and len(list(tmp_path.glob("model-*.safetensors"))) > 2
    torch.testing.assert_close(logits(load_t5(tmp_path), *batch()), logits(theirs, *batch()), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_any_of_our_shapes_saves_as_theirs(tied: bool, scaled: bool, tmp_path: Path) -> None:
    """Also with an attention scale, which T5 has not: it goes into the queries."""
    config = T5Config(
        **SHAPE, num_heads=4, attention_scale=0.25, tie_word_embeddings=tied, scale_decoder_outputs=scaled
    )  # fmt: skip
    ours = T5(config).eval()
    randomise(ours)
    before = logits(ours, *batch())
    save_t5(ours, tmp_path)
    torch.testing.assert_close(logits(in_transformers(tmp_path), *batch()), before, atol=1e-4, rtol=1e-5)
    again = load_t5(tmp_path)
    assert again.config.attention_scale == 1.0
    torch.testing.assert_close(logits(again, *batch()), before, atol=1e-4, rtol=1e-5)
    assert torch.equal(logits(ours, *batch()), before), "saving changes nothing in the model itself"


def test_attention_starts_alike_with_and_without_scale() -> None:
    spread = []
    for scale in (1.0, 0.125):
        torch.manual_seed(0)
        layer: Any = T5(T5Config(**SHAPE, num_heads=4, attention_scale=scale)).encoder.layers[0].attention
        q, k, _ = layer.split(layer.qkv(torch.randn(1, 400, 32)), 3)
        spread.append(float((q @ k.transpose(2, 3) * layer.scale).detach().std()))
    assert spread[1] == pytest.approx(spread[0], rel=0.1)


@FAMILIES
def test_bf16_is_near(family: dict[str, Any], tmp_path: Path) -> None:
    oracle(tmp_path, family)
    exact = logits(load_t5(tmp_path), *batch())
    near = logits(load_t5(tmp_path, torch.bfloat16), *batch())
    assert near.dtype == torch.bfloat16
    assert (near.float() - exact).norm() < 0.05 * exact.norm()


# --- law 4: the cache changes nothing --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> T5:
    torch.manual_seed(0)
    model = T5(T5Config(**SHAPE, num_heads=4)).eval()
    randomise(model)
    return model


@brief
@given(data=st.data())
@torch.inference_mode()
def test_cached_decoding_is_uncached(small: T5, data: st.DataObject) -> None:
    """Step by step or in chunks, and with rows that leave the batch."""
    ids, mask, target = batch(9, 24)
    rows = torch.arange(3)
    padding = torch.where(mask, 0.0, -1e9)[:, None, None, :]
    cross_keys = small.decoder.cross_keys(small.encode(ids, mask))
    expected = small(ids, mask, target)
    caches = small.decoder.new_caches()
    done = 0
    for _ in range(data.draw(st.integers(1, 10))):
        chunk = target[rows, done : done + data.draw(st.integers(1, 20))]
        if not chunk.shape[1]:
            break
        hidden = small.decoder(small.embedding(chunk), cross_keys, padding, caches)
        wanted = expected[rows, done : done + chunk.shape[1]]
        torch.testing.assert_close(small.logits(hidden), wanted, atol=1e-4, rtol=1e-5)
        done += chunk.shape[1]
        assert all(cache.length == done for cache in caches)
        if len(rows) > 1 and data.draw(st.booleans()):
            keep = torch.tensor(sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1))))
            rows, padding = rows[keep], padding[keep]
            cross_keys = [(k[keep], v[keep]) for k, v in cross_keys]
            for cache in caches:
                cache.select(keep)


# --- broken folders --------------------------------------------------------------------------------------------------


def rewrite(name: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        content = change(json.loads((folder / name).read_text()))
        (folder / name).write_text(json.dumps(content))

    return damage


def config(**entries: Any) -> Callable[[Path], None]:
    return rewrite("config.json", lambda content: {**content, **entries})


def index(content: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / INDEX).write_text(json.dumps(content))

    return damage


def put(name: str, content: bytes | None) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content)

    return damage


def truncate(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-1000])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, f"{WEIGHTS}: broken weights"),
        (put(WEIGHTS, b""), f"{WEIGHTS}: broken weights"),
        (put(WEIGHTS, b"\xff" * 64), f"{WEIGHTS}: broken weights"),
        (put(WEIGHTS, None), f"{WEIGHTS} is missing"),
        (put("config.json", None), "no config.json"),
        (put("config.json", b"{"), "config.json: not readable as JSON"),
        (put("config.json", b"\xff\xfe"), "config.json: not readable as JSON"),
        (put(INDEX, b"\xff\xfe"), "not a weight index"),
        (rewrite("config.json", lambda content: [content]), "config.json: not a JSON object"),
        (config(model_type="bert"), "model_type 'bert'; expected a T5"),
        (config(feed_forward_proj="gated-silu"), "feed_forward_proj 'gated-silu'; expected relu or gated-gelu"),
        (config(feed_forward_proj=["relu"]), "expected relu or gated-gelu"),
        (config(d_model=64), "shape .*; expected"),
        (config(num_layers=3), "encoder.layers.2.* is missing"),
        (config(num_heads=None), "num_heads is None"),
        (config(d_ff="48"), "d_ff is '48'"),
        (config(d_kv=-8), "d_kv is -8"),
        (config(vocab_size=10**12), "vocab_size is 1000000000000"),
        (config(d_model=999_999, vocab_size=999_999, d_ff=999_999), "expected"),
        (config(num_layers=999_999), "num_layers is 999999"),
        (config(layer_norm_epsilon="small"), "layer_norm_epsilon is 'small'"),
        (config(relative_attention_num_buckets=0), "relative_attention_num_buckets is 0"),
        (config(relative_attention_max_distance=1), "32 buckets for distances up to 1"),
        (index({"weight_map": {"shared.weight": "../secret.safetensors"}}), "outside the model folder"),
        (index({"weight_map": {"shared.weight": "/etc/passwd"}}), "outside the model folder"),
        (index({"weight_map": {"shared.weight": ".."}}), "outside the model folder"),
        (index({"weight_map": {"shared.weight": 3}}), "not a weight index"),
        (index({"weight_map": {"shared.weight": "other.safetensors"}}), "other.safetensors is missing"),
        (index({"weight_map": ["model.safetensors"]}), "not a weight index"),
        (index(["model.safetensors"]), "not a weight index"),
        (index({}), "not a weight index"),
    ],
)  # fmt: skip
def test_broken_folders(damage: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    save_t5(T5(T5Config(**SHAPE, num_heads=4)), tmp_path)
    load_t5(tmp_path)
    damage(tmp_path)
    with pytest.raises(ModelError, match=message) as raised:
        load_t5(tmp_path)
    assert "\n" not in str(raised.value) and str(tmp_path) in str(raised.value)
