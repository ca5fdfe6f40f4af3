"""The alternatives: `transformers` generate, CTranslate2, checkers of rules. All get the same text and pieces.

Each builder returns a function from sentences to corrected sentences. Peers read the checkpoint that our target reads:
a Hugging Face T5 folder, converted for CTranslate2 by `convert_target`. All pieces come from the same SentencePiece
model, so differences between tokenizers are not measured.

A peer writes at most as many tokens as the longest output in its batch may have, and each row is cut off at the limit
of our target (Target.limit), so that endless outputs are equal, too.

Replayed streams (weights that were never trained, setup.py): `transformers` gets each token forced by a logits
processor after all its work is done; CTranslate2 has no such hook and writes as many tokens as the streams of the
batch have on average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from edit_gec.lab.evaluation.checkers import make_checker
from edit_gec.lab.performance.sentences import OWN
from edit_gec.lab.performance.setup import Pair, Setup, tensor_type
from edit_gec.modeling.tokenizer import EOS, PAD, Tokens

Run = Callable[[Sequence[str]], list[str]]
LOOKUP_TOKENS = 10  # transformers' own default
PRECISIONS = ("float32", "int8")


def run_transformers(pair: Pair, *, assisted: bool = False, lookup: bool = False) -> Run:
    """`generate`: greedy, or with an assistant, or with prompt lookup (these two take one sentence at a time)."""
    run = run_causal if pair.setup.is_causal else run_t5
    return run(pair, assisted=assisted, lookup=lookup)


def run_t5(pair: Pair, *, assisted: bool, lookup: bool) -> Run:
    """`generate` on the folder of a T5."""
    import torch

    setup = pair.setup
    dtype = tensor_type(setup.dtype)
    folder = setup.exported or setup.target
    tokens = Tokens.load(folder, 0)
    model = load_hugging_face(folder, dtype=dtype).to(setup.device)
    options: dict[str, Any] = {"do_sample": False}
    if assisted:
        options["assistant_model"] = load_hugging_face(setup.assistant, dtype=dtype).to(setup.device)
    if lookup:
        options["prompt_lookup_num_tokens"] = LOOKUP_TOKENS
    first = [setup.sentinel] if setup.sentinel else []

    def run(sentences: Sequence[str]) -> list[str]:
        rows = [[*first, *tokens.ids((setup.prefix or "") + sentence), EOS] for sentence in sentences]
        width = max(map(len, rows))
        ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], device=setup.device)
        limits = output_limits(tokens, sentences, setup.max_length)
        given = {**options, "max_new_tokens": max(limits)}
        if setup.streams is not None:
            given["logits_processor"] = [force_streams([setup.streams.find(each).output for each in sentences])]
        written = model.generate(input_ids=ids, attention_mask=(ids != PAD).long(), **given)
        return cut_outputs([output[1:] for output in written.tolist()], limits, tokens)  # <pad> comes first

    return run


def run_causal(pair: Pair, *, assisted: bool, lookup: bool) -> Run:
    """`generate` on the weights and prompts of a language model; rows are padded on the left."""
    import torch

    from edit_gec.modeling.causal_checkpoint import as_hugging_face, load_causal
    from edit_gec.speculative.decode import cut_at_end

    setup, target = pair.setup, pair.target
    model = share_hugging_face(pair)
    ends = sorted(target.ends)
    options: dict[str, Any] = {"do_sample": False, "eos_token_id": ends, "pad_token_id": ends[0]}
    if assisted:
        assistant = load_causal(setup.assistant, tensor_type(setup.dtype))
        options["assistant_model"] = as_hugging_face(assistant).to(setup.device)
    if lookup:
        options["prompt_lookup_num_tokens"] = LOOKUP_TOKENS

    def run(sentences: Sequence[str]) -> list[str]:
        rows = [target.source_ids(sentence) for sentence in sentences]
        width = max(map(len, rows))
        ids = torch.tensor([[ends[0]] * (width - len(row)) + list(row) for row in rows], device=setup.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=setup.device)
        limits = [target.limit(sentence) for sentence in sentences]
        with torch.inference_mode():
            written = model.generate(ids, attention_mask=mask, max_new_tokens=max(limits), **options)
        outputs = zip(written[:, width:].tolist(), limits, strict=True)
        return [target.text(cut_at_end(output[:limit], target.ends)) for output, limit in outputs]

    return run


@lru_cache(maxsize=1)
def share_hugging_face(pair: Pair) -> Any:
    """The language model of a pair in `transformers`, one for all systems that run it."""
    from edit_gec.modeling.causal_checkpoint import as_hugging_face
    from edit_gec.modeling.causal_lm import CausalLM

    model = pair.target.model
    assert isinstance(model, CausalLM)
    return as_hugging_face(model).to(pair.setup.device)


def output_limits(tokens: Tokens, sentences: Sequence[str], max_length: int) -> list[int]:
    """Tokens that each output may have."""
    from edit_gec.speculative.any_target import output_limit

    return [output_limit(len(tokens.ids(sentence)), max_length) for sentence in sentences]


def cut_outputs(outputs: Sequence[Sequence[int]], limits: Sequence[int], tokens: Tokens) -> list[str]:
    """Texts of outputs, none longer than its limit."""
    pairs = zip(outputs, limits, strict=True)
    return [tokens.decode(output[:limit]).removeprefix(" ") for output, limit in pairs]


def load_hugging_face(folder: str | Path, **options: Any) -> Any:
    """A T5 of `transformers` in evaluation mode, loaded silently."""
    from transformers import T5ForConditionalGeneration, utils

    logging: Any = utils.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    model: Any = T5ForConditionalGeneration
    return model.from_pretrained(folder, **options).eval()


def force_streams(streams: Sequence[Sequence[int]]) -> Callable[[Any, Any], Any]:
    """A logits processor that leaves only the next token of each row's stream; </s> when the stream has ended."""
    import torch

    def force(input_ids: Any, scores: Any) -> Any:
        position = input_ids.shape[1] - 1  # <pad> comes first
        forced = [stream[position] if position < len(stream) else EOS for stream in streams]
        only = torch.full_like(scores, -torch.inf)
        only[range(len(forced)), forced] = 0.0
        return only

    return force


# ---------------------------------------------------------------- CTranslate2


def run_ctranslate2(setup: Setup, precision: str) -> Run:
    """CTranslate2's greedy search on the converted checkpoint. `precision` is one of PRECISIONS.

    All threads share a sentence's products; several sentences are shared out among translators of one thread each.
    """
    import ctranslate2 as library

    @cache
    def translator(inter: int) -> Any:
        threads = {"inter_threads": inter, "intra_threads": setup.threads // inter}
        device, _, index = setup.device.partition(":")
        kind = {"device": device, "device_index": int(index or 0), "compute_type": precision}
        return library.Translator(setup.converted[precision], **kind, **threads)

    tokens = Tokens.load(setup.exported or setup.target, 0)
    name, number = tokens.processor.id_to_piece, tokens.processor.piece_to_id
    # The converter numbers the tokens after the pieces upwards.
    first = [f"<extra_id_{setup.sentinel - tokens.pieces}>"] if setup.sentinel else []

    def run(sentences: Sequence[str]) -> list[str]:
        rows = [[*first, *map(name, tokens.ids((setup.prefix or "") + sentence)), name(EOS)] for sentence in sentences]
        limits = output_limits(tokens, sentences, setup.max_length)
        options: dict[str, Any] = {"max_decoding_length": max(limits)}
        if setup.streams is not None:
            steps = max(1, round(fmean(len(setup.streams.find(each).output) for each in sentences)))
            options.update(max_decoding_length=steps, min_decoding_length=steps)
        inter = min(setup.threads, len(rows)) if setup.device == "cpu" else 1
        options["max_batch_size"] = -(-len(rows) // inter)
        results = translator(inter).translate_batch(rows, beam_size=1, **options)
        return cut_outputs([[number(piece) for piece in result.hypotheses[0]] for result in results], limits, tokens)

    return run


def convert_target(target: str | Path, folder: str | Path, precision: str) -> None:
    """Convert a Hugging Face T5 folder for CTranslate2, with the vocabulary of its spiece.model.

    Its own converter expects a tokenizer of `transformers` but takes only the names of pieces, which are passed here.
    """
    import torch
    from ctranslate2.converters.converter import Converter
    from ctranslate2.converters.transformers import T5Loader

    tokens = Tokens.load(target, 0)

    class PieceNames:
        pad_token, eos_token, unk_token = map(tokens.processor.id_to_piece, (0, 1, 2))

        def get_vocab(self) -> dict[str, int]:
            return {tokens.processor.id_to_piece(n): n for n in range(tokens.pieces)}

        def convert_ids_to_tokens(self, number: int) -> str:
            return str(tokens.processor.id_to_piece(number))

    class OfSentencePiece(Converter):  # type: ignore[misc]
        def _load(self) -> Any:
            with torch.no_grad():
                return T5Loader()(load_hugging_face(target), PieceNames())

    OfSentencePiece().convert(str(folder), quantization=precision, force=True)


# ---------------------------------------------------------------- checkers of rules


class RuleChecker:
    """A checker of lab.evaluation.checkers. Harper remembers sentences, and answers those nine times as fast."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.correct = make_checker(name)

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """The sentences as the checker corrects them, one by one."""
        return [self.correct(sentence) for sentence in sentences]

    def forget(self) -> None:
        """Make a new one, and warm it up with other sentences."""
        self.correct = make_checker(self.name)
        self(OWN)
