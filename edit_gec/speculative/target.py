"""The target: a T5 that writes the corrected sentence token by token. Exact, slow, the reference for verification.

    >>> target = Target.load("path/to/t5-folder", prefix="grammar: ")                      # doctest: +SKIP
    >>> [target.text(ids) for ids in target.generate(["She go home."])]                     # doctest: +SKIP
    ['She goes home.']

Any T5 folder in Hugging Face layout with its spiece.model works. Sampling draws from a stream that is keyed by (seed,
sentence, position), so a token does not depend on the batch, nor on how many tokens were computed in one pass: the
verifier (decode.py) draws the same numbers at the same places.

One encoder for drafter and target: a folder that names an EdiT5 (shared_encoder.py), or `Target.sharing(edit5, t5,
tokens)`. Its sources then carry EdiT5's sentinel, and the drafter starts from what the target has encoded.
`Target.export` writes such a target as a T5 of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.editing.thresholds import read_overrides
from edit_gec.errors import InputError
from edit_gec.modeling import checkpoint, shared_encoder
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.t5 import NEGATIVE, T5
from edit_gec.modeling.tokenizer import EOS, FILE, PAD, Tokens
from edit_gec.tracing import Stage, span

MAX_LENGTH = 256  # tokens of one output, </s> included
GROWTH, ROOM = 2, 16  # no correction is longer than GROWTH * source + ROOM tokens; more is a model that repeats itself
NOT_FINITE = "T5: logits that are not finite; the weights are broken, or the dtype is too narrow (use float32)"
_BITS = (1 << 64) - 1
TARGET, DRAFT, ACCEPT, RESIDUAL = range(4)  # what a random number is for


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn: temperature first, then the top_k likeliest (0: all), then the top_p nucleus."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise InputError(f"temperature {self.temperature}: above 0 is wanted; for greedy decoding leave it out")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"top_k {self.top_k}, top_p {self.top_p}: top_k from 0 and top_p in (0, 1] are wanted")


class Encoded(NamedTuple):
    """Sources of B sentences, encoded."""

    states: Tensor  # [B, S, d] what the target's decoder reads
    mask: Tensor  # [B, S] true where there is a piece
    edit5: Tensor | None  # [B, S, d] what an EdiT5 on the same encoder reads

    def rows(self, numbers: Sequence[int]) -> Encoded:
        """The encodings of some of the sentences."""
        index = torch.tensor(numbers, device=self.states.device)
        return Encoded(self.states[index], self.mask[index], None if self.edit5 is None else self.edit5[index])

    def renewed(self, numbers: Sequence[int], others: Encoded) -> Encoded:
        """The same with those of the target in place of some of the sentences, which EdiT5 has read already."""
        longest = max(self.mask.shape[1], others.mask.shape[1])
        index = torch.tensor(numbers, device=self.states.device)
        ours, theirs = (F.pad(e.states, (0, 0, 0, longest - e.mask.shape[1])) for e in (self, others))  # [B, S, d]
        read, mask = (F.pad(e.mask, (0, longest - e.mask.shape[1])) for e in (self, others))  # [B, S]
        return Encoded(ours.index_copy(0, index, theirs), read.index_copy(0, index, mask), None)


class Target:
    """A T5, its vocabulary and the prefix it was trained with; `edit5` where it shares the encoder of one, and `heads`,
    an EdiT5 on the same encoder that has learnt to draft for it, if there is such.

    `thresholds` (editing/thresholds.py) are those with which an EdiT5 drafts best for it: how readily it edits;
    `thresholds_of_two`, where they are others, those for two hypotheses in a pass. `respelt`: it corrects better what
    the list of words has respelt before (Verifier.revise).
    """

    def __init__(
        self,
        model: T5,
        tokens: Tokens,
        *,
        prefix: str = "",
        sentinel: bool = False,
        max_length: int = MAX_LENGTH,
        max_pieces: int | None = None,
        edit5: EdiT5 | None = None,
        heads: EdiT5 | None = None,
        thresholds: Mapping[str, Any] | None = None,
        thresholds_of_two: Mapping[str, Any] | None = None,
        respelt: bool = False,
    ) -> None:
        if tokens.pieces > model.config.vocab_size:
            raise InputError(
                f"target: the vocabulary has {tokens.pieces} pieces, the model only {model.config.vocab_size} of them"
            )
        if max_length < 1:
            raise InputError(f"max_length {max_length}: at least one token is wanted")
        self.model, self.tokens, self.prefix, self.max_length = model, tokens, prefix, max_length
        self.longest = max_pieces or max_length
        self.sentinel, self.edit5, self.heads = sentinel or edit5 is not None, edit5, heads
        self.thresholds, self.respelt = dict(thresholds or {}), respelt
        self.thresholds_of_two = dict(thresholds_of_two or {})

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        prefix: str | None = None,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
        max_length: int = MAX_LENGTH,
        edit5: EdiT5 | None = None,
    ) -> Target:
        """Load a Hugging Face T5 folder. The prefix, where it is not given, is "prefix" in its config.json, or none;
        "n_positions" there is the longest source that it was trained on, "thresholds" are those to draft with for it.

        A folder that shares the encoder of an EdiT5 takes that of `edit5`, if it is the one, and else loads it. Raises
        InputError for a folder that is no T5, or has no vocabulary, or one that does not fit.
        """
        folder = Path(folder)
        config = checkpoint.read_config(folder)
        prefix = str(config.get("prefix") or "") if prefix is None else prefix
        extra: dict[str, Any] = {
            "prefix": prefix,
            "max_length": max_length,
            "max_pieces": trained_length(folder),
            "thresholds": read_overrides(folder),
            "thresholds_of_two": read_overrides(folder, "thresholds_of_two"),
            "respelt": bool(config.get("respelt")),
        }
        if "encoder" in config:
            t5, edit5, heads = shared_encoder.load(folder, edit5)
            tokens = Tokens.load(folder, edit5.config.slots)
            edit5.to(device, dtype)
            heads = heads and heads.to(device, dtype)
            return cls(t5.to(device, dtype), tokens, **extra, edit5=edit5, heads=heads)
        tokens, sentinel = Tokens.load(folder, 0), bool(config.get("sentinel"))
        t5 = checkpoint.load_t5(folder, dtype).to(device)
        if sentinel:  # exported from a shared encoder
            tokens = Tokens(tokens.processor, t5.config.vocab_size - tokens.pieces)
        return cls(t5, tokens, sentinel=sentinel, **extra)

    @classmethod
    def sharing(cls, edit5: EdiT5, t5: T5, tokens: Tokens, *, max_length: int = MAX_LENGTH) -> Target:
        """A target on EdiT5's encoder: `t5` gives up its embedding and as many encoder layers as EdiT5 has.

        `tokens` is EdiT5's vocabulary. Raises InputError when their shapes differ.
        """
        shared_encoder.join(t5, edit5)
        return cls(t5, tokens, max_length=max_length, edit5=edit5)

    def export(self, folder: str | Path) -> None:
        """Write a complete T5 folder for `transformers` and others; "sentinel" and "prefix" say what sources want.

        The sentinel is the last id of the embedding, <extra_id_0>.
        """
        extra: dict[str, Any] = {"sentinel": self.sentinel, "prefix": self.prefix, "n_positions": self.max_pieces}
        extra |= {"thresholds": self.thresholds, "thresholds_of_two": self.thresholds_of_two, "respelt": self.respelt}
        checkpoint.save_t5(self.model, folder, **extra)
        (Path(folder) / FILE).write_bytes(self.tokens.processor.serialized_model_proto())

    def shares(self, edit5: EdiT5) -> bool:
        """Whether the encoder of this EdiT5 is the target's own."""
        return self.edit5 is not None and self.edit5.encoder is edit5.encoder

    def drafter(self, edit5: EdiT5, hypotheses: int) -> EdiT5:
        """The EdiT5 that drafts best for this target, where `edit5` is at hand: for one text in a pass the heads that
        have learnt what it writes; for several `edit5` itself, less sure, and with better second thoughts."""
        return self.heads if self.heads is not None and hypotheses == 1 and self.shares(edit5) else edit5

    def thresholds_for(self, hypotheses: int) -> dict[str, Any]:
        """The thresholds to draft with, where that many texts of a sentence are verified in a pass."""
        return {**self.thresholds, **(self.thresholds_of_two if hypotheses > 1 else {})}

    @property
    def device(self) -> torch.device:
        return self.model.embedding.weight.device

    @property
    def max_pieces(self) -> int:
        """Pieces of the longest source that it reads, prefix counted: what it was trained on, and could be copied."""
        return min(self.longest, self.max_length - 1)

    def fits(self, sentence: str) -> bool:
        """Whether the sentence is no longer than what the target reads."""
        return len(self.tokens.ids(self.prefix + sentence)) <= self.max_pieces

    def limit(self, sentence: str) -> int:
        """Tokens that the output of this sentence may have, </s> included: a small model now and then repeats itself
        without end, and is cut off here, in `generate` as in verification."""
        return output_limit(len(self.tokens.ids(sentence)), self.max_length)

    def source_ids(self, sentence: str) -> list[int]:
        """What the encoder reads. Raises InputError for a sentence that is longer than `fits` allows."""
        ids = self.tokens.ids(self.prefix + sentence)
        if len(ids) > self.max_pieces:
            raise InputError(
                f"target: a sentence of {len(ids)} pieces, at most {self.max_pieces} are wanted; split it, or raise "
                f"max_length and n_positions: {sentence[:40]!r}..."
            )
        return [*([self.tokens.slot(0)] if self.sentinel else []), *ids, EOS]

    def encode(self, sentences: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Encoded sources [B, S, d] and their mask [B, S]."""
        encoded = self.encode_shared(sentences)
        return encoded.states, encoded.mask

    @torch.inference_mode()
    def encode_shared(self, sentences: Sequence[str]) -> Encoded:
        """Encoded sources, for the decoder and for EdiT5."""
        with span(Stage.TARGET_TOKENIZE):
            rows = [self.source_ids(sentence) for sentence in sentences]
            width = max(map(len, rows))
            ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], device=self.device)
            mask = torch.tensor([[n < len(row) for n in range(width)] for row in rows], device=self.device)
        with span(Stage.TARGET_ENCODE):
            if self.edit5 is None:
                return Encoded(self.model.encode(ids, mask), mask, None)
            states, of_edit5 = shared_encoder.encode(self.model, self.edit5, ids, mask)
            return Encoded(states, mask, of_edit5)

    def text(self, ids: Sequence[int]) -> str:
        """Text of an output."""
        with span(Stage.DETOKENIZE):
            return self.tokens.decode(ids).removeprefix(" ")

    def begin(self, sentences: Sequence[str]) -> None:
        """Decoding begins: `choose` is going to name these sentences by their number. For subclasses (replay.py)."""

    def choose(self, logits: Tensor, sampling: Sampling | None, places: Sequence[tuple[int, int]]) -> list[int]:
        """The token at each place (sentence, position), from logits [N, V]. Raises InputError for NaN."""
        return choose(logits, sampling, places)

    @torch.inference_mode()
    def generate(
        self, sentences: Sequence[str], sampling: Sampling | None = None, *, batch_size: int = 32
    ) -> list[list[int]]:
        """Output tokens of each sentence, </s> included unless `limit` cut it off. Greedy without `sampling`.

        One decoder step for each token: the plain reference. Raises InputError for an overlong sentence, and for a
        model whose logits are not finite.
        """
        self.begin(sentences)
        outputs: list[list[int]] = [[] for _ in sentences]
        for start in range(0, len(sentences), batch_size):
            rows = list(range(start, min(start + batch_size, len(sentences))))
            encoded, mask = self.encode([sentences[row] for row in rows])
            with span(Stage.DECODER_SETUP):
                memory, caches = self.model.decoder.cross_keys(encoded), self.model.decoder.new_caches()
                padding = torch.where(mask, 0.0, NEGATIVE)[:, None, None, :]
            last, limits = [PAD] * len(rows), {row: self.limit(sentences[row]) for row in rows}
            for position in range(max(limits.values())):
                with span(Stage.DECODER_STEP):
                    x = self.model.embedding(torch.tensor(last, device=self.device)[:, None])
                    logits = self.model.logits(self.model.decoder(x, memory, padding, caches)[:, 0])
                    last = self.choose(logits, sampling, [(row, position) for row in rows])
                for row, token in zip(rows, last, strict=True):
                    outputs[row].append(token)
                alive = [n for n, token in enumerate(last) if token != EOS and position + 1 < limits[rows[n]]]
                if not alive:
                    break
                if len(alive) < len(rows):
                    rows, last = [rows[n] for n in alive], [last[n] for n in alive]
                    index = torch.tensor(alive, device=self.device)
                    memory = [(k[index], v[index]) for k, v in memory]
                    padding = padding[index]
                    for cache in caches:
                        cache.select(index)
        return outputs


def trained_length(folder: Path) -> int:
    """Pieces of the longest source that the T5 of a folder was trained on: "n_positions" of its config.json.

    MAX_LENGTH where it does not say. Raises InputError for what is no number.
    """
    positions = checkpoint.read_config(folder).get("n_positions") or MAX_LENGTH
    if not isinstance(positions, int) or positions < 1:
        raise InputError(f"{folder / 'config.json'}: n_positions {positions!r}; a whole number from 1 is wanted")
    return positions


def output_limit(pieces: int, max_length: int = MAX_LENGTH) -> int:
    """Tokens that the output for a source of so many pieces may have, prefix and </s> of the source not counted."""
    return min(max_length, GROWTH * pieces + ROOM)


# ---------------------------------------------------------------- logits -> tokens


def choose(logits: Tensor, sampling: Sampling | None, places: Sequence[tuple[int, int]]) -> list[int]:
    """One token for each row of logits [N, V], which stands at (sentence, position). Raises InputError for NaN."""
    if sampling is None:
        values, ids = logits.max(-1)
        if not torch.isfinite(values).all():
            raise InputError(NOT_FINITE)
        chosen: list[int] = ids.tolist()
        return chosen
    return draw(probabilities(logits, sampling), [uniform(sampling.seed, *place, TARGET) for place in places])


def probabilities(logits: Tensor, sampling: Sampling) -> Tensor:
    """What is sampled from, float64 [N, V]: after temperature, top_k and top_p, in that order as in `transformers`."""
    if not torch.isfinite(logits.max(-1).values).all():
        raise InputError(NOT_FINITE)
    scaled = logits.double() / sampling.temperature
    if 0 < sampling.top_k < scaled.shape[-1]:
        least = scaled.topk(sampling.top_k, dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < least, -torch.inf)
    if sampling.top_p < 1:
        ordered, index = scaled.softmax(-1).sort(dim=-1, descending=True, stable=True)
        outside = ordered.cumsum(-1) - ordered >= sampling.top_p  # what is likelier fills the nucleus already
        scaled = scaled.masked_fill(torch.zeros_like(outside).scatter(1, index, outside), -torch.inf)
    return scaled.softmax(-1)


def draw(weights: Tensor, uniforms: Sequence[float]) -> list[int]:
    """Inverse transform sampling: the first token whose cumulated weight exceeds its share u of the total [N, V]."""
    cumulated = weights.cumsum(-1)
    shares = torch.tensor(uniforms, dtype=weights.dtype, device=weights.device)[:, None] * cumulated[:, -1:]
    chosen: list[int] = torch.searchsorted(cumulated, shares, right=True)[:, 0].tolist()
    return chosen


def uniform(seed: int, sentence: int, position: int, purpose: int) -> float:
    """A random number in [0, 1) that depends on these four numbers only (splitmix64, chained)."""
    state = 0
    for number in (seed, sentence, position, purpose):
        state = (state + number + 0x9E3779B97F4A7C15) & _BITS
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _BITS
        state ^= state >> 31
    return (state >> 12) / (1 << 52)  # 52 bits: u times the total stays below the total
