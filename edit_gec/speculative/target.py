"""The target: a T5 that writes the corrected sentence token by token. Slow, exact, the reference for verification.

    >>> target = Target.load("path/to/t5-folder", prefix="grammar: ")                      # doctest: +SKIP
    >>> [target.text(ids) for ids in target.generate(["She go home."])]                     # doctest: +SKIP
    ['She goes home.']

Any T5 folder in Hugging Face layout works, with spiece.model or tokenizer.json. The reference is greedy decoding, or
sampling where it is asked for: beams and penalties of a generation_config.json are not applied.

A target may share the encoder of an EdiT5, which its folder names (shared_encoder.py). Its sources then begin with
EdiT5's sentinel, and the drafter reads what the target has encoded.
`Target.export` writes such a target as a T5 of its own.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from edit_gec.errors import InputError, ModelError
from edit_gec.modeling import checkpoint, shared_encoder
from edit_gec.modeling.config import read_config
from edit_gec.modeling.edit5 import EdiT5
from edit_gec.modeling.onednn import padded_length
from edit_gec.modeling.t5 import T5
from edit_gec.modeling.tokenizer import EOS, FILE, PAD, Tokens
from edit_gec.speculative.any_target import MAX_LENGTH, AnyTarget
from edit_gec.speculative.prefixes import find_prefix
from edit_gec.speculative.ragged_cache import RaggedDecoder
from edit_gec.tracing import Stage, span

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_POSITIONS = 100_000  # that a config.json may claim


class Encoded(NamedTuple):
    """The sources of B sentences, encoded."""

    states: Tensor  # [B, S, d] for the target's decoder
    mask: Tensor  # [B, S] true where there is a piece
    edit5: Tensor | None  # [B, S, d] for the heads of an EdiT5 on the same encoder
    start: int = PAD  # what the decoder reads first

    @property
    def starts(self) -> list[int]:
        """What the decoder reads first, for each row."""
        return [self.start] * len(self.mask)

    @property
    def edit5_states(self) -> list[Tensor] | None:
        """[S, d] of each sentence for the heads of EdiT5, without padding."""
        if self.edit5 is None:
            return None
        return [states[:length] for states, length in zip(self.edit5, self.mask.sum(1).tolist(), strict=True)]

    def rows(self, numbers: Sequence[int]) -> Encoded:
        """The encodings of some of the sentences."""
        index = torch.tensor(numbers, device=self.states.device)
        edit5 = None if self.edit5 is None else self.edit5[index]
        return self._replace(states=self.states[index], mask=self.mask[index], edit5=edit5)

    def renewed(self, numbers: Sequence[int], others: Encoded) -> Encoded:
        """The same with other encodings of some of the sentences, for the target only: EdiT5 has read them already."""
        longest = max(self.mask.shape[1], others.mask.shape[1])
        index = torch.tensor(numbers, device=self.states.device)
        ours, theirs = (F.pad(e.states, (0, 0, 0, longest - e.mask.shape[1])) for e in (self, others))  # [B, S, d]
        mask, other_mask = (F.pad(e.mask, (0, longest - e.mask.shape[1])) for e in (self, others))  # [B, S]
        states, mask = ours.index_copy(0, index, theirs), mask.index_copy(0, index, other_mask)
        return self._replace(states=states, mask=mask, edit5=None)


class SourceFormat(NamedTuple):
    """What a target was trained to read."""

    prefix: str = ""  # text before each sentence
    sentinel: bool = False  # a slot stands before each sentence, as EdiT5 reads it
    max_pieces: int | None = None  # of the longest source, prefix included; None: as long as an output may be
    start: int = PAD  # what the decoder reads before its first token

    @classmethod
    def load(cls, folder: Path, prefix: str | None = None) -> SourceFormat:
        """The format of a T5 folder. Its prefix is `prefix`, or what config.json says, or what its model on the hub
        expects (prefixes.py). Raises ModelError for a wrong entry, and for a model that ends with another token."""
        config = read_config(folder)
        if prefix is None:
            prefix = str(config.get("prefix") or find_prefix(folder))
        return cls(prefix, bool(config.get("sentinel")), trained_length(folder), start_token(folder))


PLAIN = SourceFormat()


class Target(AnyTarget):
    """A T5, its vocabulary and the sources that it reads; `edit5` where it shares the encoder of one."""

    model: T5
    tokens: Tokens
    ends = frozenset((EOS,))
    pass_cost = 40.0  # t5-mini, one core of Zen 5

    def __init__(
        self,
        model: T5,
        tokens: Tokens,
        source: SourceFormat = PLAIN,
        *,
        max_length: int = MAX_LENGTH,
        edit5: EdiT5 | None = None,
    ) -> None:
        if tokens.pieces > model.config.vocab_size:
            raise ModelError(
                f"target: the vocabulary has {tokens.pieces} pieces, the model only {model.config.vocab_size} of them; "
                "copy spiece.model of the model that this one was trained from into its folder"
            )
        if source.start >= model.config.vocab_size:
            raise ModelError(f"target: decoder_start_token_id {source.start}, of {model.config.vocab_size} entries")
        if max_length < 1:
            raise InputError(f"max_length {max_length}: expected at least one token")
        self.model = model
        self.tokens = tokens
        self.prefix = source.prefix
        self.sentinel = source.sentinel or edit5 is not None
        self.longest_source = source.max_pieces
        self.start = source.start
        self.max_length = max_length
        self.edit5 = edit5

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
        """Load a Hugging Face T5 folder. `prefix` replaces what it expects before each sentence (SourceFormat.load);
        "n_positions" in its config.json says how many pieces the longest source had that it was trained on.

        A folder that shares the encoder of an EdiT5 uses that of `edit5` if it is the same, else it loads its own.
        Raises ModelError for a folder that is no T5, has no vocabulary, or one that does not fit, and InputError for a
        prefix where the encoder is shared: EdiT5 reads the sentence alone.
        """
        folder = Path(folder)
        source = SourceFormat.load(folder, prefix)
        if "encoder" in read_config(folder):
            if source.prefix:
                raise InputError(f"prefix {source.prefix!r}: {folder.name} reads sentences without one; leave it out")
            t5, edit5 = shared_encoder.load(folder, edit5)
            tokens = Tokens.load(folder, edit5.config.slots)
            edit5.to(device, dtype)
            return cls(t5.to(device, dtype), tokens, source, max_length=max_length, edit5=edit5)
        tokens = Tokens.load(folder, 0)
        t5 = checkpoint.load_t5(folder, dtype).to(device)
        if source.sentinel:  # exported from a shared encoder
            tokens = Tokens(tokens.processor, t5.config.vocab_size - tokens.pieces)
        return cls(t5, tokens, source, max_length=max_length)

    def drafted_by(self, edit5: EdiT5 | None) -> Self:
        """A copy of the target, which encodes for another EdiT5 on its encoder."""
        target = copy.copy(self)
        target.edit5 = edit5
        return target

    def export(self, folder: str | Path, **extra: Any) -> None:
        """Write a complete T5 folder for `transformers` and others. "sentinel" and "prefix" say how sources begin.

        The sentinel is the last id of the embedding, <extra_id_0>. `extra` are further entries of config.json, such as
        those that a `DraftingProfile` is read from.
        """
        source: dict[str, Any] = {"sentinel": self.sentinel, "prefix": self.prefix, "n_positions": self.max_pieces}
        source["decoder_start_token_id"] = self.start
        checkpoint.save_t5(self.model, folder, **source, **extra)
        (Path(folder) / FILE).write_bytes(self.tokens.processor.serialized_model_proto())

    def new_decoder(self) -> RaggedDecoder:
        """A decoder without rows."""
        return RaggedDecoder(self.model)

    @property
    def max_pieces(self) -> int:
        """Pieces of the longest source that it reads, prefix included: no more than it was trained on or can copy."""
        return min(self.longest_source or self.max_length, self.max_length - 1)

    def fits(self, sentence: str) -> bool:
        """Whether the target can read a sentence of this length."""
        return len(self.tokens.ids(self.prefix + sentence)) <= self.max_pieces

    def source_ids(self, sentence: str) -> list[int]:
        """What the encoder reads. Raises InputError for a sentence that does not fit."""
        ids = self.tokens.ids(self.prefix + sentence)
        if len(ids) > self.max_pieces:
            raise InputError(
                f"target: a sentence of {len(ids)} pieces, expected at most {self.max_pieces}; split it, or raise "
                f"max_length and n_positions: {sentence[:40]!r}..."
            )
        sentinel = [self.tokens.slot(0)] if self.sentinel else []
        return [*sentinel, *ids, EOS]

    @torch.inference_mode()
    def encode_shared(self, sentences: Sequence[str]) -> Encoded:
        """Encoded sources, for the decoder and for EdiT5."""
        with span(Stage.TARGET_TOKENIZE):
            rows = [self.source_ids(sentence) for sentence in sentences]
            width = padded_length(rows)
            ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], device=self.device)
            mask = torch.tensor([[n < len(row) for n in range(width)] for row in rows], device=self.device)
        with span(Stage.TARGET_ENCODE):
            if self.edit5 is None:
                return Encoded(self.model.encode(ids, mask), mask, None, self.start)
            states, of_edit5 = shared_encoder.encode(self.model, self.edit5, ids, mask)
            return Encoded(states, mask, of_edit5, self.start)

    def text(self, ids: Sequence[int]) -> str:
        """Text of an output."""
        with span(Stage.DETOKENIZE):
            return self.tokens.decode(ids).removeprefix(" ")

    @torch.inference_mode()
    def next_logits(self, sentence: str, written: Sequence[int]) -> Tensor:
        """Logits [V] of the token that follows what is written, from one pass over this sentence alone."""
        ids = torch.tensor([self.source_ids(sentence)], device=self.device)  # [1, S]
        inputs = torch.tensor([[self.start, *written]], device=self.device)  # [1, T]
        logits: Tensor = self.model(ids, torch.ones_like(ids, dtype=torch.bool), inputs)[0, -1]
        return logits


def trained_length(folder: Path) -> int:
    """Pieces of the longest source that the T5 of a folder was trained on: "n_positions" in its config.json.

    MAX_LENGTH where the entry is missing. Raises ModelError if it is no number.
    """
    positions = read_config(folder).get("n_positions") or MAX_LENGTH
    if not isinstance(positions, int) or not 1 <= positions <= MOST_POSITIONS:
        wanted = f"expected a whole number from 1 to {MOST_POSITIONS}"
        raise ModelError(f"{folder / 'config.json'}: n_positions {positions!r}; {wanted}")
    return positions


def start_token(folder: Path) -> int:
    """What the decoder of a T5 folder reads first: decoder_start_token_id, where generation_config.json comes first, as
    in `transformers`.

    Raises ModelError if it is no number, and where outputs end with another token than </s>. The entry for <pad>
    decides nothing: what stands after the end of a row is masked.
    """
    path = folder / "generation_config.json"
    try:
        generation = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        entries = {**read_config(folder), **{name: value for name, value in generation.items() if value is not None}}
    except (ValueError, AttributeError, RecursionError, OSError) as error:
        raise ModelError(f"{path}: not readable as JSON ({error})") from None
    end = entries.get("eos_token_id", EOS)
    if end not in (EOS, [EOS], None):
        raise ModelError(f"{folder}: eos_token_id {end!r}; only T5s whose outputs end with </s> ({EOS}) are verified")
    start = entries.get("decoder_start_token_id")
    start = PAD if start is None else start
    if type(start) is not int or start < 0:
        raise ModelError(f"{folder}: decoder_start_token_id {start!r}; expected the number of a token")
    return start
