"""Every layout in which people have a T5: the outputs of `transformers`, or a refusal that says what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from edit_gec.errors import ModelError
from edit_gec.modeling import json_tokenizer
from edit_gec.modeling.checkpoint import INDEX, PICKLED, PICKLED_INDEX, WEIGHTS
from edit_gec.modeling.tokenizer import FILE, Tokens
from edit_gec.speculative.decode import verify
from edit_gec.speculative.drafters import TextDrafter
from edit_gec.speculative.target import Target

SENTENCES = ["She go home .", "He dont like the the rain.", "A café 😀 here  and \t there", "word " * 3, ""]
LONGEST = 18
V1_0 = {"feed_forward_proj": "relu", "tie_word_embeddings": True}
GATED: dict[str, Any] = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
CONFIG = {
    "architectures": ["T5ForConditionalGeneration"], "d_ff": 96, "d_kv": 24, "d_model": 64, "decoder_start_token_id": 0,
    "eos_token_id": 1, "is_encoder_decoder": True, "layer_norm_epsilon": 1e-6, "model_type": "t5", "num_heads": 4,
    "num_decoder_layers": 2, "num_layers": 3, "pad_token_id": 0, "relative_attention_num_buckets": 32,
    "transformers_version": "4.23.1", "vocab_size": 416, "n_positions": 512,
}  # fmt: skip

# name -> entries of config.json, what becomes of the tensors, other files
LAYOUTS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "v1.0": (V1_0, "tied", {}),
    "v1.0 with copies of the embedding": (V1_0, "aliases", {}),
    "v1.0 with an output layer": (V1_0, "own", {}),
    "v1.1": (GATED, "own", {}),
    "gated, tied": (GATED | {"tie_word_embeddings": True}, "tied", {}),
    "unscaled, tied": (GATED, "tied", {}),
    "half weights": (GATED | {"torch_dtype": "float16"}, "half", {}),
    "pickled": (GATED, "pickled", {}),
    "pickled shards": (GATED, "pickled shards", {}),
    "shards": (GATED, "shards", {}),
    "mt5": (GATED | {"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"]}, "own", {}),
    "other buckets": (
        GATED | {"relative_attention_num_buckets": 16, "relative_attention_max_distance": 20},
        "own",
        {},
    ),
    "another epsilon": (GATED | {"layer_norm_epsilon": 1e-5}, "own", {}),
    "no more entries than pieces": (GATED | {"vocab_size": 350}, "own", {}),
    "decoder as deep as the encoder": (GATED | {"num_decoder_layers": None}, "own", {}),
    "another start": (GATED | {"decoder_start_token_id": 5}, "own", {}),
    "another start of generation": (GATED, "own", {"generation_config.json": {"decoder_start_token_id": 7}}),
    "tokenizer.json": (GATED, "own", {"tokenizer.json": None}),
}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another end": ({"eos_token_id": 7}, {}, "eos_token_id 7; only T5s whose outputs end with </s>"),
    "two ends": ({}, {"generation_config.json": {"eos_token_id": [1, 7]}}, r"eos_token_id \[1, 7\]"),
    "a start that is no token": ({"decoder_start_token_id": 10**6}, {}, "decoder_start_token_id 1000000, of 416"),
    "another activation": ({"feed_forward_proj": "gated-silu"}, {}, "'gated-silu'; expected relu or gated-gelu"),
    "no vocabulary": ({}, {FILE: None}, "copy spiece.model of the model that this one was trained from"),
    "fewer entries than pieces": ({"vocab_size": 340}, {}, "has 350 pieces, the model only 340.*copy spiece.model"),
    "a broken start": ({}, {"generation_config.json": {"decoder_start_token_id": "pad"}}, "'pad'; expected the number"),
}


def write_folder(folder: Path, config: dict[str, Any], form: str, vocabulary: bytes) -> None:
    """A folder of that layout with random weights, whose outputs differ from sentence to sentence."""
    from transformers import T5Config, T5ForConditionalGeneration

    folder.mkdir()
    torch.manual_seed(0)
    shape: dict[str, Any] = {
        name: value for name, value in (CONFIG | config).items() if name not in ("architectures", "model_type")
    }
    shape["num_decoder_layers"] = shape["num_decoder_layers"] or shape["num_layers"]
    made: Any = T5ForConditionalGeneration(T5Config(**shape))
    tied = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")
    tensors = {name: p.detach().clone() for name, p in made.state_dict().items() if name not in tied}
    for name, p in tensors.items():
        if "relative_attention_bias" in name:
            p.normal_(0, 1.5)
        elif p.ndim == 2 and name != "shared.weight":
            p.mul_(1.5)
    if form == "aliases":
        tensors |= {name: tensors["shared.weight"].clone() for name in tied}
        tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = torch.randn(32, 4)
    elif form != "tied":
        tensors["lm_head.weight"] = torch.randn_like(tensors["shared.weight"])
    if form == "half":
        tensors = {name: p.half() for name, p in tensors.items()}
    write_tensors(folder, tensors, form)
    (folder / "config.json").write_text(json.dumps(CONFIG | config))
    (folder / FILE).write_bytes(vocabulary)


def write_tensors(folder: Path, tensors: dict[str, torch.Tensor], form: str) -> None:
    is_pickled = form.startswith("pickled")
    shards = [tensors]
    if form.endswith("shards"):
        names = sorted(tensors)
        shards = [{name: tensors[name] for name in names[n::2]} for n in range(2)]
    places: dict[str, str] = {}
    for n, shard in enumerate(shards):
        name = PICKLED if is_pickled else WEIGHTS
        if len(shards) > 1:
            name = name.replace(".", f"-0000{n + 1}-of-00002.", 1)
        torch.save(shard, folder / name) if is_pickled else save_file(shard, folder / name, metadata={"format": "pt"})
        places |= dict.fromkeys(shard, name)
    if len(shards) > 1:
        index = PICKLED_INDEX if is_pickled else INDEX
        (folder / index).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": places}))


def write_extra(folder: Path, extra: dict[str, Any]) -> None:
    """Further files; None: tokenizer.json in place of spiece.model, or no vocabulary at all."""
    for name, content in extra.items():
        if name == json_tokenizer.FILE:
            save_tokenizer_json(folder, folder)
        if content is None:
            (folder / FILE).unlink()
        else:
            (folder / name).write_text(json.dumps(content))


def save_tokenizer_json(folder: Path, to: Path) -> Any:
    """What the tokenizer of `transformers` writes for the spiece.model of a folder; that tokenizer."""
    from transformers import T5Tokenizer

    theirs: Any = T5Tokenizer.from_pretrained(str(folder))
    theirs.save_pretrained(str(to))
    return theirs


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_read_as_transformers_reads_it(name: str, tmp_path: Path, t5_tokens: Tokens) -> None:
    from transformers import T5ForConditionalGeneration

    config, form, extra = LAYOUTS[name]
    folder = tmp_path / "t5"
    write_folder(folder, config, form, t5_tokens.processor.serialized_model_proto())
    write_extra(folder, extra)
    target = Target.load(folder, max_length=LONGEST)
    ours = target.generate(SENTENCES)
    load: Any = T5ForConditionalGeneration.from_pretrained
    theirs = load(folder, dtype=torch.float32).eval()
    for sentence, output in zip(SENTENCES, ours, strict=True):
        ids = torch.tensor([target.source_ids(sentence)])
        written = theirs.generate(ids, max_new_tokens=target.limit(sentence), do_sample=False, num_beams=1)
        assert written[0, 1:].tolist() == output
    assert len({tuple(output) for output in ours}) > 3  # that is worth a comparison
    assert verify(target, TextDrafter(target.tokens), SENTENCES)[0] == ours
    target.export(tmp_path / "exported")
    assert Target.load(tmp_path / "exported", max_length=LONGEST).generate(SENTENCES) == ours


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exact_is_refused(name: str, tmp_path: Path, t5_tokens: Tokens) -> None:
    config, extra, message = REFUSED[name]
    folder = tmp_path / "t5"
    write_folder(folder, GATED | config, "own", t5_tokens.processor.serialized_model_proto())
    write_extra(folder, extra)
    with pytest.raises(ModelError, match=message) as raised:
        Target.load(folder)
    assert "\n" not in str(raised.value)


def test_safetensors_come_before_pickles(tmp_path: Path, t5_tokens: Tokens) -> None:
    """A folder may hold both; then the pickle is not opened."""
    folder = tmp_path / "t5"
    write_folder(folder, GATED, "own", t5_tokens.processor.serialized_model_proto())
    expected = Target.load(folder, max_length=LONGEST).generate(SENTENCES)
    (folder / PICKLED).write_bytes(b"not opened")
    assert Target.load(folder, max_length=LONGEST).generate(SENTENCES) == expected
    torch.save(load_file(folder / WEIGHTS), folder / PICKLED)
    (folder / WEIGHTS).unlink()
    assert Target.load(folder, max_length=LONGEST).generate(SENTENCES) == expected


# ---------------------------------------------------------------- tokenizer.json


@pytest.fixture(scope="module")
def converted(t5_tokens: Tokens, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokens, Any]:
    """The vocabulary by its tokenizer.json, and the tokenizer of `transformers` that wrote it."""
    given, saved = tmp_path_factory.mktemp("spiece"), tmp_path_factory.mktemp("json")
    (given / FILE).write_bytes(t5_tokens.processor.serialized_model_proto())
    theirs = save_tokenizer_json(given, saved)
    return Tokens.load(saved, t5_tokens.slots), theirs


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=40) | st.text(alphabet="aZé .\t\u00a0\u200bﬁ😀▁", max_size=20))
def test_tokenizer_json_is_the_same_vocabulary(text: str, converted: tuple[Tokens, Any], t5_tokens: Tokens) -> None:
    """Ids, offsets and surfaces of every text are those by spiece.model."""
    ours, _ = converted
    assert ours.encode(text) == t5_tokens.encode(text)
    assert ours.size == t5_tokens.size


def test_tokenizer_json_is_read_as_transformers_reads_it(converted: tuple[Tokens, Any]) -> None:
    ours, theirs = converted
    prose = (Path(__file__).parents[2] / "data" / "samples" / "prose.txt").read_text(encoding="utf-8").splitlines()
    for sentence in [*SENTENCES, *prose]:
        assert [*ours.ids(sentence), 1] == theirs(sentence).input_ids
    assert [ours.surface(n) for n in range(3)] == [b"", b"", " \u2047 ".encode()]


DAMAGE: list[tuple[list[str], Any]] = [
    (["model", "type"], "BPE"),
    (["model", "vocab"], []),
    (["model", "vocab"], [["<pad>", "much"]]),
    (["model", "vocab", "0"], ["<s>", 0.0]),
    (["model", "unk_id"], 7),
    (["model"], None),
    (["normalizer"], None),
    (["normalizer"], {"type": "Lowercase"}),
    (["normalizer"], {"type": "Precompiled", "precompiled_charsmap": "%"}),
    (["normalizer"], {"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
    (["pre_tokenizer"], {"type": "ByteLevel"}),
    (["pre_tokenizer"], {"type": "Metaspace", "prepend_scheme": "never"}),
]


@pytest.mark.parametrize(("place", "value"), DAMAGE)
def test_another_kind_of_tokenizer_is_refused(
    place: list[str], value: Any, converted: tuple[Tokens, Any], tmp_path: Path
) -> None:
    _, theirs = converted
    theirs.save_pretrained(str(tmp_path))
    path = tmp_path / json_tokenizer.FILE
    content = json.loads(path.read_text(encoding="utf-8"))
    inner = content
    for name in place[:-1]:
        inner = inner[int(name) if isinstance(inner, list) else name]
    inner[int(place[-1]) if isinstance(inner, list) else place[-1]] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ModelError) as raised:
        Tokens.load(tmp_path, 0)
    assert "\n" not in str(raised.value) and str(path) in str(raised.value)


def test_a_tokenizer_json_without_its_end(converted: tuple[Tokens, Any], tmp_path: Path) -> None:
    _, theirs = converted
    theirs.save_pretrained(str(tmp_path))
    path = tmp_path / json_tokenizer.FILE
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelError, match=r"not the tokenizer\.json of a T5"):
        Tokens.load(tmp_path, 0)
    shutil.copy(path, tmp_path / FILE)
    with pytest.raises(ModelError, match="not a SentencePiece model"):
        Tokens.load(tmp_path, 0)
