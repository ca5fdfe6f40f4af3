"""Small random decoder-only models of `transformers`, with a vocabulary of byte pairs, as a folder or a GGUF file."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from edit_gec.modeling.byte_pairs import BytePairs
from edit_gec.modeling.causal_checkpoint import load_causal
from edit_gec.speculative.causal_target import CausalTarget
from edit_gec.speculative.decode import cut_at_end
from edit_gec.speculative.prompt import Prompt

TEXT = "She goes to school every day, because she likes it there. They were late; it's 1984 metres away! "
SHAPE: dict[str, Any] = {
    "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 6,
    "num_key_value_heads": 2, "max_position_embeddings": 256, "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip


def make_vocabulary(size: int = 320) -> Any:
    """Byte pairs learnt from TEXT; id 0 is <|endoftext|>."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|endoftext|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    return tokenizer


def make_oracle(kind: str = "llama", seed: int = 0, **shape: Any) -> Any:
    """A random model of `transformers`, float32, with weights large enough that attention matters."""
    import transformers

    config = transformers.AutoConfig.for_model(
        kind, **{**SHAPE, "vocab_size": make_vocabulary().get_vocab_size(), **shape}
    )
    torch.manual_seed(seed)
    make: Any = transformers.AutoModelForCausalLM
    model = make.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model


def save_folder(folder: Path, kind: str = "llama", **shape: Any) -> Any:
    """Write a model folder; returns the oracle."""
    oracle = make_oracle(kind, **shape)
    save_oracle(folder, oracle)
    return oracle


def save_oracle(folder: Path, oracle: Any) -> None:
    """Write a model of `transformers` with its vocabulary."""
    oracle.save_pretrained(folder)
    make_vocabulary().save(str(folder / "tokenizer.json"))


def save_gguf(
    path: Path, oracle: Any, quantisation: str = "F32", kind: str = "llama", embedding: str | None = None
) -> None:
    """Write a model of `transformers` as a GGUF file, its matrices and its embedding in these quantisations."""
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize

    config = oracle.config
    writer = GGUFWriter(path, kind)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    vocabulary = json.loads(make_vocabulary().to_str())
    pieces = sorted(vocabulary["model"]["vocab"], key=vocabulary["model"]["vocab"].__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(pieces)
    writer.add_token_merges([" ".join(pair) for pair in vocabulary["model"]["merges"]])
    for name, tensor in oracle.state_dict().items():
        ours = rename(name)
        if ours and not (ours == "output.weight" and config.tie_word_embeddings):
            values = permute(ours, tensor.float().numpy(), config)
            wanted = embedding if embedding and ours == "token_embd.weight" else quantisation
            stored = GGMLQuantizationType[wanted if values.ndim == 2 and values.shape[1] % 32 == 0 else "F32"]
            writer.add_tensor(ours, quantize(values, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def save_package(packages: Path, oracle: Any, quantisation: str = "F32", embedding: str | None = None) -> Path:
    """An installed package with a GGUF file, which cannot be imported; returns the file."""
    (packages / "tiny_base").mkdir(parents=True)
    (packages / "tiny_base" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    information = packages / "tiny_base-0.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-base\nVersion: 0.1\n")
    file = packages / "tiny_base" / "tiny.gguf"
    save_gguf(file, oracle, quantisation, embedding=embedding)
    return file


def write_base(folder: Path, weights: Path | None = None, /, **changes: Any) -> None:
    """Write a model folder that names the file of that package."""
    found = hashlib.sha256(weights.read_bytes()).hexdigest() if weights else "0" * 64
    base = {"package": "tiny-base", "version": "0.1", "file": "tiny_base/tiny.gguf", "hub": "someone/tiny"}
    folder.mkdir(exist_ok=True)
    config = {"model_type": "causal-lm", "base": {**base, "sha256": found, **changes}}
    (folder / "config.json").write_text(json.dumps(config))


def rename(name: str) -> str:
    """The name of a tensor in GGUF."""
    parts = {
        "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "model.layers": "blk",
        "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    }  # fmt: skip
    for theirs, ours in parts.items():
        name = name.replace(theirs, ours)
    return name


def permute(name: str, values: np.ndarray, config: Any) -> np.ndarray:
    """Rows of queries and keys in the order in which GGUF rotates them."""
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    found = next((count for part, count in heads.items() if part in name), 0)
    if not found:
        return values
    return values.reshape(found, 2, -1, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def random_causal_target(
    kind: str = "llama", seed: int = 0, prompt: str = "Correct: {source}\n", max_length: int = 48, **shape: Any
) -> tuple[CausalTarget, Any]:
    """A random target whose outputs differ in length (some end early, some never), and its oracle."""
    with tempfile.TemporaryDirectory() as folder:
        oracle = make_oracle(kind, seed, **shape)
        ends = [0, make_vocabulary().encode("\n").ids[0]]
        if not oracle.config.tie_word_embeddings:
            with torch.no_grad():
                oracle.lm_head.weight[ends] *= 2.5
        save_oracle(Path(folder), oracle)
        target = CausalTarget(load_causal(folder), BytePairs.load(folder), Prompt.parse(prompt), max_length=max_length)
    return target, oracle


def generate_by_transformers(oracle: Any, target: CausalTarget, sentences: Sequence[str]) -> list[list[int]]:
    """What `generate` of `transformers` writes for these sentences, cut off where the target is."""
    rows = [target.source_ids(sentence) for sentence in sentences]
    limits = [target.limit(sentence) for sentence in sentences]
    width = max(map(len, rows))
    ids = torch.tensor([[0] * (width - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    ends = sorted(target.ends)
    with torch.inference_mode():
        written = oracle.generate(
            ids, attention_mask=mask, do_sample=False, max_new_tokens=max(limits), eos_token_id=ends, pad_token_id=0
        )
    outputs = [output[:limit] for output, limit in zip(written[:, width:].tolist(), limits, strict=True)]
    return [cut_at_end(output, target.ends) for output in outputs]
